"""What every launch of a kernel says: that a product and a sum may be one instruction.

Half of what kernels compute is of that form, and where it must be rounded in between they say so
(``times`` in ``elementary``). Triton fuses unasked up to 3.8; 3.9 warns that it will not, and from
3.10 on it does not.
"""

from __future__ import annotations

__all__ = ["FUSED"]

FUSED = {"enable_fp_fusion": True}
