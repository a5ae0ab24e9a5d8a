import copy
import resource

import pytest
import torch
from torch import nn

from regard import KindError, ShapeError, StateError, ValueRangeError
from regard.attention import reference
from regard.masks import Window
from regard.models import Encoder, EncoderConfig
from regard.models.encoder import ENCODERS, POSITIONS

LENS = torch.tensor([7, 3, 0, 6])


def encoder(kind, **options):
    torch.manual_seed(0)
    plain = {"width": 16, "heads": 4, "hidden": 24, "layers": 2, "dropout": 0.0}
    net = Encoder(EncoderConfig(kind, **{**plain, **options})).double().eval()
    for p in net.parameters():  # biases and norms start where a mistake in them would not be seen
        p.data += 0.1 * torch.randn_like(p)
    return net


def sequences(b=4, n=7):
    torch.manual_seed(1)
    return torch.randn(b, n, 16).double()


def grid(rows, columns, n):
    """The rows and columns of an image's patches, and nonsense after them."""
    places = torch.cartesian_prod(torch.arange(rows), torch.arange(columns))
    return torch.cat((places, torch.full((n - rows * columns, 2), 99)))


VARIANTS = [
    *((kind, {}) for kind in ENCODERS),
    *((kind, {"norm": "post"}) for kind in ENCODERS),
    *(("self-attention", {"positions": p}) for p in POSITIONS),
    ("truncated", {"reach": 1, "positions": "relative"}),
    ("window", {"reach": 0}),
    ("cnn", {"reach": 3, "hidden": None}),
    ("self-attention", {"beneath": "rnn"}),
    ("truncated", {"beneath": "cnn", "norm": "post"}),
    ("window", {"axes": 2}),
    ("cnn", {"axes": 2}),
]


@pytest.mark.parametrize(("kind", "options"), VARIANTS, ids=str)
class TestEveryKind:
    def places(self, options):
        if options.get("axes") != 2:
            return None
        return torch.stack([grid(1, 7, 7), grid(3, 1, 7), grid(0, 0, 7), grid(2, 3, 7)])

    def test_padding_changes_nothing_whatever_it_holds(self, kind, options):
        net, x, places = encoder(kind, **options), sequences(), self.places(options)
        out = net(x, LENS, places)
        for garbage in (torch.nan, torch.inf, 1e300):
            other = x.clone()
            for row, length in enumerate(LENS):
                other[row, length:] = garbage
            assert torch.equal(net(other, LENS, places), out)
        for row, length in enumerate(LENS):
            assert (out[row, length:] == 0).all()
            alone = net(
                x[row : row + 1, :length],
                LENS[row : row + 1],
                None if places is None else places[row : row + 1, :length],
            )
            torch.testing.assert_close(out[row : row + 1, :length], alone, rtol=1e-11, atol=1e-11)

    def test_gradients_reach_every_parameter_and_no_padding(self, kind, options):
        net, x = encoder(kind, **options), sequences()
        for row, length in enumerate(LENS):
            x[row, length:] = torch.nan
        x.requires_grad_()
        (net(x, LENS, self.places(options)) * torch.randn_like(x)).sum().backward()
        for name, p in net.named_parameters():
            assert p.grad is not None, name
            assert p.grad.isfinite().all(), name
            # a bias of all keys changes no weight: its gradient is 0
            assert p.grad.abs().sum() > 0 or name.endswith("W_k.bias"), name
        real = torch.arange(7) < LENS[:, None]
        assert (x.grad[real].abs().sum(-1) > 0).all()
        assert (x.grad[~real] == 0).all()

    def test_nothing_in_nothing_out(self, kind, options):
        net, places = encoder(kind, **options), self.places(options)
        none = None if places is None else places[:, :0]
        assert net(sequences()[:, :0], torch.zeros(4).long(), none).shape == (4, 0, 16)
        none = None if places is None else places[:0]
        assert net(sequences()[:0], LENS[:0], none).shape == (0, 7, 16)
        assert (net(sequences(), torch.zeros(4).long(), places) == 0).all()

    def test_without_lens_all_is_real(self, kind, options):
        net, x = encoder(kind, **options), sequences()
        places = torch.stack([grid(1, 7, 7)] * 4) if options.get("axes") == 2 else None
        assert torch.equal(net(x, None, places), net(x, torch.full((4,), 7), places))


