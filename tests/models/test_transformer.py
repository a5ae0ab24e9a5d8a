import pytest
import torch
from torch import nn

from regard import KindError, ShapeError, ValueRangeError
from regard.models import Transformer, TransformerConfig

KINDS = [
    *({"positions": p} for p in ("sinusoidal", "learned", "rotary", "alibi", "relative", "none")),
    {"norm": "post", "tied": False},
    {"num_kv_heads": 1, "score": "additive"},
    {"shared": True, "score": "gaussian"},
]


def config(**options):
    plain = {"source_vocab": 20, "target_vocab": 20, "width": 16, "num_heads": 4, "hidden": 24}
    return TransformerConfig(**{**plain, "encoder_layers": 2, "decoder_layers": 2, **options})


def network(**options):
    torch.manual_seed(0)
    net = Transformer(config(**options)).double().eval()
    for p in net.parameters():
        p.data += 0.1 * torch.randn_like(p)
    return net


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_token_by_token_is_the_whole_sequence(kind):
    net = network(**kind)
    source, target = torch.randint(20, (3, 7)), torch.randint(20, (3, 6))
    lens = torch.tensor([7, 1, 4])
    whole = net(source, target, lens)
    state = net.start(source, lens)
    for t in range(6):
        scores, state = net.step(target[:, t], state)
        torch.testing.assert_close(scores, whole[:, t], rtol=1e-12, atol=1e-12)
    assert state.steps == 6


def test_padding_of_the_source_changes_nothing():
    net = network()
    source, target = torch.randint(20, (2, 7)), torch.randint(20, (2, 4))
    lens = torch.tensor([7, 3])
    whole = net(source, target, lens)
    alone = net(source[1:, :3], target[1:])
    torch.testing.assert_close(whole[1:], alone, rtol=1e-12, atol=1e-12)
    source[1, 3:] = 5
    assert torch.equal(net(source, target, lens), whole)


