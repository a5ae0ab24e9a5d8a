import copy
import pickle

import pytest
import torch
from benchmarks.textbook import TextbookDecoder
from torch import nn

from regard import KindError, ShapeError, StateError, ValueRangeError
from regard.layers import DecoderState, Seq2SeqAttentionDecoder, Seq2SeqEncoder
from tests.layers.textbook_data import assert_same, same_weights


def pair(layers=2, dropout=0.0, vocab=10, embed=8, hidden=16):
    torch.manual_seed(0)
    return same_weights(
        Seq2SeqAttentionDecoder(vocab, embed, hidden, layers, dropout),
        TextbookDecoder(vocab, embed, hidden, layers, dropout),
    )


def source(b=4, m=7, hidden=16, layers=2):
    return torch.randn(m, b, hidden), torch.randn(layers, b, hidden)


def test_the_example_of_the_notes():
    encoder = Seq2SeqEncoder(vocab_size=10, embed_size=8, num_hiddens=16, num_layers=2)
    encoder.eval()
    decoder = Seq2SeqAttentionDecoder(10, embed_size=8, num_hiddens=16, num_layers=2)
    decoder.eval()
    X = torch.zeros((4, 7), dtype=torch.long)
    state = decoder.init_state(encoder(X), None)
    output, state = decoder(X, state)
    assert output.shape == (4, 7, 10)
    assert len(state) == 3
    assert state[0].shape == (4, 7, 16)
    assert len(state[1]) == 2
    assert state[1][0].shape == (4, 16)
    assert [w.shape for w in decoder.attention_weights] == [(4, 1, 7)] * 7


@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("lens", [None, [7, 3, 1, 5]], ids=["full", "lengths"])
def test_the_textbook_form_from_the_same_weights(layers, lens):
    ours, theirs = pair(layers)
    outputs, states = source(layers=layers)
    lens = None if lens is None else torch.tensor(lens)
    X = torch.randint(10, (4, 5))

    def call(net):
        if net is ours:
            return net(X, net.init_state((outputs, states), lens))[0]
        return net(X, (outputs.transpose(0, 1), states, lens))[0]

    assert_same(ours, theirs, call)
    for mine, textbook in zip(ours.attention_weights, theirs.attention_weights, strict=True):
        torch.testing.assert_close(mine, textbook)
    # the state, too
    _, state = ours(X, ours.init_state((outputs, states), lens))
    _, wanted = theirs(X, (outputs.transpose(0, 1), states, lens))
    torch.testing.assert_close(state[1], wanted[1])


def test_gradients_reach_the_encoder():
    ours, theirs = pair()
    X = torch.randint(10, (4, 5))
    found = []
    for net in (ours, theirs):
        torch.manual_seed(1)
        outputs, states = (x.requires_grad_() for x in source())
        lens = torch.tensor([7, 3, 1, 5])
        if net is ours:
            out, state = net(X, net.init_state((outputs, states), lens))
        else:
            out, state = net(X, (outputs.transpose(0, 1), states, lens))
        loss = out.square().sum() + state[1].sum()
        found.append(torch.autograd.grad(loss, (outputs, states)))
    for mine, textbook in zip(*found, strict=True):
        torch.testing.assert_close(mine, textbook, rtol=1e-4, atol=1e-5)


