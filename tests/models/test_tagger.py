import pytest
import torch
from torch import nn

from regard import KindError, ShapeError, StateError, ValueRangeError
from regard.models import EncoderConfig, Tagger, TaggerConfig
from regard.models.encoder import ENCODERS

LENS = torch.tensor([6, 2, 0])


def tagger(kind="self-attention", **options):
    torch.manual_seed(0)
    encoder = EncoderConfig(kind, width=16, heads=2, hidden=24, dropout=0.0)
    plain = {"embedding": 12, "character_embedding": 5, "spelling": 9, "dropout": 0.0}
    return Tagger(TaggerConfig(40, 30, 5, encoder, **{**plain, **options}))


def sentences():
    torch.manual_seed(1)
    return torch.randint(1, 40, (3, 6)), torch.randint(1, 30, (3, 6, 7))


@pytest.mark.parametrize("kind", ENCODERS)
def test_padding_changes_nothing_whatever_it_holds(kind):
    net = tagger(kind, affixes=50).double().eval()
    words, spellings = sentences()
    out = net(words, spellings, LENS)
    assert out.shape == (3, 6, 5)
    garbage, noise = words.clone(), spellings.clone()
    for row, length in enumerate(LENS):
        garbage[row, length:] = 10**12
        noise[row, length:] = -7
    other = net(garbage, noise, LENS)
    for row, length in enumerate(LENS):
        assert torch.equal(other[row, :length], out[row, :length])
        alone = net(words[row : row + 1, :length], spellings[row : row + 1, :length])
        torch.testing.assert_close(out[row : row + 1, :length], alone, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("kind", ENCODERS)
def test_gradients_reach_every_parameter(kind):
    net = tagger(kind, affixes=50, auxiliary=4).double()
    words, spellings = sentences()
    scores, beside = net.both(words, spellings, LENS)
    assert beside.shape == (3, 6, 4)
    loss = (scores * torch.randn_like(scores)).sum() + (beside * torch.randn_like(beside)).sum()
    loss.backward()
    for name, p in net.named_parameters():
        assert p.grad is not None, name
        assert p.grad.abs().sum() > 0 or name.endswith("W_k.bias"), name


def test_a_word_is_more_than_its_number():
    words, spellings = sentences()
    other = spellings.clone()
    other[0, 3, 0] = other[0, 3, 0] % 29 + 1
    for options, same in (
        ({}, False),
        ({"spelling": 0}, True),
        ({"spelling": 0, "affixes": 50}, False),
    ):
        net = tagger("window", **options).eval()
        assert torch.equal(net(words, spellings), net(words, other)) == same


def test_words_are_dropped_while_training_only():
    net = tagger("window", word_dropout=0.9)
    words, spellings = sentences()
    assert not torch.equal(net(words, spellings), net(words, spellings))
    net.eval()
    assert torch.equal(net(words, spellings), net(words, spellings))


def test_a_dropped_word_is_the_unknown_one():
    net = tagger("window", word_dropout=0.999999)
    words, spellings = sentences()
    found = net(words, spellings)
    assert torch.equal(found, net.eval()(torch.ones_like(words), spellings))


def test_nothing_in_nothing_out():
    net = tagger(affixes=50, auxiliary=2)
    words, spellings = sentences()
    assert net(words[:0], spellings[:0], LENS[:0]).shape == (0, 6, 5)
    assert net(words[:, :0], spellings[:, :0]).shape == (3, 0, 5)
    assert net(words, spellings[:, :, :0]).shape == (3, 6, 5)


def test_weights_can_be_looked_at():
    net = tagger()
    net(*sentences(), LENS)
    assert [list(x.shape) for x in net.attention_weights] == [[3, 2, 6, 6]] * 2
    with pytest.raises(StateError, match=r"^an encoder of the kind 'rnn' has no"):
        _ = tagger("rnn").attention_weights


@pytest.mark.parametrize("kind", ENCODERS)
def test_it_learns_what_only_the_neighbours_tell(kind, one_thread):
    # the label is the parity of the word before: neither the word nor its spelling tells it
    net = tagger(kind, spelling=0)
    trainer = torch.optim.Adam(net.parameters(), lr=1e-2)
    torch.manual_seed(0)
    spellings = torch.full((24, 6, 2), 4)
    for _ in range(80):
        words = torch.randint(2, 8, (24, 6))
        labels = torch.cat((torch.zeros(24, 1).long(), words[:, :-1] % 2), 1)
        scores = net(words, spellings)
        loss = nn.functional.cross_entropy(scores.flatten(0, 1), labels.flatten())
        trainer.zero_grad()
        loss.backward()
        trainer.step()
    right = (scores.argmax(-1) == labels).float().mean().item()
    assert right > 0.85  # 0.58 by chance


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: TaggerConfig(1, 30, 5),
            ValueRangeError,
            "TaggerConfig: words must be at least 2, padding and unknown, got 1",
        ),
        (
            lambda: TaggerConfig(40, 30, 0),
            ValueRangeError,
            "TaggerConfig: labels must be at least 1, got 0",
        ),
        (
            lambda: TaggerConfig(40, 30, 5, affixes=-1),
            ValueRangeError,
            "TaggerConfig: affixes must be at least 1, got -1",
        ),
        (
            lambda: TaggerConfig(40, 30, 5, word_dropout=1.5),
            ValueRangeError,
            "TaggerConfig: dropout must be at least 0 and below 1, got 1.5",
        ),
        (
            lambda: tagger()(torch.ones(3, 6), sentences()[1]),
            KindError,
            "Tagger: words must be numbers, int64 or int32, got torch.float32",
        ),
        (
            lambda: tagger()(sentences()[0], sentences()[0]),
            ShapeError,
            "Tagger: spellings must be [b, n, c], got the shape [3, 6]",
        ),
        (
            lambda: tagger()(sentences()[0], sentences()[1][:, :5]),
            ShapeError,
            "Tagger: spellings must be [3, 6, characters], one row a word, got the shape [3, 5, 7]",
        ),
        (
            lambda: tagger()(*sentences(), torch.tensor([6, 7, 0])),
            ValueRangeError,
            "Lengths: lengths must be at most m=6, the number of keys, got 7",
        ),
        (
            lambda: tagger().both(*sentences()),
            ValueRangeError,
            "Tagger: there are no auxiliary labels; give TaggerConfig(auxiliary=...)",
        ),
    ],
)
def test_what_does_not_fit_is_refused(call, error, message):
    with pytest.raises(error) as raised:
        call()
    assert str(raised.value) == message
