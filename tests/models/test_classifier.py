import pytest
import torch
from torch import nn

from regard import KindError, ShapeError, ValueRangeError
from regard.models import Classifier, ClassifierConfig, EncoderConfig
from regard.models.encoder import ENCODERS

SOURCES = ["tokens", "frames", "patches"]
LENS = torch.tensor([12, 5, 0, 6])


def classifier(source, kind="self-attention", **options):
    torch.manual_seed(0)
    encoder = EncoderConfig(kind, width=16, heads=2, hidden=24, dropout=0.0)
    size = 40 if source == "tokens" else 6
    net = Classifier(ClassifierConfig(5, encoder, source, size, **{"dropout": 0.0, **options}))
    return net.double().eval()


def examples(source):
    """Sequences, and where their members stand."""
    torch.manual_seed(1)
    x = torch.randint(1, 40, (4, 12)) if source == "tokens" else torch.randn(4, 12, 6).double()
    if source != "patches":
        return x, None
    places = torch.full((4, 12, 2), 77)
    for row, (h, w) in enumerate(((3, 4), (5, 1), (0, 0), (2, 3))):
        places[row, : h * w] = torch.cartesian_prod(torch.arange(h), torch.arange(w))
    return x, places


@pytest.mark.parametrize("kind", ENCODERS)
@pytest.mark.parametrize("source", SOURCES)
def test_padding_changes_nothing_whatever_it_holds(source, kind):
    net, (x, places) = classifier(source, kind), examples(source)
    out = net(x, LENS, places)
    assert out.shape == (4, 5)
    other = x.clone()
    for row, length in enumerate(LENS):
        other[row, length:] = 10**12 if source == "tokens" else torch.nan
    assert torch.equal(net(other, LENS, places), out)
    for row, length in enumerate(LENS):
        where = None if places is None else places[row : row + 1, :length]
        alone = net(x[row : row + 1, :length], None, where)
        torch.testing.assert_close(out[row : row + 1], alone, rtol=1e-11, atol=1e-11)
    torch.testing.assert_close(out[2], net.out.bias)  # of nothing, only the prior is known


@pytest.mark.parametrize("kind", ENCODERS)
@pytest.mark.parametrize("source", SOURCES)
def test_gradients_reach_every_parameter_and_no_padding(source, kind):
    net, (x, places) = classifier(source, kind), examples(source)
    for p in net.parameters():
        p.data += 0.1 * torch.randn_like(p)
    if source != "tokens":
        for row, length in enumerate(LENS):
            x[row, length:] = torch.nan
        x.requires_grad_()
    out = net(x, LENS, places)
    (out * torch.randn_like(out)).sum().backward()
    for name, p in net.named_parameters():
        assert p.grad is not None, name
        assert p.grad.isfinite().all(), name
        assert p.grad.abs().sum() > 0 or name.endswith("W_k.bias"), name
    if source != "tokens":
        real = torch.arange(12) < LENS[:, None]
        assert (x.grad[real].abs().sum(-1) > 0).all()  # every frame and patch counts
        assert (x.grad[~real] == 0).all()


@pytest.mark.parametrize("source", SOURCES)
def test_nothing_in(source):
    net, (x, places) = classifier(source), examples(source)
    none = None if places is None else places[:0]
    assert net(x[:0], LENS[:0], none).shape == (0, 5)
    none = None if places is None else places[:, :0]
    torch.testing.assert_close(net(x[:, :0], None, none), net.out.bias.expand(4, 5))


