"""Weights that are hardly any, long on one side, or no numbers: they are shown all the same."""

from __future__ import annotations

import pytest
import torch

from regard import Dot, look
from regard.viewing.captured import Captured

MAP = "regard-heatmap.first"
NAN, INF = torch.nan, torch.inf
TEXT = """() => {
  const of = (node) => node.nodeType === Node.TEXT_NODE ? node.data
    : node.localName === "style" || node.localName === "script" ? ""
    : [...(node.shadowRoot ?? node).childNodes].map(of).join(" ");
  return of(document.body);
}"""  # of all there is, whoever's shadow it stands in


def replaced(value, size=12, rows=slice(3, 4)):
    w = torch.full((2, size, size), 1 / size)
    w[0, rows] = value
    return w


def captured(n, m, scale=1.0):
    random = torch.Generator().manual_seed(1)
    q, k = (scale * torch.randn(1, 1, x, 4, generator=random) for x in (n, m))
    return Captured("layer", q, k, Dot(), None)


ODD = {
    "one": lambda: torch.ones(1, 1),
    "a row": lambda: captured(1, 100_000),
    "a column": lambda: captured(100_000, 1),
    "wide": lambda: torch.full((3, 5_000), 1 / 5_000),
    "nothing": lambda: torch.zeros(2, 9, 9),
    "a query that sees nothing": lambda: replaced(0.0),
    "no number": lambda: replaced(NAN),
    "no numbers": lambda: torch.full((2, 9, 9), NAN),
    "no numbers, pooled": lambda: replaced(NAN, 600, slice(None)),
    "endless": lambda: replaced(INF),
    "endless, pooled": lambda: replaced(INF, 600),
    "huge": lambda: replaced(3e38),
    "tiny": lambda: torch.full((9, 9), 1e-42),
    "beyond float32": lambda: captured(40, 40, 1e25),
}


NO_NUMBERS = [name for name in ODD if name.startswith("no number")]


@pytest.mark.parametrize("name", ODD)
def test_the_page_opens_and_answers(tab, tmp_path, name):
    look(ODD[name](), title=name, limit=200_000).save(tmp_path / "odd.html")
    with tab() as t:
        t.go(tmp_path / "odd.html")
        t.page.wait_for_selector(f"{MAP}[data-painted=true][data-plot]")
        t.page.locator(MAP).locator(".stage").focus()
        for key in ("ArrowDown", "ArrowRight", "Enter", "m", "l", "+", "]", "c", "s"):
            t.page.keyboard.press(key)
        t.page.wait_for_timeout(200)
        text = t.page.evaluate(TEXT)
        assert name in text
        # a weight that is no number may be called so, and nothing else
        wrong = ("undefined", "nan ", "inf ", "Infinity", *([] if name in NO_NUMBERS else ["NaN"]))
        assert [word for word in wrong if word in text] == []
