"""GPUs that have less shared memory: which they are, what they are given, and what they refuse."""

from types import SimpleNamespace

import pytest
import torch

from regard import Dot, Gaussian
from regard.attention import choice, gpu
from regard.attention.call import Call
from tests.attention.triton.calls import a_case
from tests.attention.triton.conftest import device, quick, triton  # noqa: F401


@pytest.mark.parametrize(
    ("known", "little"),
    [
        ({"shared_memory_per_block_optin": 101376}, True),  # as most
        ({"shared_memory_per_block_optin": 166912}, False),  # an A100
        ({"shared_memory_per_block_optin": 232448}, False),  # Hopper
        ({}, False),  # a torch that does not say
    ],
)
def test_which_have_little(known, little, monkeypatch):
    asked = lambda _: SimpleNamespace(**known)
    monkeypatch.setattr(torch.cuda, "get_device_properties", asked)
    gpu.is_little.cache_clear()
    assert gpu.is_little(torch.device("cuda")) is little
    gpu.is_little.cache_clear()
    assert not gpu.is_little(torch.device("cpu"))


@pytest.mark.parametrize(
    ("score", "dtype", "width", "why"),
    [
        (Dot(), torch.float32, 256, ""),
        (Dot(), torch.bfloat16, 512, ""),
        (
            Dot(),
            torch.float32,
            257,
            "up to 256 features of Dot in torch.float32 on a GPU with less",
        ),
        (
            Dot(),
            torch.float16,
            300,
            "up to 256 features of Dot in torch.float16 on a GPU with less",
        ),
        (Gaussian(), torch.bfloat16, 300, "up to 256 features of Gaussian in torch.bfloat16"),
    ],
    ids=str,
)
def test_rows_that_are_too_wide_for_those_are_refused(score, dtype, width, why, monkeypatch):
    monkeypatch.setattr(choice, "_no_triton", lambda _: "")
    x = torch.zeros(1, 2, width, dtype=dtype)
    assert not choice.why_not_triton(x, x, x, score, named=True)
    monkeypatch.setattr(choice, "is_little", lambda _: True)
    said = choice.why_not_triton(x, x, x, score, named=True)
    assert why in said
    assert bool(said) == bool(why)


@pytest.mark.filterwarnings("ignore:.*encountered:RuntimeWarning")
@pytest.mark.parametrize(
    ("score", "dtype", "d", "v"),
    [
        (Dot(), torch.float32, 64, 70),
        (Dot(), torch.bfloat16, 300, 20),
    ],
    ids=str,
)
def test_smaller_tiles_give_the_same(score, dtype, d, v, monkeypatch, triton, quick, device):  # noqa: F811
    x = torch.zeros(1, 200, max(d, v), dtype=dtype, device=device)
    usual = triton.dot._tiles("forward", Call(x, x, x))
    monkeypatch.setattr(gpu, "is_little", lambda _: True)
    assert triton.dot._tiles("forward", Call(x, x, x)) != usual
    a_case(score, "causal", 33, 40, d, v, device=device).agree("triton", dtype)
