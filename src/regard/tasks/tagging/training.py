"""Training a tagger from sentences with labels."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from torch import nn

from regard.errors import FileError
from regard.models.tagger import Tagger
from regard.tasks.engine import training
from regard.tasks.engine.task import Judge
from regard.tasks.findings import counted
from regard.tasks.run import Run
from regard.tasks.tagging.batches import Batches, Epochs
from regard.tasks.tagging.corpus import Corpus, read_corpus
from regard.tasks.tagging.losses import Losses
from regard.tasks.tagging.numbered import Numbered
from regard.tasks.tagging.settings import TaggingSettings, check_together, model_of
from regard.tasks.tagging.validation import Validation
from regard.tasks.tagging.words import Words

__all__ = ["TASK", "train"]


def train(
    settings: TaggingSettings,
    data: Sequence[Path],
    valid: Path | None,
    out: Path,
    *,
    resume: bool = False,
    device: str = "auto",
    sharded: bool = False,
) -> Run | None:
    """Train a tagger; see ``regard.tasks.engine.training.train``."""
    return training.train(
        TASK, settings, data, valid, out, resume=resume, device=device, sharded=sharded
    )


class Tagging:
    """Tagging, as the engine sees it."""

    kind = "tagging"
    settings = TaggingSettings
    score, digits, unit = "accuracy", 2, "words"
    use = "regard tag --model"

    def completed(self, settings: TaggingSettings) -> TaggingSettings:
        return settings

    def check(self, settings: TaggingSettings) -> None:
        check_together(settings)

    def read(self, data: Sequence[Path], valid: Path | None, settings: TaggingSettings) -> Corpus:
        return read_corpus(data, valid, settings)

    def learn(
        self, corpus: Corpus, settings: TaggingSettings, say: Callable[[str], None]
    ) -> dict[str, bytes]:
        """The words, characters and labels."""
        words = Words.learn(corpus.train, min_count=settings.min_count, where=corpus.where)
        also = f", {len(words.auxiliary):,} beside" if words.auxiliary else ""
        say(
            f"{counted(len(words.words), 'different word')}, "
            f"{counted(len(words.characters), 'character')}, "
            f"{counted(len(words.labels), 'label')}{also}"
        )
        return {"words": words.to_json()}

    def lesson(
        self, corpus: Corpus, learned: Mapping[str, bytes], settings: TaggingSettings
    ) -> _Lesson:
        if set(learned) != {"words"}:
            msg = "the run has no words.model, or more than that; it is not one of tagging"
            raise FileError(msg)
        data = learned["words"]
        sha256 = hashlib.sha256(data).hexdigest()
        return _Lesson(corpus, Words.from_json(data, "words.model"), sha256, settings)


TASK = Tagging()


@dataclass(frozen=True)
class _Lesson:
    """Sentences and the numbers of their words."""

    corpus: Corpus
    words: Words
    sha256: str
    settings: TaggingSettings

    @property
    def about(self) -> Mapping[str, Any]:
        """The hash of the words."""
        return {"words": self.sha256}

    def model(self) -> Tagger:
        return model_of(self.settings, self.words)

    def begin(self, model: nn.Module) -> None:
        """With fresh weights."""

    def losses(self, model: nn.Module) -> Losses:
        settings = self.settings
        return Losses(cast("Tagger", model), settings.label_smoothing, settings.auxiliary_weight)

    def epochs(self, *, fixed_shapes: bool) -> Epochs:
        settings = self.settings
        batches = Batches(
            Numbered.of(self.corpus.train, self.words),
            tokens=settings.batch_tokens,
            seed=settings.seed,
            max_len=settings.max_len,
            fixed_shapes=fixed_shapes,
            word_dropout=settings.word_dropout,
        )
        return Epochs(batches, settings.max_len)

    def judge(self) -> Judge:
        return cast("Judge", Validation(self.corpus.valid, self.words, self.settings))
