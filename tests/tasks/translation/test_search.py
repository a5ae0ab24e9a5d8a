"""Searching, over models that are tables: what follows a prefix hangs on the prefix alone."""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

import numpy as np
import pytest
import torch

from regard import KindError, ShapeError, ValueRangeError
from regard.models import Bahdanau, BahdanauConfig, Transformer, TransformerConfig
from regard.tasks.translation import search as module
from regard.tasks.translation.search import Found, greedy, search
from regard.tasks.vocabulary import BOS, EOS, PAD


class Prefix(NamedTuple):
    seen: torch.Tensor

    def rows(self, index):
        return Prefix(self.seen[index])


class Table:
    """A model a sentence: the scores after a prefix are a row of a table, drawn by its hash."""

    def __init__(self, vocab, seed=0, spread=2.0, rows=4096):
        generator = torch.Generator().manual_seed(seed)
        self.table = spread * torch.randn(rows, vocab, generator=generator)
        self.steps = self.fed = 0

    def start(self, source, source_lens):
        return Prefix(source[:, 0] * 7919 % len(self.table))

    def step(self, tokens, state):
        self.steps += 1
        self.fed += len(tokens)
        seen = (state.seen * 1_000_003 + tokens * 8191 + 12345) % (2**40)
        return self.table[seen % len(self.table)], Prefix(seen)


class Fixed:
    """The same scores always."""

    def __init__(self, *scores):
        self.scores = torch.tensor(scores)

    def start(self, source, source_lens):
        return Prefix(source[:, 0])

    def step(self, tokens, state):
        return self.scores.expand(len(tokens), -1), state


def sentences(count, first=0):
    return torch.arange(first, first + count).unsqueeze(1)


def brute_force(model, source, limit, penalty):
    """All translations of all sentences, the best first."""
    vocab = model.table.shape[1]
    words = [w for w in range(vocab) if w not in (PAD, BOS, EOS)]
    b, found = len(source), [[] for _ in source]
    state = model.start(source, None)
    scores, state = model.step(torch.full((b,), BOS), state)
    level = {(): (torch.zeros(b).double(), scores, state)}
    for length in range(1, limit + 1):
        after = {}
        for prefix, (total, scores, state) in level.items():
            allowed = scores.double()
            allowed[:, [PAD, BOS]] = -torch.inf
            log_probs = allowed.log_softmax(-1)
            score = (total + log_probs[:, EOS]) / ((5 + length) / 6) ** penalty
            for i, x in enumerate(score.tolist()):
                found[i].append((x, prefix))
            for word in words if length < limit else ():
                step = model.step(torch.full((b,), word), state)
                after[(*prefix, word)] = (total + log_probs[:, word], *step)
        level = after
    return [sorted(x, key=lambda y: -y[0]) for x in found]


@pytest.mark.parametrize(("vocab", "models"), [(6, 400), (7, 100)])
@pytest.mark.parametrize("penalty", [0.0, 1.0])
def test_a_beam_as_wide_as_everything_finds_the_best_of_all(vocab, models, penalty):
    model, source = Table(vocab), sentences(models)
    found = search(
        model, source, beam=(vocab - 3) ** 5, n_best=5, length_penalty=penalty, max_len=5
    )
    wanted = brute_force(model, source, 5, penalty)
    for mine, all_ in zip(found, wanted, strict=True):
        assert [x.tokens for x in mine] == [tokens for _, tokens in all_[:5]]
        assert [x.score for x in mine] == pytest.approx([x for x, _ in all_[:5]], abs=1e-5)
        assert all(x.ended for x in mine)


@pytest.mark.parametrize("vocab", [4, 5, 9])
def test_a_beam_of_one_is_greedy(vocab):
    source = sentences(1000)
    limits = [3 + i % 11 for i in range(1000)]
    one = search(Table(vocab), source, beam=1, max_len=limits)
    by_hand = greedy(Table(vocab), source, max_len=limits)
    assert [x for (x,) in one] == by_hand
    assert {x.ended for x in by_hand} == {True, False}
    lengths = [len(x.tokens) for x in by_hand]
    assert all(n <= limit - x.ended for n, limit, x in zip(lengths, limits, by_hand, strict=True))


def test_greedy_takes_the_likeliest_each_time():
    model, source = Table(9), sentences(50)
    for i, found in enumerate(greedy(model, source, max_len=6)):
        state, fed, tokens, total = model.start(source[i : i + 1], None), BOS, [], 0.0
        while fed != EOS and len(tokens) < 6:
            scores, state = model.step(torch.tensor([fed]), state)
            scores = scores[0].double()
            scores[[PAD, BOS]] = -torch.inf
            fed = int(scores.argmax())
            total += float(scores.log_softmax(-1)[fed])
            tokens += [fed] if fed != EOS else []
        assert found.tokens == tuple(tokens)
        assert found.ended == (fed == EOS)
        assert found.log_prob == pytest.approx(total, abs=1e-5)
        assert found.score == pytest.approx(total / ((5 + len(tokens) + found.ended) / 6), abs=1e-5)


