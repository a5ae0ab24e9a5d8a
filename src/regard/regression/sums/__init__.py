"""Sums over all data of a kernel times numbers, at many queries: exact to a tolerance, and fast."""

from regard.regression.sums.base import Found, Sums

__all__ = ["Found", "Sums"]