@pytest.mark.parametrize(
    ("kind", "options", "sees"),
    [
        ("window", {"reach": 2, "layers": 1}, 2),
        ("window", {"reach": 2, "layers": 3}, 6),
        ("window", {"layers": 2}, 4),
        ("window", {"reach": 0, "layers": 3}, 0),
        ("cnn", {"reach": 1, "layers": 2}, 4),
        ("cnn", {"reach": 2, "layers": 1}, 4),
        ("truncated", {"reach": 3, "layers": 2}, 6),
        ("truncated", {"reach": 0, "layers": 2}, 0),
        ("truncated", {"reach": 3, "layers": 2, "beneath": "window"}, 8),
        ("cnn", {"reach": 2, "layers": 1, "beneath": "cnn"}, 6),
        ("truncated", {"reach": 1, "layers": 1, "beneath": "rnn"}, None),
        ("rnn", {"layers": 1, "beneath": "window"}, None),
        ("rnn", {"layers": 1}, None),
        ("self-attention", {"layers": 1}, None),
    ],
    ids=str,
)
def test_a_vector_depends_on_those_it_is_said_to_see_and_on_no_other(kind, options, sees):
    net = encoder(kind, **options)
    assert net.config.sees == sees
    n, middle = 21, 10
    x = sequences(1, n).requires_grad_()
    net(x)[0, middle].sum().backward()
    distance = (torch.arange(n) - middle).abs()
    depends = x.grad[0].abs().sum(-1) > 0
    assert torch.equal(depends, distance <= (n if sees is None else sees))


@pytest.mark.parametrize(("kind", "sees"), [("window", 2), ("cnn", 4)])
def test_in_an_image_a_vector_sees_a_square(kind, sees):
    net = encoder(kind, axes=2, reach=1)
    assert net.config.sees == sees
    rows, columns = 11, 10
    places = grid(rows, columns, rows * columns)[None]
    x = sequences(1, rows * columns).requires_grad_()
    middle = 5 * columns + 6
    net(x, None, places)[0, middle].sum().backward()
    distance = (places[0] - places[0, middle]).abs().amax(-1)
    assert torch.equal(x.grad[0].abs().sum(-1) > 0, distance <= sees)


@pytest.mark.parametrize("kind", ["self-attention", "truncated", "rnn", "window", "cnn"])
def test_only_attention_to_all_without_positions_knows_no_order(kind):
    net, x = encoder(kind, positions="none", reach=2), sequences()
    order = torch.tensor([3, 0, 6, 1, 5, 2, 4])
    same = torch.allclose(net(x[:, order]), net(x)[:, order], rtol=1e-11, atol=1e-11)
    assert same == (kind == "self-attention")


@pytest.mark.parametrize("positions", [p for p in POSITIONS if p != "none"])
def test_with_positions_it_does(positions):
    net, x = encoder("self-attention", positions=positions), sequences()
    order = torch.tensor([3, 0, 6, 1, 5, 2, 4])
    assert not torch.allclose(net(x[:, order]), net(x)[:, order], rtol=1e-3, atol=1e-3)


def test_truncated_is_attention_under_a_window_by_the_definition():
    net, x = encoder("truncated", reach=2, positions="none", layers=1), sequences()
    (block,) = net.layers

    def by_hand(y):
        y = block.around_attention.norm(y)
        heads = block.attention
        q, k, v = (
            linear(y).unflatten(-1, (4, 4)).transpose(1, 2)
            for linear in (heads.W_q, heads.W_k, heads.W_v)
        )
        found = reference.attend(q, k, v, heads.attention.score(), Window(2, 2))
        return heads.W_o(found.transpose(1, 2).flatten(2))

    y = x + by_hand(x)
    y = y + block.feed_forward(block.around_feed_forward.norm(y))
    torch.testing.assert_close(net(x), net.last(y), rtol=1e-11, atol=1e-11)


def test_a_window_that_reaches_everything_is_no_window():
    wide, x = encoder("truncated", reach=7), sequences()
    full = encoder("self-attention")
    full.load_state_dict(wide.state_dict())
    torch.testing.assert_close(wide(x, LENS), full(x, LENS), rtol=1e-11, atol=1e-11)


def test_convolutions_are_those_of_torch():
    net, x = encoder("cnn", layers=1, reach=2), sequences()
    (block,) = net.layers

    def as_torch(linear, width):
        made = nn.Conv1d(width, linear.out_features, 5, padding=2).double()
        made.weight.data = linear.weight.unflatten(1, (5, width)).transpose(1, 2).data
        made.bias.data = linear.bias.data
        return made

    y = block.around_both.norm(x).mT
    y = as_torch(block.second, 24)(as_torch(block.first, 16)(y).relu()).mT
    torch.testing.assert_close(net(x), net.last(x + y), rtol=1e-11, atol=1e-11)