@pytest.mark.parametrize("beam", [1, 2, 5])
def test_a_batch_is_one_by_one(beam):
    source = sentences(1000)
    limits = [3 + i % 7 for i in range(1000)]
    together = search(Table(9), source, beam=beam, n_best=beam, max_len=limits)
    for i in range(0, 1000, 10):
        alone = search(Table(9), source[i : i + 1], beam=beam, n_best=beam, max_len=[limits[i]])
        assert alone == together[i : i + 1]
    a_few = search(Table(9), source[500:600], beam=beam, n_best=beam, max_len=limits[500:600])
    assert a_few == together[500:600]


def test_the_n_best_are_different_and_sorted():
    for found in search(Table(9), sentences(1000), beam=6, n_best=6, max_len=8):
        assert len(found) == 6
        assert len({x.tokens for x in found}) == 6
        assert all(not {PAD, BOS, EOS} & set(x.tokens) for x in found)
        order = [(not x.ended, -x.score) for x in found]
        assert order == sorted(order)


@pytest.mark.parametrize("penalty", [-1.0, 0.0, 0.6, 1.0, 2.0])
def test_stopping_early_changes_nothing(monkeypatch, penalty):
    options = {"beam": 4, "n_best": 2, "length_penalty": penalty, "max_len": 40}
    model, source = Table(7, spread=3.0), sentences(200)
    early = search(model, source, **options)
    fed, model.steps, model.fed = model.fed, 0, 0
    monkeypatch.setattr(module._Best, "settled", lambda self, top, length: top == -torch.inf)
    assert search(model, source, **options) == early
    assert model.steps == 40
    if penalty <= 0:
        assert fed < 0.5 * model.fed  # and it is early


def test_a_longer_translation_may_win_by_its_length():
    plain = search(Table(9), sentences(300), beam=8, length_penalty=0.0, max_len=12)
    longer = search(Table(9), sentences(300), beam=8, length_penalty=2.0, max_len=12)
    lengths = [sum(len(x.tokens) for (x,) in found) for found in (plain, longer)]
    assert lengths[1] > 1.5 * lengths[0]


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize("beam", [1, 3, 50])
@pytest.mark.parametrize(
    ("scores", "tokens", "ended"),
    [
        ((9.0, 9.0, -INF, 1.0, 0.0), (3,) * 7, False),  # EOS never comes
        ((9.0, 9.0, 9.0, 1.0, 0.0), (), True),  # at once
        ((9.0, 9.0, NAN, 1.0, NAN), (3,) * 7, False),
        ((NAN, NAN, NAN, NAN, NAN), (), False),
        ((-INF, -INF, -INF, -INF, -INF), (), False),
        ((0.0, 0.0, 0.0, INF, 0.0), (3,) * 7, False),
        ((0.0,), (), False),  # a vocabulary of PAD alone
        ((0.0, 0.0), (), False),
        ((0.0, 0.0, 0.0), (), True),
    ],
    ids=str,
)
def test_it_ends_whatever_the_model_says(scores, tokens, ended, beam):
    found = search(Fixed(*scores), sentences(3), beam=beam, n_best=beam, max_len=7)
    assert len(found) == 3
    for best in found:
        assert best[0].tokens == tokens
        assert best[0].ended == ended
        assert len({x.tokens for x in best}) == len(best)
        assert all(len(x.tokens) <= 7 for x in best)
        assert all(x.log_prob <= 0 for x in best)
    assert [x[0] for x in found] == greedy(Fixed(*scores), sentences(3), max_len=7)


def test_scores_that_vanish_on_the_way_end_a_hypothesis_where_it_is():
    class Fading(Fixed):
        def start(self, source, source_lens):
            return Prefix(torch.zeros(len(source)))

        def step(self, tokens, state):
            scores = self.scores.expand(len(tokens), -1).clone()
            scores[state.seen >= 2] = NAN
            return scores, Prefix(state.seen + 1)

    model = Fading(0.0, 0.0, -9.0, 1.0, 0.0)
    for beam in (1, 2):
        ((best, *_),) = search(model, sentences(1), beam=beam, n_best=beam, max_len=9)
        assert not best.ended or best.tokens == (3,)
    ((best,),) = search(model, sentences(1), beam=1, max_len=9)
    assert (best.tokens, best.ended) == ((3, 3), False)


def test_of_equals_the_first_is_taken():
    # after anything: EOS is unlikely, all others alike; the smallest words come first
    model = Fixed(0.0, 0.0, -20.0, *[0.0] * 40)
    ((*found,),) = search(model, sentences(1), beam=4, n_best=4, max_len=2)
    assert [x.tokens for x in found if not x.ended] == [(3, 3), (3, 4), (3, 5), (3, 6)][:4]
    ((one,),) = search(model, sentences(1), beam=1, max_len=3)
    assert one.tokens == (3, 3, 3)


