"""Who looks where, in words of two languages."""

import string

import pytest
import torch

from regard.viewing.heads import DenseHead
from regard.viewing.telling import QUERIES, WORDS, described, named, told

W = torch.tensor([[0.75, 0.25, 0.0], [0.004, 0.0, 0.996]])


def fields(text):
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def test_both_languages_say_the_same():
    assert WORDS["en"].keys() == WORDS["zh"].keys()
    for name, text in WORDS["en"].items():
        assert fields(text) == fields(WORDS["zh"][name]), name


def test_the_strongest_keys_of_each_query_and_who_got_most():
    lines = told(DenseHead(W), ["a", "b"], None)
    assert lines[1:] == [
        "a looks at 0 75 %, 1 25 %",
        "b looks at 2 100 %",
        "Most looked at, by the sum of weights: 2 1.00, 0 0.75, 1 0.25.",
    ]
    assert told(DenseHead(torch.zeros(1, 2)), None, None)[1] == "0 looks at nothing"


def test_of_many_queries_the_first_are_told():
    lines = told(DenseHead(torch.rand(QUERIES + 7, 4)), None, None)
    assert len(lines) == 1 + QUERIES + 2
    assert lines[-2] == "... and 7 more queries."
    assert told(DenseHead(torch.rand(QUERIES, 4)), None, None)[-2].startswith(
        f"{QUERIES - 1} looks"
    )


@pytest.mark.parametrize(
    ("language", "said"),
    [("en", "x: 2 queries, 3 keys, cross-attention"), ("zh", "x: 2 个查询，3 个键，交叉注意力")],  # noqa: RUF001
)
def test_what_a_head_is(language, said):
    assert described(DenseHead(torch.ones(2, 3)), "x", language) == said
    assert named(["a"], 0) == "a"
    assert named(None, 12) == "12"


def test_what_is_no_number_is_not_told_as_one():
    w = torch.full((4, 4), 0.25)
    w[1], w[2, 2] = torch.nan, torch.inf
    lines = told(DenseHead(w), None, None)
    assert lines[0].startswith("0 looks at")
    assert not any(word in "".join(lines) for word in ("nan", "inf"))
