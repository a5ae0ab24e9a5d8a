"""The page of attention in a browser: what it shows is what was computed, and it answers."""

from __future__ import annotations

import pytest
import torch

from regard import look
from tests.browser.pages import WORDS, layers
from tests.browser.seen import cividis, faults, pixels, resembles

MAP = "regard-heatmap.first"
WIDE = {"width": 1440, "height": 900}  # where no font makes a line break


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("pages") / "attention.html"
    look(layers(), WORDS, title="A small model").save(path)
    return path


def opened(t, address):
    t.go(address)
    t.page.wait_for_selector(f"{MAP}[data-painted=true][data-plot]")
    return t.page.locator(MAP)


def settled(t):
    """Wait until every picture is there."""
    t.page.wait_for_selector("regard-heads[data-ready=true]")
    t.page.wait_for_selector("regard-tokens[data-ready=true]")
    t.page.wait_for_timeout(300)  # the sentence that is said once the cursor rests


def hook(heatmap, name):
    return heatmap.get_attribute(f"data-{name}")


def sight(heatmap):
    return [float(x) for x in hook(heatmap, "zoom").split(",")]


def place(heatmap, row, col):
    """Where the middle of a cell is on the screen, and how large the cell is."""
    x, y, width, height = (float(part) for part in hook(heatmap, "plot").split(","))
    r0, r1, c0, c1 = sight(heatmap)
    box = heatmap.locator(".stage").bounding_box()
    w, h = width / (c1 - c0), height / (r1 - r0)
    return box["x"] + x + (col + 0.5 - c0) * w, box["y"] + y + (row + 0.5 - r0) * h, w, h


@pytest.mark.parametrize(("row", "col"), [(2, 7), (11, 0), (16, 16)])
def test_a_cell_that_is_pointed_at_tells_its_exact_weight(tab, saved, row, col):
    with tab() as t:
        heatmap = opened(t, saved)
        x, y, *_ = place(heatmap, row, col)
        t.page.mouse.move(x, y)
        t.page.wait_for_selector(f"{MAP}[data-row='{row}'][data-col='{col}'][data-known=exact]")
        weight = layers()[0][0, row, col].item()
        assert float(hook(heatmap, "weight")) == pytest.approx(weight, rel=1e-6)
        tip = heatmap.locator(".tip").inner_text().split()
        assert [tip[1], tip[3]] == [WORDS[row], WORDS[col]]
        assert float(tip[5]) == pytest.approx(weight, rel=1e-3)


def test_the_colours_are_those_of_the_weights(tab, saved):
    weights = layers()[0][0]
    with tab() as t:
        heatmap = opened(t, saved)
        most = float(hook(heatmap, "max"))
        assert most >= weights.max().item()
        cells = [(0, 0), (5, 0), (9, 6), (3, 12), (16, 16), (13, 2)]
        places = [place(heatmap, *cell) for cell in cells]
        # beside the middle, where a number may stand
        found = pixels(heatmap, [(x - w * 0.35, y - h * 0.35) for x, y, w, h in places])
        for cell, colour in zip(cells, found, strict=True):
            wanted = cividis(weights[cell].item() / most)
            assert colour == pytest.approx([*wanted, 255], abs=3), cell


def test_zooming_keeps_the_cell_under_the_pointer(tab, saved):
    with tab() as t:
        heatmap = opened(t, saved)
        x, y, *_ = place(heatmap, 9, 6)
        t.page.mouse.move(x, y)
        for wheel in (-300, -300, -300, 200, 300):
            before = sight(heatmap)
            t.page.mouse.wheel(0, wheel)
            t.page.wait_for_function(
                "before => document.querySelector('regard-attention').shadowRoot"
                ".querySelector('regard-heatmap').dataset.zoom !== before",
                arg=",".join(f"{part:g}" for part in before),
            )
            t.page.mouse.move(x + 0.5, y)
            t.page.mouse.move(x, y)
            after = sight(heatmap)
            assert (after[1] - after[0] < before[1] - before[0]) == (wheel < 0)
            assert (hook(heatmap, "row"), hook(heatmap, "col")) == ("9", "6")
            inside = place(heatmap, 9, 6)
            assert abs(inside[0] - x) <= inside[2] / 2 + 1
            assert abs(inside[1] - y) <= inside[3] / 2 + 1


def test_dragging_moves_the_map(tab, saved):
    with tab() as t:
        heatmap = opened(t, f"{saved.as_uri()}#zoom=4,12,4,12")
        x, y, w, h = place(heatmap, 8, 8)
        t.page.mouse.move(x, y)
        t.page.mouse.down()
        t.page.mouse.move(x - 2 * w, y - h, steps=4)
        t.page.mouse.up()
        assert sight(heatmap) == pytest.approx([5, 13, 6, 14], abs=0.2)


