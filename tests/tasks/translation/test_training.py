"""Whole trainings: what they learn, that they go on bit for bit, and how they stop."""

import json
import sys

import pytest
import torch

from regard.errors import FileError, MissingError, StateError, ValueRangeError
from regard.tasks.checkpoint import read_tensors
from regard.tasks.engine import stepping
from regard.tasks.engine.progress import Progress
from regard.tasks.engine.schedule import learning_rate
from regard.tasks.engine.stopping import Stopped
from regard.tasks.engine.task import Judged
from regard.tasks.engine.training import kept_settings
from regard.tasks.engine.weights import mean_of
from regard.tasks.run import Run
from regard.tasks.translation.losses import Losses
from regard.tasks.translation.training import TASK, train
from regard.tasks.translation.validation import Validation
from tests.tasks.translation.toy import small, write_pairs

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture
def pairs(tmp_path):
    return write_pairs(tmp_path / "pairs.tsv", 60)


@pytest.mark.parametrize(
    ("model", "steps", "rate"), [("transformer", 160, 0.01), ("bahdanau", 120, 0.006)]
)
def test_a_small_language_is_learned(model, steps, rate, tmp_path):
    data = write_pairs(tmp_path / "pairs.tsv", 1000)
    valid = write_pairs(tmp_path / "valid.tsv", 60, seed=1)
    settings = small(
        model=model, width=48, epochs=100, steps=steps, learning_rate=rate, warmup=20,
        batch_tokens=384, dropout=0.0, label_smoothing=0.05, validate_every=80, log_every=20,
        save_every=1000,
    )  # fmt: skip
    run = train(settings, [data], valid, tmp_path / "run", device="cpu")
    about = run.load_weights()[1]
    assert about["bleu"] > 80
    assert max(row["bleu"] for row in run.rows() if "bleu" in row) == about["bleu"]


@pytest.mark.parametrize("model", ["transformer", "bahdanau"])
def test_a_run_can_be_made_longer(model, pairs, tmp_path):
    settings = small(model=model, epochs=9, batch_tokens=128, save_every=100, average=1)
    for steps, out in ((7, "one"), (2, "two"), (7, "two")):
        longer = small(**{**vars(settings), "steps": steps})
        train(longer, [pairs], None, tmp_path / out, resume=True, device="cpu")
    tensors, about = read_tensors(tmp_path / "one" / "last.safetensors")
    others, _ = read_tensors(tmp_path / "two" / "last.safetensors")
    assert about["progress"]["step"] == 7
    assert tensors.keys() == others.keys()
    assert all(torch.equal(tensors[name], others[name]) for name in tensors)


def test_what_stands_in_the_run(pairs, tmp_path):
    settings = small(shared_vocab=True)
    run = train(settings, [pairs], None, tmp_path / "run", device="cpu")
    assert kept_settings(TASK, tmp_path / "run") == settings
    assert kept_settings(TASK, tmp_path) is None
    assert run.vocabularies.keys() == {"source"}
    tensors, about = run.load_weights()
    assert about["kind"] == "translation"
    assert about["config"] == run.config
    assert about["source"] == about["target"]
    assert "out.weight" not in tensors
    log = run.rows()
    assert {"step", "epoch", "loss", "lr", "tokens", "tokens_per_second", "seconds"} <= log[
        0
    ].keys()
    assert [row["step"] for row in log if "loss" in row] == list(range(3, log[-1]["step"] + 1, 3))
    assert log[-1]["averaged"] == 2


def test_trying_the_mean_leaves_the_last_weights_as_they_are(pairs, tmp_path):
    run = train(small(), [pairs], None, tmp_path / "run", device="cpu")
    kept = [tensors for tensors, _ in run.recent()]
    assert len(kept) == 2
    last = run.load_last()[0]
    assert all(torch.equal(last[f"weights.{name}"], x) for name, x in kept[-1].items())
    assert run.rows()[-1]["averaged"] == 2


def test_a_better_mean_is_kept(pairs, tmp_path, monkeypatch):
    given = iter([Judged(5.0, 1.0), Judged(4.0, 1.0), Judged(6.0, 1.0)])
    monkeypatch.setattr(Validation, "__call__", lambda *_: next(given))
    run = train(small(), [pairs], None, tmp_path / "run", device="cpu")
    best, about = run.load_weights()
    assert (about["bleu"], about["averaged"]) == (6.0, 2)
    wanted = mean_of([tensors for tensors, _ in run.recent()])
    assert all(torch.equal(best[name], x) for name, x in wanted.items())


def test_each_step_has_its_own_learning_rate_and_seed(pairs, tmp_path, monkeypatch):
    told = []
    step = stepping.Stepper.step

    def noted(self, batches, lr, total_tokens, *, seed):
        told.append((lr, seed))
        return step(self, batches, lr, total_tokens, seed=seed)

    monkeypatch.setattr(stepping.Stepper, "step", noted)
    settings = small(warmup=3, schedule="cosine")
    run = train(settings, [pairs], None, tmp_path / "run", device="cpu")
    total = run.load_last()[1]["progress"]["total"]
    wanted = [learning_rate(settings, i, total) for i in range(1, len(told) + 1)]
    assert [lr for lr, _ in told] == wanted
    assert len({seed for _, seed in told}) == len(told) == total


