"""Ours beside the peers: checked, then timed, in one process on the same data."""