def test_the_keys_walk_and_zoom(tab, saved):
    weights = layers()[0][0]
    with tab() as t:
        heatmap = opened(t, saved)
        heatmap.locator(".stage").focus()
        t.page.keyboard.press("ArrowRight")
        start = int(hook(heatmap, "row")), int(hook(heatmap, "col"))
        for key, move in [("ArrowRight", (0, 1)), ("ArrowDown", (1, 0)), ("ArrowLeft", (0, -1))]:
            t.page.keyboard.press(key)
            start = start[0] + move[0], start[1] + move[1]
            assert (int(hook(heatmap, "row")), int(hook(heatmap, "col"))) == start
            wanted = weights[start].item()
            assert float(hook(heatmap, "weight")) == pytest.approx(wanted, rel=1e-6)
        whole = sight(heatmap)
        t.page.keyboard.press("+")
        t.page.keyboard.press("+")
        closer = sight(heatmap)
        assert closer[1] - closer[0] < whole[1] - whole[0]
        assert (int(hook(heatmap, "row")), int(hook(heatmap, "col"))) == start
        t.page.keyboard.press("-")
        assert sight(heatmap)[1] - sight(heatmap)[0] > closer[1] - closer[0]
        t.page.keyboard.press("0")
        assert sight(heatmap) == whole
        t.page.keyboard.press("Control+Home")
        assert (hook(heatmap, "row"), hook(heatmap, "col")) == ("0", "0")
        said = t.page.locator("regard-attention .said")
        t.page.wait_for_function(
            "() => document.querySelector('regard-attention').shadowRoot"
            ".querySelector('.said').textContent.includes('“[CLS]” looks')"
        )
        most = int(weights[0].argmax())
        assert f"“{WORDS[most]}”" in said.inner_text()


def test_the_keys_choose_heads_colours_and_pools(tab, saved):
    with tab() as t:
        opened(t, saved)
        page = t.page.locator("regard-attention")
        for key, name, wanted in [
            ("]", "map", "1"),
            ("]", "map", "2"),
            ("[", "map", "1"),
            ("l", "colouring", "log"),
            ("m", "reduce", "max"),
            ("s", "sort", "entropy"),
        ]:
            t.page.keyboard.press(key)
            t.page.wait_for_selector(f"regard-attention[data-{name}='{wanted}']")
        t.page.keyboard.press("?")
        dialog = t.page.get_by_role("dialog")
        assert dialog.is_visible()
        assert dialog.get_by_role("heading").first.is_visible()
        t.page.keyboard.press("Escape")
        assert not dialog.is_visible()
        assert hook(page, "map") == "1"


def test_everything_can_be_reached_with_the_tab_key(tab, saved):
    with tab() as t:
        opened(t, saved)
        reached = set()
        for _ in range(40):
            t.page.keyboard.press("Tab")
            reached.add(
                t.page.evaluate("""() => {
                    let e = document.activeElement;
                    while (e?.shadowRoot?.activeElement) e = e.shadowRoot.activeElement;
                    return e?.getAttribute('aria-label') || e?.textContent.trim() || e?.tagName;
                }""")
            )
    text = " | ".join(map(str, reached))
    for wanted in ("Attention map", "Compare", "linear", "Help", "English"):
        assert wanted in text, text


def test_heads_are_sorted_by_what_they_do(tab, saved):
    entropies = [
        -(w * w.clamp_min(1e-30).log()).sum(-1).mean().item()
        for layer in layers()
        for w in layer.double()
    ]
    wanted = sorted(range(len(entropies)), key=entropies.__getitem__)
    with tab() as t:
        opened(t, f"{saved.as_uri()}#sort=entropy")
        t.page.wait_for_selector("regard-heads[data-sort=entropy][data-order]")
        order = t.page.locator("regard-heads").get_attribute("data-order")
    assert [int(i) for i in order.split(",")] == wanted


def test_two_heads_are_compared_with_one_cursor(tab, saved):
    first, second = layers()[0][1], layers()[1][2]
    with tab() as t:
        heatmap = opened(t, f"{saved.as_uri()}#map=1&with=6")
        x, y, *_ = place(heatmap, 4, 5)
        t.page.mouse.move(x, y)
        difference = t.page.locator("regard-heatmap.difference")
        t.page.wait_for_selector("regard-heatmap.difference[data-row='4'][data-col='5']")
        t.page.wait_for_selector("regard-heatmap.second[data-row='4'][data-col='5']")
        assert float(hook(difference, "weight")) == pytest.approx(
            (first - second)[4, 5].item(), abs=1e-6
        )
        # blue where the first looks more, red where the second does, white where both look alike
        most = float(hook(difference, "max"))
        apart = (first - second) / most
        for sign in (1, -1):
            row, col = divmod(int((sign * apart).argmax()), len(WORDS))
            x, y, w, h = place(difference, row, col)
            red, _, blue, _ = pixels(difference, [(x - w * 0.3, y - h * 0.3)])[0]
            assert (blue - red) * sign > 40
        t.page.keyboard.press("Escape")
        t.page.wait_for_selector("regard-attention[data-other='']")
        t.page.keyboard.press("c")
        t.page.wait_for_selector("regard-heatmap.difference")


