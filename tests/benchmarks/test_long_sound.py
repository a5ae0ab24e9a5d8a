"""The benchmark of long sound: what it compares is the same, and what it measures is there."""

import pytest
import torch

from benchmarks import long_sound

pytestmark = pytest.mark.usefixtures("one_thread")


def test_both_kinds_agree_where_the_window_holds_all(monkeypatch):
    cpu = torch.device("cpu")
    assert long_sound.agree(cpu) < 1e-5
    made = long_sound._encoder
    monkeypatch.setattr(long_sound, "_encoder", lambda kind, reach: made(kind, reach=10))
    assert long_sound.agree(cpu) > 1e-3


@pytest.mark.parametrize("kind", long_sound.KINDS)
def test_times_and_memory(kind):
    times, mib = long_sound.measure(kind, 3000, torch.device("cpu"), 2)
    assert len(times) == 2
    assert min(times) > 0
    assert mib > 1
