"""Trainings that several tests look at, made once."""

import pytest

from tests.tasks.translation.forked import Forks
from tests.tasks.translation.toy import write_pairs

COMMAND = (
    "train translation --device cpu --width 16 --heads 2 --encoder-layers 1 --decoder-layers 1 "
    "--vocab-size 300 --batch-tokens 128 --accumulate 2 --epochs 4 --warmup 5 --dropout 0.1 "
    "--sample 0.2 --log-every 3 --save-every 2 --average 2"
)


@pytest.fixture(scope="session")
def forks():
    with Forks() as made:
        yield made


@pytest.fixture(scope="session")
def whole(forks, tmp_path_factory):
    """A training nobody interrupted: the words of its command, without --out, and its run."""
    folder = tmp_path_factory.mktemp("whole")
    words = [*COMMAND.split(), "--data", str(write_pairs(folder / "pairs.tsv", 120))]
    answer = forks(words=[*words, "--out", str(folder / "run")])
    assert answer["code"] == 0, answer["said"]
    return words, folder / "run"


@pytest.fixture(scope="session")
def alone(forks, whole, tmp_path_factory):
    """Trainings of one process without dropout, which draws differently in each."""
    words, _ = whole
    found = {}
    for model in ("transformer", "bahdanau"):
        out = tmp_path_factory.mktemp("alone") / "run"
        more = ["--dropout", "0", "--epochs", "2", "--model", model, "--learning-rate", "0.01"]
        answer = forks(words=[*words, *more, "--out", str(out)])
        assert answer["code"] == 0, answer["said"]
        found[model] = ([*words, *more], out)
    return found
