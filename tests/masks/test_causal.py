from regard import Causal
from tests.masks.written_out import assert_is


def test_sees_no_further_than_itself_and_the_offset():
    assert_is(Causal(), lambda i, j: j <= i)
    assert_is(Causal(3), lambda i, j: j <= i + 3, n=5)
    assert_is(Causal(-4), lambda i, j: j <= i - 4, m=5)
