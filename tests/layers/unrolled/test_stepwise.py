"""The kernels of a step, in Triton's interpreter where there is no GPU."""

import pytest
import torch

from regard.layers.unrolled import gradients, operation, unroll
from regard.layers.unrolled.definition import run
from tests.layers.unrolled.calls import SIZES, Sizes, agree, arguments, loss, on_device

pytest.importorskip("triton")

# more tokens than a tile, and more features than a narrow or a wide one
LARGE = [Sizes(2, 3, 37, 5, 130, 515, 2), Sizes(2, 3, 32, 513, 514, 3, 1)]


@pytest.fixture(autouse=True)
def by_steps(monkeypatch):
    monkeypatch.setattr(operation, "way", lambda given: "steps")
    real = torch.Tensor.new_empty

    def poisoned(x, *size, **options):
        return real(x, *size, **options).fill_(torch.nan)

    monkeypatch.setattr(torch.Tensor, "new_empty", poisoned)  # what is left unwritten is seen


@pytest.mark.parametrize("dropped", [False, True])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("sizes", [*SIZES, *LARGE], ids=str)
def test_steps_are_the_definition(sizes, masked, dropped):
    agree(sizes, masked=masked, dropped=dropped)


@pytest.mark.parametrize("sizes", [SIZES[0], LARGE[0]], ids=str)
def test_everything_kept_is_the_definitions(sizes):
    from regard.layers.unrolled import stepwise

    given = on_device(arguments(sizes, torch.float32, masked=True, dropped=True))
    with torch.no_grad():
        got, wanted = stepwise.run(given), run(given)
        pull = torch.Generator().manual_seed(1)
        d = [torch.randn(x.shape, generator=pull).to(x.device) for x in wanted.unrolled()[:2]]
        back = stepwise.steps_back(given, got, *d)
        right = gradients.steps_back(given, wanted, *d)
    assert (got.weights[:, 2] == 0).all()  # it sees nothing
    for name in ("found", "contexts", "scores", "queries", "states"):
        x, y = getattr(back, name), getattr(right, name)
        torch.testing.assert_close(x, y, rtol=1e-5, atol=1e-5 * y.abs().max().item())
    torch.testing.assert_close(got, wanted, rtol=1e-5, atol=1e-5)


def test_garbage_where_nothing_is_seen_is_not_read():
    given = on_device(arguments(SIZES[0], torch.float32, masked=True))
    wanted = torch.autograd.grad(loss(unroll(given)), given.tensors)
    hidden = ~given.allowed.unsqueeze(-1)
    for x in (given.keys, given.values):
        x.data.masked_fill_(hidden, torch.nan)
    got = torch.autograd.grad(loss(unroll(given)), given.tensors)
    assert all(torch.equal(a, b) for a, b in zip(got, wanted, strict=True))


def test_bit_equal_on_repeat():
    given = on_device(arguments(LARGE[0], torch.float32, masked=True, dropped=True))
    first, second = (torch.autograd.grad(loss(unroll(given)), given.tensors) for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(first, second, strict=True))


def test_strided_arguments():
    given = on_device(arguments(SIZES[0], torch.float32, dropped=True))
    wanted = torch.autograd.grad(loss(unroll(given)), given.tensors)

    def strided(x):
        return torch.stack((x, x), -1)[..., 0]

    views = given.with_tensors(tuple(strided(x) for x in given.tensors))
    got = torch.autograd.grad(loss(unroll(views)), given.tensors)
    for x, y in zip(got, wanted, strict=True):
        torch.testing.assert_close(x, y)
