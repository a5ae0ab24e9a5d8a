import pytest
import torch
from benchmarks.textbook import TextbookMultiHead
from torch import nn

from regard import Causal, KindError, ShapeError, ValueRangeError
from regard.layers import (
    MultiHeadAttention,
    RelativeBias,
    Rotary,
    transpose_output,
    transpose_qkv,
)
from tests.layers.textbook_data import assert_same, same_weights


def test_the_example_of_the_notes():
    attention = MultiHeadAttention(100, 100, 100, 100, 5, 0.5)
    attention.eval()
    x, y = torch.ones(2, 4, 100), torch.ones(2, 6, 100)
    assert attention(x, y, y, torch.tensor([3, 2])).shape == (2, 4, 100)
    assert attention.attention.attention_weights.shape == (10, 4, 6)
    assert attention.attention_weights.shape == (2, 5, 4, 6)


@pytest.mark.parametrize("lens", [None, (3,), (3, 7)], ids=str)
def test_the_textbook_form_from_the_same_weights(lens):
    torch.manual_seed(0)
    sizes = (5, 6, 7, 24, 4, 0.1)
    ours, theirs = same_weights(MultiHeadAttention(*sizes), TextbookMultiHead(*sizes))
    q, k, v = torch.randn(3, 7, 6), torch.randn(3, 9, 5), torch.randn(3, 9, 7)
    lens = None if lens is None else torch.randint(1, 10, lens)
    assert_same(ours, theirs, lambda net: net(q, k, v, lens))
    torch.testing.assert_close(ours.attention.attention_weights, theirs.attention.attention_weights)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("widths", [{}, {"kdim": 5, "vdim": 3}], ids=str)
def test_weights_of_torch(bias, widths):
    torch.manual_seed(0)
    theirs = nn.MultiheadAttention(8, 2, bias=bias, batch_first=True, **widths).double().eval()
    for p in theirs.parameters():
        p.data = torch.randn_like(p)  # biases start at 0
    ours = MultiHeadAttention.from_torch(theirs)
    q = torch.randn(3, 4, 8, dtype=torch.float64)
    k = torch.randn(3, 6, widths.get("kdim", 8), dtype=torch.float64)
    v = torch.randn(3, 6, widths.get("vdim", 8), dtype=torch.float64)
    lens = torch.tensor([6, 2, 1])
    padding = torch.arange(6) >= lens[:, None]
    wanted, weights = theirs(q, k, v, key_padding_mask=padding, average_attn_weights=False)
    torch.testing.assert_close(ours(q, k, v, lens), wanted, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(ours.attention_weights, weights, rtol=1e-12, atol=1e-12)
    assert not ours.training


def test_weights_of_torch_that_mean_something_else_are_refused():
    with pytest.raises(ValueRangeError, match="add_bias_kv=True adds keys of its own"):
        MultiHeadAttention.from_torch(nn.MultiheadAttention(8, 2, add_bias_kv=True))
    with pytest.raises(ValueRangeError, match="add_zero_attn=True adds keys of its own"):
        MultiHeadAttention.from_torch(nn.MultiheadAttention(8, 2, add_zero_attn=True))
    with pytest.raises(KindError, match=r"takes a torch.nn.MultiheadAttention, got Linear"):
        MultiHeadAttention.from_torch(nn.Linear(2, 2))


@pytest.mark.parametrize("kv", [1, 2])
def test_grouped_keys_are_whole_keys_repeated(kv):
    torch.manual_seed(0)
    grouped = MultiHeadAttention(6, 6, 6, 12, 4, 0.0, num_kv_heads=kv)
    whole = MultiHeadAttention(6, 6, 6, 12, 4, 0.0)
    state = grouped.state_dict()
    for name in ("W_k.weight", "W_v.weight"):
        rows = state[name].view(kv, 3, 6).repeat_interleave(4 // kv, 0)
        assert state[name].shape == (kv * 3, 6)
        state[name] = rows.reshape(12, 6)
    whole.load_state_dict(state)
    x = torch.randn(2, 5, 6)
    torch.testing.assert_close(grouped(x, x, x), whole(x, x, x))


@pytest.mark.parametrize("positions", [Rotary(3), RelativeBias(4, 2)], ids=["rotary", "relative"])
def test_a_cache_and_the_whole_sequence_agree(positions):
    torch.manual_seed(0)
    layer = MultiHeadAttention(6, 6, 6, 12, 4, 0.0, positions=positions).double()
    for p in layer.parameters():
        p.data += torch.randn_like(p) * 0.1
    x = torch.randn(2, 7, 6, dtype=torch.float64)
    whole = layer(x, x, x, mask=Causal())
    k, v = layer.project(x[:, :3], x[:, :3])
    more = layer.project(x[:, 3:], x[:, 3:], offset=3)
    k, v = (torch.cat(pair, 2) for pair in zip((k, v), more, strict=True))
    rest = layer.over(x[:, 3:], k, v, Causal(offset=3), offset=3)
    torch.testing.assert_close(rest, whole[:, 3:], rtol=1e-12, atol=1e-12)


def test_positions_make_order_matter():
    torch.manual_seed(0)
    x = torch.randn(1, 5, 8)
    turned = x.flip(1)
    plain = MultiHeadAttention(8, 8, 8, 8, 2, 0.0)
    torch.testing.assert_close(plain(turned, turned, turned).flip(1), plain(x, x, x))
    for positions in (Rotary(4), RelativeBias(2)):
        layer = MultiHeadAttention(8, 8, 8, 8, 2, 0.0, positions=positions)
        if isinstance(positions, RelativeBias):
            positions.table.data.normal_()
        assert not torch.allclose(layer(turned, turned, turned).flip(1), layer(x, x, x))


def test_padding_may_hold_anything():
    torch.manual_seed(0)
    layer = MultiHeadAttention(3, 4, 5, 8, 2, 0.0, bias=True)
    q, k, v = torch.randn(2, 3, 4), torch.randn(2, 6, 3), torch.randn(2, 6, 5)
    lens = torch.tensor([2, 5])
    clean = layer(q, k, v, lens)
    wanted = torch.autograd.grad(clean.square().sum(), list(layer.parameters()))
    k[0, 2:], v[0, 2:], k[1, 5], v[1, 5] = torch.nan, torch.inf, -torch.inf, torch.nan
    dirty = layer(q, k, v, lens)
    assert torch.equal(clean, dirty)
    found = torch.autograd.grad(dirty.square().sum(), list(layer.parameters()))
    assert all(torch.equal(a, b) for a, b in zip(found, wanted, strict=True))


def test_a_sentence_of_length_zero_and_an_empty_batch():
    layer = MultiHeadAttention(4, 4, 4, 4, 2, 0.0)
    x = torch.randn(2, 3, 4)
    assert layer(x, x, x, torch.tensor([0, 3]))[0].tolist() == [[0.0] * 4] * 3
    assert layer(x[:0], x[:0], x[:0]).shape == (0, 3, 4)


def test_transposes_are_inverses():
    x = torch.randn(2, 3, 8)
    heads = transpose_qkv(x, 4)
    assert heads.shape == (8, 3, 2)
    assert torch.equal(heads[5], x[1, :, 2:4])
    assert torch.equal(transpose_output(heads, 4), x)
    with pytest.raises(ShapeError, match=r"h a multiple of num_heads=3, got the shape \[2, 3, 8\]"):
        transpose_qkv(x, 3)
    with pytest.raises(ShapeError, match=r"with heads=3, got the shape \[8, 3, 2\]"):
        transpose_output(heads, 3)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: MultiHeadAttention(4, 4, 4, 10, 4, 0.0),
            ValueRangeError,
            "MultiHeadAttention: num_hiddens must be a multiple of num_heads=4, got 10",
        ),
        (
            lambda: MultiHeadAttention(4, 4, 4, 12, 4, 0.0, num_kv_heads=3),
            ValueRangeError,
            "MultiHeadAttention: num_heads=4 must be a multiple of num_kv_heads, got 3",
        ),
        (
            lambda: MultiHeadAttention(4, 4, 4, 12, 4, 0.0, positions="rotary"),
            KindError,
            "MultiHeadAttention: positions must be Rotary, ALiBi, RelativeBias or None, got str",
        ),
        (
            lambda: MultiHeadAttention(4, 5, 6, 12, 4, 0.0)(
                torch.zeros(1, 2, 4), torch.zeros(1, 2, 4), torch.zeros(1, 2, 6)
            ),
            ShapeError,
            "MultiHeadAttention: queries must be [b, n, 5], got the shape [1, 2, 4]",
        ),
    ],
)
def test_message(call, error, message):
    with pytest.raises(error) as raised:
        call()
    assert str(raised.value) == message