def test_a_token_that_is_picked_shows_where_it_looks_and_who_looks_at_it(tab, saved):
    weights = layers()[0][0]
    with tab() as t:
        heatmap = opened(t, saved)
        x, y, *_ = place(heatmap, 9, 6)
        t.page.mouse.click(x, y)
        t.page.wait_for_selector(f"{MAP}[data-pin='9,6']")
        t.page.wait_for_selector("regard-tokens[data-row='9'][data-col='6'][data-ready=true]")
        for part, row, title in [
            ("looks", weights[9], "Where “dog” looks"),
            ("looked", weights[:, 6], "Who looks at “over”"),
        ]:
            section = t.page.locator(f"regard-tokens .{part}")
            assert section.locator("h3").inner_text() == title
            first = section.locator("li button").first
            most = int(row.argmax())
            assert int(hook(first, "at")) == most
            assert float(hook(first, "weight")) == pytest.approx(row[most].item(), rel=1e-6)
            assert first.inner_text().split() == [f"{row[most].item() * 100:.0f}", "%", WORDS[most]]


def test_the_view_is_in_the_address(tab, saved):
    with tab() as t:
        heatmap = opened(t, saved)
        t.page.keyboard.press("]")
        t.page.keyboard.press("l")
        heatmap.locator(".stage").focus()
        t.page.keyboard.press("ArrowDown")
        t.page.keyboard.press("+")
        t.page.keyboard.press("Enter")
        t.page.wait_for_function("() => /map=1/.test(location.hash) && /pin=/.test(location.hash)")
        address, zoom, pin = t.page.url, sight(heatmap), hook(heatmap, "pin")
    with tab() as t:
        heatmap = opened(t, address)
        page = t.page.locator("regard-attention")
        assert (hook(page, "map"), hook(page, "colouring")) == ("1", "log")
        assert sight(heatmap) == pytest.approx(zoom, abs=0.02)
        assert hook(heatmap, "pin") == pin
        # another address in the same tab is followed, too
        t.page.evaluate("() => { location.hash = '#map=5&lang=zh'; }")
        t.page.wait_for_selector("regard-attention[data-map='5'][data-language=zh]")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_seriously_wrong_for_those_who_cannot_see_it(tab, saved, scheme):
    with tab(color_scheme=scheme) as t:
        heatmap = opened(t, saved)
        assert faults(t.page) == []
        heatmap.locator(".stage").focus()
        t.page.keyboard.press("ArrowDown")
        t.page.keyboard.press("c")
        t.page.wait_for_selector("regard-heatmap.difference[data-ready=true]")
        assert faults(t.page) == []
        t.page.keyboard.press("?")
        assert faults(t.page) == []


def test_it_speaks_chinese(tab, saved):
    with tab(locale="zh-CN", viewport=WIDE) as t:
        opened(t, saved)
        assert t.page.evaluate("() => document.documentElement.lang") == "zh-CN"
        text = t.page.locator("regard-attention").evaluate("e => e.shadowRoot.textContent")
        assert "自注意力" in text
        settled(t)
        resembles(t.page, "attention_zh")
        t.page.locator("select[name=language]").select_option("en")
        t.page.wait_for_selector("regard-attention[data-language=en]")
        text = t.page.locator("regard-attention").evaluate("e => e.shadowRoot.textContent")
        assert "Self-attention" in text


def test_it_looks_as_it_did(tab, saved):
    with tab(viewport=WIDE) as t:
        opened(t, saved)
        settled(t)
        resembles(t.page, "attention")
    with tab(color_scheme="dark", viewport=WIDE) as t:
        opened(t, f"{saved.as_uri()}#map=1&with=2")
        t.page.wait_for_selector("regard-heatmap.difference[data-ready=true]")
        settled(t)
        resembles(t.page, "attention_compare")
    with tab(viewport={"width": 420, "height": 800}) as t:
        opened(t, saved)
        assert t.page.evaluate("() => document.documentElement.scrollWidth") <= 420
        settled(t)
        resembles(t.page, "attention_narrow")


@pytest.mark.parametrize("kind", ["cross", "causal"])
def test_other_shapes_of_attention(tab, tmp_path, kind):
    scores = torch.randn(
        1, 9, 9 if kind == "causal" else 17, generator=torch.Generator().manual_seed(1)
    )
    if kind == "causal":
        scores = scores.masked_fill(torch.ones(9, 9).triu(1).bool(), -torch.inf)
    weights = scores.softmax(-1)
    tokens = (WORDS[:9], WORDS) if kind == "cross" else WORDS[:9]
    look(weights, tokens).save(tmp_path / "x.html")
    with tab() as t:
        heatmap = opened(t, tmp_path / "x.html")
        row, col = (3, 8) if kind == "causal" else (3, 15)
        x, y, *_ = place(heatmap, row, col)
        t.page.mouse.move(x, y)
        t.page.wait_for_selector(f"{MAP}[data-row='{row}'][data-col='{col}'][data-known=exact]")
        assert float(hook(heatmap, "weight")) == pytest.approx(
            weights[0, row, col].item(), rel=1e-6
        )
        text = t.page.locator("regard-attention").evaluate("e => e.shadowRoot.textContent")
        assert {"cross": "Cross-attention", "causal": "Causal"}[kind] in text
