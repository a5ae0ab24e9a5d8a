"""The regression benchmark checks what it times."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="scikit-learn is not installed")

from benchmarks.environment import describe

from benchmarks import regression


@pytest.mark.parametrize("case", regression.CASES, ids=lambda case: case.name)
def test_a_small_run(case):
    small = replace(case, n=600, peers={"torch": regression._torch} if case.d == 5 else {})
    rows = regression._rows(small, describe(), seconds=0.01)
    assert rows[0].provider == "ours"
    assert rows[0].note.startswith("width" if case.job == "loo" else "error")


def test_a_wrong_answer_is_not_timed():
    case = replace(regression.CASES[0], n=50)
    data = regression._data(case)
    right = regression._exact(*data, case)
    assert regression._off(case, "ours", right, data) == "error 0.0e+00"
    with pytest.raises(AssertionError, match="ours is off by"):
        regression._off(case, "ours", right + 1e-6, data)
    assert np.isfinite(right).all()
