"""Fused attention on the GPU: Triton kernels, no n x m memory, forward and backward."""

from regard.attention.triton.inspection import Look
from regard.attention.triton.launch import backward, forward, normalisers

__all__ = ["Look", "backward", "forward", "normalisers"]
