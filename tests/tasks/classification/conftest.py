"""Classifiers that several tests look at, made once."""

import pytest

from tests.tasks.classification.tiny import tiny_run

KINDS = ("text", "sound", "images")


@pytest.fixture(scope="session")
def runs(tmp_path_factory):
    """A run with random weights of each kind."""
    folder = tmp_path_factory.mktemp("runs")
    return {kind: tiny_run(folder / kind, kind) for kind in KINDS}
