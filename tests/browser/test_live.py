"""A page that asks its own server: three thousand tokens, exact at every zoom."""

from __future__ import annotations

import threading
from contextlib import contextmanager

import pytest
import torch

import regard
from regard.viewing.page import html

MAP = "regard-heatmap.first"
N, D, HEADS = 3_000, 8, 2


class Net(torch.nn.Module):
    """One call of attention."""

    def forward(self, q, k, v):
        return regard.attend(q, k, v)


@pytest.fixture(scope="module")
def operands():
    random = torch.Generator().manual_seed(2)
    return [torch.randn(1, HEADS, N, D, generator=random) for _ in range(2)]


@pytest.fixture(scope="module")
def studio(operands):
    from regard.studio import Studio

    q, k = operands
    net = Net()
    with regard.capture(net) as seen:
        net(q, k, k[..., :1])
    view = regard.look(seen, title="Three thousand tokens")
    with _answering(Studio(view.heads, html(view.document(live=True), live=True))) as found:
        yield found


@contextmanager
def _answering(studio):
    thread = threading.Thread(target=studio.run)
    thread.start()
    try:
        yield studio
    finally:
        studio.stop()
        thread.join(10)
        assert not thread.is_alive()


def exact(operands, head, row, col):
    q, k = (x[0, head].double() for x in operands)
    return (q[row] @ k.T / D**0.5).softmax(-1)[col].item()


def test_every_weight_is_exact_at_every_zoom(tab, studio, operands):
    here = f"http://127.0.0.1:{studio.port}/"
    with tab(allowed=(here,)) as t:
        t.page.goto(studio.address)
        t.page.wait_for_selector(f"{MAP}[data-painted=true][data-plot]")
        heatmap = t.page.locator(MAP)
        assert heatmap.get_attribute("data-cells") == "pooled"
        assert "token=" not in t.page.url
        t.page.evaluate("() => { location.hash = '#zoom=990,1010,2970,2990&at=1000,2980'; }")
        t.page.wait_for_selector(f"{MAP}[data-cells=exact][data-row='1000'][data-known=exact]")
        wanted = exact(operands, 0, 1000, 2980)
        assert float(heatmap.get_attribute("data-weight")) == pytest.approx(wanted, rel=1e-4)
        heatmap.locator(".stage").focus()
        t.page.keyboard.press("ArrowRight")
        t.page.wait_for_selector(f"{MAP}[data-col='2981'][data-known=exact]")
        wanted = exact(operands, 0, 1000, 2981)
        assert float(heatmap.get_attribute("data-weight")) == pytest.approx(wanted, rel=1e-4)
        t.page.keyboard.press("]")
        t.page.wait_for_selector(f"{MAP}[data-map='1'][data-cells=exact][data-known=exact]")
        wanted = exact(operands, 1, 1000, 2981)
        assert float(heatmap.get_attribute("data-weight")) == pytest.approx(wanted, rel=1e-4)


def test_a_server_that_is_gone_is_told(tab, studio):
    here = f"http://127.0.0.1:{studio.port}/"
    with tab(allowed=(here,), expected="Failed to load resource") as t:
        t.page.goto(studio.address)
        t.page.wait_for_selector(f"{MAP}[data-painted=true][data-plot]")
        t.page.context.unroute("**/*")
        t.page.context.route("**/*", lambda route: route.abort())
        t.page.evaluate("() => { location.hash = '#zoom=100,120,100,120'; }")
        t.page.locator(f"{MAP} [role=status]").wait_for()
