"""How good a translator is: BLEU and chrF of its translations, and of each of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from regard.errors import ValueRangeError
from regard.optional import need
from regard.tasks.pairs import Pair
from regard.tasks.translation.translator import Translator
from regard.version import __version__

__all__ = ["Scores", "SentenceScore", "score"]

COLUMNS = ("line", "chrf", "bleu", "source", "reference", "output")


@dataclass(frozen=True)
class SentenceScore:
    """One sentence: where it stands, what was wanted, what came, and how near that is."""

    line: int
    chrf: float
    bleu: float
    source: str
    reference: str
    output: str


@dataclass(frozen=True)
class Scores:
    """What sacrebleu says of all translations together, and of each.

    Attributes:
        bleu, chrf: of the whole, from 0 to 100.
        bleu_signature, chrf_signature: how sacrebleu counted.
        signature: how it was translated, and by which weights.
        sentences: in the order of the pairs.
        seconds: that translating took.

    """

    bleu: float
    chrf: float
    bleu_signature: str
    chrf_signature: str
    signature: str
    sentences: tuple[SentenceScore, ...]
    seconds: float

    def worst(self, count: int) -> list[SentenceScore]:
        """The sentences with the lowest chrF, the lowest first."""
        return sorted(self.sentences, key=lambda sentence: (sentence.chrf, sentence.line))[:count]

    def to_tsv(self) -> str:
        """A row a sentence, with tabs between the columns and none inside them."""
        rows = [COLUMNS]
        rows += [
            (str(x.line), f"{x.chrf:.2f}", f"{x.bleu:.2f}", x.source, x.reference, x.output)
            for x in self.sentences
        ]
        return "".join("\t".join(" ".join(cell.split()) for cell in row) + "\n" for row in rows)


def score(
    translator: Translator,
    pairs: Iterable[Pair],
    *,
    beam: int = 4,
    length_penalty: float = 1.0,
    tell: Callable[[float], None] | None = None,
) -> Scores:
    """Translate the sources and compare with the targets.

    Args:
        translator: who translates.
        pairs: sources and what they should become.
        beam: of the search.
        length_penalty: of the search.
        tell: called now and then with the part that is done, from 0 to 1.

    Raises:
        ValueRangeError: there are no pairs.

    """
    pairs = list(pairs)
    if not pairs:
        msg = "a score needs pairs, got none"
        raise ValueRangeError(msg)
    sacrebleu = need("sacrebleu", extra="text", why="a score")
    start = time.perf_counter()
    found = translator(
        [pair.source for pair in pairs], beam=beam, length_penalty=length_penalty, tell=tell
    )
    seconds = time.perf_counter() - start
    outputs, references = [x.text for x in found], [pair.target for pair in pairs]
    # a sentence may be shorter than four words: then only what it has of them counts
    bleu, chrf, of_one = sacrebleu.BLEU(), sacrebleu.CHRF(), sacrebleu.BLEU(effective_order=True)
    return Scores(
        bleu=bleu.corpus_score(outputs, [references]).score,
        chrf=chrf.corpus_score(outputs, [references]).score,
        bleu_signature=f"BLEU|{bleu.get_signature()}",
        chrf_signature=f"chrF2|{chrf.get_signature()}",
        signature=(
            f"regard:{__version__}|beam:{beam}|length_penalty:{length_penalty:g}|"
            f"weights:{translator.sha256}"
        ),
        sentences=tuple(
            SentenceScore(
                line=pair.line,
                chrf=chrf.sentence_score(output, [pair.target]).score,
                bleu=of_one.sentence_score(output, [pair.target]).score,
                source=pair.source,
                reference=pair.target,
                output=output,
            )
            for pair, output in zip(pairs, outputs, strict=True)
        ),
        seconds=seconds,
    )
