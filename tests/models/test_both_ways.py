import torch

from regard.models.both_ways import BothWays


def test_each_half_has_read_its_own_side():
    torch.manual_seed(0)
    layer = BothWays(3, 4).double()
    x = torch.randn(1, 9, 3).double().requires_grad_()
    lens = torch.tensor([7])
    for half, seen in ((slice(0, 4), range(3)), (slice(4, 8), range(2, 7))):
        (grad,) = torch.autograd.grad(layer(x, lens)[0, 2, half].sum(), x)
        assert (grad[0].abs().sum(-1) > 0).nonzero().flatten().tolist() == list(seen)


def test_a_sequence_is_read_alike_alone_and_among_longer_ones():
    torch.manual_seed(0)
    layer = BothWays(3, 4).double()
    x = torch.randn(3, 9, 3).double()
    lens = torch.tensor([9, 4, 1])
    out = layer(x, lens)
    for row, length in enumerate(lens):
        alone = layer(x[row : row + 1, :length], length[None])
        torch.testing.assert_close(out[row : row + 1, :length], alone, rtol=1e-12, atol=1e-12)


def test_a_sequence_of_nothing_is_no_trouble():
    out = BothWays(3, 4)(torch.randn(2, 5, 3), torch.tensor([0, 5]))
    assert out.isfinite().all()
