"""Work in a thread that nobody has to wait for."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from regard.tasks.engine.ahead import ahead


def test_what_comes_of_it():
    assert ahead(lambda: threading.current_thread() is threading.main_thread()).result() is False
    with pytest.raises(ZeroDivisionError):
        ahead(lambda: 1 // 0).result()


def test_who_waits_hears_signals():
    released = threading.Event()
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        ahead(lambda: released.wait(30)).result()
    released.set()
    assert time.monotonic() - start < 10


def test_a_process_ends_without_it():
    code = (
        "import time; from regard.tasks.engine.ahead import ahead\n"
        "ahead(lambda: time.sleep(60)); time.sleep(0.1); print('done')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")