def test_convolutions_of_images_are_those_of_torch():
    net = encoder("cnn", layers=1, axes=2)
    (block,) = net.layers
    rows, columns = 5, 4
    x = sequences(2, rows * columns)
    places = grid(rows, columns, rows * columns).expand(2, -1, -1)

    def as_torch(linear, width):
        made = nn.Conv2d(width, linear.out_features, 3, padding=1).double()
        made.weight.data = linear.weight.unflatten(1, (3, 3, width)).movedim(-1, 1).data
        made.bias.data = linear.bias.data
        return made

    y = block.around_both.norm(x).unflatten(1, (rows, columns)).movedim(-1, 1)
    y = as_torch(block.second, 24)(as_torch(block.first, 16)(y).relu())
    y = y.movedim(1, -1).flatten(1, 2)
    torch.testing.assert_close(net(x, None, places), net.last(x + y), rtol=1e-11, atol=1e-11)


def test_gated_units_are_those_of_torch_over_packed_sequences():
    net, x = encoder("rnn", layers=2, hidden=5), sequences()
    theirs = nn.GRU(16, 5, 2, batch_first=True, bidirectional=True).double()
    for i, layer in enumerate(net.layers):
        for gru, end in ((layer.forwards, ""), (layer.backwards, "_reverse")):
            for name, p in gru.named_parameters():
                getattr(theirs, name.replace("l0", f"l{i}") + end).data = p.data
    rows = LENS > 0
    packed = nn.utils.rnn.pack_padded_sequence(
        x[rows], LENS[rows], batch_first=True, enforce_sorted=False
    )
    found = nn.utils.rnn.pad_packed_sequence(theirs(packed)[0], batch_first=True)[0]
    real = torch.arange(7) < LENS[rows, None]
    out = net.last(found)
    torch.testing.assert_close(net(x, LENS)[rows][real], out[real], rtol=1e-11, atol=1e-11)


def test_a_hundred_thousand_frames_need_memory_for_themselves_only(one_thread):
    torch.manual_seed(0)
    net = Encoder(EncoderConfig("truncated", 8, layers=1, heads=1, hidden=8, reach=4, dropout=0.0))
    n = 100_000
    x = torch.randn(1, n, 8, requires_grad=True)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    net(x, torch.tensor([n - 3])).square().sum().backward()
    more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024  # MiB
    assert more < 400  # n x n bits would be 1192
    assert (x.grad[0, : n - 3].abs().sum(-1) > 0).all()
    assert (x.grad[0, n - 3 :] == 0).all()


def test_weights_of_each_layer_are_there_to_look_at():
    net = encoder("truncated", reach=1)
    assert net.looks
    net(sequences(), LENS)
    found = net.attention_weights
    assert [list(x.shape) for x in found] == [[4, 4, 7, 7]] * 2
    seen = Window(1, 1).dense(7, 7) & (torch.arange(7) < LENS[:, None, None, None])
    for x in found:
        assert ((x > 0) == seen.expand_as(x)).all()
        torch.testing.assert_close(x.sum(-1), seen.any(-1).expand(4, 4, 7).double())


@pytest.mark.parametrize("kind", ["window", "cnn", "rnn"])
def test_where_nothing_attends_there_are_no_weights(kind):
    net = encoder(kind)
    assert not net.looks
    net(sequences())
    with pytest.raises(StateError) as raised:
        _ = net.attention_weights
    assert str(raised.value) == (
        f"an encoder of the kind {kind!r} has no attention_weights; 'self-attention' and "
        f"'truncated' have"
    )


@pytest.mark.parametrize("kind", ENCODERS)
def test_dropout_is_for_training(kind):
    net = encoder(kind, dropout=0.5)
    x = sequences()
    assert torch.equal(net(x), net(x))
    net.train()
    assert not torch.equal(net(x), net(x))
    assert torch.equal(copy.deepcopy(net).eval()(x), net.eval()(x))


@pytest.mark.parametrize("kind", ["self-attention", "truncated", "window", "cnn"])
def test_what_comes_in_is_dropped_too(kind):
    net, x = encoder(kind, dropout=0.5, layers=1).train(), sequences()
    for layer in net.layers.modules():
        layer.training = False
    assert not torch.equal(net(x), net(x))


