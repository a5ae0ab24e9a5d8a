"""Translating, step by step or from the start each time: ``python -m benchmarks.decoding``.

Both ways go through the same search and must find the same tokens before they are timed: ours
remembers what it has read and written, the other runs the network over the source and the whole
prefix for each next token. The weights are random, so lengths are given: those of short everyday
sentences, Chinese into English. With ``--data`` the models that come with the package translate
the sources of a file of pairs, end to end. How many sentences come out otherwise is counted:
roundings decide between two translations that are as likely. ``--out`` keeps the rows.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import torch
from torch import Tensor

from benchmarks.bars import Faster, speedups
from benchmarks.environment import describe, use_cores
from benchmarks.records import Row, append, quantiles
from regard.models import Bahdanau, BahdanauConfig, Transformer, TransformerConfig
from regard.tasks.pairs import read_pairs
from regard.tasks.translation import Translator
from regard.tasks.translation.search import Found, Scorer, search
from regard.tasks.translation.translator import shipped_models
from regard.tasks.vocabulary import EOS

__all__ = [
    "BAR",
    "MODELS",
    "WHOLE",
    "Forced",
    "Sentences",
    "WholePrefix",
    "main",
    "sentences",
    "translate",
]

VOCAB = 8000
FEW = 20  # sentences that both ways must translate alike before they are timed
MOST_DIFFER = 0.01  # of the sentences: roundings decide between translations that are as likely
WHOLE = "whole prefix"
Way = Callable[[int], list[Any]]  # translates the first so many sentences
BAR = Faster(WHOLE, 5.0)
MODELS = {
    "transformer": lambda: Transformer(
        TransformerConfig(
            VOCAB, VOCAB, width=384, num_heads=6, encoder_layers=5, decoder_layers=5, hidden=1536
        )
    ),
    "bahdanau": lambda: Bahdanau(BahdanauConfig(VOCAB, VOCAB, embedding=384, hidden=768)),
}


class Sentences(NamedTuple):
    """What is translated, and how long the translations shall be."""

    source: Tensor
    source_lens: Tensor
    target_lens: Tensor


def sentences(count: int, vocab: int = VOCAB) -> Sentences:
    """Random tokens; lengths as in tatoeba's test set, 7 and 9 subwords in the middle."""
    drawn = torch.Generator().manual_seed(0)
    spread = torch.randn(count, generator=drawn)  # long sentences have long translations
    source_lens = (7.0 * (0.35 * spread).exp()).round().clamp(2, 40).long()
    other = 0.8 * spread + 0.6 * torch.randn(count, generator=drawn)
    target_lens = (9.0 * (0.35 * other).exp()).round().clamp(2, 50).long()
    source = torch.randint(4, vocab, (count, int(source_lens.max())), generator=drawn)
    return Sentences(source, source_lens, target_lens)


class _Prefix(NamedTuple):
    source: Tensor
    source_lens: Tensor
    tokens: Tensor

    def rows(self, index: Tensor) -> _Prefix:
        return _Prefix(*(x.index_select(0, index) for x in self))


class WholePrefix:
    """A model that remembers nothing: each step runs it over the source and the whole prefix."""

    def __init__(self, model: Transformer | Bahdanau) -> None:
        self.model, self.out = model, model.out

    def start(self, source: Tensor, source_lens: Tensor) -> _Prefix:
        """Nothing is read yet."""
        return _Prefix(source, source_lens, source[:, :0])

    def step(self, tokens: Tensor, state: _Prefix) -> tuple[Tensor, _Prefix]:
        """Read and write everything again."""
        prefix = torch.cat((state.tokens, tokens.unsqueeze(1)), 1)
        scores = self.model(state.source, prefix, state.source_lens)[:, -1]
        return scores, state._replace(tokens=prefix)


class _Counted(NamedTuple):
    state: Any
    left: Tensor

    def rows(self, index: Tensor) -> _Counted:
        return _Counted(self.state.rows(index), self.left.index_select(0, index))


class Forced:
    """A scorer that ends when it should: random weights would not."""

    def __init__(self, scorer: Scorer, target_lens: Tensor) -> None:
        self.scorer, self.target_lens = scorer, target_lens

    def start(self, source: Tensor, source_lens: Tensor) -> _Counted:
        """As the scorer does."""
        return _Counted(self.scorer.start(source, source_lens), self.target_lens)

    def step(self, tokens: Tensor, state: _Counted) -> tuple[Tensor, _Counted]:
        """EOS after the last token, never before."""
        scores, inner = self.scorer.step(tokens, state.state)
        scores[:, EOS] = torch.where(state.left > 0, -torch.inf, scores.amax(-1) + 50)
        return scores, _Counted(inner, state.left - 1)


def translate(scorer: Scorer, given: Sentences, beam: int, together: int) -> list[Found]:
    """The best translation of each sentence, sentences of like length together."""
    order = given.source_lens.argsort(stable=True)
    found: list[Found] = []
    for rows in order.split(together):
        lens = given.source_lens[rows]
        source = given.source[rows, : int(lens.max())]
        forced = Forced(scorer, given.target_lens[rows])
        found += [best for best, *_ in search(forced, source, lens, beam=beam, max_len=64)]
    return found


