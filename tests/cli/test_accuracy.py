"""What ``regard evaluate`` says of taggers and classifiers."""

import numpy as np
import pytest

from regard.cli.main import main

pytestmark = pytest.mark.usefixtures("one_thread")

SMALL = "--device cpu --width 8 --heads 2 --layers 1 --steps 3 --warmup 1"


@pytest.fixture(scope="module")
def tagging(tmp_path_factory):
    """A run of a tagger, and its words."""
    folder = tmp_path_factory.mktemp("tagging")
    rows = ["dogs\tNOUN", "bark\tVERB", "", "cats\tNOUN", "sleep\tVERB", ""] * 10
    (folder / "words.tsv").write_text("\n".join(rows) + "\n")
    words = f"train tagging --data {folder}/words.tsv --out {folder}/run {SMALL}"
    assert main([*words.split(), "--valid", f"{folder}/words.tsv"]) == 0
    return folder


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    """A run of a classifier, and its images."""
    folder = tmp_path_factory.mktemp("images")
    labels = np.arange(40) % 2
    bright = np.random.default_rng(0).integers(0, 99, (40, 8, 8, 1)).astype(np.uint8)
    bright += (120 * labels[:, None, None, None]).astype(np.uint8)
    np.savez(folder / "set.npz", images=bright, labels=labels)
    words = f"train classification --data {folder}/set.npz --out {folder}/run {SMALL}"
    assert main(words.split()) == 0
    return folder


def test_a_tagger(tagging, tmp_path, capsys):
    call = ["evaluate", f"{tagging}/run", "--data", f"{tagging}/words.tsv"]
    assert main([*call, "--device", "cpu", "--out", str(tmp_path / "scores.tsv")]) == 0
    said = capsys.readouterr().out
    lines = said.splitlines()
    assert lines[0].startswith("accuracy ")
    assert "accuracy|UPOS|regard:" in lines[1]
    assert any(line.startswith("known words: ") and line.endswith(" of 40") for line in lines)
    assert "unknown words: none of 0" in lines
    assert any(line.split()[:2] == ["NOUN", "20"] for line in lines)
    assert f"The scores of each are in {tmp_path / 'scores.tsv'}" in lines
    rows = (tmp_path / "scores.tsv").read_text().splitlines()
    assert rows[0].split("\t") == ["line", "word", "label", "found", "probability", "known"]
    assert len(rows) == 41
    right = sum(row.split("\t")[2] == row.split("\t")[3] for row in rows[1:])
    assert float(lines[0].split()[1]) == pytest.approx(100 * right / 40, abs=0.01)


def test_a_classifier(images, tmp_path, capsys):
    call = ["evaluate", f"{images}/run", "--data", f"{images}/set.npz"]
    assert main([*call, "--device", "cpu", "--out", str(tmp_path / "scores.tsv")]) == 0
    lines = capsys.readouterr().out.splitlines()
    rows = [row.split("\t") for row in (tmp_path / "scores.tsv").read_text().splitlines()]
    assert rows[0] == ["name", "label", "found", "probability", "probability_of_label"]
    right = sum(row[1] == row[2] for row in rows[1:])
    assert float(lines[0].split()[1]) == pytest.approx(100 * right / 40, abs=0.01)
    assert any("examples in" in line for line in lines)


def test_a_beam_is_for_translators(images, capsys):
    call = ["evaluate", f"{images}/run", "--data", f"{images}/set.npz", "--beam", "2"]
    assert main(call) == 2
    said = capsys.readouterr().err
    assert said == (
        "regard: --beam is for translators, and this is a run of classification; leave it out\n"
    )


def test_data_of_another_kind(tagging, images, capsys):
    assert main(["evaluate", f"{tagging}/run", "--data", f"{images}/set.npz"]) == 2
    assert main(["evaluate", f"{images}/run", "--data", f"{tagging}/words.tsv"]) == 2
    said = capsys.readouterr().err.splitlines()
    assert len([line for line in said if line.startswith("regard: ")]) == 2
