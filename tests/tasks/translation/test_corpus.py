"""Which pairs are learned from, and which are held out."""

import random
from dataclasses import replace

import pytest

from regard.errors import FileError, ValueRangeError
from regard.tasks.pairs import Pair
from regard.tasks.translation.corpus import held_out, read_corpus


def write(path, rows):
    path.write_text("".join(f"{source}\t{target}\n" for source, target in rows), encoding="utf-8")
    return path


def sides(pairs):
    return [(pair.source, pair.target) for pair in pairs]


def test_what_is_held_out_is_never_learned_from(tmp_path):
    rows = [(f"s{i % 300}", f"t{i}") for i in range(600)]  # each source twice
    corpus = read_corpus([write(tmp_path / "a.tsv", rows)], None, (1,))
    assert len(corpus.valid) == 12  # 2 % of 600
    assert {p.source for p in corpus.valid}.isdisjoint(p.source for p in corpus.pairs)
    assert sorted(sides(corpus.valid) + sides(corpus.pairs)) == sorted(rows)
    assert corpus.report[-1] == "12 pairs are held out for validation"


def test_the_choice_does_not_depend_on_the_order():
    sources = [f"sentence {i}" for i in range(500)]
    chosen = held_out(sources)
    assert len(chosen) == 10
    random.Random(1).shuffle(sources)
    assert held_out(sources) == chosen
    assert len(held_out(f"sentence {i}" for i in range(100_000))) == 1000


def test_files_of_ones_own_are_taken_whole(tmp_path):
    first = write(tmp_path / "a.tsv", [("a", "1"), ("b", "2")])
    second = write(tmp_path / "b.tsv", [("c", "3")])
    judged = write(tmp_path / "v.tsv", [("x", "9")])
    corpus = read_corpus([first, second], judged, (1, 3))
    assert sides(corpus.epoch()) == [("a", "1"), ("b", "2"), ("c", "3"), ("c", "3"), ("c", "3")]
    assert sides(corpus.pairs) == [("a", "1"), ("b", "2"), ("c", "3")]
    assert sides(corpus.valid) == [("x", "9")]
    assert corpus.report == tuple(
        f"{path}: {n}" for path, n in ((first, "2 pairs of 2 rows"), (second, "1 pair of 1 row"),
                                       (judged, "1 pair of 1 row"))
    )  # fmt: skip


def test_the_fingerprint_sees_every_change(tmp_path):
    def of(rows, judged=(("x", "9"),), repeats=(1,)):
        data = write(tmp_path / "a.tsv", rows)
        return read_corpus([data], write(tmp_path / "v.tsv", judged), repeats).sha256

    rows = [("a", "1"), ("b", "2")]
    whole = of(rows)
    assert of(rows) == whole
    others = [
        of(rows[::-1]),
        of(rows[:1]),
        of([("a", "1"), ("b", "3")]),
        of(rows, repeats=(2,)),
        of(rows, judged=(("x", "8"),)),
        of(rows[:1], judged=(("b", "2"), ("x", "9"))),
    ]
    assert len({whole, *others}) == 7


def test_too_few_to_hold_out(tmp_path):
    path = write(tmp_path / "a.tsv", [("a", "1"), ("a", "2")])
    with pytest.raises(FileError) as raised:
        read_corpus([path], None, (1,))
    assert str(raised.value) == (
        f"{path}: pairs of at least 2 different sources are needed, to learn from some and be "
        "judged by others; give more data, or --valid with a file of its own"
    )


def test_pairs_are_made_of_those_there_are(tmp_path):
    rows = ["北京\tBeijing", "基多\tQuito", "我在北京。\tI am in Beijing.", "你好。\tHello."]
    (tmp_path / "pairs.tsv").write_text("\n".join(rows) + "\n")
    corpus = read_corpus([tmp_path / "pairs.tsv"], tmp_path / "pairs.tsv", [3])
    assert corpus.with_made(0, 0.0, 1) == corpus
    made = corpus.with_made(2, 1.0, 1)
    assert [(p.source, p.target) for p in made.made] == [
        ("我在基多。", "I am in Quito."),
        ("我在北京", "I am in Beijing"),
        ("你好", "Hello"),
        ("我在基多", "I am in Quito"),
    ]
    assert made.report[-1] == "4 pairs are made of these, with other names or without a full stop"
    assert len(made.epoch()) == 3 * 4 + 4
    assert made.pairs == corpus.pairs
    assert made.sha256 == corpus.sha256


# with a letter that says what it is, and without
CITIES = [
    Pair(name + city, target, 1)
    for name, target in (("南京", "Nanjing"), ("成都", "Chengdu"), ("武汉", "Wuhan"))
    for city in ("", "市")
]


def test_names_of_one_file_are_put_into_the_sentences_of_all(tmp_path):
    (tmp_path / "places.tsv").write_text("西安\tXian\n")
    rows = [
        "北京\tBeijing",
        "基多\tQuito",
        "我在北京。\tI am in Beijing.",
        "他在基多。\tHe is in Quito.",
    ]
    (tmp_path / "pairs.tsv").write_text("\n".join(rows) + "\n")
    files = [tmp_path / "places.tsv", tmp_path / "pairs.tsv"]
    corpus = read_corpus(files, tmp_path / "pairs.tsv", [1, 1])
    assert {p.source for p in corpus.with_made(3, 0.0, 1, file=1).made} == {
        "我在西安。",
        "他在西安。",
    }
    assert len(corpus.with_made(3, 0.0, 1).made) == 4
    short = replace(corpus, files=((Pair("西安市", "Xian", 1),), (*corpus.files[1], *CITIES)))
    assert {p.source for p in short.with_made(3, 0.0, 1, file=1).made} >= {
        "我在西安。",
        "我在西安市。",
    }
    with pytest.raises(ValueRangeError) as raised:
        corpus.with_made(3, 0.0, 1, file=3)
    assert str(raised.value) == "swap_from must be from 0 to 2, as there are 2 data files; got 3"
