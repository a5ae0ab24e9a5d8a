"""What every launch of a kernel says: that a product and a sum may be one instruction.

Half of what kernels compute is of that form, and where it must be rounded in between they say so
(``times`` in ``elementary``). Triton fuses unasked up to 3.9, which warns that 3.10 will not.
"""

from __future__ import annotations

__all__ = ["FUSED"]

FUSED = {"enable_fp_fusion": True}
