"""The sums in torch, as a GPU runs them."""

import numpy as np
import pytest
import torch

from regard.errors import ImplError
from regard.regression.derived import custom
from regard.regression.kernels import KERNELS
from regard.regression.sums import device
from regard.regression.sums.device import OnDevice
from regard.regression.sums.direct import Direct
from tests.regression.data import hill

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
KINDS = ("k", "uk", "uuk", "dk", "udk")


@pytest.mark.parametrize("leave_out", [False, True])
@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.parametrize("name", KERNELS)
def test_every_sum_is_that_of_the_definition(name, d, leave_out, monkeypatch):
    monkeypatch.setattr(device, "AT_ONCE", 500)  # several tiles
    rng = np.random.default_rng(0)
    x, width = rng.normal(size=(60, d)), 1.5 + rng.uniform(size=d)
    columns = np.column_stack((rng.uniform(0, 2, 60), rng.normal(size=(60, 2))))
    columns[::5] = 0
    q = x if leave_out else np.concatenate((rng.normal(size=(20, d)), np.full((1, d), 300.0)))
    got = OnDevice(x, columns, width, 0, kernel=KERNELS[name], device=DEVICE)
    got = got.at(q, KINDS, leave_out=leave_out)
    wanted = Direct(x, columns, width, 0.0, KERNELS[name]).at(q, KINDS, leave_out=leave_out)
    for kind in KINDS:
        mine, right = got.sums[kind], wanted.sums[kind]
        factor = np.exp(got.log_scale - wanted.log_scale).reshape(-1, *(1,) * (mine.ndim - 1))
        scale = np.abs(right).max(axis=tuple(range(1, mine.ndim)), keepdims=True)
        assert (np.abs(mine * factor - right) <= 1e-9 * scale + 1e-12).all(), kind


def test_a_function_has_no_formula_there():
    with pytest.raises(ImplError, match="kernels with a name can be summed, not 'custom'"):
        OnDevice(
            np.zeros((1, 1)), np.ones((1, 2)), np.ones(1), 0, kernel=custom(hill), device="cpu"
        )
