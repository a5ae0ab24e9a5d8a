"""A language of a dozen words, for trainings of seconds."""

from __future__ import annotations

import random
from pathlib import Path

from regard.tasks.translation.settings import TranslationSettings

WORDS = {
    "ba": "one", "ke": "two", "li": "three", "mo": "four", "nu": "five", "pa": "six",
    "re": "seven", "si": "eight", "to": "nine", "vu": "ten",
}  # fmt: skip


def translated(source: str) -> str:
    """Each word by its own."""
    return " ".join(WORDS[word] for word in source.split())


def write_pairs(path: Path, count: int = 300, seed: int = 0) -> Path:
    """A file of different sentences of 2 to 6 words with their translations."""
    draw = random.Random(seed)
    sentences: dict[str, None] = {}
    while len(sentences) < count:
        sentences[" ".join(draw.choices(list(WORDS), k=draw.randint(2, 6)))] = None
    path.write_text("".join(f"{s}\t{translated(s)}\n" for s in sentences), encoding="utf-8")
    return path


def small(**changes: object) -> TranslationSettings:
    """Settings of a model of some thousand weights, that trains in a second."""
    usual: dict[str, object] = {
        "width": 16, "heads": 2, "encoder_layers": 1, "decoder_layers": 1, "vocab_size": 300,
        "batch_tokens": 256, "epochs": 2, "warmup": 10, "log_every": 3, "save_every": 4,
        "dropout": 0.1, "average": 2, "precision": "float32",
    }  # fmt: skip
    return TranslationSettings(**(usual | changes))  # type: ignore[arg-type]
