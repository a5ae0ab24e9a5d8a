import pytest
import torch
from benchmarks.textbook import TextbookRegression
from torch import nn

from regard import NotSelf, ShapeError
from regard.layers import NWKernelRegression
from tests.layers.textbook_data import assert_same, same_weights


def data(n=50):
    """y = 2 sin x + x^0.8 with noise, x from 0 to 5: below 0 the power would be NaN."""
    x = torch.rand(n).mul(5).sort().values
    return x, 2 * x.sin() + x**0.8 + torch.normal(0.0, 0.5, (n,))


def others(x):
    """One row a point, of all points but itself."""
    n = x.shape[0]
    return x.repeat(n, 1)[~torch.eye(n, dtype=torch.bool)].reshape(n, n - 1)


def train(net, predict, target, epochs=5):
    loss, trainer = nn.MSELoss(reduction="none"), torch.optim.SGD(net.parameters(), lr=0.5)
    losses = []
    for _ in range(epochs):
        trainer.zero_grad()
        each = loss(predict(net), target)
        each.sum().backward()
        trainer.step()
        losses.append(each.sum().item())
    return losses


def test_leave_one_out_training_of_the_width_for_five_epochs():
    torch.manual_seed(3)
    x, y = data()
    keys, values = others(x), others(y)
    ours, theirs = same_weights(NWKernelRegression(), TextbookRegression())
    losses = train(ours, lambda net: net(x, keys, values), y)
    assert losses == pytest.approx(train(theirs, lambda net: net(x, keys, values), y), rel=1e-4)
    assert losses[-1] < losses[0]
    torch.testing.assert_close(ours.w, theirs.w, rtol=1e-4, atol=0)
    test = torch.arange(0, 5, 0.1)
    rows = x.repeat(len(test), 1), y.repeat(len(test), 1)
    torch.testing.assert_close(ours(test, *rows), theirs(test, *rows), rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(
        ours.attention_weights, theirs.attention_weights, rtol=1e-3, atol=1e-6
    )
    assert ours.attention_weights.shape == (50, 50)


def test_shared_keys_and_a_mask_give_the_same_without_the_rows():
    torch.manual_seed(0)
    x, y = data(30)
    ours, theirs = same_weights(NWKernelRegression(), TextbookRegression())
    torch.testing.assert_close(ours(x, x, y, mask=NotSelf()), theirs(x, others(x), others(y)))
    assert ours.attention_weights.shape == (30, 30)
    assert ours.attention_weights.diagonal().tolist() == [0.0] * 30


@pytest.mark.parametrize("w", [-0.7, 1e-3, 20.0])
def test_gradients_for_any_sharpness(w):
    torch.manual_seed(0)
    x, y = data(30)
    ours, theirs = NWKernelRegression(), TextbookRegression()
    with torch.no_grad():
        ours.w.fill_(w)
        theirs.w.fill_(w)
    assert_same(ours, theirs, lambda net: net(x, others(x), others(y)), 1e-5)


def test_at_zero_the_average_and_no_gradient():
    x, y = data(10)
    net = NWKernelRegression()
    with torch.no_grad():
        net.w.zero_()
    found = net(x, x, y)
    torch.testing.assert_close(found, y.mean().expand(10))
    found.sum().backward()
    assert net.w.grad.item() == 0


def test_far_from_the_origin_distances_keep_their_digits():
    x = torch.tensor([1e6, 1e6 + 1, 1e6 + 2])
    net = NWKernelRegression()
    with torch.no_grad():
        net.w.fill_(5.0)
    assert net(x, x, torch.arange(3.0)).tolist() == pytest.approx([0, 1, 2], abs=1e-4)


def test_a_mask_is_for_shared_keys():
    x = torch.zeros(3)
    with pytest.raises(ShapeError, match="a mask is for keys"):
        NWKernelRegression()(x, torch.zeros(3, 2), torch.zeros(3, 2), mask=NotSelf())


def test_wrong_sizes_are_named():
    net, x = NWKernelRegression(), torch.zeros(3)
    with pytest.raises(ShapeError) as raised:
        net(x, torch.zeros(2, 4), torch.zeros(2, 4))
    assert str(raised.value) == (
        "NWKernelRegression: keys and values must both be [m] or [n, m] with n=3, "
        "got the shapes [2, 4] and [2, 4]"
    )
    with pytest.raises(ShapeError, match=r"queries must be \[n\], got the shape \[3, 1\]"):
        net(x[:, None], x, x)
