import pytest
import torch

from regard import Uniform, attend
from regard.attention.dropout import keep, threshold

SEED = torch.tensor(5)


def kept(seed, rows, keys, p):
    return keep(seed, torch.arange(rows)[:, None], torch.arange(keys), p)


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_the_rate_is_what_was_asked_for(p):
    n = 10_000_000
    rate = 1 - kept(SEED, 5000, 2000, p).double().mean().item()
    assert abs(rate - p) <= 4 * (p * (1 - p) / n) ** 0.5


def test_rows_and_columns_and_seeds_are_unrelated():
    x = kept(SEED, 2000, 2000, 0.5).float() * 2 - 1
    other = kept(torch.tensor(6), 2000, 2000, 0.5).float() * 2 - 1
    noise = 5 / 2000  # five standard deviations of a mean over 4 million fair coins
    for shifted in (x.roll(1, 0), x.roll(1, 1), x.roll((1, 1), (0, 1)), other, x.T):
        assert abs((x * shifted).mean().item()) < noise
    assert x.mean(0).abs().max() < 6 / 2000**0.5
    assert x.mean(1).abs().max() < 6 / 2000**0.5


def test_the_bits_never_change():
    # a file written today must mean the same to the next version
    assert kept(SEED, 3, 16, 0.5).int().tolist() == [
        [1, 0, 1, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 1, 1],
        [1, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0],
        [0, 0, 1, 1, 1, 0, 0, 1, 1, 0, 1, 1, 1, 0, 1, 0],
    ]


def test_nothing_is_dropped_at_zero_and_all_but_nothing_near_one():
    assert threshold(0.0) == 0
    assert kept(SEED, 10, 10, 0.0).all()
    assert threshold(1 - 1e-12) == 2**32 - 1


@pytest.mark.parametrize("impl", ["reference", "cpu"])
def test_the_mask_is_the_same_forward_and_backward_and_in_every_implementation(impl):
    # with v = I the output is the weights, and its gradient by v shows the mask of the backward
    n, m = 40, 150
    v = torch.eye(m).requires_grad_()
    out = attend(
        torch.zeros(n, 1), torch.zeros(m, 1), v, score=Uniform(), dropout=0.3, seed=9, impl=impl
    )
    wanted = kept(torch.tensor(9), n, m, 0.3)
    assert torch.equal(out != 0, wanted)
    assert out[wanted].tolist() == pytest.approx([1 / m / 0.7] * int(wanted.sum()), rel=1e-6)
    for row in (0, 17, 39):
        grad = torch.autograd.grad(out[row].sum(), v, retain_graph=True)[0]
        assert torch.equal(grad[:, 0] != 0, wanted[row])


def test_unchanged_under_activation_checkpointing():
    from torch.utils.checkpoint import checkpoint

    q, k, v = (torch.randn(2, 60, 16).requires_grad_() for _ in range(3))

    def run(q, k, v):
        return attend(q, k, v, dropout=0.4, impl="cpu")

    torch.manual_seed(1)
    plain = torch.autograd.grad(run(q, k, v).sin().sum(), (q, k, v))
    torch.manual_seed(1)
    out = checkpoint(run, q, k, v, use_reentrant=False)
    again = torch.autograd.grad(out.sin().sum(), (q, k, v))
    assert all(torch.equal(a, b) for a, b in zip(plain, again, strict=True))
