"""In which precision the decoder multiplies, and that torch's own setting is put back."""

import pytest
import torch

from regard.layers.unrolled import gradients, operation, unroll
from regard.layers.unrolled.products import allows_tf32, products
from tests.layers.unrolled.calls import SIZES, arguments, loss

HERE = torch.device("cpu")
SETTINGS = torch.backends.cuda.matmul  # there without a GPU too


@pytest.fixture
def autocast():
    """As ``torch.autocast("cuda")`` sets it, which wants a GPU."""
    before = torch.is_autocast_enabled("cuda"), torch.get_autocast_dtype("cuda")

    def set_to(enabled, dtype):
        torch.set_autocast_enabled("cuda", enabled)
        torch.set_autocast_dtype("cuda", dtype)

    yield set_to
    set_to(*before)


def test_tf32_is_for_autocast_in_bfloat16(autocast):
    gpu = torch.device("cuda")
    assert not allows_tf32(gpu)
    for enabled in (False, True):
        for dtype in (torch.bfloat16, torch.float16):  # float16 has as many bits as tf32
            autocast(enabled, dtype)
            assert allows_tf32(gpu) is (enabled and dtype == torch.bfloat16)
    autocast(enabled, torch.bfloat16)
    assert not allows_tf32(HERE)  # where there is no tf32


def test_the_setting_is_put_back():
    before = SETTINGS.fp32_precision
    with products(HERE, tf32=True):
        assert SETTINGS.fp32_precision == "tf32"
    assert SETTINGS.fp32_precision == before != "tf32"
    with pytest.raises(ZeroDivisionError), products(HERE, tf32=True):
        1 / 0  # noqa: B018
    assert SETTINGS.fp32_precision == before
    with products(HERE, tf32=False):
        assert SETTINGS.fp32_precision == before


def test_torch_s_older_names_of_it_agree():
    # torch's compiler reads them, and torch refuses to say where old and new do not agree
    with products(HERE, tf32=True):
        assert SETTINGS.allow_tf32 is True
        assert torch.get_float32_matmul_precision() == "high"
    assert SETTINGS.allow_tf32 is False
    assert torch.get_float32_matmul_precision() == "highest"


def test_the_last_to_leave_puts_it_back():
    first, second = products(HERE, tf32=True), products(HERE, tf32=True)
    before = SETTINGS.fp32_precision
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert SETTINGS.fp32_precision == "tf32"
    second.__exit__(None, None, None)
    assert SETTINGS.fp32_precision == before


def test_who_asked_for_tf32_keeps_it():
    before = SETTINGS.fp32_precision
    SETTINGS.fp32_precision = "tf32"
    try:
        for tf32 in (True, False):
            with products(HERE, tf32=tf32):
                assert SETTINGS.fp32_precision == "tf32"
            assert SETTINGS.fp32_precision == "tf32"
    finally:
        SETTINGS.fp32_precision = before


@pytest.mark.parametrize("tf32", [False, True])
def test_all_products_of_unroll_are_made_so(tf32, monkeypatch):
    seen = []

    def noting(function):
        def noted(*args):
            seen.append(SETTINGS.fp32_precision == "tf32")
            return function(*args)

        return noted

    monkeypatch.setattr(operation, "allows_tf32", lambda device: tf32)
    monkeypatch.setattr(operation, "run", noting(operation.run))
    for name in ("steps_back", "sums"):
        monkeypatch.setattr(gradients, name, noting(getattr(gradients, name)))
    given = arguments(SIZES[0], torch.float32)
    with torch.no_grad():
        unroll(given)
    value = loss(unroll(given))
    assert SETTINGS.fp32_precision != "tf32"
    torch.autograd.grad(value, given.tensors)
    assert seen == [tf32] * 4
    assert SETTINGS.fp32_precision != "tf32"


def test_autocast_changes_no_dtype_and_no_bit_on_a_cpu():
    given = arguments(SIZES[0], torch.float32)
    wanted = unroll(given)
    with torch.autocast("cpu", torch.bfloat16):
        got = unroll(given)
        grads = torch.autograd.grad(loss(got), given.tensors)
    right = torch.autograd.grad(loss(wanted), given.tensors)
    for x, y in zip((*got, *grads), (*wanted, *right), strict=True):
        assert x.dtype == y.dtype
        assert torch.equal(x, y)
