import pytest
import torch
from torch import nn

from regard import Causal, ShapeError, ValueRangeError, Window
from regard.layers import Block, DecoderBlock, EncoderBlock, FeedForward, Residual
from regard.layers.multihead import MultiHeadAttention

KINDS = [
    {},
    {"norm": "pre"},
    {"relative": "rotary"},
    {"relative": "alibi"},
    {"relative": "relative"},
    {"num_kv_heads": 1, "score": "additive"},
    {"score": "gaussian", "norm": "pre", "activation": "gelu", "bias": False},
]


def block(**options):
    return Block(**{"width": 12, "num_heads": 4, "hidden": 20, **options})


def shaken(net):
    """Away from where parameters start: biases and tables are 0 there."""
    torch.manual_seed(0)
    net.double().eval()
    for p in net.parameters():
        p.data += 0.1 * torch.randn_like(p)
    return net


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_an_encoder_block_is_that_of_torch(norm):
    torch.manual_seed(0)
    theirs = nn.TransformerEncoderLayer(
        12, 4, 20, 0.0, batch_first=True, norm_first=norm == "pre", dtype=torch.float64
    ).eval()
    ours = EncoderBlock(block(norm=norm)).double().eval()
    ours.attention = MultiHeadAttention.from_torch(theirs.self_attn)
    for mine, other in (
        (ours.feed_forward.inner, theirs.linear1),
        (ours.feed_forward.outer, theirs.linear2),
        (ours.around_attention.norm, theirs.norm1),
        (ours.around_feed_forward.norm, theirs.norm2),
    ):
        mine.load_state_dict(other.state_dict())
    x, lens = torch.randn(3, 6, 12, dtype=torch.float64), torch.tensor([6, 2, 4])
    hidden = torch.arange(6) >= lens[:, None]
    with torch.enable_grad():  # torch's fast path would leave the padding at zero
        wanted = theirs(x, src_key_padding_mask=hidden)
    torch.testing.assert_close(ours(x, lens), wanted, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_decoder_block_is_that_of_torch(norm):
    torch.manual_seed(0)
    theirs = nn.TransformerDecoderLayer(
        12, 4, 20, 0.0, batch_first=True, norm_first=norm == "pre", dtype=torch.float64
    ).eval()
    ours = DecoderBlock(block(norm=norm)).double().eval()
    ours.attention = MultiHeadAttention.from_torch(theirs.self_attn)
    ours.to_source = MultiHeadAttention.from_torch(theirs.multihead_attn)
    for mine, other in (
        (ours.feed_forward.inner, theirs.linear1),
        (ours.feed_forward.outer, theirs.linear2),
        (ours.around_attention.norm, theirs.norm1),
        (ours.around_source.norm, theirs.norm2),
        (ours.around_feed_forward.norm, theirs.norm3),
    ):
        mine.load_state_dict(other.state_dict())
    x, source = (torch.randn(3, n, 12, dtype=torch.float64) for n in (5, 7))
    lens = torch.tensor([7, 2, 4])
    hidden = torch.arange(7) >= lens[:, None]
    causal = torch.ones(5, 5, dtype=torch.bool).triu(1)
    wanted = theirs(x, source, tgt_mask=causal, memory_key_padding_mask=hidden)
    got, cache = ours(x, ours.start(source), lens)
    torch.testing.assert_close(got, wanted, rtol=1e-10, atol=1e-10)
    assert cache.k.shape == (3, 4, 5, 3)


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("pieces", [[1] * 6, [3, 1, 2]], ids=str)
def test_with_a_cache_the_numbers_are_those_of_the_whole(kind, pieces):
    net = shaken(DecoderBlock(block(**kind)))
    x, source = (torch.randn(2, n, 12, dtype=torch.float64) for n in (6, 5))
    lens = torch.tensor([5, 2])
    whole, _ = net(x, net.start(source), lens)
    cache, found = net.start(source), []
    for piece in x.split(pieces, 1):
        out, cache = net(piece, cache, lens)
        found.append(out)
    torch.testing.assert_close(torch.cat(found, 1), whole, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_no_token_looks_ahead(kind):
    net = shaken(DecoderBlock(block(**kind)))
    x = torch.randn(1, 6, 12, dtype=torch.float64, requires_grad=True)
    out, _ = net(x, net.start(torch.randn(1, 3, 12, dtype=torch.float64)))
    (grad,) = torch.autograd.grad(out[0, 2].sum(), x)
    assert grad[0, 3:].abs().max() == 0
    assert (grad[0, :3].abs().amax(-1) > 0).all()


def test_rows_of_a_cache_are_sequences():
    net = shaken(DecoderBlock(block()))
    x, source = (torch.randn(3, n, 12, dtype=torch.float64) for n in (2, 5))
    _, cache = net(x, net.start(source))
    index = torch.tensor([2, 2, 0])
    again, _ = net(x[index], cache.rows(index))
    straight, _ = net(x, cache)
    torch.testing.assert_close(again, straight[index], rtol=1e-12, atol=1e-12)


def test_an_encoder_takes_any_mask():
    net = shaken(EncoderBlock(block()))
    x = torch.randn(1, 5, 12, dtype=torch.float64)
    net(x, torch.tensor([4]), mask=Causal() & Window(left=1))
    seen = net.attention.attention_weights[0, 0] > 0
    assert seen.int().tolist() == [
        [1, 0, 0, 0, 0],
        [1, 1, 0, 0, 0],
        [0, 1, 1, 0, 0],
        [0, 0, 1, 1, 0],
        [0, 0, 0, 1, 0],
    ]


def test_the_way_around_is_there():
    for norm in ("pre", "post"):
        out = Residual(4, norm=norm)(torch.tensor([[1.0, 2.0, 3.0, 4.0]]), torch.zeros_like)
        wanted = [1.0, 2.0, 3.0, 4.0] if norm == "pre" else [-1.3416, -0.4472, 0.4472, 1.3416]
        assert out[0].tolist() == pytest.approx(wanted, abs=1e-4)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: Residual(4, norm="sandwich"),
            ValueRangeError,
            "norm must be 'pre' or 'post', got 'sandwich'",
        ),
        (
            lambda: FeedForward(4, 8, activation="tanh"),
            ValueRangeError,
            "FeedForward: activation must be one of 'relu', 'gelu', 'silu'; got 'tanh'",
        ),
        (
            lambda: EncoderBlock(block(relative="sideways")),
            ValueRangeError,
            "relative must be one of 'none', 'rotary', 'alibi', 'relative'; got 'sideways'",
        ),
        (
            lambda: EncoderBlock(block())(torch.zeros(2, 3, 11)),
            ShapeError,
            "EncoderBlock: x must be [b, n, 12], got the shape [2, 3, 11]",
        ),
        (
            lambda: DecoderBlock(block()).start(torch.zeros(2, 11)),
            ShapeError,
            "DecoderBlock: source must be [b, m, 12], got the shape [2, 11]",
        ),
    ],
)
def test_message(call, error, message):
    with pytest.raises(error) as raised:
        call()
    assert str(raised.value) == message
