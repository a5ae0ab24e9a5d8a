"""A trained tagger: found by name or in its run folder, and used."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from importlib import resources
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from regard.errors import FileError, KindError, ShapeError, StateError, ValueRangeError
from regard.models.tagger import Tagger as Network
from regard.tasks.filled import filled
from regard.tasks.packed import PACKED, unpack
from regard.tasks.places import device_of, folder_of
from regard.tasks.run import Run
from regard.tasks.settings import parse_settings
from regard.tasks.tagged import Sentence
from regard.tasks.tagging.numbered import Numbered, Piece, pieces
from regard.tasks.tagging.settings import TaggingSettings, model_of
from regard.tasks.tagging.tagged_words import Tagged, check_lookable, joined
from regard.tasks.tagging.tokens import split_sentences
from regard.tasks.tagging.words import Words

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Tagger", "shipped_models"]

TOGETHER = 1024  # words tagged at once; more are slower on a CPU


def _shipped() -> Path:
    return Path(str(resources.files("regard.tasks.tagging"))) / "shipped"


def shipped_models() -> dict[str, Path]:
    """The models that come with the package, by name."""
    return {path.parent.name: path.parent for path in sorted(_shipped().glob("*/run.json"))}


class Tagger:
    """Gives each word of a text a label, such as its part of speech.

    One tagger may be used by several threads at a time.

    Attributes:
        model: the network.
        words: the words, characters and labels it knows.
        settings: what it was trained with.
        name: the name or the folder it was loaded by.
        folder: where its files are.

    >>> tag = Tagger.load("en")  # doctest: +SKIP
    >>> str(tag("Dogs bark."))  # doctest: +SKIP
    'Dogs/NOUN bark/VERB ./PUNCT'

    """

    def __init__(
        self,
        model: Network,
        words: Words,
        settings: TaggingSettings,
        *,
        name: str,
        folder: Path,
    ) -> None:
        self.model = model
        self.words = words
        self.settings = settings
        self.name = name
        self.folder = folder
        self._one_at_a_time = Lock()  # the weights are those of the model's last call

    @classmethod
    def load(cls, name_or_path: str | Path, device: torch.device | str = "cpu") -> Self:
        """Find a tagger: one that comes with the package by its name, or a run by its folder.

        Raises:
            ValueRangeError: there is none, or no such device.
            FileError: a file of it is damaged, or it is no tagger.

        """
        place, folder = device_of(device), folder_of(name_or_path, shipped_models())
        run = Run.open(folder)
        if set(run.vocabularies) != {"words"}:
            msg = f"{folder}: must be a run of regard train tagging, and is another one"
            raise FileError(msg)
        settings = parse_settings(TaggingSettings, run.config, str(folder / "config.toml"))
        words = Words.from_json(run.vocabularies["words"], str(folder / "words.model"))
        tensors, about = run.load_weights()
        if about.get(PACKED):
            tensors = unpack(tensors)
        try:
            model = filled(partial(model_of, settings, words), tensors)
        except ShapeError as cause:
            msg = f"{folder / 'weights.safetensors'}: does not fit config.toml beside it: {cause}"
            raise FileError(msg) from cause
        return cls(model.to(place), words, settings, name=str(name_or_path), folder=folder)

    @cached_property
    def sha256(self) -> str:
        """The SHA-256 of the file of weights: what a score is the score of."""
        return hashlib.sha256((self.folder / "weights.safetensors").read_bytes()).hexdigest()

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels it chooses from."""
        return self.words.labels

    @property
    def looks(self) -> bool:
        """Whether it has attention to look at."""
        return self.model.encoder.looks

    @property
    def device(self) -> torch.device:
        """Where it runs."""
        return self.model.out.weight.device

    def __call__(self, text: str | Sequence[str]) -> Tagged:
        """Tag a text, or a sentence that is given as its words.

        Any text will do. It is cut into sentences and words first, see ``tokens``; one with nothing
        in it is answered with nothing. Words that are given stay as they are.
        """
        return self.many([text])[0]

    def many(
        self,
        texts: Iterable[str | Sequence[str]],
        *,
        tell: Callable[[float], None] | None = None,
    ) -> list[Tagged]:
        """Tag several texts or sentences, in batches, which is faster.

        Args:
            texts: each as ``__call__`` takes it.
            tell: called now and then with the part that is done, from 0 to 1.

        """
        if isinstance(texts, (str, bytes)) or not isinstance(texts, Iterable):
            msg = f"texts must be a list of texts, got {type(texts).__name__}"
            raise KindError(msg)
        cut = [_sentences(text) for text in texts]
        found = iter(self._tagged([words for some in cut for words in some], tell))
        return [joined([next(found) for _ in some]) for some in cut]

    def _tagged(
        self, sentences: Sequence[tuple[str, ...]], tell: Callable[[float], None] | None
    ) -> list[Tagged]:
        # what comes twice, as greetings and headings do, is tagged once
        once = list(dict.fromkeys(sentences))
        numbered = self._numbered(once)
        some = sorted(self._pieces(numbered), key=lambda piece: piece.start - piece.end)
        best: list[list[tuple[str, float]]] = [[("", 0.0)] * len(words) for words in once]
        done = 0
        while done < len(some):
            longest = some[done].end - some[done].start
            batch = some[done : done + max(TOGETHER // longest, 1)]
            for piece, rows in zip(batch, self._best(numbered, batch), strict=True):
                best[piece.sentence][piece.kept : piece.end_kept] = rows
            done += len(batch)
            if tell is not None:
                tell(done / len(some))
        known = {
            words: Tagged(
                words,
                tuple(label for label, _ in rows),
                tuple(probability for _, probability in rows),
                look=partial(self._attention, words),
            )
            for words, rows in zip(once, best, strict=True)
        }
        return [known[words] for words in sentences]

    def _numbered(self, sentences: Sequence[tuple[str, ...]]) -> Numbered:
        return Numbered.of([Sentence(words, (), 0) for words in sentences], self.words)

    def _pieces(self, numbered: Numbered) -> list[Piece]:
        return list(pieces(numbered.lengths.tolist(), self.settings.max_len))

    def _best(self, numbered: Numbered, batch: Sequence[Piece]) -> list[list[tuple[str, float]]]:
        """The label of each word a piece answers for, and its probability."""
        words, spellings, lens, *_ = (x.to(self.device) for x in numbered.stacked(batch))
        with torch.inference_mode(), self._one_at_a_time:
            scores = self.model(words, spellings, lens)
        likely, number = scores.float().softmax(-1).max(-1)
        found = []
        rows = zip(batch, likely.tolist(), number.tolist(), strict=True)
        for piece, chances, numbers in rows:
            kept = slice(piece.kept - piece.start, piece.end_kept - piece.start)
            names = (self.words.labels[i] for i in numbers[kept])
            found.append(list(zip(names, chances[kept], strict=True)))
        return found

    def _attention(self, words: tuple[str, ...]) -> Tensor:
        """[layers, heads, words, words] of a sentence."""
        if not self.looks:
            msg = (
                f"this tagger's encoder is {self.settings.encoder!r}, which has no attention to "
                "look at; 'self-attention' and 'truncated' have"
            )
            raise StateError(msg)
        check_lookable(len(words))
        numbered = self._numbered([words])
        config = self.model.config.encoder
        whole = torch.zeros(config.layers, config.heads, len(words), len(words))
        for piece in self._pieces(numbered):
            stacked = numbered.stacked([piece])
            given = (x.to(self.device) for x in stacked[:3])
            with torch.no_grad(), self._one_at_a_time:
                self.model(*given)
                found = torch.stack([x[0] for x in self.model.attention_weights]).float().cpu()
            rows = slice(piece.kept - piece.start, piece.end_kept - piece.start)
            at = slice(piece.kept, piece.end_kept)
            whole[:, :, at, piece.start : piece.end] = found[:, :, rows]
        return whole


def _sentences(text: str | Sequence[str]) -> list[tuple[str, ...]]:
    """The sentences of a text, or the one that is given."""
    if isinstance(text, str):
        return [tuple(words) for words in split_sentences(text)]
    if isinstance(text, bytes) or not isinstance(text, Sequence):
        msg = f"a text must be a str, or a list of words, got {type(text).__name__}"
        raise KindError(msg)
    wrong = [type(word).__name__ for word in text if not isinstance(word, str)]
    if wrong:
        msg = f"a word must be a str, got {wrong[0]}"
        raise KindError(msg)
    if not all(text):
        msg = "a word must have something in it, got an empty one"
        raise ValueRangeError(msg)
    return [tuple(text)] if text else []
