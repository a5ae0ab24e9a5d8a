"""Encoders compared on one's own data: accuracy against how much there was to learn from."""

__all__: list[str] = []
