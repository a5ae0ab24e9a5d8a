"""A small server on this machine, for what is too large for a file: it answers in tiles."""

from regard.studio.serving import Studio, serve

__all__ = ["Studio", "serve"]