@pytest.mark.parametrize("bias", [False, True, "one"])
@pytest.mark.parametrize("kv", [1, 4])
def test_projections_in_one_product_are_the_projections(kv, bias):
    torch.manual_seed(0)
    layer = MultiHeadAttention(12, 12, 12, 12, 4, 0.0, bias=bool(bias), num_kv_heads=kv).double()
    if bias == "one":
        layer.W_q.bias = layer.W_k.bias = None
    x = torch.randn(2, 5, 12, dtype=torch.float64, requires_grad=True)
    wanted = layer.over(x, *layer.project(x, x.clone()))  # of two tensors: one by one
    pull = torch.randn_like(wanted)
    learned = [x, *layer.parameters()]
    for found in (
        layer.among(*layer.project_all(x)),
        layer.over(x, *layer.project(x, x)),
    ):
        torch.testing.assert_close(found, wanted, rtol=1e-12, atol=1e-12)
        got, right = (
            torch.autograd.grad(y, learned, pull, retain_graph=True) for y in (found, wanted)
        )
        for one, other in zip(got, right, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("how", ["hook", "other", "forward"])
def test_a_projection_that_does_more_than_project_is_called(how):
    layer = MultiHeadAttention(4, 4, 4, 4, 2, 0.0)
    x, calls = torch.randn(1, 3, 4), []

    class Noisy(nn.Linear):
        def forward(self, x):
            calls.append(x.shape)
            return super().forward(x)

    if how == "hook":
        layer.W_k.register_forward_hook(lambda module, given, out: calls.append(out.shape))
    elif how == "forward":
        layer.W_k.forward = Noisy(4, 4).forward
    else:
        layer.W_k = Noisy(4, 4)
    layer.among(*layer.project_all(x))
    layer.project(x, x)
    assert len(calls) == 2


def test_one_tensor_for_all_projections_must_fit_them_all():
    with pytest.raises(ShapeError, match=r"x must be .*, got"):
        MultiHeadAttention(4, 6, 4, 6, 2, 0.0).project_all(torch.randn(1, 3, 6))
