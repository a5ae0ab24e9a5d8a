"""Scores: sacrebleu's own numbers, with what makes them comparable."""

import pytest

from regard.errors import ValueRangeError
from regard.tasks.pairs import Pair
from regard.tasks.translation.scoring import Scores, SentenceScore, score
from regard.tasks.translation.translated import Translation
from regard.version import __version__

sacrebleu = pytest.importorskip("sacrebleu")

OUTPUTS = {"a": "The cat sat on the mat.", "b": "Hello.", "c": "", "d": "Something else\tis said."}
PAIRS = [
    Pair("a", "The cat sat on the mat.", 1),
    Pair("b", "Hello there.", 3),
    Pair("c", "Nothing came.", 4),
    Pair("d", "What should be said.", 9),
]
REFERENCES = [pair.target for pair in PAIRS]


class Fake:
    sha256 = "5" * 64

    def __init__(self):
        self.asked = []

    def __call__(self, texts, *, tell=None, **options):
        self.asked.append((texts, options))
        if tell is not None:
            tell(1.0)
        return [Translation(OUTPUTS[text], text) for text in texts]


@pytest.fixture
def scores():
    return score(Fake(), PAIRS, beam=3, length_penalty=0.5)


def test_the_whole_is_scored_as_sacrebleu_does_by_default(scores):
    outputs = list(OUTPUTS.values())
    assert scores.bleu == sacrebleu.corpus_bleu(outputs, [REFERENCES]).score
    assert scores.chrf == sacrebleu.corpus_chrf(outputs, [REFERENCES]).score
    assert 0 < scores.bleu < 100


def test_signatures_say_how(scores):
    version = sacrebleu.__version__
    assert scores.bleu_signature == (
        f"BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:{version}"
    )
    assert scores.chrf_signature == (
        f"chrF2|nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:{version}"
    )
    assert scores.signature == (
        f"regard:{__version__}|beam:3|length_penalty:0.5|weights:{'5' * 64}"
    )


def test_every_sentence_has_its_scores_and_its_line(scores):
    assert [x.line for x in scores.sentences] == [1, 3, 4, 9]
    first, second, third, _ = scores.sentences
    assert first.chrf == pytest.approx(100)
    assert first.bleu == pytest.approx(100)
    assert third.chrf == third.bleu == 0
    wanted = sacrebleu.sentence_bleu("Hello.", ["Hello there."]).score
    assert second.bleu == pytest.approx(wanted)
    assert (second.source, second.reference, second.output) == ("b", "Hello there.", "Hello.")


def test_the_worst_come_first(scores):
    assert [x.line for x in scores.worst(2)] == [4, 9]
    assert len(scores.worst(20)) == 4


def test_the_search_is_asked_as_told():
    fake, told = Fake(), []
    score(fake, iter(PAIRS), tell=told.append)
    score(fake, PAIRS, beam=1, length_penalty=0)
    sources = ["a", "b", "c", "d"]
    assert fake.asked == [
        (sources, {"beam": 4, "length_penalty": 1.0}),
        (sources, {"beam": 1, "length_penalty": 0}),
    ]
    assert told == [1.0]


def test_a_table_has_six_columns_whatever_the_texts_hold():
    sentence = SentenceScore(7, 12.345, 6.0, "a\tb", "c\nd\r\u2028e", "")
    text = Scores(1.0, 2.0, "", "", "", (sentence,), 0.1).to_tsv()
    assert text == "line\tchrf\tbleu\tsource\treference\toutput\n7\t12.35\t6.00\ta b\tc d e\t\n"


def test_no_pairs_no_score():
    with pytest.raises(ValueRangeError, match="a score needs pairs, got none"):
        score(Fake(), [])
