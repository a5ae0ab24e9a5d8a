"""Texts, sounds and images that are easily told apart, and classifiers of some thousand weights."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import torch

from regard.tasks.classification.forms import Images, Sounds, Texts, mel_of
from regard.tasks.classification.names import names_to
from regard.tasks.classification.settings import ClassificationSettings, model_of
from regard.tasks.run import Run
from regard.tasks.settings import to_toml
from regard.tasks.vocabulary import Vocabulary
from tests.tasks.made import wav

WORDS = {"sweet": "sugar honey cake syrup", "sour": "lemon vinegar lime pickle"}
FILLING = ["the", "a", "very", "some", "with", "and", "of", "more"]
TONES = {"low": 300.0, "high": 2000.0}


def write_texts(path: Path, count: int = 40, seed: int = 0) -> Path:
    """Rows of a label and a text, in which one word tells the label."""
    draw = random.Random(seed)
    rows = []
    for i in range(count):
        label = list(WORDS)[i % 2]
        told = draw.choice(WORDS[label].split())
        words = [*draw.choices(FILLING, k=draw.randint(1, 8)), told]
        draw.shuffle(words)
        rows.append(f"{label}\t{' '.join(words)} {i}\n")
    path.write_text("".join(rows), encoding="utf-8")
    return path


def tone(hertz: float, samples: int, rng: np.random.Generator) -> np.ndarray:
    """A sound of one pitch and some noise, float32."""
    time = np.arange(samples) / 8000
    x = 0.4 * np.sin(2 * np.pi * hertz * time) + 0.05 * rng.standard_normal(samples)
    return x.astype(np.float32)


def write_sounds(folder: Path, count: int = 12, seed: int = 0) -> Path:
    """WAV files of 0.05 to 0.4 seconds, a folder a label."""
    rng = np.random.default_rng(seed)
    for i in range(count):
        label = list(TONES)[i % 2]
        x = tone(TONES[label], int(rng.integers(400, 3200)), rng)
        path = folder / label / f"{i}.wav"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(wav((x * 30000).astype("<i2").tobytes()))
    return folder


def striped(i: int, rng: np.random.Generator, sides=(9, 9)) -> np.ndarray:
    """An image [h, w] with stripes across or down."""
    image = rng.integers(0, 60, sides).astype(np.uint8)
    image[(slice(None, None, 2), slice(None)) if i % 2 else (slice(None), slice(None, None, 2))] = (
        200
    )
    return image


def write_images(path: Path, count: int = 24, seed: int = 0) -> Path:
    """An .npz file of small images."""
    rng = np.random.default_rng(seed)
    images = np.stack([striped(i, rng) for i in range(count)])
    np.savez(path, images=images, labels=np.array(["down", "across"])[np.arange(count) % 2])
    return path


def write_any(folder: Path, kind: str, count: int = 24, seed: int = 0) -> Path:
    """A set of this kind."""
    if kind == "text":
        return write_texts(folder / f"texts{seed}.tsv", count, seed)
    if kind == "sound":
        return write_sounds(folder / f"sounds{seed}", count, seed)
    return write_images(folder / f"images{seed}.npz", count, seed)


def small(**changes: object) -> ClassificationSettings:
    """Settings of a model of some thousand weights, that trains in a second."""
    usual: dict[str, object] = {
        "width": 16, "heads": 2, "looks": 2, "layers": 1, "vocab_size": 300, "mel_features": 8,
        "patch": 3, "batch_tokens": 256, "epochs": 2, "warmup": 3, "log_every": 2, "save_every": 3,
        "average": 2, "precision": "float32", "mask_features": 2,
    }  # fmt: skip
    return ClassificationSettings(**(usual | changes))  # type: ignore[arg-type]


def form_of(kind: str, settings: ClassificationSettings):
    """A form that was learned from next to nothing."""
    rng = np.random.default_rng(0)
    if kind == "text":
        lines = [*FILLING, *WORDS["sweet"].split(), *WORDS["sour"].split()]
        return Texts(Vocabulary.learn(lines, 300))
    if kind == "sound":
        mel = mel_of(settings)
        frames = [mel(torch.from_numpy(tone(x, 800, rng))).numpy() for x in TONES.values()]
        return Sounds.learn(mel, frames)
    return Images.learn(settings.patch, 1, [striped(i, rng)[..., None] for i in range(2)])


LABELS = {"text": ("sour", "sweet"), "sound": ("high", "low"), "images": ("across", "down")}


def tiny_run(folder: Path, kind: str, seed: int = 0, **changes: object) -> Path:
    """A run in this folder, as a training leaves it, with random weights."""
    settings = small(**changes)
    form = form_of(kind, settings)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        net = model_of(settings, source=form.source, size=form.size, labels=2)
    learned = form.learned() | {"labels": names_to(LABELS[kind])}
    with Run.create(folder, to_toml(settings), learned) as run:
        run.save_weights(net.state_dict(), {"kind": "classification"})
    return folder
