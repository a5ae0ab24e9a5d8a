import torch

from regard.layers.unrolled import unroll
from regard.layers.unrolled.operation import FEW, free_launches, way
from tests.layers.unrolled.calls import SIZES, Sizes, arguments, loss


def test_second_derivatives():
    given = arguments(Sizes(2, 1, 2, 2, 2, 1, 2), torch.float64)

    def f(*tensors):
        return unroll(given.with_tensors(tensors))[:2]

    assert torch.autograd.gradcheck(f, given.tensors)
    assert torch.autograd.gradgradcheck(f, given.tensors)


def test_no_gradient_no_record():
    given = arguments(SIZES[0], torch.float64)
    with torch.no_grad():
        got = unroll(given)
    assert not got.outputs.requires_grad
    recorded = unroll(given)
    assert recorded.outputs.requires_grad
    assert not recorded.queries.requires_grad  # for looking only
    torch.testing.assert_close(got, recorded)


def test_a_part_of_the_tensors_may_learn():
    given = arguments(SIZES[0], torch.float64)
    frozen = given._replace(keys=given.keys.detach(), W_q=given.W_q.detach())
    wanted = torch.autograd.grad(loss(unroll(given)), given.inputs)
    assert torch.equal(torch.autograd.grad(loss(unroll(frozen)), given.inputs)[0], wanted[0])


def test_bit_equal_on_repeat():
    given = arguments(SIZES[0], torch.float32, masked=True, dropped=True)
    first, second = (torch.autograd.grad(loss(unroll(given)), given.tensors) for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(first, second, strict=True))


def test_kernels_are_for_gpus():
    assert way(arguments(SIZES[0], torch.float32)) == "loop"


def test_where_launches_are_free_products_over_the_batch_are_preferred(monkeypatch):
    # as if on a GPU: what is asked of the inputs is their device, dtype and sizes
    class There:
        device, dtype = torch.device("cuda"), torch.float32

        def __init__(self, b):
            self.shape = (3, b, 4)

        def numel(self):
            return 1

    monkeypatch.setattr("regard.layers.unrolled.operation.has", lambda name: True)
    for b, free in ((FEW, "kernel"), (FEW + 1, "steps")):
        given = arguments(SIZES[0], torch.float32)._replace(inputs=There(b))
        assert way(given) == "kernel"
        with free_launches():
            assert way(given) == free
            assert way(given._replace(keys=given.keys[:, :0])) == "loop"  # nothing to look at
        assert way(given) == "kernel"
