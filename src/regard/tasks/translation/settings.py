"""Every setting of a translator and of its training, and the model they describe."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from regard.errors import ValueRangeError
from regard.tasks.engine.settings import TrainingSettings, setting

if TYPE_CHECKING:  # seconds to import, and `regard train --help` does without
    from regard.models import Bahdanau, BahdanauConfig, Transformer, TransformerConfig

__all__ = ["TranslationSettings", "config_of", "model_of"]

_model = partial(setting, group="the model")
_words = partial(setting, group="the words")
_judge = partial(setting, group="judging, keeping and stopping")


@dataclass(frozen=True, kw_only=True)
class TranslationSettings(TrainingSettings):
    """What is trained and how; all of it is saved with the run.

    The defaults are for some 20,000 pairs of everyday sentences.

    >>> TranslationSettings(model="bahdanau").layers
    (1, 1)
    """

    task: str = setting(
        "translation", "what is trained", group="the task", choices=("translation",)
    )

    model: str = _model("transformer", "which model", choices=("transformer", "bahdanau"))
    start_from: str = _model(
        "",
        "a translator to begin with, a run's folder or a name such as zh-en; its sizes and "
        "vocabularies are taken over; '': fresh weights",
    )
    width: int = _model(256, "of a token's vector", low=1, high=65536)
    hidden: int = _model(
        0,
        "of the feed-forward networks, or of a recurrent state; 0: 4 times the width for a "
        "transformer, 2 times for bahdanau",
        low=0,
        high=65536,
    )
    encoder_layers: int = _model(
        0, "that read; 0: 3 for a transformer, 1 for bahdanau", low=0, high=100
    )
    decoder_layers: int = _model(
        0, "that write; 0: 3 for a transformer, 1 for bahdanau", low=0, high=100
    )
    heads: int = _model(
        4, "of a transformer's attention; the width is a multiple", low=1, high=1024
    )
    positions: str = _model(
        "sinusoidal",
        "how a transformer knows where a token stands",
        choices=("sinusoidal", "learned", "rotary", "alibi", "relative", "none"),
    )
    tied: bool = _model(True, "let the target's embedding also score the next token")  # noqa: FBT003
    dropout: float = _model(0.3, "of everything but attention's weights", low=0.0, high=0.95)
    attention_dropout: float = _model(0.0, "of attention's weights", low=0.0, high=0.95)

    vocab_size: int = _words(8000, "subwords of a language", low=261, high=1 << 20)
    subwords: str = _words("unigram", "how they are found", choices=("unigram", "bpe"))
    shared_vocab: bool = _words(False, "one vocabulary for both languages")  # noqa: FBT003
    sample: float = _words(
        0.0,
        "cut words differently each time, as likely as the cut is to this power; 0: always the "
        "best cut",
        low=0.0,
        high=1.0,
    )
    max_len: int = _words(128, "tokens of a sentence; longer pairs are left out", low=2, high=4096)
    swap_names: int = _words(
        0,
        "copies of each sentence with a name in it, with other names of the data in its place; the "
        "data must hold names by themselves, a pair each",
        low=0,
        high=1000,
    )
    swap_from: int = _words(
        0,
        "the data file whose names alone are put in the place of others; 0: names of all of them",
        low=0,
        high=1000,
    )
    drop_stops: float = _words(
        0.0,
        "of the pairs that end in a full stop, which an epoch sees once more without it",
        low=0.0,
        high=1.0,
    )
    repeat: str = _words("", "how often an epoch sees each data file, such as 4,1,1; '': once each")

    beam: int = _judge(1, "of the search in validations; 1: greedy", low=1, high=100)

    @property
    def layers(self) -> tuple[int, int]:
        """How many layers read and write."""
        usual = 1 if self.model == "bahdanau" else 3
        return self.encoder_layers or usual, self.decoder_layers or usual

    @property
    def hidden_width(self) -> int:
        """The inner width, whoever chose it."""
        return self.hidden or self.width * (2 if self.model == "bahdanau" else 4)

    def repeats(self, files: int) -> tuple[int, ...]:
        """How often each of the data files is seen in an epoch.

        >>> TranslationSettings(repeat="4,1").repeats(2)
        (4, 1)
        """
        if not self.repeat.strip():
            return (1,) * files
        parts = [part.strip() for part in self.repeat.split(",")]
        good = all(part.isascii() and part.isdigit() and 1 <= int(part) <= 1000 for part in parts)  # noqa: PLR2004 - as the message says
        if not good or len(parts) != files:
            wanted = f"{files} whole numbers from 1 to 1000 with commas between, one a data file"
            if files == 1:
                wanted = "a whole number from 1 to 1000, as there is one data file"
            msg = f"repeat must be {wanted}, got {self.repeat!r}"
            raise ValueRangeError(msg)
        return tuple(map(int, parts))


def config_of(
    settings: TranslationSettings, source_vocab: int, target_vocab: int
) -> TransformerConfig | BahdanauConfig:
    """The sizes of the model; refuses those that do not fit together."""
    from regard.models import BahdanauConfig, TransformerConfig  # noqa: PLC0415 - torch

    encoder_layers, decoder_layers = settings.layers
    if settings.model == "bahdanau":
        return BahdanauConfig(
            source_vocab,
            target_vocab,
            embedding=settings.width,
            hidden=settings.hidden_width,
            encoder_layers=encoder_layers,
            decoder_layers=decoder_layers,
            dropout=settings.dropout,
            attention_dropout=settings.attention_dropout,
            tied=settings.tied,
            shared=settings.shared_vocab,
        )
    return TransformerConfig(
        source_vocab,
        target_vocab,
        width=settings.width,
        num_heads=settings.heads,
        hidden=settings.hidden_width,
        encoder_layers=encoder_layers,
        decoder_layers=decoder_layers,
        dropout=settings.dropout,
        attention_dropout=settings.attention_dropout,
        positions=settings.positions,
        tied=settings.tied,
        shared=settings.shared_vocab,
        max_len=max(1024, 2 * settings.max_len + 16),  # what a search may write
    )


def model_of(
    settings: TranslationSettings, source_vocab: int, target_vocab: int
) -> Transformer | Bahdanau:
    """The model of these settings, with fresh weights drawn from torch's generator.

    >>> net = model_of(TranslationSettings(width=16, heads=2), source_vocab=20, target_vocab=30)
    >>> type(net).__name__, net.config.hidden
    ('Transformer', 64)
    """
    from regard.models import Bahdanau, BahdanauConfig, Transformer  # noqa: PLC0415 - torch

    config = config_of(settings, source_vocab, target_vocab)
    return Bahdanau(config) if isinstance(config, BahdanauConfig) else Transformer(config)
