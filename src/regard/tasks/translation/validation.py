"""How good a model is on pairs it never learned from, while it is trained."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from regard.models import Bahdanau, Transformer
from regard.optional import need
from regard.tasks.engine.stepping import precision_of
from regard.tasks.engine.task import Judged
from regard.tasks.pairs import Pair
from regard.tasks.translation.batches import Batches
from regard.tasks.translation.losses import Losses
from regard.tasks.translation.search import search
from regard.tasks.translation.settings import TranslationSettings
from regard.tasks.vocabulary import PAD, Vocabulary

__all__ = ["Validation"]

MOST = 1000  # sentences translated; more would take longer and say little more
TOGETHER = 4096  # tokens translated at once


class Validation:
    """Translates the pairs' sources and compares with their targets.

    Args:
        pairs: the first 1,000 are translated.
        source, target: the vocabularies.
        settings: the beam, and the longest source; what is longer is cut.

    """

    def __init__(
        self,
        pairs: Sequence[Pair],
        source: Vocabulary,
        target: Vocabulary,
        settings: TranslationSettings,
    ) -> None:
        pairs = pairs[:MOST]
        self._bleu = need("sacrebleu", extra="text", why="the validation of a translator")
        self._target, self._settings = target, settings
        self._references = [pair.target for pair in pairs]
        longest = settings.max_len
        sources = [ids[:longest] for ids in source.encode_all([p.source for p in pairs])]
        targets = [ids[: longest - 1] for ids in target.encode_all(self._references)]
        self._sources = sources
        self._batches = Batches(
            sources, targets, tokens=TOGETHER, seed=0, fixed_shapes=False, max_len=longest
        )

    def __call__(
        self,
        model: Transformer | Bahdanau,
        device: torch.device,
        asked: Callable[[], bool] = lambda: False,
    ) -> Judged | None:
        """Judge a model; None if ``asked`` said in between that there is no time for it."""
        was = model.training
        model.eval()
        try:
            half = precision_of(self._settings, device) is torch.bfloat16
            with torch.no_grad(), torch.autocast(device.type, torch.bfloat16, enabled=half):
                texts = self._translated(model, device, asked)
                if texts is None:
                    return None
                return Judged(self.bleu(texts), self._loss(model, device))
        finally:
            model.train(was)

    def bleu(self, texts: Sequence[str]) -> float:
        """BLEU of translations, in the order of the pairs, as sacrebleu has it by default."""
        return float(self._bleu.corpus_bleu(list(texts), [self._references]).score)

    def _translated(
        self, model: Transformer | Bahdanau, device: torch.device, asked: Callable[[], bool]
    ) -> list[str] | None:
        """The translations, longest sources first: those of one length end together."""
        texts = [""] * len(self._sources)
        order = sorted(range(len(texts)), key=lambda i: -len(self._sources[i]))
        while order:
            if asked():
                return None
            longest = max(len(self._sources[order[0]]), 1)
            rows, order = _split(order, max(TOGETHER // (longest * self._settings.beam), 1))
            source = torch.full((len(rows), longest), PAD)
            for row, i in enumerate(rows):
                ids = self._sources[i]
                source[row, : len(ids)] = torch.tensor(ids, dtype=torch.int64)
            lengths = torch.tensor([len(self._sources[i]) for i in rows])
            found = search(model, source.to(device), lengths.to(device), beam=self._settings.beam)
            for i, (best, *_) in zip(rows, found, strict=True):
                texts[i] = self._target.decode(best.tokens)
        return texts

    def _loss(self, model: Transformer | Bahdanau, device: torch.device) -> float:
        losses, total, tokens = Losses(model, 0.0), 0.0, 0
        losses.eval()
        for batch in self._batches.epoch(0):
            total += float(losses(*(x.to(device) for x in batch.parts)))
            tokens += batch.tokens
        return total / max(tokens, 1)


def _split(items: list[int], at: int) -> tuple[list[int], list[int]]:
    return items[:at], items[at:]
