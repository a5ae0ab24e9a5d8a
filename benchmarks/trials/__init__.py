"""Kernels that might take another's place: ``python -m benchmarks.trials``, on a GPU."""
