"""What maps are called: layers, heads, models, sentences; and that it can be read."""

from __future__ import annotations

from regard import look
from regard.viewing.called import translations
from regard.viewing.document import Drawn
from regard.viewing.heads import DenseHead
from regard.viewing.view import View
from tests.browser.pages import WORDS, layers


def opened(t, view, path):
    view.save(path)
    t.go(path)
    t.page.wait_for_selector("regard-heatmap.first[data-painted=true]")
    t.page.wait_for_selector("regard-heads[data-ready=true]")


def title(t):
    return t.page.locator("#view-title").inner_text()


def test_two_models_are_named_and_compared_head_by_head(tab, tmp_path):
    models = {"before": layers(12, 6), "after": layers(12, 6, seed=4)}
    with tab() as t:
        opened(t, look(models, WORDS), tmp_path / "x.html")
        names = t.page.locator("regard-heads .layer")
        assert names.all_inner_texts()[5:7] == ["before 5", "after 0"]
        # in a list that scrolls as well: as high as its letters
        assert min(name.bounding_box()["height"] for name in names.all()) >= 12
        t.page.keyboard.press("]")
        assert title(t) == "before, layer 0, head 1"
        t.page.keyboard.press("c")
        t.page.wait_for_selector("regard-attention[data-map='1'][data-other='73']")
        caption = t.page.locator("figcaption", has_text="after")
        assert caption.inner_text() == "B after, layer 0, head 1"


def test_translations_are_no_heads(tab, tmp_path):
    drawn = [
        Drawn(DenseHead(layers()[0][k], f"sentence {i}", k), 0, 0) for i in (1, 2) for k in (1, 2)
    ]
    view = View(drawn, [WORDS], called=translations(2))
    for locale, heads, wanted in [
        ("en-GB", "Translations 4", "Sentence 1, translation 1"),
        ("zh-CN", "译文 4", "第 1 句\uff0c译文 1"),
    ]:
        with tab(locale=locale) as t:
            opened(t, view, tmp_path / "x.html")
            assert title(t) == wanted
            assert t.page.locator("#heads-title").inner_text() == heads
            text = t.page.locator("regard-attention").evaluate("e => e.shadowRoot.textContent")
            assert not any(name in text for name in ("Layer", "head 1", "头 1"))


def test_all_that_is_said_of_a_cell_is_in_sight(tab, tmp_path):
    with tab() as t:
        opened(t, look(layers(), WORDS), tmp_path / "x.html")
        t.page.locator("regard-heatmap .stage").focus()
        t.page.keyboard.press("ArrowDown")
        said = t.page.locator("regard-attention .said")
        t.page.wait_for_function(
            "() => document.querySelector('regard-attention').shadowRoot"
            ".querySelector('.said').textContent.includes('Here: ')"
        )
        assert said.evaluate("e => e.scrollHeight <= e.clientHeight + 1")
        assert said.evaluate("e => e.scrollWidth <= e.clientWidth + 1")
