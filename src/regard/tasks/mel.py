"""Sound as a row of frames: how loud it is in bands of pitch, every hundredth of a second.

::

    frame[i]  = hann * samples around hop i
    power[i]  = |Fourier transform of frame[i]|^2
    mel[i, f] = log(max(FLOOR, sum over frequencies of triangle[f] * power[i]))

Frame i stands for the samples i * hop to (i + 1) * hop, and its window lies around their middle;
what it sees before the beginning and after the end is silence. So there are ceil(samples / hop)
frames, one at least, and no sample is without one. Bands are triangles, evenly spread over
mel = 2595 log10(1 + f / 700) from 0 to half the rate. An hour of sound is gone through in pieces.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor

from regard.errors import KindError, ShapeError, ValueRangeError
from regard.optional import need
from regard.tasks.wav import HIGHEST, LOWEST

__all__ = ["FLOOR", "Mel", "resampled"]

FLOOR = 1e-8  # about what rounding to 16 bits leaves in a band of silence
PIECE = 4096  # frames at a time
STEPS = 10_000  # the most samples a ratio of rates is counted in
FASTEST = 192_000  # samples a second to look at; more are resampled


@dataclass(frozen=True)
class Mel:
    """Log-mel features of sound, [frames, features].

    Args:
        rate: samples a second; sound of another rate is resampled first.
        features: bands of pitch.
        window: seconds a frame looks at.
        hop: seconds from one frame to the next; made a whole number of samples.

    >>> mel = Mel()
    >>> mel(torch.zeros(801)).shape  # a tenth of a second and a sample
    torch.Size([11, 40])

    """

    rate: int = 8000
    features: int = 40
    window: float = 0.025
    hop: float = 0.01

    def __post_init__(self) -> None:
        if not LOWEST <= self.rate <= FASTEST:
            msg = f"rate must be {LOWEST:,} to {FASTEST:,} samples a second, got {self.rate!r}"
            raise ValueRangeError(msg)
        if not 1 <= self.features <= 512:  # noqa: PLR2004 - more than ears tell apart
            msg = f"features must be 1 to 512 bands, got {self.features!r}"
            raise ValueRangeError(msg)
        for name, seconds in (("window", self.window), ("hop", self.hop)):
            if not 1 / self.rate <= seconds <= 1:
                msg = f"{name} must be a sample ({1 / self.rate} s) to a second, got {seconds!r}"
                raise ValueRangeError(msg)
        if self.window_samples < self.hop_samples:
            msg = (
                f"window must be at least as long as hop, or samples would be passed over: got "
                f"window={self.window} and hop={self.hop}"
            )
            raise ValueRangeError(msg)

    @property
    def window_samples(self) -> int:
        """How many samples a frame looks at."""
        return round(self.window * self.rate)

    @property
    def hop_samples(self) -> int:
        """How many samples a frame stands for."""
        return round(self.hop * self.rate)

    def frames(self, samples: int, rate: int | None = None) -> int:
        """How many frames so many samples become."""
        if rate is not None and rate != self.rate:
            ratio = _ratio(rate, self.rate)
            samples = -(-samples * ratio.numerator // ratio.denominator)
        return -(-samples // self.hop_samples)

    def __call__(
        self, samples: Float[Tensor, " t"] | NDArray[np.float32], rate: int | None = None
    ) -> Float[Tensor, "frames features"]:
        """The features of a sound, float32, on the CPU.

        Args:
            samples: one channel, numbers between -1 and 1.
            rate: samples a second, if not this object's own.

        Raises:
            ShapeError: samples have more than one axis.
            KindError: samples are no floating-point numbers.
            ValueRangeError: there is no sample, or one that is no number.

        """
        x = _checked(samples)
        if rate is not None and rate != self.rate:
            x = resampled(x, rate, self.rate)
        out = torch.zeros(self.frames(len(x)), self.features)
        for first in range(0, len(out), PIECE):
            count = min(PIECE, len(out) - first)
            out[first : first + count] = self._piece(x, first, count)
        return out

    def _piece(self, x: Tensor, first: int, count: int) -> Tensor:
        """Frames ``first`` to ``first + count``."""
        hop, window = self.hop_samples, self.window_samples
        begin = first * hop - (window - hop) // 2
        end = begin + (count - 1) * hop + window
        part = x[max(0, begin) : min(end, len(x))]
        part = torch.nn.functional.pad(part, (max(0, -begin), max(0, end - len(x))))
        hann, triangles = self._constants
        size = 2 * (len(triangles) - 1)
        spectrum = torch.fft.rfft(part.unfold(0, window, hop) * hann, n=size)
        power = spectrum.real.square() + spectrum.imag.square()
        bands: Tensor = power @ triangles
        return bands.clamp_min(FLOOR).log()

    @cached_property
    def _constants(self) -> tuple[Tensor, Tensor]:
        """The window, and the triangles of a transform that has a frequency for each of them."""
        size = 1 << (self.window_samples - 1).bit_length()
        while not (triangles := _triangles(self.rate, self.features, size)).any(axis=0).all():
            size *= 2
        hann = torch.hann_window(self.window_samples, dtype=torch.float64).float()
        return hann, torch.from_numpy(triangles).float()


def _triangles(rate: int, features: int, size: int) -> NDArray[np.float64]:
    """How much each frequency counts in each band, [size // 2 + 1, features]."""
    top = 2595 * math.log10(1 + rate / 2 / 700)
    corners = 700 * (10 ** (np.linspace(0, top, features + 2) / 2595) - 1)
    frequencies = np.linspace(0, rate / 2, size // 2 + 1)[:, None]
    left, middle, right = corners[:-2], corners[1:-1], corners[2:]
    rising = (frequencies - left) / (middle - left)
    falling = (right - frequencies) / (right - middle)
    triangles: NDArray[np.float64] = np.maximum(0, np.minimum(rising, falling))
    return triangles


def resampled(x: Float[Tensor, " t"], rate: int, wanted: int) -> Float[Tensor, " u"]:
    """The same sound with so many samples a second, ceil(t * wanted / rate) of them.

    Where large numbers are needed to write their ratio, it is changed by a ten-thousandth at most.
    """
    if not LOWEST <= rate <= HIGHEST:
        msg = f"rate must be {LOWEST:,} to {HIGHEST:,} samples a second, got {rate!r}"
        raise ValueRangeError(msg)
    signal = need("scipy.signal", extra="sound", why=f"sound of {rate:,} samples a second")
    ratio = _ratio(rate, wanted)
    out = signal.resample_poly(x.numpy(), ratio.numerator, ratio.denominator)
    return torch.from_numpy(np.ascontiguousarray(out, np.float32))


def _ratio(rate: int, wanted: int) -> Fraction:
    # the filter is as long as the ratio's numbers are large
    return Fraction(wanted, rate).limit_denominator(STEPS)


def _checked(samples: Tensor | NDArray[np.float32]) -> Tensor:
    x = torch.as_tensor(samples).detach().cpu()
    if x.ndim != 1:
        msg = f"samples must have one axis [t], got {list(x.shape)}; take the mean of channels"
        raise ShapeError(msg)
    if not x.is_floating_point():
        msg = f"samples must be floating-point numbers between -1 and 1, got {x.dtype}"
        raise KindError(msg)
    if not len(x):
        msg = "samples must be at least one, got none"
        raise ValueRangeError(msg)
    x = x.float()
    if not bool(torch.isfinite(x.abs().max())):
        msg = "samples must be numbers, got some that are NaN or infinite"
        raise ValueRangeError(msg)
    return x
