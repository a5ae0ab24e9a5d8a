"""Sentences: where a text is cut, and that nothing is lost by it."""

# ruff: noqa: RUF001 - the marks of Chinese are meant

import random
import time

import pytest

from regard.tasks.translation.sentences import sentences


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", []),
        (" \n\t ", []),
        ("你好", ["你好"]),
        ("你好。我很好！真的吗？", ["你好。", "我很好！", "真的吗？"]),
        ("他说：“好。”然后走了。", ["他说：“好。”", "然后走了。"]),
        ("（真的？！）是。", ["（真的？！）", "是。"]),
        ("一；二……三", ["一；", "二……", "三"]),
        ("你好吗?我很好!“是”", ["你好吗?", "我很好!", "“是”"]),
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ('He said "no." She left.', ['He said "no."', "She left."]),
        ("Mr. Li met J. Smith at St. Ives. It rained.",
         ["Mr. Li met J. Smith at St. Ives.", "It rained."]),
        ("3.14 is pi, v1.2.3 is not", ["3.14 is pi, v1.2.3 is not"]),
        ("a\nb\r\nc\u2028d\x85e", ["a", "b", "c", "d", "e"]),
        ("。。。", ["。。。"]),
    ],
)  # fmt: skip
def test_where_a_sentence_ends(text, wanted):
    assert sentences(text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("一二，三四、五六", ["一二，", "三四、", "五六"]),
        ("一二三四五六七", ["一二三四", "五六七"]),
        ("ab cd ef", ["ab", "cd", "ef"]),
        ("abce\u0301f", ["abc", "e\u0301f"]),  # an accent stays with its letter
        ("，一二三四五", ["，一二三", "四五"]),  # a comma in front is no place to cut
        ("\u0301" * 9, ["\u0301" * 4, "\u0301" * 4, "\u0301"]),
    ],
)
def test_a_long_sentence_is_cut(text, wanted):
    assert sentences(text, longest=4) == wanted


def test_nothing_is_lost_and_nothing_is_too_long():
    draw = random.Random(0)
    letters = "ab中文，,、。！？；….!? \n\t\u2028”\"'）)😀\u0301\u200d\x00\ud800"
    for _ in range(2000):
        text = "".join(draw.choices(letters, k=draw.randrange(60)))
        longest = draw.randrange(1, 12)
        pieces = sentences(text, longest)
        assert "".join("".join(pieces).split()) == "".join(text.split())
        assert all(piece and len(piece) <= longest for piece in pieces)


@pytest.mark.parametrize(
    "text", ["a" * 10**6, "." * 10**6, "。" * 10**6, "a. " * 10**5, "(" * 10**6]
)
def test_time_grows_with_the_text_and_no_faster(text):
    start = time.perf_counter()
    assert "".join(sentences(text)) == text.replace(" ", "")
    assert time.perf_counter() - start < 5
