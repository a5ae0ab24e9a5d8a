"""Training a classifier from labelled texts, sounds or images."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from torch import nn

from regard.models.classifier import Classifier
from regard.tasks.classification.corpus import Corpus, read_corpus
from regard.tasks.classification.epochs import Epochs
from regard.tasks.classification.forms import Form, Images, Sounds, Texts, mel_of
from regard.tasks.classification.kept_forms import form_from
from regard.tasks.classification.losses import Losses
from regard.tasks.classification.names import names_from, names_to
from regard.tasks.classification.ready import ready
from regard.tasks.classification.settings import ClassificationSettings, config_of, model_of
from regard.tasks.classification.validation import Validation
from regard.tasks.engine import training
from regard.tasks.engine.task import Judge
from regard.tasks.run import Run
from regard.tasks.vocabulary import Vocabulary

__all__ = ["TASK", "train"]


def train(
    settings: ClassificationSettings,
    data: Sequence[Path],
    valid: Path | None,
    out: Path,
    *,
    resume: bool = False,
    device: str = "auto",
    sharded: bool = False,
) -> Run | None:
    """Train a classifier; see ``regard.tasks.engine.training.train``."""
    return training.train(
        TASK, settings, data, valid, out, resume=resume, device=device, sharded=sharded
    )


class Classifying:
    """Classification, as the engine sees it."""

    kind = "classification"
    settings = ClassificationSettings
    score, digits, unit = "accuracy", 2, "examples"
    use = "regard classify --model"

    def completed(self, settings: ClassificationSettings) -> ClassificationSettings:
        return settings

    def check(self, settings: ClassificationSettings) -> None:
        for source in ("tokens", "frames", "patches"):
            config_of(settings, source=source, size=2, labels=2)

    def read(
        self, data: Sequence[Path], valid: Path | None, settings: ClassificationSettings
    ) -> Corpus:
        return read_corpus(data, valid, settings)

    def learn(
        self, corpus: Corpus, settings: ClassificationSettings, say: Callable[[str], None]
    ) -> dict[str, bytes]:
        """The labels, and what turns examples into numbers."""
        contents = (example.load() for example in corpus.train)
        form: Form
        if corpus.kind == "text":
            words = Vocabulary.learn(contents, settings.vocab_size)
            say(f"words: {words.note or f'{len(words):,} pieces'}")
            form = Texts(words)
        elif corpus.kind == "sound":
            form = Sounds.learn(mel_of(settings), contents)
        else:
            channels = max(example.shape[2] for example in corpus.train)
            form = Images.learn(settings.patch, channels, contents)
        say(f"labels: {len(corpus.labels):,}, {_listed(corpus.labels)}")
        return form.learned() | {"labels": names_to(corpus.labels)}

    def lesson(
        self, corpus: Corpus, learned: Mapping[str, bytes], settings: ClassificationSettings
    ) -> _Lesson:
        form = form_from(learned, "the run")
        return _Lesson(corpus, form, names_from(learned, "the run"), dict(learned), settings)


TASK = Classifying()
SHOWN = 10  # labels


def _listed(labels: Sequence[str]) -> str:
    more = len(labels) - SHOWN
    return ", ".join(labels[:SHOWN]) + (f" and {more:,} more" if more > 0 else "")


@dataclass(frozen=True)
class _Lesson:
    """Examples and what turns them into numbers."""

    corpus: Corpus
    form: Form
    labels: tuple[str, ...]
    learned: Mapping[str, bytes]
    settings: ClassificationSettings

    @property
    def about(self) -> Mapping[str, Any]:
        """Hashes of what was learned before the weights."""
        return {name: hashlib.sha256(data).hexdigest() for name, data in self.learned.items()}

    def model(self) -> Classifier:
        return model_of(
            self.settings,
            source=self.form.source,
            size=self.form.size,
            labels=len(self.labels),
        )

    def begin(self, model: nn.Module) -> None:
        """With fresh weights."""

    def losses(self, model: nn.Module) -> Losses:
        return Losses(cast("Classifier", model), self.settings.label_smoothing)

    def epochs(self, *, fixed_shapes: bool) -> Epochs:
        examples = ready(self.corpus.train, self.form, self.labels)
        return Epochs(examples, self.form, self.settings, fixed_shapes=fixed_shapes)

    def judge(self) -> Judge:
        examples = ready(self.corpus.valid, self.form, self.labels)
        return cast("Judge", Validation(examples, self.form, self.settings))
