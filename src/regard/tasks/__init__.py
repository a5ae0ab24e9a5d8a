"""What the networks are for: data in, a trained model out, and its use."""

__all__: list[str] = []
