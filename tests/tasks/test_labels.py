"""Labels: which can be learned, which are new."""

import pytest

from regard.errors import FileError
from regard.tasks.labels import labels_to_learn, never_seen


def test_labels_come_once_and_in_order():
    found = labels_to_learn(["b", "10", "9", "b", "a", "٣", "9" * 5000], "x")
    assert found == ("9", "10", "9" * 5000, "a", "b", "٣")


@pytest.mark.parametrize(
    ("labels", "told"),
    [(["cat", "cat"], "the only label is 'cat'"), ([], "there is no label")],
)
def test_one_label_is_nothing_to_learn(labels, told):
    with pytest.raises(FileError) as raised:
        labels_to_learn(labels, "pets.tsv")
    assert str(raised.value) == (
        f"pets.tsv: {told}; a training needs examples of at least two labels, or there is "
        "nothing to tell apart"
    )


def test_labels_never_seen_are_counted_and_named():
    assert never_seen(["a", "b"], ["a", "b", "c"], "x") == []
    assert never_seen([], [], "x") == []
    assert never_seen(["c", "a", "d", "d"], {"a"}, "x") == [
        "x: 3 of 4 labels were never seen in training ('d' 2 times, 'c' 1 time): they count as "
        "wrong"
    ]
    line = never_seen([str(i) for i in range(12)], (), "x")[0]
    assert "('0' 1 time, '1' 1 time, '2' 1 time, '3' 1 time, '4' 1 time and 7 other labels)" in line
