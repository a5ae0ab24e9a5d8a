"""Translating, step by step or from the start each time: ``python -m benchmarks.decoding``.

Both ways go through the same search and must find the same tokens before they are timed: ours
remembers what it has read and written, the other runs the network over the source and the whole
prefix for each next token. The weights are random, so lengths are given: those of short everyday
sentences, Chinese into English. Prints a table and, last, a line of JSON.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from time import perf_counter
from typing import Any, NamedTuple

import torch
from torch import Tensor

from benchmarks.environment import describe, use_cores
from regard.models import Bahdanau, BahdanauConfig, Transformer, TransformerConfig
from regard.tasks.translation.search import Found, Scorer, search
from regard.tasks.vocabulary import EOS

__all__ = ["MODELS", "Forced", "Sentences", "WholePrefix", "main", "sentences", "translate"]

VOCAB = 8000
BAR = 5.0
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
        self.model = model

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


def _seconds(scorer: Scorer, given: Sentences, beam: int, together: int) -> float:
    start = perf_counter()
    translate(scorer, given, beam, together)
    return perf_counter() - start


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sentences", type=int, default=1000, help="how many (default: 1000)")
    parser.add_argument("--together", type=int, default=100, help="in a batch (default: 100)")
    parser.add_argument("--beam", type=int, action="append", help="default: 1 and 4")
    parser.add_argument("--only", choices=tuple(MODELS), help="one model")
    parser.add_argument("--rounds", type=int, default=3, help="the best counts (default: 3)")
    parser.add_argument("--cores", type=int, default=2, help="how many to use (default: 2)")
    asked = parser.parse_args(arguments)
    use_cores(asked.cores)
    given, rows = sentences(asked.sentences), []
    print(f"{'model':12} {'beam':>4} {'step by step':>13} {'whole prefix':>13} {'ratio':>6}")
    for name in MODELS if asked.only is None else (asked.only,):
        torch.manual_seed(0)
        model = MODELS[name]().eval()
        ways = {"ours": model, "whole": WholePrefix(model)}
        for beam in asked.beam or (1, 4):
            few = Sentences(*(x[:20] for x in given))
            ours, whole = ([x.tokens for x in translate(w, few, beam, 20)] for w in ways.values())
            if ours != whole:
                msg = f"{name}, beam {beam}: the two ways do not write the same"
                raise SystemExit(msg)
            times: dict[str, list[float]] = {way: [] for way in ways}
            for _ in range(asked.rounds):
                for way, scorer in ways.items():
                    times[way].append(_seconds(scorer, given, beam, asked.together))
            best = {way: min(found) for way, found in times.items()}
            ratio = best["whole"] / best["ours"]
            seconds = f"{best['ours']:11.2f} s {best['whole']:11.2f} s"
            print(f"{name:12} {beam:4} {seconds} {ratio:6.1f}", flush=True)
            rows.append({"model": name, "beam": beam, "seconds": best, "ratio": round(ratio, 2)})
    shape = {"sentences": asked.sentences, "together": asked.together, "bar": BAR}
    print(json.dumps({"measured": rows, **shape, **describe()}))


if __name__ == "__main__":
    main()
