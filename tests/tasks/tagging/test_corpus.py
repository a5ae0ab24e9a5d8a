"""Sentences to learn from and to be judged by."""

from dataclasses import replace

import pytest

from regard.errors import FileError
from regard.tasks.tagging.corpus import held_out, read_corpus
from tests.tasks.tagging.tiny import SENTENCES, sentence, small, tsv


def many(count):
    return [sentence(f"w{i}/NOUN runs/VERB") for i in range(count)]


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(name, sentences):
        path = tmp_path / name
        path.write_text(tsv(sentences), encoding="utf-8")
        return path

    return write


def test_files_to_learn_from_and_one_to_be_judged_by(file):
    data = [file("a.tsv", SENTENCES[:3]), file("b.tsv", SENTENCES[3:6])]
    corpus = read_corpus(data, file("c.tsv", SENTENCES[6:]), small())
    assert [x.words for x in corpus.train] == [x.words for x in SENTENCES[:6]]
    assert [x.words for x in corpus.valid] == [x.words for x in SENTENCES[6:]]
    assert corpus.train[0].also == SENTENCES[0].also
    assert len(corpus.report) == 4
    told = "'NUM' 2 times, 'ADP' 1 time, 'INTJ' 1 time"
    assert f"4 of 12 labels were never seen in training ({told})" in corpus.report[3]


def test_the_columns_are_those_of_the_settings(file):
    data = [file("a.tsv", SENTENCES)]
    corpus = read_corpus(data, data[0], small(column="XPOS", auxiliary="UPOS"))
    assert corpus.train[0].labels == SENTENCES[0].also
    assert corpus.train[0].also == SENTENCES[0].labels
    assert read_corpus(data, data[0], small(auxiliary="")).train[0].also == ()


def test_a_second_column_that_is_not_there_is_told(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("a\tX\nb\tY\n", encoding="utf-8")
    assert (
        f"{path}: no XPOS is there, so it is not learned beside"
        in read_corpus([path], path, small()).report
    )


def test_some_are_held_out(file):
    sentences = many(200)
    corpus = read_corpus([file("a.tsv", sentences)], None, small())
    assert len(corpus.valid) == 10
    assert corpus.report[-1] == "10 sentences held out for validation"
    assert {x.words for x in corpus.train} | {x.words for x in corpus.valid} == {
        x.words for x in sentences
    }
    assert not {x.words for x in corpus.train} & {x.words for x in corpus.valid}


def test_equal_sentences_go_together(file):
    corpus = read_corpus([file("a.tsv", many(50) * 3)], None, small())
    assert len(corpus.train) + len(corpus.valid) == 150
    assert not {x.words for x in corpus.train} & {x.words for x in corpus.valid}


def test_the_choice_does_not_depend_on_the_order():
    sentences = many(100)
    chosen = held_out(sentences)
    assert held_out(sentences[::-1]) == chosen
    assert len(chosen & held_out(many(110))) >= 4
    assert len(held_out(many(100_000))) == 2000


@pytest.mark.parametrize("sentences", [SENTENCES[:1], SENTENCES[:1] * 5])
def test_too_few_to_hold_some_out(sentences, file):
    with pytest.raises(FileError, match=r"at least 2 different sentences are needed, .* --valid"):
        read_corpus([file("a.tsv", sentences)], None, small())


def test_one_label_is_refused(file):
    path = file("a.tsv", [sentence("a/X b/X")])
    with pytest.raises(FileError, match="the only label is 'X'"):
        read_corpus([path], path, small())


def test_the_fingerprint_is_that_of_all_of_it(file):
    path = file("a.tsv", SENTENCES)
    corpus = read_corpus([path], path, small())
    assert corpus.sha256 == read_corpus([path], path, small()).sha256
    first = corpus.train[0]
    others = [
        replace(corpus, train=corpus.train[1:]),
        replace(corpus, valid=corpus.valid[1:]),
        replace(corpus, train=corpus.train[::-1]),
        replace(corpus, train=(*corpus.train, *corpus.valid[:1]), valid=corpus.valid[1:]),
    ]
    for change in ({"labels": ("X",) * 4}, {"words": ("x",) * 4}, {"also": ("x",) * 4}):
        others.append(replace(corpus, train=(replace(first, **change), *corpus.train[1:])))
    assert len({corpus.sha256, *(x.sha256 for x in others)}) == 8
