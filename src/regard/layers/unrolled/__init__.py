"""A recurrent decoder with attention, run over many steps as one operation."""

from regard.layers.unrolled.definition import Arguments, Cell, Unrolled
from regard.layers.unrolled.operation import unroll

__all__ = ["Arguments", "Cell", "Unrolled", "unroll"]