def test_what_is_cut_off_comes_after_what_ended():
    # going on is always likelier than ending
    found = search(Fixed(0.0, 0.0, -3.0, 0.0, -INF), sentences(1), beam=2, n_best=2, max_len=5)[0]
    assert [(x.tokens, x.ended) for x in found] == [((3,) * 4, True), ((3,) * 3, True)]
    found = search(Fixed(0.0, 0.0, -9.0, 0.0, 0.0), sentences(1), beam=2, n_best=2, max_len=5)[0]
    assert [x.ended for x in found] == [False, False]


def test_rows_that_are_done_are_taken_out():
    model = Table(5)
    found = search(model, sentences(100), beam=1, max_len=[4] * 90 + [40] * 10)
    steps = sum(len(x.tokens) + x.ended for (x,) in found)
    assert steps <= model.fed < 2 * steps


def network(kind):
    torch.manual_seed(0)
    if kind == "bahdanau":
        net = Bahdanau(BahdanauConfig(20, 20, embedding=8, hidden=12, decoder_layers=2))
    else:
        net = Transformer(TransformerConfig(20, 20, width=16, num_heads=2, hidden=16))
    for p in net.parameters():
        p.data += 0.3 * torch.randn_like(p)
    return net.double().eval()


@pytest.mark.parametrize("kind", ["transformer", "bahdanau"])
def test_the_networks_write_what_they_score(kind):
    net = network(kind)
    source, lens = torch.randint(3, 20, (5, 7)), torch.tensor([7, 2, 5, 0, 1])
    found = search(net, source, lens, beam=4, n_best=3)
    for i, best in enumerate(found):
        assert len({x.tokens for x in best}) == 3
        assert all(len(x.tokens) <= 2 * int(lens[i]) + 10 for x in best)
        for x in best:
            target = torch.tensor([[BOS, *x.tokens, *[EOS] * x.ended]])
            scores = net(source[i : i + 1], target[:, :-1], lens[i : i + 1])[0].detach()
            scores[:, [PAD, BOS]] = -torch.inf
            log_probs = scores.log_softmax(-1).gather(1, target[0, 1:, None])
            assert x.log_prob == pytest.approx(float(log_probs.sum()), abs=1e-6)
    assert [x for (x,) in search(net, source, lens, beam=1)] == [
        Found(x.tokens, pytest.approx(x.score), pytest.approx(x.log_prob), x.ended)
        for x in greedy(net, source, lens)
    ]
    for i in range(5):
        alone = search(net, source[i : i + 1, : lens[i]], lens[i : i + 1], beam=4, n_best=3)[0]
        assert [x.tokens for x in alone] == [x.tokens for x in found[i]]


def test_nothing_to_translate():
    assert search(Table(9), torch.zeros(0, 3, dtype=torch.long)) == []


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"beam": 0}, ValueRangeError, "search: beam must be at least 1, got 0"),
        ({"beam": 2.5}, KindError, "search: beam must be an integer, got 2.5"),
        (
            {"beam": 2, "n_best": 3},
            ValueRangeError,
            "search: n_best must be at most beam=2, got 3; a wider beam gives more",
        ),
        ({"n_best": 0}, ValueRangeError, "search: n_best must be at least 1, got 0"),
        ({"max_len": 0}, ValueRangeError, "search: max_len must be at least 1, got 0"),
        (
            {"max_len": [4, 5]},
            ShapeError,
            "search: max_len must be one number or 3, one a sentence, got 2",
        ),
        *(
            (
                {"length_penalty": penalty},
                ValueRangeError,
                f"search: length_penalty must be from -10 to 10, got {penalty}",
            )
            for penalty in (NAN, INF, -INF, 10.01, -11, 1e9)
        ),
        ({"length_penalty": True}, KindError, "search: length_penalty must be a number, got True"),
        (
            {"length_penalty": "1"},
            KindError,
            "search: length_penalty must be a number, got '1'",
        ),
        (
            {"source_lens": torch.ones(2)},
            ShapeError,
            "search: source_lens must be [3], one length a sentence, got the shape [2]",
        ),
    ],
    ids=str,
)
def test_message(options, error, message):
    with pytest.raises(error) as raised:
        search(Table(9), sentences(3), **options)
    assert str(raised.value) == message


@pytest.mark.parametrize("penalty", [-10, 10, np.float32(0.5)])
def test_a_length_penalty_at_its_limits(penalty):
    options = {"length_penalty": penalty, "max_len": 266}
    for (found,) in search(Table(9), sentences(20), beam=2, **options):
        assert math.isfinite(found.score)
        wanted = found.log_prob / ((5 + len(found.tokens) + found.ended) / 6) ** float(penalty)
        assert found.score == wanted
    greedy(Table(9), sentences(2), **options)


def test_greedy_checks_what_it_is_told():
    with pytest.raises(ValueRangeError) as raised:
        greedy(Table(9), sentences(3), length_penalty=NAN)
    assert str(raised.value) == "greedy: length_penalty must be from -10 to 10, got nan"


def test_every_seed_is_another_model():  # or the thousand above would be one
    first = {tuple(x.tokens) for (x,) in search(Table(9), sentences(1000), max_len=8)}
    assert len(first) > 100
    assert len(set(itertools.chain(*first))) == 6
