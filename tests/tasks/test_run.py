import os
import random
import signal
import subprocess
import sys
import time

import pytest
import torch

from regard.errors import FileError, KindError, StateError, ValueRangeError
from regard.tasks.files import PREFIX
from regard.tasks.run import Run

CONFIG = 'model = "transformer"\nseed = 1\n'
WORDS = {"source": b"pieces of Chinese", "target": b"pieces of English"}


def tensors(seed):
    return {"w": torch.randn(4, 3, generator=torch.Generator().manual_seed(seed))}


def same(got, wanted):
    return got.keys() == wanted.keys() and all(torch.equal(got[name], wanted[name]) for name in got)


@pytest.fixture
def folder(tmp_path):
    """A run with one of everything, and nobody in it."""
    with Run.create(tmp_path / "runs" / "x", CONFIG, WORDS) as run:
        run.log({"step": 1, "loss": 2.0})
        run.log({"step": 2, "loss": 1.5})
        run.save_weights(tensors(0), {"bleu": 20.0})
        run.save_last(tensors(1), {"step": 2})
        run.keep_recent(1, tensors(2), {}, keep=2)
        run.keep_recent(2, tensors(3), {}, keep=2)
    return tmp_path / "runs" / "x"


def test_all_of_it_comes_back(folder):
    run = Run.open(folder)
    assert (run.config, run.vocabularies, run.folder) == (CONFIG, WORDS, folder)
    assert run.has_last
    assert run.has_weights
    for (got, about), seed, wanted in (
        (run.load_weights(), 0, {"bleu": 20.0}),
        (run.load_last(), 1, {"step": 2}),
    ):
        assert same(got, tensors(seed))
        assert about == wanted
    assert run.rows() == [{"step": 1, "loss": 2.0}, {"step": 2, "loss": 1.5}]
    assert run.notes == []
    run.verify()
    assert sorted(path.name for path in folder.iterdir()) == [
        ".lock", "config.toml", "last.safetensors", "metrics.jsonl", "recent", "run.json",
        "source.model", "target.model", "weights.safetensors",
    ]  # fmt: skip


def test_the_recent_are_the_last_few(folder):
    run = Run.open(folder)
    run.keep_recent(123_456_789, tensors(4), {}, keep=2)
    assert run.recent_steps() == [2, 123_456_789]
    (third, _), (fourth, _) = run.recent()
    assert same(third, tensors(3))
    assert same(fourth, tensors(4))
    (folder / "recent" / "step-7.safetensors").write_bytes(b"not ours")
    assert run.recent_steps() == [2, 123_456_789]
    with pytest.raises(ValueRangeError, match="keep must be at least 1, got 0"):
        run.keep_recent(3, tensors(4), {}, keep=0)


def test_an_old_one_goes_when_the_new_one_is_whole(folder, monkeypatch):
    run = Run.open(folder)
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", lambda *names: (_ for _ in ()).throw(OSError(28, "full")))
        with pytest.raises(OSError, match="full"):
            run.keep_recent(3, tensors(4), {}, keep=1)
    assert run.recent_steps() == [1, 2]


def test_going_back_to_a_step(folder):
    run = Run.open(folder)
    run.cut_log(1)
    assert run.rows() == [{"step": 1, "loss": 2.0}]
    assert run.recent_steps() == [1, 2]
    run.rewind(1)
    assert run.recent_steps() == [1]
    run.rewind(0)
    assert (run.rows(), run.recent_steps()) == ([], [])


def test_before_the_first_checkpoint(tmp_path):
    run = Run.create(tmp_path, CONFIG, WORDS)
    assert not run.has_last
    assert not run.has_weights
    assert (run.rows(), run.recent_steps(), list(run.recent())) == ([], [], [])
    run.verify()
    with pytest.raises(StateError, match=r"last\.safetensors: is not there yet; the run stopped"):
        run.load_last()
    run.rewind(0)
    assert not (tmp_path / "metrics.jsonl").exists()


