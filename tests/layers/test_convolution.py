"""Convolution as self-attention: the same numbers, and heads that can move."""

import random
import warnings
from copy import deepcopy
from typing import NamedTuple

import pytest
import torch
from torch import nn

from regard.attention.api import attend
from regard.errors import KindError, ShapeError, StateError, ValueRangeError
from regard.layers.base import Attending
from regard.layers.convolution import PositionalSelfAttention, from_conv

CONVS = {1: nn.Conv1d, 2: nn.Conv2d, 3: nn.Conv3d}
MODES = ["zeros", "reflect", "replicate", "circular"]
TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-12}


class Config(NamedTuple):
    """A convolution, and the input it meets."""

    size: tuple[int, ...]
    kernel: tuple[int, ...]
    padding: object = 0
    mode: str = "zeros"
    dilation: tuple[int, ...] = (1,)
    channels: tuple[int, int] = (1, 1)
    groups: int = 1
    bias: bool = True
    batch: int | None = 2  # None: no batch axis
    scale: float = 1.0

    def conv(self, dtype):
        axes = len(self.size)
        return CONVS[axes](
            *self.channels,
            self.kernel,
            padding=self.padding,
            padding_mode=self.mode,
            dilation=self.dilation * (axes // len(self.dilation)),
            groups=self.groups,
            bias=self.bias,
            dtype=dtype,
        )

    def input(self, dtype):
        lead = () if self.batch is None else (self.batch,)
        return torch.randn(*lead, self.channels[0], *self.size, dtype=dtype) * self.scale


def drawn(seed):
    """A random configuration that the convolution itself takes."""
    draw = random.Random(seed)
    axes = draw.choice([1, 1, 2, 2, 2, 3])
    top = {1: 17, 2: 8, 3: 4}[axes]
    size = tuple(draw.randint(1, top) for _ in range(axes))
    kernel = tuple(draw.randint(1, 4 if axes < 3 else 3) for _ in range(axes))
    dilation = tuple(draw.choice([1, 1, 2, 3]) for _ in range(axes))
    mode = draw.choice(MODES)
    need = [max(d * (k - 1) + 1 - s, 0) for s, k, d in zip(size, kernel, dilation, strict=True)]
    most = [{"reflect": s - 1, "circular": s}.get(mode, 5) for s in size]
    least = [-(-x // 2) for x in need]
    if any(few > many for few, many in zip(least, most, strict=True)):
        return drawn(seed + 1000)
    padding = tuple(draw.randint(few, many) for few, many in zip(least, most, strict=True))
    halves = [d * (k - 1) - d * (k - 1) // 2 for k, d in zip(kernel, dilation, strict=True)]
    if all(x <= many for x, many in zip(halves, most, strict=True)) and draw.random() < 0.3:
        padding = "same"
    elif not any(need) and draw.random() < 0.2:
        padding = "valid"
    groups = draw.choice([1, 1, 2, 3])
    channels = (groups * draw.randint(1, 3), groups * draw.randint(1, 3))
    return Config(
        size, kernel, padding, mode, dilation, channels, groups,
        bias=draw.random() < 0.7,
        batch=draw.choice([None, 1, 2, 3]),
        scale=draw.choice([1e-3, 1.0, 1.0, 1e3, 1e10]),
    )  # fmt: skip


CHOSEN = [
    Config((1,), (1,)),
    Config((1, 1), (1, 1), channels=(3, 2)),
    Config((1, 1), (3, 3), padding=1),
    Config((7,), (7,), channels=(2, 3)),  # the kernel is the input
    Config((4, 5), (4, 5)),
    Config((3,), (2,), padding=9),  # most of what is seen is padding
    Config((2, 3), (1, 2), padding=(7, 4), mode="replicate"),
    Config((6,), (4,), padding="same"),
    Config((5, 6), (4, 2), padding="same", mode="circular"),
    Config((9,), (3,), padding="same", mode="reflect", dilation=(3,)),
    Config((5,), (3,), padding=5, mode="circular"),
    Config((5,), (3,), padding=4, mode="reflect"),
    Config((5,), (3,), batch=0),
    Config((6, 6), (3, 3), padding=1, channels=(4, 4), groups=4, bias=False),
    Config((6, 6), (3, 3), padding=1, scale=1e30),
    Config((700,), (5,), padding=2, channels=(3, 4)),  # large enough for the kernels
    Config((20, 20), (3, 3), padding=1, channels=(3, 4), mode="reflect"),
    Config((16, 30), (2, 5), padding=(1, 2), channels=(4, 6), groups=2, dilation=(2, 1)),
]
CONFIGS = CHOSEN + [drawn(seed) for seed in range(80)]


def close(got, wanted, what):
    """Equal to 1e-5 in float32, 1e-12 in float64; of the largest number, if that is above 1."""
    assert got.shape == wanted.shape, what
    assert got.dtype == wanted.dtype, what
    size = max(wanted.abs().max().item(), 1.0) if wanted.numel() else 1.0
    wrong = (got - wanted).abs().max().item() / size if wanted.numel() else 0.0
    assert wrong <= TOLERANCE[wanted.dtype], f"{what}: off by {wrong:.1e}"


def run(layer, x, weight):
    x = x.clone().requires_grad_()
    out = layer(x)
    out.backward(torch.linspace(-1, 1, out.numel(), dtype=x.dtype).cos().view(out.shape))
    bias = None if layer.bias is None else layer.bias.grad
    return out.detach(), x.grad, weight.grad.flatten(2), bias


@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_it_is_the_convolution(config):
    names = ("output", "gradient of x", "gradient of weight", "gradient of bias")
    for dtype in TOLERANCE:
        torch.manual_seed(0)
        conv, x = config.conv(dtype), config.input(dtype)
        layer = from_conv(conv)
        with warnings.catch_warnings():  # torch's own, of an uneven "same"
            warnings.simplefilter("ignore", UserWarning)
            wanted = run(conv, x, conv.weight)
        got = run(layer, x, layer.weight)
        for name, ours, theirs in zip(names, got, wanted, strict=True):
            if theirs is not None:
                close(ours, theirs, f"{name}, {dtype}")


def test_close_can_say_no():
    x = torch.ones(3)
    for wrong in (x + 2e-5, x[:2], x.double()):
        with pytest.raises(AssertionError):
            close(wrong, x, "spoiled")


def test_it_is_attention():
    layer = from_conv(nn.Conv1d(2, 3, 3, padding=1))
    assert isinstance(layer, Attending)
    x = torch.randn(2, 2, 5)
    layer(x)
    w = layer.attention_weights
    assert w.shape == (3, 5, 7)  # one head an entry of the kernel; 7 positions with the padding
    exact = deepcopy(layer).double()
    exact(x.double())
    for head in range(3):  # all weight on the one key: the others' is 0, in float64 too
        assert torch.equal(w[head], torch.eye(5, 7).roll(head, 1))
        assert torch.equal(exact.attention_weights[head], w[head].double())
    looked = layer.looked
    padded = nn.functional.pad(x, (1, 1)).permute(2, 0, 1).flatten(1)
    found = attend(looked.q, looked.k, padded.expand(3, -1, -1), score=looked.score)
    by_hand = torch.einsum("tnbi,oit->bon", found.view(3, 5, 2, 2), layer.weight)
    torch.testing.assert_close(layer(x), by_hand + layer.bias[:, None])


def test_offsets_are_where_a_head_looks_from_where_it_stands():
    layer = from_conv(nn.Conv2d(1, 1, (3, 2), padding=(1, 0), dilation=(1, 4)))
    assert layer.offsets.tolist() == [[-1, 0], [-1, 4], [0, 0], [0, 4], [1, 0], [1, 4]]


def test_past_the_edge_a_head_sees_what_is_nearest():
    layer = PositionalSelfAttention(torch.ones(1, 1, 1), torch.tensor([[2.0, -1.0]]))
    x = torch.arange(12.0).view(1, 3, 4)
    wanted = x[:, [2, 2, 2]][:, :, [0, 0, 1, 2]]
    assert torch.equal(layer(x), wanted)


def test_a_convolution_s_heads_can_learn_to_look_further():
    # no convolution of three entries can guess what stands 3 away: its loss is the variance, 1
    torch.manual_seed(0)
    layer = from_conv(nn.Conv1d(1, 1, 3, padding=1), width=1.0)
    optimiser = torch.optim.Adam(layer.parameters(), lr=0.05)
    losses = []
    for _ in range(150):
        x = torch.randn(8, 1, 24)
        loss = (layer(x)[..., 4:] - x[..., 1:-3]).square().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses[0] > 0.8
    assert max(losses[-10:]) < 0.05
    assert (layer.offsets.detach() < -2).any()


def test_a_narrow_look_has_no_gradient_to_move_by():
    layer = from_conv(nn.Conv1d(1, 1, 3, padding=1))
    layer(torch.randn(2, 1, 9)).square().sum().backward()
    assert not layer.offsets.grad.any()
    assert not layer.log_width.grad.any()
    assert layer.weight.grad.all()


def test_the_weights_are_copies_and_the_mode_is_kept():
    conv = nn.Conv1d(2, 3, 3).eval()
    layer = from_conv(conv)
    assert not layer.training
    before = layer(torch.ones(1, 2, 5))
    with torch.no_grad():
        conv.weight.zero_()
        conv.bias.zero_()
    assert torch.equal(layer(torch.ones(1, 2, 5)), before)
    assert torch.equal(deepcopy(layer)(torch.ones(1, 2, 5)), before)
    other = from_conv(nn.Conv1d(2, 3, 3))
    other.load_state_dict(layer.state_dict())
    assert torch.equal(other(torch.ones(1, 2, 5)), before)


def test_offsets_given_are_not_shared():
    given = torch.zeros(1, 1)
    layer = PositionalSelfAttention(torch.ones(1, 1, 1), given)
    with torch.no_grad():
        layer.offsets += 1
    assert not given.any()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_half_precision_finds_its_positions(dtype):
    conv = nn.Conv1d(1, 1, 3, padding=1).to(dtype)
    with torch.no_grad():
        conv.weight.copy_(torch.tensor([[[1.0, 0.0, 0.0]]]))
        conv.bias.zero_()
    x = torch.randn(1, 1, 4000).to(dtype)  # neither dtype has all whole numbers up to 4000
    got = from_conv(conv)(x)
    assert got.dtype == dtype
    assert torch.equal(got[..., 1:], x[..., :-1])


def test_autocast_finds_its_positions():
    conv = nn.Conv1d(1, 1, 3, padding=1)
    x = torch.randn(1, 1, 1000)
    with torch.autocast("cpu", torch.bfloat16):
        got, wanted = from_conv(conv)(x), conv(x)
    assert got.dtype == wanted.dtype == torch.bfloat16
    torch.testing.assert_close(got, wanted, rtol=0.02, atol=0.02)


def layer(**options):
    return PositionalSelfAttention(torch.ones(4, 2, 3), torch.zeros(3, 1), **options)


NAME = "PositionalSelfAttention: "


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: from_conv(nn.Linear(2, 2)), KindError,
         "from_conv takes a torch.nn.Conv1d, Conv2d or Conv3d, got Linear"),
        (lambda: from_conv(nn.ConvTranspose1d(1, 1, 3)), KindError,
         "from_conv takes a torch.nn.Conv1d, Conv2d or Conv3d, got ConvTranspose1d"),
        (lambda: from_conv(nn.LazyConv1d(1, 3)), StateError,
         "from_conv: the convolution does not know its channels yet; call it once before"),
        (lambda: from_conv(nn.Conv2d(1, 1, 3, stride=(1, 2))), ValueRangeError,
         "from_conv: stride must be 1, got (1, 2); convert the same convolution with stride 1 and "
         "keep out[..., ::1, ::2]"),
        (lambda: from_conv(nn.Conv1d(1, 1, 3), width=0), ValueRangeError,
         NAME + "width must be positive and finite, got 0"),
        (lambda: from_conv(nn.Conv1d(2, 1, 3))(torch.zeros(1, 3, 5)), ShapeError,
         NAME + "x must be [b, 2, l] or [2, l], got the shape [1, 3, 5]"),
        (lambda: from_conv(nn.Conv2d(2, 1, 3))(torch.zeros(2, 5)), ShapeError,
         NAME + "x must be [b, 2, h, w] or [2, h, w], got the shape [2, 5]"),
        (lambda: from_conv(nn.Conv3d(4, 2, 1, groups=2))(torch.zeros(2, 1, 1, 1)), ShapeError,
         NAME + "x must be [b, 4, d, h, w] or [4, d, h, w], got the shape [2, 1, 1, 1]"),
        (lambda: from_conv(nn.Conv1d(2, 1, 3))([1]), KindError,
         NAME + "x must be a torch.Tensor, got list"),
        (lambda: from_conv(nn.Conv1d(2, 1, 3))(torch.zeros(1, 2, 5).double()), ShapeError,
         NAME + "x must have the dtype of the weight, torch.float32, got torch.float64"),
        (lambda: from_conv(nn.Conv2d(1, 1, (2, 5), padding=1))(torch.zeros(1, 1, 3, 2)), ShapeError,
         NAME + "x must have at least [0, 3] positions, or no output is left; got [3, 2]"),
        (lambda: from_conv(nn.Conv1d(1, 1, 2, padding=3, padding_mode="reflect"))(
            torch.zeros(1, 1, 3)), ShapeError,
         NAME + "padding_mode='reflect' can add at most [2] positions to the [3] of x, and padding "
         "is [(3, 3)]"),
        (lambda: from_conv(nn.Conv1d(1, 1, 2, padding=4, padding_mode="circular"))(
            torch.zeros(1, 1, 3)), ShapeError,
         NAME + "padding_mode='circular' can add at most [3] positions to the [3] of x, and "
         "padding is [(4, 4)]"),
        (lambda: layer(padding_mode="mirror"), ValueRangeError,
         NAME + "padding_mode must be one of 'zeros', 'reflect', 'replicate', 'circular'; got "
         "'mirror'"),
        (lambda: layer(padding=[(1, 1), (0, 0)]), ShapeError,
         NAME + "padding must have one entry for each of the 1 axes of offsets, got 2"),
        (lambda: layer(grow=[1, 2]), ShapeError,
         NAME + "grow must have one entry for each of the 1 axes of offsets, got 2"),
        (lambda: layer(groups=3), ShapeError,
         NAME + "the 4 outputs of weight must be a multiple of groups=3"),
        (lambda: layer(groups=0), ValueRangeError, NAME + "groups must be at least 1, got 0"),
        (lambda: layer(bias=torch.ones(5)), ShapeError,
         NAME + "bias must be [4] as weight, got [5]"),
        (lambda: layer(bias=0.5), KindError, NAME + "bias must be a tensor [o], got float"),
        (lambda: PositionalSelfAttention(torch.ones(4, 2), torch.zeros(3, 1)), ShapeError,
         NAME + "weight must be a tensor [o, i, heads], got the shape [4, 2]"),
        (lambda: PositionalSelfAttention(torch.ones(4, 2, 3), torch.zeros(2, 1)), ShapeError,
         NAME + "offsets must have a row for each of the 3 heads of weight, and 1 to 3 axes; got "
         "the shape [2, 1]"),
    ],
)  # fmt: skip
def test_message(call, error, message):
    with pytest.raises(error) as raised:
        call()
    assert str(raised.value) == message
