import pytest
import torch
from torch import nn

from regard import KindError, ShapeError, ValueRangeError
from regard.models import Bahdanau, BahdanauConfig
from regard.models.bahdanau import _Reader

KINDS = [
    {},
    {"bidirectional": False},
    {"encoder_layers": 2, "decoder_layers": 3},
    {"tied": False, "hidden": 24},
    {"shared": True, "bidirectional": False, "encoder_layers": 2},
]


def config(**options):
    plain = {"source_vocab": 20, "target_vocab": 20, "embedding": 12, "hidden": 16}
    return BahdanauConfig(**{**plain, **options})


def network(**options):
    torch.manual_seed(0)
    net = Bahdanau(config(**options)).double().eval()
    for p in net.parameters():
        p.data += 0.1 * torch.randn_like(p)
    return net


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_token_by_token_is_the_whole_sequence(kind):
    net = network(**kind)
    source, target = torch.randint(20, (3, 7)), torch.randint(20, (3, 6))
    lens = torch.tensor([7, 1, 4])
    whole = net(source, target, lens)
    torch.testing.assert_close(net.out(net.states(source, target, lens)), whole)
    state = net.start(source, lens)
    for t in range(6):
        scores, state = net.step(target[:, t], state)
        torch.testing.assert_close(scores, whole[:, t], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_padding_of_the_source_changes_nothing(kind):
    net = network(**kind)
    source, target = torch.randint(20, (3, 7)), torch.randint(20, (3, 4))
    lens = torch.tensor([7, 3, 0])
    whole = net(source, target, lens)
    alone = net(source[1:2, :3], target[1:2])
    torch.testing.assert_close(whole[1:2], alone, rtol=1e-12, atol=1e-12)
    nothing = net(source[2:, :0], target[2:])
    torch.testing.assert_close(whole[2:], nothing, rtol=1e-12, atol=1e-12)
    source[1, 3:] = 5
    source[2] = 5
    assert torch.equal(net(source, target, lens), whole)


@pytest.mark.parametrize("layers", [1, 2])
def test_reading_both_ways_is_torchs_packed_gru(layers):
    torch.manual_seed(0)
    ours = _Reader(config(encoder_layers=layers)).double().eval()
    theirs = nn.GRU(12, 16, layers, bidirectional=True, batch_first=True).double()
    for i, layer in enumerate(ours.layers):
        for gru, end in zip(layer, ("", "_reverse"), strict=True):
            for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
                getattr(theirs, f"{name}_l{i}{end}").data = getattr(gru, f"{name}_l0").data
    x, lens = torch.randn(4, 9, 12).double(), torch.tensor([9, 1, 5, 7])
    packed = nn.utils.rnn.pack_padded_sequence(x, lens, batch_first=True, enforce_sorted=False)
    wanted, last = theirs(packed)
    wanted = nn.utils.rnn.pad_packed_sequence(wanted, batch_first=True)[0]
    outputs, whole = ours(x, lens)
    there = (torch.arange(9) < lens[:, None])[..., None]
    torch.testing.assert_close(outputs * there, wanted, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(whole, torch.cat((last[-2], last[-1]), -1), rtol=1e-12, atol=1e-12)


def test_beams_are_rows_of_the_state():
    net = network(decoder_layers=2)
    source, lens = torch.randint(20, (2, 7)), torch.tensor([7, 3])
    _, state = net.step(torch.tensor([1, 2]), net.start(source, lens))
    scores, beams = net.step(torch.tensor([3, 4, 5]), state.rows(torch.tensor([1, 0, 1])))
    one, _ = net.step(torch.tensor([4, 3]), state)
    torch.testing.assert_close(scores[:2], one.flip(0), rtol=1e-12, atol=1e-12)
    # rows of one sentence may change places; its source stays where it is
    swapped = beams.rows(torch.tensor([2, 1, 0]))
    assert swapped.decoder[0] is beams.decoder[0]
    assert swapped.decoder.projected is beams.decoder.projected
    again, _ = net.step(torch.tensor([6, 7, 8]), swapped)
    first, _ = net.step(torch.tensor([8, 7, 6]), beams)
    torch.testing.assert_close(again, first.flip(0), rtol=1e-12, atol=1e-12)


def test_the_source_is_projected_once():
    net = network()
    state = net.start(torch.randint(20, (2, 7)), torch.tensor([7, 3]))
    with torch.no_grad():
        _, state = net.step(torch.tensor([1, 2]), state)
        keys = state.decoder.projected
        _, state = net.step(torch.tensor([1, 2]), state)
    assert state.decoder.projected is keys


def test_alignment_is_what_each_step_looked_at():
    net = network(decoder_layers=2)
    source, target = torch.randint(20, (3, 7)), torch.randint(20, (3, 4))
    lens = torch.tensor([7, 3, 1])
    found = net.alignment(source, target, lens)
    assert found.shape == (3, 4, 7)
    assert not found.requires_grad
    torch.testing.assert_close(found.sum(-1), torch.ones(3, 4).double())
    assert (found[1, :, 3:] == 0).all()
    assert (found[2, :, 0] == 1).all()
    state = net.start(source, lens)
    for t in range(4):
        _, state = net.step(target[:, t], state)
        torch.testing.assert_close(net.decoder.attention_weights[0][:, 0], found[:, t])
    assert net.alignment(source[:, :0], target).shape == (3, 4, 0)


def test_what_is_tied_is_one_tensor_and_nothing_lies_about():
    net = network(tied=True, shared=True)
    assert net.out.weight is net.decoder.embedding.weight
    assert net.source_embedding is net.decoder.embedding
    assert network(tied=False).out.weight is not network(tied=False).decoder.embedding.weight
    for kind in KINDS:
        net = network(**kind)
        net(torch.randint(20, (2, 5)), torch.randint(20, (2, 4))).square().sum().backward()
        assert [name for name, p in net.named_parameters() if p.grad is None] == []


def test_dropout_is_where_it_is_wanted():
    net = network(dropout=0.5, attention_dropout=0.0).train()
    source, target = torch.randint(20, (2, 5)), torch.randint(20, (2, 4))
    dropped = (net.states(source, target) == 0).double().mean()
    assert 0.2 < dropped < 0.8
    assert not torch.equal(net(source, target), net(source, target))
    assert net.decoder.attention.dropout.p == 0
    assert network(dropout=0.5).decoder.attention.dropout.p == 0.5
    assert network(dropout=0.5, decoder_layers=2).decoder.rnn.dropout == 0.5
    embedded = net.source_embedding(source)
    assert 0.2 < (embedded == 0).double().mean() < 0.8


def test_scores_start_small():
    torch.manual_seed(0)
    net = Bahdanau(BahdanauConfig(1000, 1000, embedding=64, hidden=64))
    scores = net(torch.randint(1000, (2, 9)), torch.randint(1000, (2, 8)))
    loss = nn.functional.cross_entropy(scores.flatten(0, 1), torch.randint(1000, (16,)))
    assert loss.item() == pytest.approx(6.9, abs=1.0)  # log 1000: nothing is known


def test_half_precision_and_autocast():
    net = network().bfloat16()
    source, target = torch.randint(20, (2, 5)), torch.randint(20, (2, 4))
    assert net(source, target).dtype == torch.bfloat16
    net = network().float()
    with torch.autocast("cpu", torch.bfloat16):
        mixed = net(source, target)
    assert mixed.dtype == torch.bfloat16
    torch.testing.assert_close(mixed.float(), net(source, target), rtol=0.1, atol=0.1)


def test_it_learns_to_turn_a_sentence_around(one_thread):
    torch.manual_seed(0)
    net = Bahdanau(config(dropout=0.0, embedding=32, hidden=48))
    trainer = torch.optim.Adam(net.parameters(), lr=5e-3)
    for _ in range(180):
        source = torch.randint(1, 20, (32, 6))
        wanted = source.flip(1)
        fed = torch.cat((torch.zeros(32, 1, dtype=torch.long), wanted[:, :-1]), 1)
        loss = nn.functional.cross_entropy(net(source, fed).flatten(0, 1), wanted.flatten())
        trainer.zero_grad()
        loss.backward()
        trainer.step()
    assert loss < 0.6, loss  # of log 20 = 3.0
    # and it looks where the word is: step t at token 5 - t, or a neighbour that has read it
    looked = net.alignment(source, fed).mean(0).argmax(-1)
    assert ((looked - torch.arange(5, -1, -1)).abs() <= 1).all()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: config(hidden=0),
            ValueRangeError,
            "BahdanauConfig: hidden must be at least 1, got 0",
        ),
        (
            lambda: config(attention_dropout=1.0),
            ValueRangeError,
            "BahdanauConfig: dropout must be at least 0 and below 1, got 1.0",
        ),
        (
            lambda: config(shared=True, source_vocab=7),
            ValueRangeError,
            "BahdanauConfig: shared=True needs one vocabulary, got source_vocab=7 and "
            "target_vocab=20",
        ),
        (
            lambda: network().step(
                torch.zeros(2, 1, dtype=torch.long),
                network().start(torch.zeros(2, 3, dtype=torch.long)),
            ),
            ShapeError,
            "Bahdanau: tokens must be [2], one for each sequence of the state, got the shape "
            "[2, 1]",
        ),
        (
            lambda: network().start(torch.zeros(2, 3, dtype=torch.long), torch.ones(2, 3)),
            ShapeError,
            "Bahdanau: source_lens must be [2], one length a sentence, got the shape [2, 3]",
        ),
        (
            lambda: network()(torch.zeros(2, 3), torch.zeros(2, 3)),
            KindError,
            "Bahdanau: source must hold token numbers, int64 or int32, got torch.float32",
        ),
        (
            lambda: network()(torch.zeros(3, dtype=torch.long), torch.zeros(3, dtype=torch.long)),
            ShapeError,
            "Bahdanau: source must be [b, tokens], got the shape [3]",
        ),
    ],
)
def test_message(call, error, message):
    with pytest.raises(error) as raised:
        call()
    assert str(raised.value) == message
