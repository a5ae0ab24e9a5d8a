from regard import Documents
from tests.masks.written_out import assert_is


def test_sees_its_own_document():
    assert_is(Documents([5, 5, 5, 5, 2, 2, 9, 9]), lambda i, j: (i < 4, i < 6) == (j < 4, j < 6))
