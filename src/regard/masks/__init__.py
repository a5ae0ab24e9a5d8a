"""Which keys a query may see. True always means *may see*."""

from regard.masks.base import And, Mask, Spans
from regard.masks.causal import Causal
from regard.masks.dense import Dense
from regard.masks.documents import Documents
from regard.masks.lengths import Lengths
from regard.masks.not_self import NotSelf
from regard.masks.window import Window

__all__ = [
    "And",
    "Causal",
    "Dense",
    "Documents",
    "Lengths",
    "Mask",
    "NotSelf",
    "Spans",
    "Window",
]
