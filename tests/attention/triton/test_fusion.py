"""That the launch of a kernel which does not say what is fused fails its test: see conftest."""

import pytest
import torch

from regard.attention.triton.fusion import FUSED

pytest.importorskip("triton")


def test_a_launch_without_a_word_fails_its_test(triton, device):
    found = torch.zeros(1, 8, dtype=torch.float32, device=device)
    norms, mean = (torch.zeros(8, dtype=torch.float32, device=device) for _ in range(2))
    lse = torch.zeros(8, dtype=torch.float64, device=device)
    given = (found, found, lse, mean, norms, 1, 8)
    with pytest.raises(pytest.fail.Exception, match="deltas"):
        triton.dot.matrix.deltas[(1,)](*given, BM=16, DV=16)
    triton.dot.matrix.deltas[(1,)](*given, BM=16, DV=16, **FUSED)
