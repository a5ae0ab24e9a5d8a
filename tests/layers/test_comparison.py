"""A comparison: what is fitted, from what is measured."""

import pytest
import torch

from regard.errors import ValueRangeError
from regard.layers import comparison
from regard.layers.compared import ARCHITECTURES, Architecture
from regard.layers.comparison import Curve, Settings, check_device, measure

CPU = torch.device("cpu")
QUICK = Settings(lengths=(8, 16), widths=(4, 8), width=8, kernel=3, repeats=1)


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Thousands of small calls: with more threads, on a busy machine, each waits for the others."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def told():
    return []


@pytest.fixture(scope="module")
def result(told):
    return measure(QUICK, lambda what, part: told.append((what, part)))


# the layers


def curve(values, **options):
    sizes = tuple(2**i for i in range(1, len(values) + 1))
    return Curve("RNN", "time", "n", sizes, tuple(values), theory=1, **options)


def test_the_exponent_is_that_of_the_larger_half():
    assert curve([7, 7, 7, 16**1.5, 32**1.5, 64**1.5]).exponent == 1.5
    assert curve([7, 7, 7, 16**1.5, 32**1.5, 64**1.5]).used == (False,) * 3 + (True,) * 3
    assert curve([3, 12]).exponent == 2.0  # of two points both are needed
    assert curve([7, 1, 2]).exponent == 1.0


def test_the_exponent_is_the_least_squares_slope():
    assert curve([1, 1, 1, 2, 8, 16]).exponent == pytest.approx(1.5)


def test_nothing_grows_by_nothing():
    assert f"{curve([5, 5, 5, 5]).exponent:.2f}" == "0.00"
    assert f"{curve([5, 5, 5, 5 - 1e-9]).exponent:.2f}" == "0.00"  # not -0.00


def test_times_near_the_floor_are_not_fitted():
    values = [1, 1, 1, 3.9, 8, 16]
    assert curve(values, floor=1.0).used == (False, False, False, False, True, True)
    assert curve(values, floor=1.0).exponent == 1.0
    assert curve(values, floor=2.0).used == (False,) * 4 + (True,) * 2
    assert curve(values, floor=2.1).exponent is None  # one point makes no line


def test_everything_is_measured_and_counts_are_as_in_theory(result):
    assert len(result.curves) == sum(len(a.theory) for a in ARCHITECTURES) == 20
    for found in result.curves:
        assert len(found.sizes) == len(found.values)
        assert all(value > 0 for value in found.values)
        if found.quantity != "time":
            assert found.exponent == pytest.approx(found.theory, abs=0.03), found
    assert result.machine == f"cpu, 1 thread, torch {torch.__version__}"


def test_times_are_of_the_sizes_asked_for(result):
    for name in ("CNN", "RNN", "self-attention"):
        assert result.curve(name, "time", "n").sizes == QUICK.lengths
        assert result.curve(name, "time", "d").sizes == QUICK.widths
        assert result.curve(name, "time", "n").floor > 0
    assert result.curve("RNN", "path", "k") is None


def test_width_and_kernel_reach_the_layers(result):
    other = measure(Settings(lengths=(8, 16), widths=(4, 8), width=4, kernel=7, repeats=1))
    n = result.curve("CNN", "operations", "n").sizes[0]
    for of, k, d in ((result, 3, 8), (other, 7, 4)):
        assert of.curve("CNN", "operations", "n").values[0] == 2 * k * n * d * d
    assert other.curve("CNN", "path", "n").exponent == pytest.approx(1, abs=0.03)


def test_progress_is_told(told, result):
    assert told[0] == ("CNN: time over n", 0.0)
    parts = [part for _, part in told]
    assert parts == sorted(parts)
    assert len(parts) == 20
    assert parts[-1] < 1


def test_the_callers_random_numbers_and_threads_stay(monkeypatch):
    threads = []
    monkeypatch.setattr(comparison, "ARCHITECTURES", ARCHITECTURES[2:])
    real = torch.get_num_threads()
    torch.manual_seed(1)
    expected = torch.rand(3)
    torch.manual_seed(1)
    result = measure(
        Settings(lengths=(8, 16), widths=(4, 8), repeats=1, threads=real + 1),
        lambda *_: threads.append(torch.get_num_threads()),
    )
    assert result.machine.startswith(f"cpu, {real + 1} threads, torch ")
    assert torch.equal(torch.rand(3), expected)
    assert torch.get_num_threads() == real
    assert set(threads) == {real + 1}


def test_the_seed_decides_the_weights(monkeypatch):
    seen = []
    spied = ARCHITECTURES[0].build

    def build(*sizes):
        layer = spied(*sizes)
        assert sizes[:2] == (6, 7)  # the width and the kernel of the settings
        seen.append(layer.conv.weight.flatten()[0].item())
        return layer

    one = Architecture(
        "CNN", build, "", "", "", {("time", "n"): 1}
    )  # a tuple of one: only its times
    monkeypatch.setattr(comparison, "ARCHITECTURES", (one,))
    for seed in (0, 0, 1):
        measure(Settings(lengths=(8, 16), widths=(4, 8), width=6, kernel=7, repeats=1, seed=seed))
    first, second, third = seen[:3], seen[3:6], seen[6:]
    assert first == second != third


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (RuntimeError("out of memory: 1 GiB\nand a long story"), "out of memory: 1 GiB"),
        (MemoryError(), "MemoryError"),
    ],
)
def test_what_cannot_run_is_told_in_one_line(error, why, monkeypatch):
    def fail(*_):
        raise error

    monkeypatch.setattr(comparison, "seconds", fail)
    with pytest.raises(ValueRangeError) as raised:
        measure(QUICK)
    assert (
        str(raised.value) == f"CNN with n up to 16 cannot run on cpu: {why}; give smaller lengths"
    )


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"lengths": (0, 4)}, "lengths must be two or more, from 1 and rising, got [0, 4]"),
        ({"lengths": (8,)}, "lengths must be two or more, from 1 and rising, got [8]"),
        ({"lengths": ()}, "lengths must be two or more, from 1 and rising, got []"),
        ({"widths": (8, 8)}, "widths must be two or more, from 1 and rising, got [8, 8]"),
        ({"width": 0}, "width must be at least 1, got 0"),
        ({"repeats": 0}, "repeats must be at least 1, got 0"),
        ({"threads": 0}, "threads must be at least 1, got 0"),
        ({"kernel": 4}, "kernel must be odd, from 3 to 255, got 4"),
        ({"kernel": 1}, "kernel must be odd, from 3 to 255, got 1"),
        ({"kernel": 257}, "kernel must be odd, from 3 to 255, got 257"),
        (
            {"lengths": (8, 16), "kernel": 9},
            "kernel 9 is wider than the shortest of lengths, 8",
        ),
    ],
    ids=str,
)
def test_settings_that_make_no_sense(settings, message):
    with pytest.raises(ValueRangeError) as raised:
        Settings(**settings)
    assert str(raised.value) == message


@pytest.mark.parametrize("name", ["meta", "gpu", "", "cuda:99"])
def test_a_device_that_cannot_compute(name, monkeypatch):
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: False)
    with pytest.raises(ValueRangeError) as raised:
        check_device(name)
    assert str(raised.value) == (
        f"device must be one torch can compute on here (cpu), got {name!r}"
    )


def test_a_device_that_can():
    assert check_device("cpu") == CPU