def test_patience_ends_a_training(pairs, tmp_path):
    settings = small(learning_rate=0.0, epochs=50, patience=3)  # nothing gets better
    run = train(settings, [pairs], None, tmp_path / "run", device="cpu")
    judged = [row for row in run.rows() if "valid_loss" in row and "averaged" not in row]
    assert [row["best"] for row in judged] == [True, False, False, False]


def test_a_finished_run_is_left_as_it_is(pairs, tmp_path, capsys):
    train(small(), [pairs], None, tmp_path / "run", device="cpu")
    before = {p: p.read_bytes() for p in (tmp_path / "run").rglob("*") if p.is_file()}
    train(small(), [], None, tmp_path / "run", resume=True, device="cpu")
    assert {p: p.read_bytes() for p in (tmp_path / "run").rglob("*") if p.is_file()} == before
    said = capsys.readouterr().err.splitlines()
    assert said[-2].endswith("weights, on cpu: has ended before")
    assert "done after" in said[-1]


def test_gradients_that_are_not_finite_move_nothing_and_end_it(pairs, tmp_path, monkeypatch):
    forward = Losses.forward
    calls = []

    def broken(self, *batch):
        calls.append(self.training)
        loss = forward(self, *batch)
        return loss * torch.nan if self.training and sum(calls) > 2 else loss

    monkeypatch.setattr(Losses, "forward", broken)
    settings = small(epochs=100, steps=40, validate_every=100, save_every=100)
    with pytest.raises(Stopped) as raised:
        train(settings, [pairs], None, tmp_path / "run", device="cpu")
    assert raised.value.code == 1
    assert str(raised.value) == (
        "the gradient has not been finite for 10 steps, at step 12; the checkpoint of step 0 is "
        f"whole, go on with: regard train translation --out {tmp_path}/run --resume; try a lower "
        "learning_rate or a longer warmup"
    )
    assert all(torch.isfinite(x).all() for x in Run.open(tmp_path / "run").load_last()[0].values())


def test_other_settings_or_data_are_refused(pairs, tmp_path):
    out = tmp_path / "run"
    train(small(steps=1), [pairs], None, out, device="cpu")
    with pytest.raises(StateError) as raised:
        train(small(steps=1), [pairs], None, out, device="cpu")
    assert str(raised.value) == (
        f"{out}: holds a run already; give --resume to go on, or another --out"
    )
    with pytest.raises(ValueRangeError) as raised:
        train(small(width=32), [pairs], None, out, resume=True, device="cpu")
    assert str(raised.value) == (
        f"{out}: this run has width = 16, and goes on with it, not with 32; leave it out, or give "
        "another --out"
    )
    write_pairs(pairs, 61)
    with pytest.raises(FileError) as raised:
        train(small(steps=1), [pairs], None, out, resume=True, device="cpu")
    assert str(raised.value) == (
        f"{out}: the data are not those this run began with; give the same files, or another --out"
    )


def test_what_cannot_be_trained_is_said_before_anything_is_written(pairs, tmp_path):
    cases = [
        (small(width=15), [pairs], {}, "width must be a multiple of num_heads=2, got 15"),
        (small(batch_tokens=1), [pairs], {}, "batch_tokens must be a whole number from 8"),
        (small(repeat="1,2"), [pairs], {}, "repeat must be a whole number from 1 to 1000"),
        (small(), [], {}, "there is no checkpoint to go on from; give --data, to begin"),
        (small(max_len=2), [pairs], {}, "there is nothing to learn from; "),
        (small(), [pairs], {"device": "tpu"}, "device must be 'auto', 'cpu', 'cuda'"),
    ]
    for settings, data, more, message in cases:
        with pytest.raises((FileError, ValueRangeError)) as raised:
            train(settings, data, None, tmp_path / "run", **({"device": "cpu"} | more))
        assert message in str(raised.value)
        assert not (tmp_path / "run").exists()
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError):
        train(small(), [pairs], None, tmp_path / "file" / "run", device="cpu")


@pytest.mark.parametrize("package", ["sentencepiece", "sacrebleu"])
def test_what_is_needed_in_the_end_is_missed_at_the_beginning(
    package, pairs, tmp_path, monkeypatch
):
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delattr(TASK.__class__, "read")
    with pytest.raises(MissingError, match=f"needs {package}, which is not installed"):
        train(small(), [pairs], None, tmp_path / "run", device="cpu")
    assert not (tmp_path / "run").exists()


def test_progress_is_all_a_checkpoint_knows(pairs, tmp_path):
    run = train(small(), [pairs], None, tmp_path / "run", device="cpu")
    about = run.load_last()[1]
    progress = Progress.from_json(json.loads(json.dumps(about["progress"])))
    assert progress.done
    assert (progress.epoch, progress.batch) == (2, 0)
    assert about["data"] == [str(pairs)]
