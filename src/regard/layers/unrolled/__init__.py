"""A recurrent decoder with attention, run over many steps as one operation."""

from regard.layers.unrolled.definition import Arguments, Cell, Unrolled
from regard.layers.unrolled.operation import free_launches, unroll

__all__ = ["Arguments", "Cell", "Unrolled", "free_launches", "unroll"]
