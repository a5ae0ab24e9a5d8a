"""Text as numbers and back: subwords, learned by sentencepiece."""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from regard.errors import FileError, ValueRangeError
from regard.optional import need
from regard.tasks.merging import Merger
from regard.tasks.pairs import normalise
from regard.tasks.sampling import Sampler
from regard.tasks.subwords import kind_of

__all__ = ["BOS", "EOS", "PAD", "UNK", "Vocabulary"]

PAD, BOS, EOS, UNK = 0, 1, 2, 3
BYTES = range(UNK + 1, UNK + 1 + 256)  # ids of the bytes: what no piece has is spelled with them
ENOUGH = 1_000_000  # characters to learn a vocabulary from
KINDS = ("unigram", "bpe")
LARGEST = 1 << 28  # bytes of a file that could be a vocabulary
LONGEST = 1 << 24  # bytes of a line to learn from
NEEDED = re.compile(r"smaller than required_chars\. \d+ vs (\d+)")


class Vocabulary:
    r"""Subwords and their numbers; it never changes.

    Every text can be written with it: characters it has not learned are spelled in bytes. Texts
    are normalised first (``regard.tasks.pairs.normalise``), and ``decode(encode(text))`` is the
    normalised text, to the letter: sentencepiece's own rewriting is off, since it would turn
    the full-width punctuation of Chinese into ASCII.

    Args:
        model: a sentencepiece model, as ``learn`` makes it.
        name: what messages call it.
        note: what a reader should know about how it was learned.

    >>> vocabulary = Vocabulary.learn(["a cat sat on a mat", "a rat sat"], size=300)
    >>> vocabulary.decode(vocabulary.encode("a cat。猫"))
    'a cat。猫'

    """

    def __init__(self, model: bytes, *, name: str = "vocabulary", note: str = "") -> None:
        self.model = bytes(model)
        self.note = note
        self.sha256 = hashlib.sha256(self.model).hexdigest()
        try:
            self.kind = kind_of(self.model)
            self._processor = _processor(self.model)
            self._pieces = [self._processor.id_to_piece(i) for i in range(len(self._processor))]
        except (ValueError, RuntimeError) as cause:
            said = f" ({cause})" if type(cause) is ValueError else ""
            msg = f"{name}: wanted a vocabulary that regard has learned, this is none{said}"
            raise FileError(msg) from cause
        self._check(name)
        self.sampler = lru_cache(maxsize=2)(self._sampler)  # source and target may share one

    def _check(self, name: str) -> None:
        p = self._processor
        special = (p.pad_id(), p.bos_id(), p.eos_id(), p.unk_id()) == (PAD, BOS, EOS, UNK)
        spelled = len(p) >= BYTES.stop and [p.id_to_piece(i) for i in BYTES] == [
            f"<0x{byte:02X}>" for byte in range(256)
        ]
        scores = np.array([p.get_score(i) for i in range(len(p))])
        if not (special and spelled and np.isfinite(scores).all()):
            msg = (
                f"{name}: wanted a vocabulary that regard has learned, with 0 to 3 for padding, "
                "begin, end and unknown, and every byte after them; this is another, or damaged"
            )
            raise FileError(msg)

    @classmethod
    def learn(
        cls, lines: Iterable[str], size: int, *, coverage: float = 0.9995, kind: str = "unigram"
    ) -> Vocabulary:
        """Learn about ``size`` pieces from texts; the same texts give the same, bit for bit.

        Of texts of more than a million characters every second is read, or every third, ...: more
        changes little and takes minutes. There are fewer pieces when the texts hold no more, and
        more when the characters alone are: ``note`` says so.

        Args:
            lines: texts.
            size: how many pieces, with 260 for the bytes and the special ones.
            coverage: the share of all characters that get a piece of their own.
            kind: "unigram", whose segmentations have probabilities, or "bpe".

        Raises:
            ValueRangeError: no text, or a setting out of range.

        """
        if kind not in KINDS:
            msg = f"kind must be one of {', '.join(KINDS)}; got {kind!r}"
            raise ValueRangeError(msg)
        if not 0.98 <= coverage <= 1:  # noqa: PLR2004 - the limits of sentencepiece
            msg = f"coverage must be from 0.98 to 1, got {coverage}"
            raise ValueRangeError(msg)
        if not BYTES.stop < size <= 1 << 20:
            msg = f"size must be from {BYTES.stop + 1} to {1 << 20:,}, got {size:,}"
            raise ValueRangeError(msg)
        texts = [text for text in map(normalise, lines) if text]
        if not texts:
            msg = "a vocabulary is learned from texts, and there is none but empty ones"
            raise ValueRangeError(msg)
        every = -(-sum(map(len, texts)) // ENOUGH)
        model = _trained(texts[::every], size, coverage, kind)
        got = len(_processor(model))
        note = ""
        if got < size:
            note = f"{got:,} pieces instead of {size:,}: the text holds no more"
        elif got > size:
            note = f"{got:,} pieces instead of {size:,}: its characters need that many"
        return cls(model, note=note)

    @classmethod
    def load(cls, path: Path) -> Vocabulary:
        """Read a file with the bytes of ``model``.

        Raises:
            FileError: it holds something else.
            OSError: it cannot be read.

        """
        with path.open("rb") as file:
            model = file.read(LARGEST + 1)
        if len(model) > LARGEST:
            msg = f"{path}: wanted a vocabulary, this has more than {LARGEST:,} bytes"
            raise FileError(msg)
        return cls(model, name=str(path))

    def __len__(self) -> int:
        return len(self._pieces)

    def __repr__(self) -> str:
        return f"Vocabulary({len(self):,} pieces, {self.kind}, {self.sha256[:12]})"

    def encode(self, text: str) -> list[int]:
        """The numbers of a text's pieces, without a begin or an end."""
        ids: list[int] = self._processor.encode(normalise(text))
        return ids

    def encode_all(
        self, lines: Sequence[str], *, sample: float = 0.0, seed: int = 0
    ) -> list[list[int]]:
        """The numbers of many texts, as ``encode`` gives them.

        With ``sample`` above 0 words are cut in other ways than the most likely one, drawn by
        ``seed``: unigram pieces by p^sample, bpe pieces by leaving out that share of the merges.
        """
        if not 0 <= sample <= 1:
            msg = f"sample must be from 0 to 1, got {sample}"
            raise ValueRangeError(msg)
        if sample:
            return self.sampler(tuple(lines), sample).draw(seed).lists()
        texts = [normalise(line) for line in lines]
        ids: list[list[int]] = self._processor.encode(texts, num_threads=1)
        return ids

    def decode(self, ids: Sequence[int]) -> str:
        """The text of numbers, up to the first end; padding and begins are left out."""
        text: str = self._processor.decode(self._meant(ids))
        return text

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """The pieces themselves, with "▁" for a space before a word."""
        self._check_ids(ids)
        return [self._pieces[i] for i in ids]

    def _meant(self, ids: Sequence[int]) -> list[int]:
        self._check_ids(ids)
        numbers = [int(i) for i in ids]
        until = numbers.index(EOS) if EOS in numbers else len(numbers)
        return [i for i in numbers[:until] if i not in {PAD, BOS}]

    def _check_ids(self, ids: Sequence[int]) -> None:
        for i in ids:
            if not 0 <= i < len(self):
                msg = f"ids must be from 0 to {len(self) - 1}, got {i}"
                raise ValueRangeError(msg)

    @cached_property
    def _learned(self) -> dict[str, int]:
        """The pieces a text can be cut into, without those that stand for something else."""
        return {self._pieces[i]: i for i in range(BYTES.stop, len(self))}

    def _sampler(self, lines: tuple[str, ...], sample: float) -> Sampler | Merger:
        scores = np.array([self._processor.get_score(i) for i in range(len(self))])
        make = Sampler if self.kind == "unigram" else Merger
        return make([normalise(line) for line in lines], self._learned, scores, BYTES, sample)


def _sentencepiece() -> Any:  # noqa: ANN401 - a module of no stubs
    return need("sentencepiece", extra="text", why="a vocabulary of subwords")


def _processor(model: bytes) -> Any:  # noqa: ANN401
    processor = _sentencepiece().SentencePieceProcessor()
    processor.load_from_serialized_proto(model)
    return processor


def _trained(texts: Sequence[str], size: int, coverage: float, kind: str) -> bytes:
    """A model of so many pieces, or of as many as there are characters to cover."""
    try:
        return _of_size(texts, size, coverage, kind)
    except RuntimeError as cause:
        needed = NEEDED.search(str(cause))
        if needed and int(needed[1]) > size:
            return _trained(texts, int(needed[1]), coverage, kind)
        msg = f"no vocabulary could be learned from these texts; sentencepiece says: {cause}"
        raise ValueRangeError(msg) from cause


def _of_size(texts: Sequence[str], size: int, coverage: float, kind: str) -> bytes:
    out = io.BytesIO()
    _sentencepiece().SentencePieceTrainer.train(
        sentence_iterator=iter(texts),
        model_writer=out,
        model_type=kind,
        vocab_size=size,
        character_coverage=coverage,
        pad_id=PAD,
        bos_id=BOS,
        eos_id=EOS,
        unk_id=UNK,
        byte_fallback=True,
        normalization_rule_name="identity",
        hard_vocab_limit=False,
        max_sentence_length=LONGEST,
        num_threads=1,  # sums of several threads would depend on how many there are
        minloglevel=2,
    )
    return out.getvalue()
