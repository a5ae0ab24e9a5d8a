from regard import Window
from tests.masks.written_out import assert_is


def test_sees_its_neighbourhood():
    assert_is(Window(2, 1), lambda i, j: i - 2 <= j <= i + 1)
    assert_is(Window(left=0), lambda i, j: i <= j, n=5)
    assert_is(Window(right=3, offset=-2), lambda i, j: j <= i - 2 + 3, m=5)
    assert_is(Window(), lambda i, j: True)