@pytest.mark.parametrize("kind", ["self-attention", "truncated", "window", "cnn"])
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_what_comes_out_is_normalised(kind, norm):
    out = Encoder(EncoderConfig(kind, width=16, norm=norm, dropout=0.0))(sequences().float())
    torch.testing.assert_close(out.mean(-1), torch.zeros(4, 7), rtol=0, atol=1e-5)
    torch.testing.assert_close(out.var(-1, correction=0), torch.ones(4, 7), rtol=0, atol=1e-3)


def test_dropout_of_weights_may_be_another_one():
    net = encoder("self-attention", dropout=0.3, attention_dropout=0.0)
    assert {block.attention.attention.dropout.p for block in net.layers} == {0.0}
    assert {block.feed_forward.dropout.p for block in net.layers} == {0.3}


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"kind": "lstm"},
            ValueRangeError,
            "EncoderConfig: kind must be one of 'self-attention', 'truncated', 'window', 'cnn', "
            "'rnn'; got 'lstm'",
        ),
        (
            {"positions": "here"},
            ValueRangeError,
            "EncoderConfig: positions must be one of 'sinusoidal', 'learned', 'rotary', 'alibi', "
            "'relative', 'none'; got 'here'",
        ),
        (
            {"width": 10},
            ValueRangeError,
            "EncoderConfig: width must be a multiple of heads=4, got 10",
        ),
        ({"width": 0}, ValueRangeError, "EncoderConfig: width must be at least 1, got 0"),
        ({"hidden": 0}, ValueRangeError, "EncoderConfig: hidden must be at least 1, got 0"),
        ({"reach": -1}, ValueRangeError, "EncoderConfig: reach must be 0 or more, got -1"),
        ({"reach": 1.5}, KindError, "EncoderConfig: reach must be an integer, got 1.5"),
        ({"reach": True}, KindError, "EncoderConfig: reach must be an integer, got True"),
        (
            {"dropout": 1.0},
            ValueRangeError,
            "EncoderConfig: dropout must be at least 0 and below 1, got 1.0",
        ),
        (
            {"norm": "mid"},
            ValueRangeError,
            "EncoderConfig: norm must be one of 'pre', 'post'; got 'mid'",
        ),
        (
            {"beneath": "self-attention"},
            ValueRangeError,
            "EncoderConfig: beneath must be one of '', 'window', 'cnn', 'rnn'; got "
            "'self-attention'",
        ),
        ({"axes": 3}, ValueRangeError, "EncoderConfig: axes must be one of 1, 2; got 3"),
    ],
    ids=str,
)
def test_what_does_not_fit_is_refused(options, error, message):
    with pytest.raises(error) as raised:
        EncoderConfig(**options)
    assert str(raised.value) == message


def test_the_width_needs_to_fit_the_heads_only_where_there_are_heads():
    assert Encoder(EncoderConfig("rnn", width=9, heads=4))(torch.ones(1, 2, 9)).shape == (1, 2, 9)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda net: net(torch.ones(4, 7, 15)),
            ShapeError,
            "Encoder: x must be [b, n, 16], got the shape [4, 7, 15]",
        ),
        (
            lambda net: net(sequences(), LENS[:2]),
            ShapeError,
            "Encoder: lens must be [4], one length a sequence, got the shape [2]",
        ),
        (
            lambda net: net(sequences(), torch.tensor([7, 3, 0, 8])),
            ValueRangeError,
            "Lengths: lengths must be at most m=7, the number of keys, got 8",
        ),
        (
            lambda net: net(sequences(), torch.tensor([7, 3, 0, -1])),
            ValueRangeError,
            "Lengths: lengths must be 0 or more, got -1",
        ),
        (
            lambda net: net(sequences(), LENS),
            ShapeError,
            "Encoder: places must be [4, 7, 2], the row and column of each vector, because "
            "axes=2; got None",
        ),
        (
            lambda net: net(sequences(), LENS, torch.zeros(4, 7).long()),
            ShapeError,
            "Encoder: places must be [4, 7, 2], the row and column of each vector, because "
            "axes=2; got the shape [4, 7]",
        ),
    ],
)
def test_calls_that_do_not_fit_are_refused(call, error, message):
    with pytest.raises(error) as raised:
        call(encoder("cnn", axes=2))
    assert str(raised.value) == message
