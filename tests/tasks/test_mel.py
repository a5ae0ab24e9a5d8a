"""Log-mel features beside their definition, sum by sum, in float64."""

import math
import sys

import numpy as np
import pytest
import scipy.signal
import torch

from regard.errors import KindError, MissingError, ShapeError, ValueRangeError
from regard.tasks import mel as module
from regard.tasks.mel import FLOOR, Mel, resampled
from regard.testing import assert_within_budget

pytestmark = pytest.mark.usefixtures("one_thread")


def triangles(rate, features, size):
    """How much each frequency counts in each band, one by one."""

    def mel(hertz):
        return 2595 * math.log10(1 + hertz / 700)

    def hertz(mel):
        return 700 * (10 ** (mel / 2595) - 1)

    corners = [hertz(mel(rate / 2) * i / (features + 1)) for i in range(features + 2)]
    bands = torch.zeros(features, size // 2 + 1, dtype=torch.float64)
    for f in range(features):
        left, middle, right = corners[f : f + 3]
        for i in range(size // 2 + 1):
            at = i * rate / size
            rise, fall = (at - left) / (middle - left), (right - at) / (right - middle)
            bands[f, i] = max(0.0, min(rise, fall))
    return bands


def slowly(samples, rate, features, window, hop, dtype):
    """The definition at the top of the module, with the Fourier transform as a sum."""
    x = samples.to(dtype)
    width, step = round(window * rate), round(hop * rate)
    size = 1
    while size < width or (triangles(rate, features, size).sum(1) == 0).any():
        size *= 2
    bands = triangles(rate, features, size).to(dtype)
    n = torch.arange(width, dtype=dtype)
    hann = 0.5 - 0.5 * torch.cos(2 * math.pi * n / width)
    k = torch.arange(size // 2 + 1, dtype=dtype)
    turns = (k[:, None] * n[None, :]) % size * (2 * math.pi / size)
    rows = []
    for i in range(math.ceil(len(x) / step)):
        first = i * step - (width - step) // 2
        frame = torch.stack([x[j] if 0 <= j < len(x) else x.new_zeros(())
                             for j in range(first, first + width)])  # fmt: skip
        seen = frame * hann
        real = (torch.cos(turns) * seen).sum(1)
        imaginary = (torch.sin(turns) * seen).sum(1)
        power = real**2 + imaginary**2
        rows.append(torch.log(torch.clamp(bands @ power, min=FLOOR)))
    return torch.stack(rows)


@pytest.mark.parametrize(
    ("count", "options"),
    [
        (1, {}),
        (80, {}),
        (81, {}),
        (1000, {}),
        (500, {"rate": 11_025, "features": 23, "window": 0.02, "hop": 0.02}),
        (300, {"rate": 16_000, "features": 7, "window": 0.0101, "hop": 0.0037}),
        (40, {"rate": 1000, "features": 20, "window": 0.01, "hop": 0.005}),
    ],
)
def test_it_is_what_its_formula_says(count, options):
    mel = Mel(**options)
    t = torch.arange(count, dtype=torch.float64) / mel.rate
    x = 0.3 * torch.sin(2 * math.pi * 440 * t) + 0.01 * torch.randn(
        count, generator=torch.Generator().manual_seed(0), dtype=torch.float64
    )
    x = x.float()
    known = (mel.rate, mel.features, mel.window, mel.hop)
    exact = slowly(x, *known, torch.float64)
    same = slowly(x, *known, torch.float32)
    assert_within_budget(mel(x), same, exact, "mel")


def test_pieces_do_not_show(monkeypatch):
    x = torch.rand(5000, generator=torch.Generator().manual_seed(1)) - 0.5
    whole = Mel()(x)
    for piece in (5, 62, 63):
        monkeypatch.setattr(module, "PIECE", piece)
        assert (Mel()(x) - whole).abs().max() < 1e-5


@pytest.mark.parametrize(
    ("count", "frames"), [(1, 1), (79, 1), (80, 1), (81, 2), (160, 2), (161, 3), (800, 10)]
)
def test_every_sample_has_a_frame(count, frames):
    assert Mel()(torch.zeros(count)).shape == (frames, 40)
    assert Mel().frames(count) == frames
    assert Mel().frames(0) == 0


def test_a_click_is_seen_in_its_frame():
    for at in (0, 79, 81, 399, 401):
        x = torch.zeros(801)
        x[at] = 1
        assert Mel()(x).mean(1).argmax() == at // 80


def test_an_hour_of_sound_in_little_memory():
    x = np.zeros(28_800_000, np.float32)
    x[-1] = 1.0
    sizes = []
    mel = Mel()
    real = torch.fft.rfft

    def rfft(part, **options):
        sizes.append(part.numel())
        return real(part, **options)

    torch.fft.rfft = rfft
    try:
        out = mel(x)
    finally:
        torch.fft.rfft = real
    assert out.shape == (360_000, 40)
    assert max(sizes) <= 4096 * 200
    assert (out[:-2] == math.log(FLOOR)).all()
    assert (out[-1] > math.log(FLOOR)).all()


def test_silence_is_the_floor_and_repeats_are_equal():
    assert torch.equal(Mel()(torch.zeros(100)), torch.full((2, 40), math.log(FLOOR)))
    x = torch.rand(10_000)
    assert torch.equal(Mel()(x), Mel()(x))


@pytest.mark.parametrize("features", [1, 40, 128, 512])
def test_no_band_is_empty(features):
    x = torch.randn(800, generator=torch.Generator().manual_seed(0)) / 10
    assert (Mel(features=features)(x) > math.log(FLOOR)).all()


@pytest.mark.parametrize("rate", [44_100, 16_000, 11_025, 4000, 8001, 767_999])
def test_other_rates_are_resampled(rate):
    t = np.arange(rate // 2) / rate
    x = (0.5 * np.sin(2 * np.pi * 500 * t)).astype(np.float32)
    mel = Mel()
    got = mel(x, rate)
    assert mel.frames(len(x), rate) == len(got)
    expected = mel(torch.from_numpy(0.5 * np.sin(2 * np.pi * 500 * np.arange(4000) / 8000)))
    assert abs(len(got) - len(expected)) <= 1
    loud = expected[10] > -3
    assert loud.sum() >= 3
    middle = slice(5, 45)
    assert (got[middle][:, loud] - expected[middle][:, loud]).abs().max() < 0.1


def test_resampling_is_scipys_with_numbers_that_are_not_too_large():
    x = torch.rand(441)
    expected = scipy.signal.resample_poly(x.numpy(), 80, 441)
    assert np.array_equal(resampled(x, 44_100, 8000).numpy(), expected)
    assert module._ratio(44_100, 8000) == module.Fraction(80, 441)
    for rate in (8001, 44_099, 560_028, 767_999, 1009):
        ratio = module._ratio(rate, 8000)
        assert ratio.denominator <= 10_000
        assert abs(float(ratio) * rate / 8000 - 1) < 1e-4


def test_resampling_needs_a_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.signal", None)
    assert len(Mel()(torch.zeros(80), 8000)) == 1
    with pytest.raises(MissingError) as raised:
        Mel()(torch.zeros(80), 44_100)
    assert str(raised.value) == (
        "sound of 44,100 samples a second needs scipy, which is not installed; "
        "pip install 'regard[sound]'"
    )


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: Mel(rate=0), ValueRangeError, "rate must be 1,000 to 192,000 samples a second, "),
        (
            lambda: Mel(rate=192_001),
            ValueRangeError,
            "rate must be 1,000 to 192,000 samples a second, got 192001",
        ),
        (lambda: Mel(features=0), ValueRangeError, "features must be 1 to 512 bands, got 0"),
        (lambda: Mel(window=math.nan), ValueRangeError, "window must be a sample (0.000125 s) to"),
        (lambda: Mel(hop=0.0), ValueRangeError, "hop must be a sample (0.000125 s) to a second, "),
        (
            lambda: Mel(hop=0.05),
            ValueRangeError,
            "window must be at least as long as hop, or samples would be passed over: got "
            "window=0.025 and hop=0.05",
        ),
        (lambda: Mel()(torch.zeros(0)), ValueRangeError, "samples must be at least one, got none"),
        (
            lambda: Mel()(torch.tensor([0.0, math.nan])),
            ValueRangeError,
            "samples must be numbers, got some that are NaN or infinite",
        ),
        (
            lambda: Mel()(np.array([0.0, -math.inf])),
            ValueRangeError,
            "samples must be numbers, got some that are NaN or infinite",
        ),
        (
            lambda: Mel()(torch.zeros(5, 2)),
            ShapeError,
            "samples must have one axis [t], got [5, 2]; take the mean of channels",
        ),
        (
            lambda: Mel()(np.zeros(5, np.int16)),
            KindError,
            "samples must be floating-point numbers between -1 and 1, got torch.int16",
        ),
        (lambda: Mel()(torch.zeros(5), 0), ValueRangeError, "rate must be 1,000 to 768,000 "),
    ],
)
def test_what_is_refused(call, error, message):
    with pytest.raises(error) as raised:
        call()
    assert str(raised.value).startswith(message)
