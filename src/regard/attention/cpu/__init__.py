"""Fused attention on the CPU: numba kernels, threaded, no n x m memory, forward and backward."""

from regard.attention.cpu.launch import backward, forward, scores

__all__ = ["backward", "forward", "scores"]