def test_a_run_is_not_made_over_another(folder):
    words = "holds a run already; give --resume to go on, or another --out"
    with pytest.raises(StateError, match=words):
        Run.create(folder, CONFIG, WORDS)
    Run.open(folder).verify()


def test_a_folder_with_something_else_is_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("...")
    words = "must be new or empty, and holds 'thesis.tex', which is no part of a run"
    with pytest.raises(FileError, match=words):
        Run.create(tmp_path, CONFIG, WORDS)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
    with pytest.raises(FileError, match="must be a folder, and is a file"):
        Run.create(tmp_path / "thesis.tex", CONFIG, WORDS)


def test_a_run_killed_as_it_began_can_begin_again(tmp_path):
    (tmp_path / ".lock").touch()
    (tmp_path / f"{PREFIX}0-ab").write_bytes(b"part")
    (tmp_path / "config.toml").write_text(CONFIG)
    (tmp_path / "source.model").write_bytes(WORDS["source"])
    with pytest.raises(FileError, match=r"holds 'config\.toml'"):
        Run.create(tmp_path, CONFIG + "beam = 2\n", WORDS)  # maybe somebody's own
    Run.create(tmp_path, CONFIG, WORDS).verify()


def test_names_of_vocabularies(tmp_path):
    with pytest.raises(KindError, match=r"a name such as 'source', got 'source\.model'"):
        Run.create(tmp_path, CONFIG, {"source.model": b""})


def test_what_is_no_run_is_named(tmp_path):
    with pytest.raises(
        FileError, match=r"is no run: it has no run\.json; `regard train` makes one"
    ):
        Run.open(tmp_path)
    with pytest.raises(FileError, match="none: is no run: it is not there, or is no folder"):
        Run.open(tmp_path / "none")


