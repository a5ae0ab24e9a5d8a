"""Training a translator from files of pairs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from torch import nn

from regard.models import Bahdanau, Transformer
from regard.optional import need
from regard.tasks.engine import training
from regard.tasks.engine.task import Judge
from regard.tasks.run import Run
from regard.tasks.translation.corpus import Corpus, read_corpus
from regard.tasks.translation.epochs import Epochs
from regard.tasks.translation.losses import Losses
from regard.tasks.translation.settings import TranslationSettings, config_of, model_of
from regard.tasks.translation.starting import like, start_of
from regard.tasks.translation.validation import Validation
from regard.tasks.vocabulary import Vocabulary

__all__ = ["TASK", "train"]


def train(
    settings: TranslationSettings,
    data: Sequence[Path],
    valid: Path | None,
    out: Path,
    *,
    resume: bool = False,
    device: str = "auto",
    sharded: bool = False,
) -> Run | None:
    """Train a translator; see ``regard.tasks.engine.training.train``."""
    return training.train(
        TASK, settings, data, valid, out, resume=resume, device=device, sharded=sharded
    )


class Translating:
    """Translation, as the engine sees it."""

    kind = "translation"
    settings = TranslationSettings
    score, digits, unit = "BLEU", 1, "tokens"
    use = "regard translate --model"

    def completed(self, settings: TranslationSettings) -> TranslationSettings:
        start = start_of(settings)
        return settings if start is None else like(settings, start)

    def check(self, settings: TranslationSettings) -> None:
        config_of(settings, settings.vocab_size, settings.vocab_size)
        need("sentencepiece", extra="text", why="a vocabulary of subwords")
        need("sacrebleu", extra="text", why="the validation of a translator")

    def read(
        self, data: Sequence[Path], valid: Path | None, settings: TranslationSettings
    ) -> Corpus:
        corpus = read_corpus(data, valid, settings.repeats(len(data)))
        return corpus.with_made(
            settings.swap_names, settings.drop_stops, settings.seed, settings.swap_from
        )

    def learn(
        self, corpus: Corpus, settings: TranslationSettings, say: Callable[[str], None]
    ) -> dict[str, bytes]:
        """Subwords: of each language, or of both together; or those of a model to begin with."""
        start = start_of(settings)
        if start is not None:
            say(f"begins with {start.name}, its weights and its subwords")
            own = {"source": start.source.model}
            return own if settings.shared_vocab else own | {"target": start.target.model}
        sources = [pair.source for pair in corpus.pairs]
        targets = [pair.target for pair in corpus.pairs]
        sides = {"source": sources, "target": targets}
        if settings.shared_vocab:
            sides = {"source": sources + targets}
        found = {}
        for name, lines in sides.items():
            learned = Vocabulary.learn(lines, settings.vocab_size, kind=settings.subwords)
            say(f"{name}: {learned.note or f'{len(learned):,} pieces'}")
            found[name] = learned.model
        return found

    def lesson(
        self, corpus: Corpus, learned: Mapping[str, bytes], settings: TranslationSettings
    ) -> _Lesson:
        source = Vocabulary(learned["source"])
        target = Vocabulary(learned["target"]) if "target" in learned else source
        return _Lesson(corpus, source, target, settings)


TASK = Translating()


@dataclass(frozen=True)
class _Lesson:
    """Pairs and vocabularies."""

    corpus: Corpus
    source: Vocabulary
    target: Vocabulary
    settings: TranslationSettings
    about: Mapping[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        hashes = {"source": self.source.sha256, "target": self.target.sha256}
        object.__setattr__(self, "about", hashes)

    def model(self) -> Transformer | Bahdanau:
        return model_of(self.settings, len(self.source), len(self.target))

    def begin(self, model: nn.Module) -> None:
        start = start_of(self.settings)
        if start is not None:
            model.load_state_dict(start.model.state_dict())

    def losses(self, model: nn.Module) -> Losses:
        return Losses(cast("Transformer | Bahdanau", model), self.settings.label_smoothing)

    def epochs(self, *, fixed_shapes: bool) -> Epochs:
        return Epochs(
            self.corpus.epoch(), self.source, self.target, self.settings, fixed_shapes=fixed_shapes
        )

    def judge(self) -> Judge:
        return cast("Judge", Validation(self.corpus.valid, self.source, self.target, self.settings))
