"""Alignments in characters: the right cell in the right place, whatever the tokens hold."""

import re

import pytest
import torch

from regard.errors import ShapeError
from regard.viewing.terminal import alignment_lines, columns_of, label

W = torch.tensor([[0.9, 0.06, 0.04], [0.25, 0.5, 0.25]])
SOURCE, TARGET = ["▁介绍", "一下", "西安"], ["▁Intro", "</s>"]
COLOR = re.compile(r"\x1b\[48;2;(\d+);(\d+);(\d+)m\x1b\[(?:30|97)m([ \d]*)\x1b\[0m")


def test_every_weight_is_under_its_source_token():
    assert alignment_lines(W, SOURCE, TARGET, width=80) == [
        "       介绍 一下 西安",
        "Intro  ████ ░░░░",
        "</s>   ▒▒▒▒ ▓▓▓▓ ▒▒▒▒",
    ]


def test_in_ascii():
    assert alignment_lines(W, SOURCE, TARGET, width=80, unicode=False) == [
        "       ??  ??  ??",
        "Intro  ### ...",
        "</s>   ::: *** :::",
    ]
    odd = alignment_lines(W, ["é", "😀", "\x1b"], ["a" * 50, "▁"], width=80, unicode=False)
    assert "".join(odd).isascii()
    assert odd[1].startswith("aaaaaaaaaaaaa~ ")


def test_in_colours_a_cell_holds_its_per_cents_and_a_brighter_ground_for_more():
    first, *rows = alignment_lines(W, SOURCE, TARGET, width=80, color=True)
    assert first == "       介绍 一下 西安"
    cells = [COLOR.findall(row) for row in rows]
    assert [[cell[3] for cell in row] for row in cells] == [
        [" 90 ", " 6  ", "    "],
        [" 25 ", " 50 ", " 25 "],
    ]
    brightness = [sum(map(int, cell[:3])) for row in cells for cell in row]
    assert sorted(range(6), key=brightness.__getitem__)[:2] == [2, 1]
    assert max(brightness) == brightness[0]


def test_too_wide_is_drawn_in_blocks():
    lines = alignment_lines(W, SOURCE, TARGET, width=17)
    assert lines == [
        "       介绍 一下",
        "Intro  ████ ░░░░",
        "</s>   ▒▒▒▒ ▓▓▓▓",
        "",
        "       西安",
        "Intro",
        "</s>   ▒▒▒▒",
    ]


def test_far_too_wide_is_told_in_words():
    weights = torch.eye(2).repeat(1, 20)
    lines = alignment_lines(weights, [f"▁{i:04}" for i in range(40)], ["▁a", "▁b"], width=40)
    assert lines == ["a -> 0000 1.00", "b -> 0001 1.00"]
    assert alignment_lines(W, SOURCE, TARGET, width=10) == ["Intro -> …", "</s>  -> …"]


@pytest.mark.parametrize("width", [*range(12), 20, 30])
@pytest.mark.parametrize("color", [False, True])
def test_no_line_is_wider_than_the_terminal(width, color):
    weights = torch.rand(3, 7)
    source = ["▁你好世界", "é" * 30, "안녕", "a", "😀", "e\u0301", "\x00"]
    lines = alignment_lines(weights, source, ["西" * 20, "b", ""], width=width, color=color)
    for line in lines:
        assert columns_of(COLOR.sub(lambda cell: cell[4], line)) <= width


@pytest.mark.parametrize(
    "token", ["\x1b[2J", "a\x1b]0;title\x07", "\u202eabc", "\r\n", "\x9b31m", "\ud800", "\u2066"]
)
def test_no_token_moves_the_cursor(token):
    for unicode in (False, True):
        lines = alignment_lines(torch.ones(1, 1), [token], [token], unicode=unicode)
        assert all(letter.isprintable() for letter in "".join(lines)), lines
    assert label(token).isprintable()


def test_what_is_no_number_is_seen():
    weights = torch.tensor([[torch.nan, 1.0], [torch.nan, torch.inf]])
    assert alignment_lines(weights, ["a", "b"], ["c", "d"])[1:] == ["c  ??? ███", "d  ??? ???"]
    assert "?" * 3 in alignment_lines(weights, ["a", "b"], ["c", "d"], color=True)[1]
    unknown = torch.full((1, 40), torch.nan)
    assert alignment_lines(unknown, ["abcdefgh"] * 40, ["c"], width=40) == ["c -> ?"]


def test_nothing_to_draw():
    assert alignment_lines(torch.ones(0, 3), ["a", "b", "c"], []) == []
    assert alignment_lines(torch.ones(2, 0), [], ["a", "b"]) == []


def test_tokens_and_weights_must_fit():
    with pytest.raises(ShapeError) as raised:
        alignment_lines(W, SOURCE, ["a"])
    assert str(raised.value) == (
        "weights must be [n, m], a row a token and a column a source token: there are 1 and 3 of "
        "them, got the shape [2, 3]"
    )
