"""What was kept and left out, and in which words it is told."""

from pathlib import Path

import pytest

from regard.errors import FileError
from regard.tasks.findings import Findings, briefly, counted, dropped, refuse_nothing, shown

RULES = {"tab": "without a tab", "bad": "that cannot be read", "kind": "of another kind"}


def findings(**options):
    return Findings(Path("a.tsv"), "row", RULES, "wanted are rows", **options)


def test_the_report_names_lines_files_and_reasons_in_the_order_of_the_rules():
    found = findings(kept=5)
    assert found.report("row") == ["a.tsv: 5 rows"]
    found.leave_out("bad", "x\n.wav", "x.wav: is a stone")
    found.leave_out("tab", 3)
    found.leave_out("tab", 1000)
    assert found.report("text", ", 2 labels") == [
        "a.tsv: 5 texts of 8 rows, 2 labels",
        "a.tsv: 2 rows without a tab (lines 3, 1000)",
        "a.tsv: 1 row that cannot be read (x\\n.wav)",
        "x.wav: is a stone",
    ]
    assert found.report("row")[0] == "a.tsv: 5 of 8 rows"
    assert dropped([found, found]) == {"bad": 2, "tab": 4}


def test_lists_of_places_end():
    found = findings()
    for i in range(30):
        found.leave_out("tab", i)
        found.leave_out("bad", f"{i}.wav", f"reason {i}")
    lines = found.report("row")
    assert lines[1].endswith("(lines " + ", ".join(map(str, range(20))) + " and 10 more)")
    assert lines[2].endswith("(0.wav, 1.wav, 2.wav, 3.wav, 4.wav and 25 more)")
    assert lines[3:] == ["reason 0", "reason 1", "reason 2"]


def test_most_lost_is_loud_but_not_what_lies_beside_the_data():
    found = findings(kept=1, quiet=frozenset({"kind"}))
    found.leave_out("kind", "notes.txt")
    found.leave_out("kind", "more.txt")
    assert (found.seen, found.gone, found.loud()) == (1, 0, [])
    assert found.report("row") == [
        "a.tsv: 1 row",
        "a.tsv: 2 rows of another kind (notes.txt, more.txt)",
    ]
    found.leave_out("tab", 1)
    assert found.loud() == []  # half is not most
    found.leave_out("tab", 2)
    assert found.loud() == ["a.tsv: MORE THAN HALF IS LOST, 2 of 3 rows; wanted are rows"]


def test_nothing_left_is_refused_with_what_became_of_it():
    refuse_nothing((findings(), findings(kept=1)), "text", "wanted")
    found = findings()
    found.leave_out("bad", "x.wav", "x.wav: is a stone")
    for given, message in (
        ((), "no file was given: no text is left; wanted"),
        ((findings(),), "a.tsv: no row is there: no text is left; wanted"),
        (
            (found, findings()),
            "a.tsv: 1 row that cannot be read; a.tsv: no row is there: no text is left "
            "(the first: x.wav: is a stone); wanted",
        ),
    ):
        with pytest.raises(FileError) as raised:
            refuse_nothing(given, "text", "wanted")
        assert str(raised.value) == message


def test_what_others_say_is_made_short():
    assert briefly(ValueError("one\ntwo")) == "one"
    assert briefly(ValueError()) == "ValueError"
    assert briefly(ValueError("\x1b" + "x" * 200)) == "\\x1b" + "x" * 96 + "..."


def test_words():
    assert counted(1, "class") == "1 class"
    assert counted(12_000, "class") == "12,000 classes"
    assert shown(Path("\x1b[31m")) == "\\x1b[31m"
