"""The batches of each epoch, the next one's prepared while this one is learned from."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from functools import partial
from types import TracebackType

from regard.tasks.engine.ahead import ahead
from regard.tasks.engine.seeds import drawn_from
from regard.tasks.pairs import Pair
from regard.tasks.ragged import Ragged
from regard.tasks.translation.batches import Batches
from regard.tasks.translation.settings import TranslationSettings
from regard.tasks.vocabulary import Vocabulary

__all__ = ["Epochs"]


class Epochs:
    """Gives the batches of an epoch: a pure function of the pairs, the seed and its number.

    With subword regularisation each epoch cuts the words anew. That is done in a thread, an epoch
    ahead, so that nobody waits for it; nor does the end of the training.

    Args:
        pairs: what an epoch sees.
        source, target: the vocabularies.
        settings: seed, sizes, and how words are cut.
        fixed_shapes: whether few shapes of batches are wanted, for graphs.

    """

    def __init__(
        self,
        pairs: Sequence[Pair],
        source: Vocabulary,
        target: Vocabulary,
        settings: TranslationSettings,
        *,
        fixed_shapes: bool,
    ) -> None:
        self._texts = tuple(p.source for p in pairs), tuple(p.target for p in pairs)
        self._vocabularies = source, target
        self._settings, self._fixed_shapes = settings, fixed_shapes
        self._made: dict[int, Future[Batches]] = {}

    def __enter__(self) -> Epochs:  # noqa: PYI034 - Self came with Python 3.11
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._made.clear()

    @property
    def notes(self) -> tuple[str, ...]:
        """How many pairs are too long."""
        count, longest = self.batches(0).too_long, self._settings.max_len
        if not count:
            return ()
        are = "pair is" if count == 1 else "pairs are"
        return (f"{count:,} {are} left out: more than {longest} tokens on one side, see --max-len",)

    def batches(self, epoch: int) -> Batches:
        """The batches of an epoch; the next one's are begun."""
        if not self._settings.sample:  # words are cut alike in all of them
            return self._begun(0).result()
        found = self._begun(epoch).result()
        self._made = {epoch: self._made[epoch]}
        if epoch + 1 < self._settings.epochs:
            self._begun(epoch + 1)
        return found

    def _begun(self, epoch: int) -> Future[Batches]:
        if epoch not in self._made:
            self._made[epoch] = ahead(partial(self._make, epoch))
        return self._made[epoch]

    def _make(self, epoch: int) -> Batches:
        settings = self._settings
        sides = zip(self._vocabularies, self._texts, strict=True)
        ids = [
            _cut(vocabulary, texts, settings.sample, drawn_from(settings.seed, epoch, side))
            for side, (vocabulary, texts) in enumerate(sides)
        ]
        return Batches(
            *ids,
            tokens=settings.batch_tokens,
            seed=settings.seed,
            fixed_shapes=self._fixed_shapes,
            max_len=settings.max_len,
        )


def _cut(
    vocabulary: Vocabulary, texts: tuple[str, ...], sample: float, seed: int
) -> list[list[int]] | Ragged:
    """As ``encode_all``, without the lists where there is a way around them."""
    if sample:
        return vocabulary.sampler(texts, sample).draw(seed)
    return vocabulary.encode_all(texts)
