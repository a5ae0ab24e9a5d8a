"""A page with many heads opens at once, and answers."""

from __future__ import annotations

import time

import pytest
import torch

from regard import look

N, LAYERS, HEADS = 512, 12, 12


@pytest.fixture(scope="module")
def weights():
    random = torch.Generator().manual_seed(0)
    return [torch.randn(HEADS, N, N, generator=random).mul_(2).softmax(-1) for _ in range(LAYERS)]


@pytest.fixture(scope="module")
def saved(tmp_path_factory, weights):
    path = tmp_path_factory.mktemp("pages") / "many.html"
    words = [f"word{i}" for i in range(N)]
    look(weights, words, title="512 tokens, 144 heads").save(path)
    return path


def test_the_file_is_bounded(saved):
    assert saved.stat().st_size < 5_000_000


def test_it_opens_in_time_and_answers(tab, saved, weights):
    with tab() as t:
        start = time.perf_counter()
        t.page.goto(saved.as_uri())
        t.page.wait_for_selector("regard-heatmap[data-ready=true][data-plot]")
        took = time.perf_counter() - start
        assert took < 5, f"{took:.1f} s"
        heatmap = t.page.locator("regard-heatmap.first")
        # the largest weight of a row is exact though all is pooled
        row = 100
        top = int(weights[0][0, row].argmax())
        t.page.evaluate(f"() => {{ location.hash = '#at={row},{top}'; }}")
        t.page.wait_for_selector(f"regard-heatmap[data-row='{row}'][data-col='{top}']")
        assert heatmap.get_attribute("data-known") == "exact"
        wanted = weights[0][0, row, top].item()
        assert float(heatmap.get_attribute("data-weight")) == pytest.approx(wanted, rel=2e-3)
        notes = t.page.locator(".notes").inner_text()
        assert "Pooled" in notes
        # another head, at once
        start = time.perf_counter()
        t.page.keyboard.press("]")
        t.page.wait_for_selector("regard-heatmap[data-map='1'][data-ready=true]")
        assert time.perf_counter() - start < 2
        nodes = t.page.evaluate("""() => {
            const count = (root) => [...root.querySelectorAll('*')]
                .reduce((sum, e) => sum + 1 + (e.shadowRoot ? count(e.shadowRoot) : 0), 0);
            return count(document);
        }""")
        assert nodes < 10_000
