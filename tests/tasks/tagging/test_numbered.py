"""Sentences in numbers, and long ones in pieces."""

import pytest
import torch

from regard.tasks.tagged import Sentence
from regard.tasks.tagging.numbered import Numbered, Piece, pieces
from regard.tasks.tagging.words import NONE, STRANGE
from tests.tasks.tagging.tiny import SENTENCES, sentence, words_of

WORDS = words_of()
NUMBERED = Numbered.of(SENTENCES, WORDS)


@pytest.mark.parametrize("length", [*range(1, 70), 255, 256, 257, 1000])
@pytest.mark.parametrize("longest", [8, 9, 11, 16, 256])
def test_every_word_is_answered_for_once_and_sees_its_neighbours(length, longest):
    answered = []
    for piece in pieces([length], longest):
        assert 0 <= piece.start <= piece.kept < piece.end_kept <= piece.end <= length
        assert piece.end - piece.start <= longest
        answered += range(piece.kept, piece.end_kept)
        for word in (piece.kept, piece.end_kept - 1):
            assert piece.start <= max(word - longest // 4, 0)
            assert piece.end >= min(word + longest // 4, length)
    assert answered == list(range(length))


def test_short_sentences_stay_whole():
    assert list(pieces([3, 8], 8)) == [Piece(0, 0, 3, 0, 3), Piece(1, 0, 8, 0, 8)]


def test_sentences_side_by_side():
    some = [Piece(0, 0, 4, 0, 4), Piece(2, 0, 3, 0, 3)]
    stacked = NUMBERED.stacked(some)
    assert stacked.lens.tolist() == [4, 3]
    for row, i in enumerate((0, 2)):
        wanted = SENTENCES[i]
        n = len(wanted.words)
        assert stacked.words[row, :n].tolist() == [WORDS.word(x) for x in wanted.words]
        assert stacked.labels[row, :n].tolist() == [WORDS.label(x) for x in wanted.labels]
        assert stacked.auxiliary[row, :n].tolist() == [WORDS.second(x) for x in wanted.also]
        for j, word in enumerate(wanted.words):
            spelling = stacked.spellings[row, j].tolist()
            assert [x for x in spelling if x] == WORDS.spelling(word)
    assert stacked.spellings.shape[2] == len("barks") + 2  # no wider than it must be
    assert stacked.words[1, 3] == 0
    assert stacked.labels[1, 3] == stacked.auxiliary[1, 3] == NONE
    assert not stacked.spellings[1, 3].any()
    assert all(x.dtype == torch.int64 for x in stacked)


def test_a_shape_that_is_asked_for():
    stacked = NUMBERED.stacked([Piece(0, 0, 4, 0, 4)], rows=3, width=7, spelled=24)
    assert [list(x.shape) for x in stacked] == [[3, 7], [3, 7, 24], [3], [3, 7], [3, 7]]
    assert stacked.lens.tolist() == [4, 0, 0]
    assert (stacked.labels[1:] == NONE).all()


def test_labels_count_in_the_piece_that_answers_for_them():
    stacked = NUMBERED.stacked([Piece(3, 2, 8, 4, 7)])
    wanted = [WORDS.label(x) for x in SENTENCES[3].labels]
    assert stacked.labels[0].tolist() == [NONE, NONE, *wanted[4:7], NONE]
    assert stacked.words[0].tolist() == [WORDS.word(x) for x in SENTENCES[3].words[2:8]]


def test_labels_never_seen_and_labels_that_are_not_there():
    other = Numbered.of([sentence("the/NEW dog/NOUN", also=False)], WORDS)
    assert other.labels.tolist() == [STRANGE, WORDS.label("NOUN")]
    assert other.auxiliary.tolist() == [NONE, NONE]
    assert Numbered.of([Sentence(("the",), (), 0)], WORDS).labels.tolist() == [NONE]


def test_no_sentences():
    none = Numbered.of([], WORDS)
    assert none.lengths.tolist() == []
    assert none.stacked([]).words.shape == (0, 0)
