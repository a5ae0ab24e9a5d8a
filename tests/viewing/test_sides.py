"""Tokens find their sides, or it is said which numbers do not fit."""

import pytest
import torch

from regard.errors import KindError, ShapeError
from regard.viewing.heads import DenseHead
from regard.viewing.sides import ASK, sides_of

ABC, XY = ["a", "b", "c"], ["▁x", "y"]


def heads(*shapes):
    return [DenseHead(torch.rand(n, m), name) for name, n, m in shapes]


def test_one_list_is_for_both_sides_or_for_the_one_it_fits():
    assert sides_of(ABC, heads(("s", 3, 3))) == ([ABC], [(0, 0)])
    assert sides_of(ABC, heads(("s", 3, 3), ("c", 2, 3))) == ([ABC], [(0, 0), (None, 0)])
    assert sides_of(None, heads(("s", 3, 3))) == ([], [(None, None)])


def test_a_pair_is_queries_and_keys_and_serves_self_attention_on_either_side():
    found = sides_of((ABC, XY), heads(("cross", 3, 2), ("encoder", 2, 2), ("decoder", 3, 3)))
    assert found == ([ABC, ["x", "y"]], [(0, 1), (1, 1), (0, 0)])
    other = ["d", "e", "f"]
    assert sides_of((ABC, other), heads(("cross", 3, 3)))[1] == [(0, 1)]


def test_lists_go_where_their_length_fits():
    found = sides_of([XY, ABC], heads(("cross", 3, 2), ("encoder", 2, 2)))
    assert found == ([ABC, ["x", "y"]], [(0, 1), (1, 1)])
    assert sides_of([ABC, list(ABC)], heads(("self", 3, 3)))[1] == [(0, 0)]


def test_layers_may_have_their_own():
    tokens = {"encoder": ABC, "decoder": ["d", "e", "f"], "decoder.cross": (["d", "e", "f"], ABC)}
    some = heads(("encoder.0", 3, 3), ("decoder.0", 3, 3), ("decoder.cross.0", 3, 3), ("x", 3, 3))
    assert sides_of(tokens, some)[1] == [(0, 0), (1, 1), (1, 0), (None, None)]


@pytest.mark.parametrize(
    ("tokens", "error", "message"),
    [
        (
            ["a"] * 5, ShapeError,
            "tokens must be as many as there are queries and keys: the layer 'l' has n=3 queries "
            "and m=2 keys, got one list of 5",
        ),
        (
            (ABC, ABC), ShapeError,
            "tokens must be as many as there are queries and keys: the layer 'l' has n=3 queries "
            "and m=2 keys, got lists of 3 and 3",
        ),
        (
            [XY, ABC, ["d", "e", "f"]], ShapeError,
            "2 lists of tokens have the length 3, so which of them belongs to the layer 'l' cannot "
            "be told; give a dict by the names of layers",
        ),
        ("abc", KindError, f"tokens must be a list of str, or lists of them, got str; {ASK}"),
        (7, KindError, f"tokens must be a list of str, or lists of them, got int; {ASK}"),
        ([101, 7592, 102], KindError, f"tokens must be a list of str, got numbers; {ASK}"),
        (
            {"input_ids": ABC, "mask": XY}, KindError,
            "a dict of tokens must have the beginnings of layers' names, as 'l', got 'input_ids', "
            f"'mask'; {ASK}",
        ),
        (
            ["a", ABC], KindError,
            "tokens must be a list of str, or lists of them, got some of both or something else",
        ),
    ],
)  # fmt: skip
def test_message(tokens, error, message):
    with pytest.raises(error) as raised:
        sides_of(tokens, heads(("l", 3, 2)))
    assert str(raised.value) == message
