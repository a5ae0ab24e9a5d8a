"""Values of flags that are read, and what is said of those that are not."""

import argparse

import pytest

from regard.cli.flags import number, rising


@pytest.mark.parametrize("text", ["1", "10", " 7 "])
def test_a_number_within_its_limits(text):
    assert number(text, int, 1, 10) == int(text)


def test_a_fraction():
    assert number("0.5", float, 0, 1) == 0.5


@pytest.mark.parametrize("text", ["0", "11", "many", "", "2.5", "nan", "9" * 30])
def test_a_number_that_is_refused(text):
    with pytest.raises(argparse.ArgumentTypeError) as raised:
        number(text, int, 1, 10)
    assert str(raised.value) == f"must be a whole number from 1 to 10, got {text!r}"


def test_sizes_are_sorted_and_once():
    assert rising("8,2,8, 4", 1, 10) == (2, 4, 8)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("8", "must be two or more numbers with commas between them, got '8'"),
        ("8,8", "must be two or more numbers with commas between them, got '8,8'"),
        ("0,8", "must be a whole number from 1 to 10, got '0'"),
        ("8,", "must be a whole number from 1 to 10, got ''"),
        ("2 4", "must be a whole number from 1 to 10, got '2 4'"),
    ],
)
def test_sizes_that_are_refused(text, message):
    with pytest.raises(argparse.ArgumentTypeError) as raised:
        rising(text, 1, 10)
    assert str(raised.value) == message
