"""What a study has found."""

import math

import pytest

from regard.errors import StateError
from regard.tasks.studies.cells import Cell
from regard.tasks.studies.results import Results, as_table, summed_up

FOUND = {"score": 90.0, "seconds": 12.0, "mib": 100.0, "weights": 1234, "device": "cpu"}


def test_a_study_goes_on_where_it_was(tmp_path):
    path = tmp_path / "results.jsonl"
    results = Results(path, {"data": "a"})
    assert results.done == set()
    results.add(Cell("cnn", 10, 1), FOUND)
    results.add(Cell("rnn", 10, 1), FOUND | {"score": 91.0})
    again = Results(path, {"data": "a"})
    assert again.done == {Cell("cnn", 10, 1), Cell("rnn", 10, 1)}
    assert again.trials == results.trials


def test_half_a_line_of_a_killed_study_is_left_out(tmp_path):
    path = tmp_path / "results.jsonl"
    results = Results(path, {})
    results.add(Cell("cnn", 10, 1), FOUND)
    results.add(Cell("cnn", 10, 2), FOUND)
    path.write_bytes(path.read_bytes()[:-20])
    assert Results(path, {}).done == {Cell("cnn", 10, 1)}


def test_of_other_data_it_is_not_gone_on_with(tmp_path):
    path = tmp_path / "results.jsonl"
    Results(path, {"data": "a", "settings": {"steps": 3}}).add(Cell("cnn", 10, 1), FOUND)
    with pytest.raises(StateError, match="other data or settings"):
        Results(path, {"data": "a", "settings": {"steps": 4}})


def test_means_and_spreads_over_seeds(tmp_path):
    results = Results(tmp_path / "results.jsonl", {})
    for seed, score in enumerate((90.0, 92.0, 94.0), start=1):
        results.add(Cell("cnn", 20, seed), FOUND | {"score": score, "seconds": float(seed)})
    results.add(Cell("rnn", 10, 1), FOUND)
    first, second = summed_up(results.trials)
    assert (first.encoder, first.size, first.score, first.seeds) == ("rnn", 10, 90.0, 1)
    assert math.isnan(first.spread)
    assert (second.encoder, second.score, second.spread, second.seconds) == ("cnn", 92.0, 2.0, 2.0)
    header, cells = as_table([first, second], "images")
    assert header[:3] == ("images", "encoder", "accuracy %")
    assert cells[0] == ("10", "rnn", "90.00", "12", "100", "1,234", "1")
    assert cells[1][2] == "92.00 ± 2.00"
