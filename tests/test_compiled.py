"""What compiles every kernel for GPUs that are not here: it sees them all, and it can say no."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

pytest.importorskip("triton")

from tests import compiled

pytestmark = pytest.mark.skipif(torch.cuda.is_available(), reason="kernels run on the GPU itself")


def test_calls_launch_every_kernel():
    known = {
        *("forward", "means", "deltas", "to_queries", "to_keys", "columns", "weigh", "like"),
        *("tally", "settle", "spread", "pull", "pull_rows", "pull_keys", "ranges", "decide"),
        *("transform", "overview", "entropies", "received", "rectangle", "sweep", "skim", "gather"),
    }
    launches = compiled.recorded(90, (64,))
    assert {x["name"] for x in launches} >= known - {"sweep", "skim", "gather"}
    assert {x["module"].rsplit(".", 1)[-1] for x in launches} >= {
        *("fours", "matrix", "pipelined", "pull"),
    }


def test_smaller_gpus_are_given_smaller_tiles_and_no_rows_that_are_too_wide():
    def of_gradients(arch):
        launches = compiled.recorded(arch, (64, 512))
        found = [x for x in launches if x["name"] == "to_keys" and x["module"].endswith("matrix")]
        exact = [x["fixed"]["D"] for x in found if x["types"]["q"] == "*fp32"]
        return max(exact), max(x["options"]["num_stages"] for x in found)

    assert of_gradients(90) == (512, 3)
    assert of_gradients(89) == (64, 1)


def test_what_is_done_again_copies_nothing_ahead():
    # Triton 3.6 copied keys over those that a product was still reading: see ``dot.UNHURRIED``
    launches = compiled.recorded(90, (64,))
    again = [x for x in launches if x["fixed"].get("CAREFUL") and x["module"].endswith("matrix")]
    assert {x["name"] for x in again} == {"forward", "to_queries", "to_keys"}
    assert {x["options"]["num_stages"] for x in again} == {1}


def run(tmp_path, launches, room):
    """What the other process says of some launches, where there is so much shared memory."""
    file = tmp_path / "launches.json"
    file.write_text(json.dumps(launches))
    code = f"from tests import compiled; compiled.ROOM[90] = {room}; import sys; sys.exit("
    code += f"compiled.main(['--arch', '90', '--compile', {str(file)!r}]))"
    env = {name: x for name, x in os.environ.items() if name != "TRITON_INTERPRET"}
    command = [sys.executable, "-W", "ignore", "-c", code]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


def test_it_says_where_triton_copies_over_what_is_multiplied(tmp_path):
    launches = compiled.recorded(90, (64,))
    again = next(
        x for x in launches
        if x["name"] == "to_queries" and x["fixed"]["CAREFUL"] and x["types"]["q"] == "*bf16"
        and x["fixed"]["BM"] == 128
    )  # fmt: skip
    hurried = {**again, "options": {**again["options"], "num_stages": 3}}
    done = run(tmp_path, [again, hurried], 232_448)
    assert "2 kernels compiled, 1 of them" in done.stdout
    assert "copy over tiles that are being multiplied: %keys" in done.stdout


def test_it_says_what_does_not_fit_and_what_does_not_compile(tmp_path):
    launches = compiled.recorded(90, (64,))
    one = next(x for x in launches if x["name"] == "deltas")
    large = next(x for x in launches if x["name"] == "to_keys")
    fine = run(tmp_path, [one, large], 232_448)
    assert fine.returncode == 0, fine.stderr
    assert "2 kernels compiled, 0 of them" in fine.stdout
    tight = run(tmp_path, [large], 1000)
    assert tight.returncode == 1
    assert "to_keys" in tight.stdout
    assert "bytes of 1,000" in tight.stdout
    broken = {**one, "fixed": {**one["fixed"], "BM": 3}}  # no power of two
    assert "does not compile" in run(tmp_path, [broken], 1000).stdout


@pytest.mark.parametrize("arch", compiled.ROOM)
def test_a_sample_compiles_and_has_room(arch, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(Path.cwd()), *sys.path]))
    monkeypatch.chdir(tmp_path)
    assert compiled.main(["--arch", str(arch), "--most", "6"]) == 0