@pytest.mark.parametrize("stride", [1, 2, 4, 8])
def test_frames_become_fewer_and_none_is_left_out(stride):
    net = classifier("frames", stride=stride)
    for n in (1, 2, 7, 8, 9, 31):
        x = torch.randn(1, n, 6).double().requires_grad_()
        net(x).sum().backward()
        assert net.attention_weights.shape == (1, 1, -(-n // stride))
        assert (x.grad[0].abs().sum(-1) > 0).all()


def test_a_vector_of_frames_knows_the_frames_it_stands_for():
    net = classifier("frames", "window", stride=4)
    x = torch.randn(1, 30, 6).double().requires_grad_()
    read, lens = net.reader(x, torch.tensor([30]))
    assert lens.tolist() == [8]
    for i in range(8):
        (grad,) = torch.autograd.grad(read[0, i].sum(), x, retain_graph=True)
        seen = (grad[0].abs().sum(-1) > 0).nonzero().flatten().tolist()
        assert set(range(4 * i, min(4 * i + 4, 30))) <= set(seen)
        assert min(seen) >= 4 * i - 3


def test_patches_know_their_row_and_their_column():
    net, (x, places) = classifier("patches"), examples("patches")
    out = net(x, LENS, places)
    for axis in (0, 1):
        moved = places.clone()
        moved[..., axis] += 1
        assert not torch.allclose(net(x, LENS, moved)[0], out[0])


def test_without_positions_patches_are_a_set():
    encoder = EncoderConfig(width=16, heads=2, dropout=0.0, positions="none")
    torch.manual_seed(0)
    net = Classifier(ClassifierConfig(5, encoder, "patches", 6)).double().eval()
    x, places = examples("patches")
    order = torch.randperm(12)
    out = net(x[:1], None, places[:1])
    torch.testing.assert_close(net(x[:1, order], None, places[:1, order]), out)


def test_the_pooling_can_be_looked_at():
    net, (x, _) = classifier("tokens", heads=4), examples("tokens")
    net(x, LENS)
    found = net.attention_weights
    assert found.shape == (4, 4, 12)
    torch.testing.assert_close(found.sum(-1), (LENS > 0).double()[:, None].expand(4, 4))
    assert (found[1, :, 5:] == 0).all()
    assert [list(w.shape) for w in net.encoder.attention_weights] == [[4, 2, 12, 12]] * 2


@pytest.mark.parametrize("kind", ENCODERS)
def test_it_learns_what_only_the_order_tells(kind, one_thread):
    # whether 2 comes before 3: a bag of tokens does not tell it
    torch.manual_seed(0)
    encoder = EncoderConfig(kind, width=32, heads=2, hidden=32, dropout=0.0, reach=2)
    net = Classifier(ClassifierConfig(2, encoder, "tokens", 10, dropout=0.0))
    trainer = torch.optim.Adam(net.parameters(), lr=1e-2)
    for _ in range(60):
        x = torch.randint(4, 10, (48, 5))
        first, second = torch.rand(48, 5).topk(2).indices.sort(-1).values.unbind(-1)
        labels = torch.randint(2, (48,))
        x.scatter_(1, first[:, None], 2 + labels[:, None])
        x.scatter_(1, second[:, None], 3 - labels[:, None])
        scores = net(x)
        loss = nn.functional.cross_entropy(scores, labels)
        trainer.zero_grad()
        loss.backward()
        trainer.step()
    assert (scores.argmax(-1) == labels).float().mean().item() > 0.9


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: ClassifierConfig(5, source="pages"),
            ValueRangeError,
            "ClassifierConfig: source must be one of 'tokens', 'frames', 'patches'; got 'pages'",
        ),
        (
            lambda: ClassifierConfig(5, stride=3),
            ValueRangeError,
            "ClassifierConfig: stride must be a power of 2, got 3",
        ),
        (
            lambda: ClassifierConfig(5, heads=3),
            ValueRangeError,
            "ClassifierConfig: the encoder's width must be a multiple of heads=3, got 128",
        ),
        (
            lambda: classifier("tokens")(torch.ones(2, 3)),
            KindError,
            "Classifier: x must hold token numbers, int64 or int32, got torch.float32",
        ),
        (
            lambda: classifier("tokens")(torch.ones(2, 3, 4).long()),
            ShapeError,
            "Classifier: x must be [b, tokens], got the shape [2, 3, 4]",
        ),
        (
            lambda: classifier("frames")(torch.ones(2, 3, 4).double()),
            ShapeError,
            "Classifier: x must be [b, n, 6], got the shape [2, 3, 4]",
        ),
        (
            lambda: classifier("patches")(examples("patches")[0]),
            ShapeError,
            "Classifier: places must be [4, 12, 2], the row and column of each patch; got None",
        ),
        (
            lambda: classifier("frames")(examples("frames")[0], LENS[:3]),
            ShapeError,
            "Classifier: lens must be [4], one length a sequence, got the shape [3]",
        ),
    ],
)
def test_what_does_not_fit_is_refused(call, error, message):
    with pytest.raises(error) as raised:
        call()
    assert str(raised.value) == message