def test_one_step_at_a_time_is_the_whole_sequence():
    ours, _ = pair()
    ours.double()
    enc = tuple(x.double() for x in source())
    lens = torch.tensor([7, 3, 1, 5])
    X = torch.randint(10, (4, 6))
    start = ours.init_state(enc, lens)
    whole, end = ours(X, start)
    weights = ours.attention_weights
    state = start
    for t in range(6):
        step, state = ours(X[:, t : t + 1], state)
        torch.testing.assert_close(step[:, 0], whole[:, t], rtol=1e-12, atol=1e-12)
        torch.testing.assert_close(ours.attention_weights[0], weights[t], rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(state[1], end[1], rtol=1e-12, atol=1e-12)
    again, _ = ours(X, start)  # the caller's state was not touched
    assert torch.equal(again, whole)


def test_keys_are_projected_once_a_sentence(monkeypatch):
    ours, _ = pair()
    calls = []
    ours.attention.W_k.register_forward_hook(lambda *_: calls.append(1))
    state = ours.init_state(source(), None)
    X = torch.zeros(4, 3, dtype=torch.long)
    with torch.no_grad():
        for _ in range(5):
            _, state = ours(X, state)
    assert calls == [1]
    ours(X, state)  # now W_k learns, and what was projected before knows nothing of it
    assert calls == [1, 1]
    with torch.no_grad():
        ours(X, tuple(state))  # a state made by hand
        assert calls == [1, 1, 1]
        ours.attention.W_k.weight.mul_(2)
        ours(X, state)  # other weights
    assert calls == [1, 1, 1, 1]


def test_a_state_made_without_gradients_can_be_trained_on_twice():
    ours, _ = pair()
    with torch.no_grad():
        state = ours.init_state(source(), None)
    X = torch.randint(10, (4, 3))
    for _ in range(2):
        ours.zero_grad()
        ours(X, state)[0].square().sum().backward()
        assert ours.attention.W_k.weight.grad.abs().max() > 0


def test_a_state_can_be_copied():
    ours, _ = pair()
    X = torch.randint(10, (4, 3))
    with torch.no_grad():
        _, state = ours(X, ours.init_state(source(), torch.tensor([7, 3, 1, 5])))
        wanted, _ = ours(X, state)
        for other in (copy.copy(state), copy.deepcopy(state), pickle.loads(pickle.dumps(state))):
            assert len(other) == 3
            torch.testing.assert_close(ours(X, other)[0], wanted)


def test_half_precision_in_and_out():
    ours, _ = pair()
    ours.bfloat16()
    enc = tuple(x.bfloat16() for x in source())
    out, state = ours(torch.randint(10, (4, 3)), ours.init_state(enc, None))
    assert out.dtype is state[1].dtype is torch.bfloat16
    assert ours.attention_weights[0].shape == (4, 1, 7)


def test_weights_are_computed_when_read(monkeypatch):
    ours, _ = pair()
    with pytest.raises(StateError, match="has not been called yet"):
        _ = ours.attention_weights
    real = type(ours.attention).attention_weights
    reads = []
    monkeypatch.setattr(
        type(ours.attention),
        "attention_weights",
        property(lambda self: reads.append(1) or real.fget(self)),
    )
    ours(torch.zeros(4, 3, dtype=torch.long), ours.init_state(source(), None))
    assert reads == []
    assert len(ours.attention_weights) == 3
    assert reads == [1]


def test_padding_may_hold_anything_and_a_sentence_may_be_empty():
    ours, _ = pair()
    outputs, states = source()
    lens = torch.tensor([7, 3, 0, 5])
    X = torch.randint(10, (4, 5))
    clean, _ = ours(X, ours.init_state((outputs, states), lens))
    outputs[3:, 1], outputs[:, 2] = torch.nan, torch.inf
    dirty, _ = ours(X, ours.init_state((outputs, states), lens))
    assert torch.equal(clean, dirty)
    assert ours.attention_weights[0][2].tolist() == [[0.0] * 7]
    dirty.square().sum().backward()
    for name, p in ours.named_parameters():
        assert p.grad.isfinite().all(), name


def test_dropout_is_there_while_training_and_repeats_with_the_seed():
    ours, _ = pair(dropout=0.5)
    state = ours.init_state(source(), None)
    X = torch.randint(10, (4, 5))
    calm, _ = ours(X, state)
    ours.train()
    runs = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        runs.append(ours(X, state)[0])
    assert torch.equal(runs[0], runs[1])
    assert not torch.allclose(runs[0], runs[2])
    assert not torch.allclose(runs[0], calm)


def test_no_steps_at_all():
    ours, _ = pair()
    state = ours.init_state(source(), None)
    out, after = ours(torch.zeros(4, 0, dtype=torch.long), state)
    assert out.shape == (4, 0, 10)
    assert torch.equal(after[1], state[1])
    assert ours.attention_weights == []


def test_inside_autocast_the_recurrence_stays_in_float32():
    ours, _ = pair()
    X = torch.randint(10, (4, 5))
    with torch.autocast("cpu", torch.bfloat16):
        enc = source()
        out, state = ours(X, ours.init_state(enc, None))
    assert state[1].dtype is torch.float32
    assert ours.attention_weights[0].shape == (4, 1, 7)
    wanted, _ = ours(X, ours.init_state(enc, None))
    torch.testing.assert_close(out.float(), wanted, atol=0.05, rtol=0.05)
    out.float().sum().backward()


def test_an_encoder_that_knows_the_lengths_stops_there():
    torch.manual_seed(0)
    encoder = Seq2SeqEncoder(10, 8, 16, 2)
    X = torch.randint(10, (3, 6))
    lens = torch.tensor([6, 2, 0])
    outputs, state = encoder(X, lens)
    alone, end = encoder(X[1:2, :2])
    torch.testing.assert_close(outputs[:2, 1:2], alone)
    torch.testing.assert_close(state[:, 1:2], end)
    assert outputs[2:, 1].abs().max() == 0
    plain = nn.GRU(8, 16, 2)
    plain.load_state_dict(encoder.rnn.state_dict())
    torch.testing.assert_close(encoder(X)[0], plain(encoder.embedding(X).transpose(0, 1))[0])


def test_it_learns_to_turn_a_sentence_around(one_thread):
    """What needs attention: the last word first, with lengths that differ."""
    torch.manual_seed(0)
    vocab, b, m = 9, 32, 4
    encoder, decoder = Seq2SeqEncoder(vocab, 24, 32, 1), Seq2SeqAttentionDecoder(vocab, 24, 32, 1)
    params = [*encoder.parameters(), *decoder.parameters()]
    trainer = torch.optim.Adam(params, lr=0.01)
    for _ in range(150):
        X = torch.randint(1, vocab, (b, m))
        wanted = X.flip(1)
        fed = torch.cat((torch.zeros(b, 1, dtype=torch.long), wanted[:, :-1]), 1)
        out, _ = decoder(fed, decoder.init_state(encoder(X), None))
        loss = nn.functional.cross_entropy(out.flatten(0, 1), wanted.flatten())
        trainer.zero_grad()
        loss.backward()
        trainer.step()
    assert (out.argmax(-1) == wanted).float().mean() > 0.95


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda net: net.init_state((torch.zeros(7, 4, 16), torch.zeros(1, 4, 16)), None),
            ShapeError,
            "Seq2SeqAttentionDecoder: the encoder must give outputs [b, m, 16] (or, to "
            "init_state, [m, b, 16]) and states [2, b, 16], got the shapes [4, 7, 16] and "
            "[1, 4, 16]",
        ),
        (
            lambda net: net(
                torch.zeros(4, 1, dtype=torch.long),
                [torch.zeros(4, 7, 16), torch.zeros(2, 3, 16), None],
            ),
            ShapeError,
            "Seq2SeqAttentionDecoder: the encoder must give outputs [b, m, 16] (or, to "
            "init_state, [m, b, 16]) and states [2, b, 16], got the shapes [4, 7, 16] and "
            "[2, 3, 16]",
        ),
        (
            lambda net: Seq2SeqEncoder(10, 8, 16, 2)(
                torch.zeros(2, 5, dtype=torch.long), torch.tensor([3])
            ),
            ShapeError,
            "Lengths: lengths must have one entry for each of the 2 sequences, got 1",
        ),
        (
            lambda net: net(torch.zeros(3, 2, dtype=torch.long), net.init_state(source(), None)),
            ShapeError,
            "Seq2SeqAttentionDecoder: X has 3 sequences, the state has 4",
        ),
        (
            lambda net: net(torch.zeros(4, 2), net.init_state(source(), None)),
            KindError,
            "Seq2SeqAttentionDecoder: X must hold token numbers, int64 or int32, got torch.float32",
        ),
        (
            lambda net: net(torch.zeros(4, dtype=torch.long), net.init_state(source(), None)),
            ShapeError,
            "Seq2SeqAttentionDecoder: X must be [b, steps], got the shape [4]",
        ),
        (
            lambda net: net(
                torch.zeros(4, 1, dtype=torch.long),
                net.init_state(source(), torch.ones(4, 7, dtype=torch.long)),
            ),
            ShapeError,
            "Seq2SeqAttentionDecoder: enc_valid_lens must be [b], one length a source sentence, "
            "got the shape [4, 7]",
        ),
        (
            lambda net: net(
                torch.zeros(4, 1, dtype=torch.long),
                net.init_state(source(), torch.tensor([1, 2, 3, 8])),
            ),
            ValueRangeError,
            "Lengths: lengths must be at most m=7, the number of keys, got 8",
        ),
        (
            lambda net: Seq2SeqEncoder(0, 8, 16, 2),
            ValueRangeError,
            "Seq2SeqEncoder: vocab_size must be at least 1, got 0",
        ),
    ],
)
def test_message(call, error, message):
    with pytest.raises(error) as raised:
        call(pair()[0])
    assert str(raised.value) == message


def test_a_state_is_three_things():
    a, b = torch.zeros(1), torch.ones(1)
    outputs, states, lens = DecoderState(a, b, None)
    assert outputs is a
    assert states is b
    assert lens is None
