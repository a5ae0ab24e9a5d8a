"""A trained translator: found by name or in its run folder, and used."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, overload

import torch
from torch import Tensor

from regard.errors import FileError, KindError, ShapeError, ValueRangeError
from regard.models import Bahdanau, Transformer
from regard.tasks.pairs import normalise
from regard.tasks.run import Run
from regard.tasks.settings import parse_settings
from regard.tasks.translation.filled import filled
from regard.tasks.translation.packed import PACKED, unpack
from regard.tasks.translation.search import Found, search
from regard.tasks.translation.sentences import sentences
from regard.tasks.translation.settings import TranslationSettings, model_of
from regard.tasks.translation.translated import END, Alternative, Translation, joined
from regard.tasks.vocabulary import BOS, PAD, Vocabulary

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Translator", "shipped_models"]

TOGETHER = 4096  # tokens translated at once, in all hypotheses


def _shipped() -> Path:
    return Path(str(resources.files("regard.tasks.translation"))) / "shipped"


def shipped_models() -> dict[str, Path]:
    """The models that come with the package, by name."""
    return {path.parent.name: path.parent for path in sorted(_shipped().glob("*/run.json"))}


class Translator:
    """Translates texts.

    Attributes:
        model: the network.
        source, target: the vocabularies.
        settings: what it was trained with.
        name: the name or the folder it was loaded by.
        folder: where its files are.

    >>> translator = Translator.load("zh-en")  # doctest: +SKIP
    >>> translator("你想看书吗").text  # doctest: +SKIP
    'Do you want to read a book?'

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

    @classmethod
    def load(cls, name_or_path: str | Path, device: torch.device | str = "cpu") -> Self:
        """Find a translator: one that comes with the package by its name, or a run by its folder.

        Raises:
            ValueRangeError: there is none, or no such device.
            FileError: a file of it is damaged.

        """
        place, folder = _device(device), _folder(name_or_path)
        run = Run.open(folder)
        settings = parse_settings(TranslationSettings, run.config, str(folder / "config.toml"))
        vocabularies = {
            side: Vocabulary(model, name=str(folder / f"{side}.model"))
            for side, model in run.vocabularies.items()
        }
        tensors, about = run.load_weights()
        if "source" not in vocabularies or about.get("kind") != "translation":
            msg = f"{folder}: must be a run of regard train translation, and is another one"
            raise FileError(msg)
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
            text: one, or a list of them.
            beam: translations followed at a time; 1 takes the likeliest word each time.
            n_best: how many different ones to give, at most; no more than ``beam``.
            length_penalty: above 0 favours longer translations.
            tell: called now and then with the part that is done, from 0 to 1.

        """
        texts = [text] if isinstance(text, str) else list(text)
        wrong = next((x for x in texts if not isinstance(x, str)), None)
        if wrong is not None:
            msg = f"a text must be a str, got {type(wrong).__name__}"
            raise KindError(msg)
        if not 1 <= n_best <= beam:
            msg = f"n_best must be at least 1 and at most beam={beam}, got {n_best}"
            raise ValueRangeError(msg)
        pieces = [list(self._pieces(x)) for x in texts]
        # what comes twice, as greetings and punctuation do, is translated once
        once = list({tuple(ids): ids for parts in pieces for _, ids in parts}.values())
        # a beam may hold one text in several cuts: all are asked for, and the different ones kept
        wide = partial(
            search, beam=beam, n_best=beam if n_best > 1 else 1, length_penalty=length_penalty
        )
        best = self._found(once, wide, beam, tell or (lambda _: None))
        found = {tuple(ids): ways for ids, ways in zip(once, best, strict=True)}
        translations = []
        for x, parts in zip(texts, pieces, strict=True):
            done = [
                self._translation(piece, ids, found[tuple(ids)], n_best) for piece, ids in parts
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
        sources: Sequence[list[int]],
        wide: Callable[..., list[list[Found]]],
        beam: int,
        tell: Callable[[float], None],
    ) -> list[list[Found]]:
        """The best of each, in batches of sources of about one length."""
        found: list[list[Found]] = [[] for _ in sources]
        order = sorted(range(len(sources)), key=lambda i: -len(sources[i]))
        done = 0
        while done < len(order):
            longest = len(sources[order[done]])
            rows = order[done : done + max(TOGETHER // (longest * beam), 1)]
            source = torch.full((len(rows), longest), PAD)
            for row, i in enumerate(rows):
                source[row, : len(sources[i])] = torch.tensor(sources[i])
            lengths = torch.tensor([len(sources[i]) for i in rows])
            with torch.inference_mode():
                best = wide(self.model, source.to(self.device), lengths.to(self.device))
            for i, ways in zip(rows, best, strict=True):
                found[i] = ways
            done += len(rows)
            tell(done / len(order))
        return found

    def _translation(
        self, piece: str, ids: list[int], found: Sequence[Found], n_best: int
    ) -> Translation:
        ways: dict[str, Alternative] = {}
        for way in found:
            tokens = (*self.target.pieces(way.tokens), *((END,) if way.ended else ()))
            text = normalise(self.target.decode(way.tokens))
            ways.setdefault(text, Alternative(text, tokens, way.score))
        best, *_ = alternatives = tuple(ways.values())[:n_best]
        return Translation(
            text=best.text,
            source=piece,
            source_tokens=tuple(self.source.pieces(ids)),
            tokens=best.tokens,
            score=best.score,
            alternatives=alternatives,
            look=partial(self._weights, ids, [BOS, *found[0].tokens][: len(best.tokens)]),
        )

    @torch.no_grad()
    def _weights(self, ids: list[int], before: list[int]) -> Tensor:
        """Where the token after each of ``before`` looked."""
        if not before:
            return torch.zeros(0, len(ids))
        source, target = (torch.tensor([x], device=self.device) for x in (ids, before))
        lengths = torch.tensor([len(ids)], device=self.device)
        return self.model.alignment(source, target, lengths)[0].float().cpu()


def _device(device: torch.device | str) -> torch.device:
    try:
        place = torch.device(device)
    except RuntimeError as cause:
        msg = f"device must be cpu or cuda, got {device!r}"
        raise ValueRangeError(msg) from cause
    if place.type == "cuda" and not torch.cuda.is_available():
        msg = "device cuda: there is no GPU here, or this torch has no CUDA; take cpu"
        raise ValueRangeError(msg)
    return place


def _folder(name_or_path: str | Path) -> Path:
    shipped = shipped_models()
    if str(name_or_path) in shipped:
        return shipped[str(name_or_path)]
    folder = Path(name_or_path)
    if folder.is_dir():
        return folder
    if folder.exists():
        msg = f"{folder}: must be the folder of a run, and is a file"
        raise FileError(msg)
    there = f"there are {', '.join(shipped)}" if shipped else "none came with this regard"
    msg = (
        f"there is no model and no folder {str(name_or_path)!r}; of models {there}, and a run is "
        "named by its folder"
    )
    raise ValueRangeError(msg)
