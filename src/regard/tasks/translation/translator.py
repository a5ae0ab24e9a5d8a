"""A trained translator: found by name or in its run folder, and used."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, overload

import torch
from torch import Tensor

from regard.errors import FileError, KindError, ShapeError, ValueRangeError
from regard.layers.base import check_size
from regard.models import Bahdanau, Transformer
from regard.tasks.filled import filled
from regard.tasks.packed import PACKED, unpack
from regard.tasks.pairs import normalise
from regard.tasks.places import device_of, folder_of
from regard.tasks.run import Run
from regard.tasks.settings import parse_settings
from regard.tasks.translation.batched import search_in_batches
from regard.tasks.translation.search import Found, check_search, most_tokens
from regard.tasks.translation.sentences import sentences
from regard.tasks.translation.settings import TranslationSettings, model_of
from regard.tasks.translation.translated import END, Alternative, Translation, joined
from regard.tasks.vocabulary import BOS, Vocabulary

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Translator", "shipped_models"]

WIDEST = 100  # the widest beam; more has no better translations, and takes minutes


def _shipped() -> Path:
    return Path(str(resources.files("regard.tasks.translation"))) / "shipped"


def shipped_models() -> dict[str, Path]:
    """The models that come with the package, by name."""
    return {path.parent.name: path.parent for path in sorted(_shipped().glob("*/run.json"))}


class Translator:
    """Translates texts; several threads may ask one at the same time.

    Attributes:
        model: the network.
        source, target: the vocabularies.
        settings: what it was trained with.
        name: the name or the folder it was loaded by.
        folder: where its files are.

    >>> translator = Translator.load("zh-en")  # doctest: +SKIP
    >>> translator("我是学生").text  # doctest: +SKIP
    "I'm a student"

    """

    def __init__(
        self,
        model: Transformer | Bahdanau,
        source: Vocabulary,
        target: Vocabulary,
        settings: TranslationSettings,
        *,
        name: str,
        folder: Path,
    ) -> None:
        self.model = model
        self.source = source
        self.target = target
        self.settings = settings
        self.name = name
        self.folder = folder
        # layers remember what they looked at last: whoever asks has the model to himself
        self._turn = threading.Lock()

    def __getstate__(self) -> dict[str, object]:
        """Copies have a turn of their own."""
        return {name: value for name, value in self.__dict__.items() if name != "_turn"}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self._turn = threading.Lock()

    @classmethod
    def load(cls, name_or_path: str | os.PathLike[str], device: torch.device | str = "cpu") -> Self:
        """Find a translator: one that comes with the package by its name, or a run by its folder.

        A name is a str. If a run of that name is here too, neither is taken: say ``"./zh-en"`` or
        ``Path("zh-en")`` for it, and ``shipped_models()["zh-en"]`` for the other.

        Raises:
            ValueRangeError: there is none, or two, or no such device.
            KindError: an argument is of another type.
            FileError: a file of it is damaged, or of something else.
            StateError: its training has not come to weights yet.

        """
        place, folder = device_of(device), folder_of(name_or_path, shipped_models())
        run = Run.open(folder)
        tensors, about = run.load_weights()
        # before its settings, which may be those of something else
        if "source" not in run.vocabularies or about.get("kind") != "translation":
            msg = f"{folder}: must be a run of regard train translation, and is another one"
            raise FileError(msg)
        settings = parse_settings(TranslationSettings, run.config, str(folder / "config.toml"))
        vocabularies = {
            side: Vocabulary(model, name=str(folder / f"{side}.model"))
            for side, model in run.vocabularies.items()
        }
        source = vocabularies["source"]
        target = vocabularies.get("target", source)
        if about.get(PACKED):
            tensors = unpack(tensors)
        try:
            model = filled(partial(model_of, settings, len(source), len(target)), tensors)
        except ShapeError as cause:
            msg = f"{folder / 'weights.safetensors'}: does not fit config.toml beside it: {cause}"
            raise FileError(msg) from cause
        return cls(model.to(place), source, target, settings, name=str(name_or_path), folder=folder)

    @cached_property
    def sha256(self) -> str:
        """The SHA-256 of the file of weights: what a score is the score of."""
        return hashlib.sha256((self.folder / "weights.safetensors").read_bytes()).hexdigest()

    @property
    def device(self) -> torch.device:
        """Where it runs."""
        return self.model.out.weight.device

    @overload
    def __call__(
        self,
        text: str,
        *,
        beam: int = ...,
        n_best: int = ...,
        length_penalty: float = ...,
        tell: Callable[[float], None] | None = ...,
    ) -> Translation: ...

    @overload
    def __call__(
        self,
        text: list[str] | tuple[str, ...],
        *,
        beam: int = ...,
        n_best: int = ...,
        length_penalty: float = ...,
        tell: Callable[[float], None] | None = ...,
    ) -> list[Translation]: ...

    def __call__(
        self,
        text: str | list[str] | tuple[str, ...],
        *,
        beam: int = 4,
        n_best: int = 1,
        length_penalty: float = 1.0,
        tell: Callable[[float], None] | None = None,
    ) -> Translation | list[Translation]:
        """Translate a text, or several at once, which is faster.

        Any text will do. One of several sentences or lines is translated sentence by sentence; one
        with nothing in it is answered with nothing.

        Args:
            text: one, or a list or tuple of them.
            beam: translations followed at a time, up to 100; 1 takes the likeliest word each time.
            n_best: how many different ones to give; no more than ``beam``. Where so wide a beam
                holds fewer, since it has one text cut in several ways, wider ones are tried.
            length_penalty: above 0 favours longer translations; from -10 to 10.
            tell: called now and then with the part that is done, from 0 to 1.

        Raises:
            KindError: an argument is of another type.
            ValueRangeError: a number is out of its range.

        """
        texts = _texts(text)
        beam = check_size("Translator", "beam", beam)
        if beam > WIDEST:
            msg = f"Translator: beam must be at most {WIDEST}, got {beam}"
            raise ValueRangeError(msg)
        check_search("Translator", beam, n_best, length_penalty)
        if tell is not None and not callable(tell):
            msg = f"Translator: tell must be a function, got {tell!r}"
            raise KindError(msg)
        pieces = [list(self._pieces(x)) for x in texts]
        # what comes twice, as greetings and punctuation do, is translated once
        once = {tuple(ids): piece for parts in pieces for piece, ids in parts}
        found = self._found(once, beam, n_best, length_penalty, tell or (lambda _: None))
        translations = []
        for x, parts in zip(texts, pieces, strict=True):
            done = [
                self._translation(piece, ids, found[tuple(ids)][:n_best]) for piece, ids in parts
            ]
            source = normalise(x)
            if len(done) == 1:
                translations.append(done[0])
            else:
                translations.append(joined(done, source) if done else Translation("", source))
        return translations[0] if isinstance(text, str) else translations

    def _pieces(self, text: str) -> Iterator[tuple[str, list[int]]]:
        """The sentences of a text and their tokens, none longer than those learned from."""
        for piece in map(normalise, sentences(text)):
            yield from self._cut(piece)

    def _cut(self, piece: str) -> Iterator[tuple[str, list[int]]]:
        ids = self.source.encode(piece)
        if len(ids) > self.settings.max_len and len(piece) > 1:
            for shorter in sentences(piece, longest=-(-len(piece) // 2)):
                yield from self._cut(shorter)
        elif ids:
            yield piece, ids

    def _found(
        self,
        pieces: Mapping[tuple[int, ...], str],
        beam: int,
        n_best: int,
        length_penalty: float,
        tell: Callable[[float], None],
    ) -> dict[tuple[int, ...], list[Found]]:
        """Different translations of each, best first: ``n_best`` at least, if there are."""
        found: dict[tuple[int, ...], list[Found]] = {ids: [] for ids in pieces}
        asked = list(pieces)
        while asked:
            best = search_in_batches(
                self.model,
                asked,
                # a character no token has is spelled in bytes, and no longer to say for that;
                # 1 is for the space that begins every sentence
                [most_tokens(min(len(ids), len(pieces[ids]) + 1)) for ids in asked],
                turn=self._turn,
                device=self.device,
                beam=beam,
                n_best=beam if n_best > 1 else 1,
                length_penalty=length_penalty,
                tell=tell,
            )
            for ids, ways in zip(asked, best, strict=True):
                found[ids] = self._different([*found[ids], *ways])
            full = {ids for ids, ways in zip(asked, best, strict=True) if len(ways) == beam}
            asked = [ids for ids in asked if len(found[ids]) < n_best and ids in full]
            if beam == WIDEST:
                break
            beam, tell = min(2 * beam, WIDEST), lambda _: None  # all but a few are done
        return found

    def _different(self, ways: Sequence[Found]) -> list[Found]:
        """Of those with one text the best, in their order."""
        ways = sorted(ways, key=lambda way: (not way.ended, -way.score))
        texts: dict[str, Found] = {}
        for way in ways:
            texts.setdefault(self._text(way), way)
        return list(texts.values())

    def _text(self, way: Found) -> str:
        return normalise(self.target.decode(way.tokens))

    def _translation(self, piece: str, ids: list[int], found: Sequence[Found]) -> Translation:
        best, *_ = alternatives = tuple(self._alternative(ids, way) for way in found)
        return Translation(
            text=best.text,
            source=piece,
            source_tokens=tuple(self.source.pieces(ids)),
            tokens=best.tokens,
            score=best.score,
            alternatives=alternatives,
            look=best.look,
        )

    def _alternative(self, ids: list[int], way: Found) -> Alternative:
        tokens = (*self.target.pieces(way.tokens), *((END,) if way.ended else ()))
        look = partial(self._weights, ids, [BOS, *way.tokens][: len(tokens)])
        return Alternative(self._text(way), tokens, way.score, look)

    @torch.no_grad()
    def _weights(self, ids: list[int], before: list[int]) -> Tensor:
        """Where the token after each of ``before`` looked."""
        if not before:
            return torch.zeros(0, len(ids))
        source, target = (torch.tensor([x], device=self.device) for x in (ids, before))
        lengths = torch.tensor([len(ids)], device=self.device)
        with self._turn:
            return self.model.alignment(source, target, lengths)[0].float().cpu()


def _texts(text: object) -> list[str]:
    if isinstance(text, str):
        return [text]
    if not isinstance(text, (list, tuple)):
        msg = f"text must be a str, or a list or tuple of them, got {type(text).__name__}"
        raise KindError(msg)
    for i, one in enumerate(text):
        if not isinstance(one, str):
            msg = f"text must hold str alone, got {type(one).__name__} at index {i}"
            raise KindError(msg)
    return list(text)
