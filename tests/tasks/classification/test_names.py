"""Labels survive their file, and what is none is refused."""

import pytest

from regard.errors import FileError
from regard.tasks.classification.names import names_from, names_to


def test_labels_survive_their_file():
    labels = ("9", "10", "猫", "a\tb")
    assert names_from({"labels": names_to(labels)}, "run") == labels


@pytest.mark.parametrize(
    "data",
    [b"", b"{}", b'["a"]', b'["a", "a"]', b'["a", 1]', b'["a", ""]', b"[" * 100_000, b"\xff"],
    ids=lambda data: repr(data[:9]),
)
def test_what_is_damaged_is_refused(data):
    with pytest.raises(FileError, match=r"run: labels\.model"):
        names_from({"labels": data}, "run")


def test_without_a_file():
    with pytest.raises(FileError, match=r"labels\.model"):
        names_from({}, "run")
