"""Pairs made from pairs: other names, and no full stop."""

import pytest

from regard.tasks.pairs import Pair
from regard.tasks.translation.names import names_in, swapped, unstopped


def pairs(*rows):
    return [Pair(source, target, line) for line, (source, target) in enumerate(rows, start=1)]


CITIES = pairs(("北京", "Beijing"), ("波士顿", "Boston"), ("纽约", "New York"), ("基多", "Quito"))


@pytest.mark.parametrize(
    "row",
    [
        ("文件", "File"),  # there are files in the other rows
        ("他", "He"),  # one letter may be a part of any word
        ("我在北京", "I am in Beijing"),
        ("北京。", "Beijing."),
        ("第2章", "Chapter"),
        ("一二三四五六七八九十一二三", "Longname"),
        ("甲乙", "One Two Three Four"),
        ("丙丁", "5th"),
    ],
    ids=lambda row: row[1],
)
def test_what_is_no_name(row):
    others = pairs(("打开文件", "open the file"), ("他走了", "there he goes"))
    assert names_in([*pairs(row), *others]) == {}
    assert names_in([*pairs(row), *others, *CITIES]) == {p.source: p.target for p in CITIES}


@pytest.mark.parametrize(("large", "is_name"), [(19, True), (18, False)])
def test_a_name_may_be_written_small_now_and_then(large, is_name):
    rows = [("汤姆", "Tom"), ("他键入", "he types tom"), *[("汤姆走了", "Tom goes")] * large]
    assert ("汤姆" in names_in(pairs(*rows))) is is_name


def test_of_two_translations_the_first():
    assert names_in(pairs(("北京", "Beijing"), ("北京", "Peking"))) == {"北京": "Beijing"}


def test_a_letter_that_says_what_is_named_may_be_left_out():
    letters = "甲乙丙"
    rows = [(f"{x}{x}", f"X{i}") for i, x in enumerate(letters)]
    with_city = [(f"{x}{x}市", f"X{i}") for i, x in enumerate(letters)]
    found = names_in(pairs(*rows, *with_city, ("西安市", "Xian"), ("西安语", "Xianish")))
    assert found["西安"] == "Xian"
    fewer = names_in(pairs(*rows[1:], *with_city, ("西安市", "Xian")))
    assert "西安" not in fewer
    assert fewer["西安市"] == "Xian"


def test_the_longest_name_goes_and_others_come():
    names = {p.source: p.target for p in CITIES} | {"纽约市": "New York City"}
    given = pairs(("我住在纽约市。", "I live in New York City."))
    made = swapped(given, names, 5, seed=1)
    assert {(p.source, p.target) for p in made} == {
        (f"我住在{source}。", f"I live in {target}.")
        for source, target in names.items()
        if source != "纽约市"
    }
    assert {p.line for p in made} == {1}


def test_only_where_both_sides_have_the_name_and_more_than_it():
    names = {p.source: p.target for p in CITIES}
    given = pairs(
        ("我住在北京。", "I live in Peking."),
        ("北京", "Beijing"),
        ("北京人", "Beijingers"),
        ("你好。", "Hello."),
    )
    assert swapped(given, names, 3, seed=1) == []
    assert swapped(pairs(("我在北京", "in Beijing")), {"北京": "Beijing"}, 3, seed=1) == []


def test_the_same_every_time_and_another_for_another_seed():
    names = {f"名字{chr(0x4E00 + i)}": f"Name{i}" for i in range(100)} | {"北京": "Beijing"}
    given = pairs(*[("我在北京。", "I am in Beijing.")] * 3)
    made = swapped(given, names, 2, seed=1)
    assert made == swapped(given, names, 2, seed=1)
    assert made != swapped(given, names, 2, seed=2)
    assert len(made) == 6
    assert len({p.source for p in made}) > 2  # equal sentences get other names


def test_chosen_names_alone_come():
    names = {p.source: p.target for p in CITIES}
    first, second, *_ = names
    given = pairs((f"我住在{first}。", f"I live in {names[first]}."))
    made = swapped(given, names, 5, seed=1, chosen={first, second, "哪里"})
    assert [(p.source, p.target) for p in made] == [
        (f"我住在{second}。", f"I live in {names[second]}.")
    ]
    assert swapped(given, names, 5, seed=1, chosen=()) == []


def test_a_name_with_a_backslash_is_no_command():
    names = {"北京": "Beijing", "天津": r"Tian\\1jin"}
    made = swapped(pairs(("我在北京。", "in Beijing.")), names, 2, seed=1)
    assert [p.target for p in made] == [r"in Tian\\1jin."]


def test_stops_are_dropped_on_both_sides_or_not_at_all():
    rows = [
        ("你好。", "Hello."),
        ("走!", "Go!"),
        ("你好。", "Hello"),
        ("你好", "Hello."),
        ("。", "."),
    ]
    made = unstopped(pairs(*rows), 1.0, seed=1)
    assert [(p.source, p.target) for p in made] == [("你好", "Hello"), ("走", "Go")]
    many = pairs(*[("你好。", "Hello.")] * 1000)
    assert 400 < len(unstopped(many, 0.5, seed=1)) < 600
    assert unstopped(many, 0.0, seed=1) == []
