"""Examples to learn from and examples to be judged by, and never the same."""

from collections import Counter

import pytest

from regard.errors import FileError
from regard.tasks.classification.corpus import held_out, read_corpus
from regard.tasks.classification.examples import Example
from tests.tasks.classification.tiny import small, write_images, write_texts


def made(labels, digests=None):
    digests = range(len(labels)) if digests is None else digests
    return [
        Example(label, str(i), bytes([digest]), (), lambda: "")
        for i, (label, digest) in enumerate(zip(labels, digests, strict=True))
    ]


def test_a_tenth_of_each_label_is_held_out():
    examples = made("a" * 100 + "b" * 40 + "c" * 2 + "d")
    apart = held_out(examples)
    assert Counter(examples[i].label for i in apart) == {"a": 10, "b": 4, "c": 1}


def test_the_choice_depends_on_what_they_are_not_on_their_order():
    examples = made("a" * 50 + "b" * 50)
    one = {examples[i].digest for i in held_out(examples)}
    turned = examples[::-1]
    assert one == {turned[i].digest for i in held_out(turned)}


def test_equal_ones_stay_together():
    examples = made("a" * 40, [i // 4 for i in range(40)])
    apart = held_out(examples)
    held = {examples[i].digest for i in apart}
    assert len(apart) == 4
    assert held.isdisjoint(x.digest for i, x in enumerate(examples) if i not in apart)


def test_one_content_of_two_labels_is_not_held_out():
    examples = made("ab" * 5, [i // 2 for i in range(10)])
    assert held_out(examples) == set()


def test_of_each_label_something_is_left():
    assert held_out(made("ab")) == set()
    assert held_out(made("aaab", [1, 1, 1, 2])) == set()


def test_reading_and_holding_out(tmp_path):
    corpus = read_corpus([write_texts(tmp_path / "x.tsv", 60)], None, small())
    assert (corpus.kind, corpus.labels) == ("text", ("sour", "sweet"))
    assert (len(corpus.train), len(corpus.valid)) == (54, 6)
    assert Counter(x.label for x in corpus.valid) == {"sour": 3, "sweet": 3}
    assert corpus.report[-1] == "6 examples held out for validation, of each label 10 %"
    assert {x.digest for x in corpus.train}.isdisjoint(x.digest for x in corpus.valid)


def test_several_files_and_examples_to_be_judged_by(tmp_path):
    paths = [write_texts(tmp_path / f"{i}.tsv", 6, seed=i) for i in range(3)]
    paths[2].write_text("sour\tlime\nbitter\thops\n")
    corpus = read_corpus(paths[:2], paths[2], small())
    assert (len(corpus.train), len(corpus.valid)) == (12, 2)
    assert corpus.labels == ("sour", "sweet")
    assert "'bitter' 1 time): they count as wrong" in corpus.report[-1]


def test_the_fingerprint_knows_labels_contents_and_sides(tmp_path):
    def of(train, valid="a\tx\n"):
        for name, text in (("train", train), ("valid", valid)):
            (tmp_path / name).write_text(text)
        return read_corpus([tmp_path / "train"], tmp_path / "valid", small()).sha256

    sums = [
        of("a\t1\nb\t2\n"),
        of("a\t1\nb\t3\n"),
        of("b\t1\na\t2\n"),
        of("a\t1\nb\t2\n", "b\tx\n"),
        of("a\t1\nb\t2\na\tx\n", "a\ty\n"),
        of("a\t1\nb\t2\n", "a\tx\na\ty\n"),
    ]
    assert len(set(sums)) == len(sums)
    assert of("a\t1\nb\t2\n") == sums[0]


def test_what_cannot_be_learned_from_is_refused(tmp_path):
    (tmp_path / "one.tsv").write_text("a\tx\na\ty\n")
    with pytest.raises(FileError, match="only label is 'a'"):
        read_corpus([tmp_path / "one.tsv"], None, small())
    (tmp_path / "few.tsv").write_text("a\tx\nb\ty\n")
    with pytest.raises(FileError, match="at least 2 different examples"):
        read_corpus([tmp_path / "few.tsv"], None, small())
    images = write_images(tmp_path / "x.npz")
    with pytest.raises(FileError, match=r"holds images, and .* holds text"):
        read_corpus([tmp_path / "few.tsv", images], None, small())
    with pytest.raises(FileError, match=r"holds images, and .* holds text"):
        read_corpus([tmp_path / "few.tsv"], images, small())