def _check(name: str, beam: int, ways: Mapping[str, Way]) -> None:
    """Both ways write the same, for a few of the sentences."""
    ours, whole = (way(FEW) for way in ways.values())
    if ours != whole:
        msg = f"{name}, beam {beam}: the two ways do not write the same"
        raise SystemExit(msg)


def _timed(ways: Mapping[str, Way], count: int, rounds: int) -> tuple[dict[str, list[float]], int]:
    """Milliseconds of each way in each round, in turns; and how many sentences differ."""
    times: dict[str, list[float]] = {way: [] for way in ways}
    wrote: dict[str, list[Any]] = {}
    for _ in range(rounds):
        for way, run in ways.items():
            start = perf_counter()
            wrote[way] = run(count)
            times[way].append(1e3 * (perf_counter() - start))
    ours, whole = wrote.values()
    return times, sum(a != b for a, b in zip(ours, whole, strict=True))


def _drawn(name: str, beam: int, count: int, together: int) -> dict[str, Way]:
    """A model with random weights on random sentences."""
    torch.manual_seed(0)
    model = MODELS[name]().eval()
    given = sentences(count)

    def run(scorer: Scorer, first: int) -> list[Any]:
        some = Sentences(*(x[:first] for x in given))
        return [x.tokens for x in translate(scorer, some, beam, together)]

    return {"ours": partial(run, model), WHOLE: partial(run, WholePrefix(model))}


def _real(name: str, beam: int, texts: Sequence[str]) -> dict[str, Way]:
    """A model that comes with the package on real sentences, batched as it does that itself."""
    ways = {}
    for way in ("ours", WHOLE):
        translator = Translator.load(name)
        if way == WHOLE:
            translator.model = WholePrefix(translator.model)  # type: ignore[assignment]

        def run(first: int, translator: Translator = translator) -> list[Any]:
            return [x.text for x in translator(texts[:first], beam=beam)]

        ways[way] = run
    return ways


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sentences", type=int, default=1000, help="how many (default: 1000)")
    parser.add_argument("--together", type=int, default=100, help="random ones in a batch (100)")
    parser.add_argument("--data", type=Path, help="pairs: their sources, with the shipped models")
    parser.add_argument("--beam", type=int, action="append", help="default: 1 and 4")
    parser.add_argument("--only", help="one model")
    parser.add_argument("--rounds", type=int, default=3, help="the median counts (default: 3)")
    parser.add_argument("--cores", type=int, default=2, help="how many to use (default: 2)")
    parser.add_argument("--out", type=Path, help="where rows go (default: nowhere)")
    asked = parser.parse_args(arguments)
    known = MODELS if asked.data is None else shipped_models()
    if asked.only not in (None, *known):
        parser.error(f"--only must be one of {', '.join(known)}, got {asked.only}")
    if min(asked.sentences, asked.together, asked.rounds, *(asked.beam or (1,))) < 1:
        parser.error("--sentences, --together, --rounds and --beam must be at least 1")
    use_cores(asked.cores)
    texts: list[str] = []
    if asked.data is not None:  # a translator translates equal sentences once
        pairs = read_pairs(asked.data).pairs
        texts = list(dict.fromkeys(pair.source for pair in pairs))[: asked.sentences]
    where, count = describe(), len(texts) or asked.sentences
    print(f"{'model':15} {'beam':>4} {'step by step':>13} {WHOLE:>13} {'ratio':>6} {'differ':>6}")
    for name in known if asked.only is None else (asked.only,):
        for beam in asked.beam or (1, 4):
            drawn = (beam, count, asked.together)
            ways = _real(name, beam, texts) if texts else _drawn(name, *drawn)
            _check(name, beam, ways)
            times, differ = _timed(ways, count, asked.rounds)
            if differ > count * MOST_DIFFER:
                msg = f"{name}, beam {beam}: the two ways differ for {differ} sentences of {count}"
                raise SystemExit(msg)
            rows = []
            for way, rounds in times.items():
                low, middle, high = quantiles(rounds)
                rows.append(
                    Row(
                        kind="case",
                        case=f"{name}, {'real' if texts else 'random'} sentences",
                        provider=way,
                        direction="search",
                        shape={"sentences": count, "beam": beam},
                        ms=middle,
                        ms_p20=low,
                        ms_p80=high,
                        rounds=rounds,
                        repeats=len(rounds),
                        extra={"differ": differ},
                        note=asked.data.name if asked.data else "",
                        **where,
                    )
                )
            if asked.out:
                append(asked.out, rows)
            ours, whole = rows
            ratio = quantiles(speedups(ours, whole))[1]
            seconds = f"{ours.ms / 1e3:11.2f} s {whole.ms / 1e3:11.2f} s"
            print(f"{name:15} {beam:4} {seconds} {ratio:6.1f} {differ:6}", flush=True)


if __name__ == "__main__":
    main()
