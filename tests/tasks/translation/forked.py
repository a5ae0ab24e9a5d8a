"""Trainings in processes that can be killed, without importing torch for each.

Run as a program it takes lines of JSON, forks for each one, trains in the fork, and says how that
ended. It has not computed anything itself, so a fork finds no threads to lose.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
LONGEST = 60  # seconds: what hangs says where, and ends


class Forks:
    """The other side: asks for trainings."""

    def __init__(self) -> None:
        environment = os.environ | {"OMP_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            [sys.executable, "-m", __spec__.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env=environment,
        )

    def __enter__(self) -> Forks:  # noqa: PYI034 - Self came with Python 3.11
        return self

    def __exit__(self, *error: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(30)
        assert self._process.stdout is not None
        self._process.stdout.close()

    def __call__(self, **job: Any) -> dict[str, Any]:
        """Train; gives the exit code (negative: the signal) and what was said."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())


def _train(job: dict[str, Any]) -> int:
    from regard.cli.main import main
    from regard.tasks import files

    write = os.write

    def slow(handle: int, data: memoryview) -> int:
        time.sleep(job["slow"])
        return write(handle, data[: 1 << 16])

    if job.get("slow"):
        files.os = type("os", (), {**vars(os), "write": staticmethod(slow)})
    if job.get("full"):  # bytes until the disk is
        import resource

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (job["full"], job["full"]))
    return main(job["words"])


def _wait_until(job: dict[str, Any], child: int, start: float) -> None:
    """Until it is time to kill, or the child is done."""
    folder = Path(job["folder"])
    while (
        time.monotonic() - start < job.get("after", 0) or not Path(job.get("first", "/")).exists()
    ):
        if os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
            return
        time.sleep(0.002)
    while job.get("inside") and not list(folder.glob("**/.regard-writing-*")):
        if os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
            return
        time.sleep(0.0005)


def _serve() -> None:
    import torch._dynamo  # noqa: F401 - what the optimiser would import in every fork

    import regard.tasks.translation.training  # noqa: F401

    for line in sys.stdin:
        job = json.loads(line)
        read, write = os.pipe()
        start = time.monotonic()
        size, port = job.get("world", 1), _free_port()
        children = [_forked(job, write, rank, size, port) for rank in range(size)]
        os.close(write)
        if "signal" in job:
            _wait_until(job, children[0], start)
            for child in children if "only" not in job else [children[job["only"]]]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, job["signal"])
        with os.fdopen(read) as said:
            text = said.read()
        codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
        answer = {"code": codes[0], "codes": codes, "said": text}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def _forked(job: dict[str, Any], write: int, rank: int, size: int, port: int) -> int:
    child = os.fork()
    if child:
        return child
    code = 99
    try:
        os.dup2(write, 2)
        sys.stderr = os.fdopen(2, "w")
        faulthandler.dump_traceback_later(LONGEST, exit=True, file=2)
        if size > 1:
            os.environ |= {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(size)}
            os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
        code = _train(job)
    finally:
        with contextlib.suppress(BaseException):
            sys.stderr.flush()
        os._exit(code)


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


if __name__ == "__main__":
    _serve()