def test_no_flipped_bit_goes_unnoticed(folder):
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.stat().st_size]
    assert len(files) == 9
    dice = random.Random(0)
    for i in range(200):
        path = files[i % len(files)]
        data = path.read_bytes()
        changed = bytearray(data)
        changed[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
        path.write_bytes(changed)
        with pytest.raises(FileError, match=path.name):
            Run.open(folder).verify()
        path.write_bytes(data)
    last = folder / "metrics.jsonl"
    last.write_bytes(last.read_bytes()[:-1] + b"\x0b")  # the one byte that ends the last line
    with pytest.raises(FileError, match="line 2: is damaged"):
        Run.open(folder).verify()


def test_weights_of_another_run_are_refused(folder, tmp_path):
    with Run.create(tmp_path / "other", CONFIG, {"source": b"others", "target": b""}) as other:
        other.save_weights(tensors(0), {})
    (tmp_path / "other" / "weights.safetensors").replace(folder / "weights.safetensors")
    with pytest.raises(FileError, match=r"weights\.safetensors: belongs to another run"):
        Run.open(folder).load_weights()


def test_a_run_that_was_replaced_since_is_noticed(folder, tmp_path):
    run = Run.open(folder)
    folder.rename(tmp_path / "moved")
    Run.create(folder, CONFIG, {"source": b"others", "target": b""})
    with pytest.raises(FileError, match="another run has taken its place"):
        run.verify()


def test_a_torn_row_is_left_out_and_said(folder):
    log = folder / "metrics.jsonl"
    whole = log.read_bytes()
    log.write_bytes(whole + b'{"step":3,"lo')
    reader = Run.open(folder)
    assert len(reader.rows()) == 2
    assert len(reader.rows()) == 2
    assert log.read_bytes() != whole  # who reads changes nothing
    writer = Run.open(folder)
    writer.lock()
    assert log.read_bytes() == whole
    assert reader.notes == writer.notes
    assert len(writer.notes) == 1
    assert "metrics.jsonl: the last line was cut short" in writer.notes[0]


def test_one_writer_at_a_time(folder):
    first, second = Run.open(folder), Run.open(folder)
    first.log({"step": 3})
    words = "x: another process is writing to this run; wait for it to end, or give another --out"
    for write in (
        second.lock,
        lambda: second.log({"step": 3}),
        lambda: second.cut_log(0),
        lambda: second.save_last(tensors(0), {}),
        lambda: second.save_weights(tensors(0), {}),
        lambda: second.keep_recent(9, tensors(0), {}, keep=1),
    ):
        with pytest.raises(StateError, match=words):
            write()
    assert len(second.rows()) == 3  # reading is free
    first.close()
    second.log({"step": 4})


def test_what_a_killed_writer_left_is_cleared_up(folder):
    left = [folder / f"{PREFIX}{10**9}-ab", folder / "recent" / f"{PREFIX}{10**9}-cd"]
    for path in left:
        path.write_bytes(b"part")
    Run.open(folder).rows()
    assert all(path.exists() for path in left)
    Run.open(folder).lock()
    assert not any(path.exists() for path in left)


def test_a_damaged_log_does_not_keep_the_lock(folder):
    log = folder / "metrics.jsonl"
    whole = log.read_bytes()
    log.write_bytes(b"x" + whole)
    run = Run.open(folder)
    with pytest.raises(FileError, match="line 1: is damaged"):
        run.log({"step": 3})
    log.write_bytes(whole)
    Run.open(folder).log({"step": 3})


def test_rows_are_on_the_disk_before_the_checkpoint(folder, monkeypatch):
    run, order, real = Run.open(folder), [], os.fsync

    def fsync(handle):
        order.append(os.fstat(handle).st_ino)
        real(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    run.save_last(tensors(0), {})
    assert order[0] == (folder / "metrics.jsonl").stat().st_ino
    assert order[1] == (folder / "last.safetensors").stat().st_ino


def test_looking_for_a_run_does_not_load_torch(folder):
    code = (
        "import sys; from pathlib import Path; from regard.tasks.run import Run; "
        "Run.open(Path(sys.argv[1])).rows(); print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code, folder], capture_output=True, check=True)
    assert done.stdout == b"False\n"


LOOP = """
import itertools, os, sys, time
import torch
from pathlib import Path
from regard.tasks import files
from regard.tasks.run import Run
real, files.CHUNK = os.write, 256
def slow(handle, data):
    time.sleep(0.0005)
    return real(handle, data)
while True:
    child = os.fork()
    if child:
        print(child, flush=True)
        os.waitpid(child, 0)
        print("dead", flush=True)
        if not sys.stdin.readline():
            break
        continue
    os.write = slow
    run = Run.open(Path(sys.argv[1]))
    step = run.load_last()[1]["step"]
    run.rewind(step)
    for step in itertools.count(step + 1):
        values = {"w": torch.full((300,), float(step))}
        run.log({"step": step})
        run.save_weights(values, {"step": step})
        run.keep_recent(step, values, {}, keep=2)
        run.save_last(values, {"step": step})
"""


def test_kill_at_any_moment_leaves_a_whole_run(folder):
    inside, seen, dice, patience = 0, 2, random.Random(2), 0.12
    with subprocess.Popen(
        [sys.executable, "-c", LOOP, folder],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as parent:
        for kills in range(200):  # 20, and more where the machine is busy
            if kills >= 20 and inside >= 3 and seen > 10:
                break
            child = int(parent.stdout.readline())
            time.sleep(dice.uniform(0.02, patience))
            os.kill(child, signal.SIGKILL)
            assert parent.stdout.readline() == "dead\n"
            inside += any(folder.rglob(f"{PREFIX}*"))
            run = Run.open(folder)
            run.verify()
            got, about = run.load_last()
            assert about["step"] >= seen
            if about["step"] == seen:  # a busy machine has written nothing in this time
                patience = min(1.2 * patience, 2.0)
            seen = about["step"]
            assert seen == 2 or got["w"].unique().tolist() == [seen]
            steps = [row["step"] for row in run.rows()]
            assert steps in (list(range(1, seen + 1)), list(range(1, seen + 2)))
            parent.stdin.write("again\n")
            parent.stdin.flush()
        os.kill(int(parent.stdout.readline()), signal.SIGKILL)
        parent.stdin.close()
    assert inside >= 3
    assert seen > 10
    Run.open(folder).lock()
    assert not any(folder.rglob(f"{PREFIX}*"))
