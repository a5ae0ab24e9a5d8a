"""Settings on their own; what the estimator says of them is in ``test_nadaraya_watson``."""

import numpy as np
import pytest

from regard.errors import KindError, ShapeError, ValueRangeError
from regard.regression.settings import check_settings, check_width

FINE = {"algorithm": "auto", "empty": "nan", "degree": 1, "tol": 1e-6, "dtype": "f4"}


def test_what_has_a_meaning_passes():
    check_settings(**FINE)
    np.testing.assert_array_equal(check_width(2, 3), [2.0, 2.0, 2.0])
    np.testing.assert_array_equal(check_width([1, 2], 2), [1.0, 2.0])


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        ({"algorithm": "best"}, ValueRangeError),
        ({"empty": None}, ValueRangeError),
        ({"degree": 2}, ValueRangeError),
        ({"tol": 1.0}, ValueRangeError),
        ({"dtype": "i8"}, KindError),
    ],
)
def test_what_has_none_is_refused(bad, error):
    with pytest.raises(error, match=next(iter(bad))):
        check_settings(**FINE | bad)


def test_widths_that_are_none():
    for given, error in (([1, 2, 3], ShapeError), ("wide", KindError), ([1, -1], ValueRangeError)):
        with pytest.raises(error, match="bandwidth must be"):
            check_width(given, 2)