def test_beams_are_rows_of_the_state():
    net = network()
    source, lens = torch.randint(20, (2, 7)), torch.tensor([7, 3])
    _, state = net.step(torch.tensor([1, 2]), net.start(source, lens))
    index = torch.tensor([1, 0, 1])
    scores, beams = net.step(torch.tensor([3, 4, 5]), state.rows(index))
    one, _ = net.step(torch.tensor([4, 3]), state)
    torch.testing.assert_close(scores[:2], one.flip(0), rtol=1e-12, atol=1e-12)
    # rows of one sentence may change places; its source stays where it is
    swapped = beams.rows(torch.tensor([2, 1, 0]))
    assert swapped.caches[0].source_k is beams.caches[0].source_k
    again, _ = net.step(torch.tensor([6, 7, 8]), swapped)
    first, _ = net.step(torch.tensor([8, 7, 6]), beams)
    torch.testing.assert_close(again, first.flip(0), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_alignment_is_the_mean_of_the_heads_of_the_last_block_but_one(layers):
    net = network(decoder_layers=layers)
    source, target = torch.randint(20, (3, 7)), torch.randint(20, (3, 4))
    lens = torch.tensor([7, 3, 1])
    found = net.alignment(source, target, lens)
    assert found.shape == (3, 4, 7)
    assert not found.requires_grad
    torch.testing.assert_close(found.sum(-1), torch.ones(3, 4).double())
    assert (found[1, :, 3:] == 0).all()
    assert (found[2, :, 1:] == 0).all()
    block = net.decoder[max(layers - 2, 0)]
    assert torch.equal(found, block.to_source.attention_weights.mean(1))
    state = net.start(source, lens)
    for t in range(4):
        _, state = net.step(target[:, t], state)
        torch.testing.assert_close(block.to_source.attention_weights.mean(1)[:, 0], found[:, t])


def test_dropout_of_weights_may_be_another_one():
    def parts(**options):
        net = Transformer(config(**options))
        layers = (block.attention for block in (*net.encoder, *net.decoder))
        layers = [*layers, *(block.to_source for block in net.decoder)]
        found = {layer.attention.dropout.p for layer in layers}
        return found, net.decoder[0].feed_forward.dropout.p, net.decoder[0].around_source.dropout.p

    assert parts(dropout=0.3) == ({0.3}, 0.3, 0.3)
    assert parts(dropout=0.3, attention_dropout=0.0) == ({0.0}, 0.3, 0.3)
    assert parts(dropout=0.3, attention_dropout=0.1) == ({0.1}, 0.3, 0.3)


def test_what_is_tied_is_one_tensor():
    net = network(tied=True, shared=True)
    assert net.out.weight is net.target_embedding.weight
    assert net.source_embedding is net.target_embedding
    net = network(tied=False)
    assert net.out.weight is not net.target_embedding.weight


def test_scores_start_small():
    torch.manual_seed(0)
    net = Transformer(TransformerConfig(1000, 1000, width=64))
    scores = net(torch.randint(1000, (2, 9)), torch.randint(1000, (2, 8)))
    loss = nn.functional.cross_entropy(scores.flatten(0, 1), torch.randint(1000, (16,)))
    assert loss.item() == pytest.approx(6.9, abs=1.0)  # log 1000: nothing is known


def test_it_learns_to_turn_a_sentence_around(one_thread):
    torch.manual_seed(0)
    net = Transformer(config(dropout=0.0, encoder_layers=1, decoder_layers=1, width=32))
    trainer = torch.optim.Adam(net.parameters(), lr=3e-3)
    for _ in range(150):
        source = torch.randint(1, 20, (32, 6))
        wanted = source.flip(1)
        fed = torch.cat((torch.zeros(32, 1, dtype=torch.long), wanted[:, :-1]), 1)
        loss = nn.functional.cross_entropy(net(source, fed).flatten(0, 1), wanted.flatten())
        trainer.zero_grad()
        loss.backward()
        trainer.step()
    assert loss < 0.3, loss
    # and it looks where the word is: step t at token 5 - t
    net.eval()(source, fed)
    looked = net.decoder[0].to_source.attention_weights.mean((0, 1)).argmax(-1)
    assert (looked == torch.arange(5, -1, -1)).float().mean() >= 0.5


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: config(positions="left"),
            ValueRangeError,
            "TransformerConfig: positions must be one of 'sinusoidal', 'learned', 'rotary', "
            "'alibi', 'relative', 'none'; got 'left'",
        ),
        (
            lambda: config(shared=True, source_vocab=7),
            ValueRangeError,
            "TransformerConfig: shared=True needs one vocabulary, got source_vocab=7 and "
            "target_vocab=20",
        ),
        (
            lambda: config(width=10),
            ValueRangeError,
            "TransformerConfig: width must be a multiple of num_heads=4, got 10",
        ),
        (
            lambda: network().step(
                torch.zeros(2, 1, dtype=torch.long),
                network().start(torch.zeros(2, 3, dtype=torch.long)),
            ),
            ShapeError,
            "Transformer: tokens must be [2], one for each sequence of the state, got the shape "
            "[2, 1]",
        ),
        (
            lambda: network().start(torch.zeros(2, 3, dtype=torch.long), torch.ones(2, 3)),
            ShapeError,
            "Transformer: source_lens must be [b], one length a sentence, got the shape [2, 3]",
        ),
        (
            lambda: network()(torch.zeros(2, 3), torch.zeros(2, 3)),
            KindError,
            "Transformer: source must hold token numbers, int64 or int32, got torch.float32",
        ),
        (
            lambda: network()(torch.zeros(3, dtype=torch.long), torch.zeros(3, dtype=torch.long)),
            ShapeError,
            "Transformer: source must be [b, tokens], got the shape [3]",
        ),
    ],
)
def test_message(call, error, message):
    with pytest.raises(error) as raised:
        call()
    assert str(raised.value) == message
