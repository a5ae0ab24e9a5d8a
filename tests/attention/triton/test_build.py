"""The generated kernels: their text and where they are kept."""

from pathlib import Path

import pytest
import torch

from regard import Elementwise, Gaussian, attend
from regard.scores.expression import NAMES
from regard.testing import qkv
from tests.attention.triton.calls import FEATURES
from tests.cases import SCORES

build = pytest.importorskip("regard.attention.triton.build", exc_type=ImportError)


@pytest.mark.parametrize("name", SCORES)
def test_the_text_of_a_formula_compiles(name):
    q, k, _ = qkv(1, 2, n=2, m=2, d=3, v=1)
    text = build.written(SCORES[name](3, 2).form(q, k).phi)
    compile(text, name, "exec")
    assert text.count("def phi(q, k, p0, p1)") == 1
    assert all(text.count(f"def phi_{x}(q, k, p0, p1)") == 1 for x in NAMES)


@pytest.mark.parametrize("name", FEATURES)
def test_a_score_that_may_be_minus_infinity_is_known(name):
    q, k, _ = qkv(2, n=2, m=2, d=3, v=1)
    text = build.written(FEATURES[name](3, 2).form(q, k).phi)
    compact = name in {
        *("epanechnikov", "boxcar", "triangular", "tricube", "biweight", "cosine-kernel")
    }
    assert f"EDGED = tl.constexpr({compact})" in text


def test_words_of_a_formula_become_words_of_triton():
    text = "REAL(select(REAL(1.0) < q, exp(INF), tanh(k)))"
    inner = build._for_triton("select(REAL(1.0) < q, exp(INF), tanh(maximum(k, q)))")
    assert inner == 'tl.where(1.0 < q, tl.exp(float("inf")), tanh(larger(k, q)))'
    assert "INF" not in build._for_triton(text)


def test_a_formula_is_written_once(tmp_path, monkeypatch):
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path))
    build.kernels.cache_clear()
    try:
        first = build.kernels(Gaussian.PHI)
        assert build.kernels(Gaussian.PHI) is first
        assert Path(first.__file__).parent == tmp_path
        assert len(list(tmp_path.iterdir())) == 1
    finally:
        build.kernels.cache_clear()


def test_a_change_of_what_kernels_call_is_a_new_file(tmp_path, monkeypatch):
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path))
    real = Path.read_bytes
    found = []
    try:
        for changed in (None, "additive.py", "elementary.py", "matrix.py", "visible.py"):
            build.kernels.cache_clear()
            monkeypatch.setattr(
                Path,
                "read_bytes",
                lambda path, c=changed: real(path) + (b"#" if path.name == c else b""),
            )
            found.append(build.kernels(Gaussian.PHI).__file__)
    finally:
        build.kernels.cache_clear()
    assert len(set(found)) == len(found)


def test_a_formula_with_every_function(pairs, device, small_tiles):
    from regard.scores import expression as e

    score = Elementwise(
        lambda q, k, a, b: (
            e.exp(-abs(q - k)) * a + e.tanh(q * k) - e.log(1.0 + (q - k) ** 2) * 0.1
            + e.sqrt(1.0 + q * q) * 0.1 + b * e.sin(k) * e.cos(q)
        ),
        p0=torch.linspace(-1, 1, 3, device=device, requires_grad=True),
        p1=0.3,
    )  # fmt: skip
    q, k, v = (x.to(device).requires_grad_() for x in qkv(1, n=9, m=17, d=3, v=2))
    got, wanted = (
        torch.autograd.grad(
            attend(q, k, v, score=score, impl=impl).sin().sum(), (q, k, v, score.p0)
        )
        for impl in ("triton", "reference")
    )
    for a, b in zip(got, wanted, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)
