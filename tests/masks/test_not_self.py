from regard import NotSelf
from tests.masks.written_out import assert_is


def test_sees_all_but_itself():
    assert_is(NotSelf(), lambda i, j: i != j)
    assert_is(NotSelf(), lambda i, j: i != j, n=3)
