"""One way to train: the loop, the checkpoints and the live line that all tasks share."""

__all__: list[str] = []
