"""What a page says is text, and it needs nobody: not on disk, not in a notebook's frame."""

from __future__ import annotations

import pytest

from regard import look
from regard.viewing.tokens import readable
from tests.browser.pages import HOSTILE, WORDS, layers


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_what_looks_like_code_is_text(tab, tmp_path, number):
    text = HOSTILE[number]
    tokens = [text, *WORDS[1:]]
    path = tmp_path / "hostile.html"
    look({text: layers(count=1), "b": layers(count=1)}, tokens, title=text).save(path)
    with tab() as t:
        # as a fragment, too
        t.go(f"{path.as_uri()}#map=1&with=0&at=0,0&pin=0,0&lang=en&sort={text}&x={text}")
        t.page.wait_for_selector("regard-heatmap[data-ready=true]")
        t.page.wait_for_selector("regard-tokens[data-ready=true]")
        assert t.page.locator("h1").inner_text() == text
        assert t.page.title() == text
        assert readable([text])[0] in t.page.locator("regard-tokens .looks .text").inner_text()
        chosen = t.page.locator("regard-attention .bar select").first.locator("option").first
        assert text in chosen.inner_text()
        t.page.locator("regard-heatmap.first .stage").hover()
        assert t.page.evaluate("() => typeof hacked") == "undefined"
        assert t.page.evaluate("() => document.querySelectorAll('img, iframe, svg, a').length") == 0


def test_the_policy_allows_nothing_from_elsewhere(tab, tmp_path):
    path = tmp_path / "x.html"
    look(layers(), WORDS).save(path)
    with tab(expected="^policy: |Content Security Policy") as t:
        t.go(path)
        said = t.page.evaluate(
            """() => new Promise((done) => {
                const found = [];
                addEventListener('securitypolicyviolation', (e) => {
                    found.push(e.violatedDirective);
                    if (found.length === 2) done(found.sort());
                });
                fetch('https://example.org/').catch(() => {});
                const script = document.createElement('script');
                script.textContent = 'window.hacked = 1';
                document.body.append(script);
            })"""
        )
        assert said == ["connect-src", "script-src-elem"]
        assert t.page.evaluate("() => typeof hacked") == "undefined"


def test_it_works_in_the_frame_of_a_notebook(tab, tmp_path):
    view = look(layers(), WORDS, title="In a <frame>")
    path = tmp_path / "notebook.html"
    twice = view._repr_html_() * 2
    path.write_text(f"<!DOCTYPE html><html lang=en><title>n</title><body data-ready>{twice}")
    with tab() as t:
        t.go(path)
        t.page.wait_for_function("() => frames.length === 2")
        for frame in t.page.frames[1:]:
            frame.wait_for_selector("regard-heatmap[data-ready=true]")
            assert frame.locator("h1").inner_text() == "In a <frame>"
            frame.locator("regard-heatmap .stage").focus()
            t.page.keyboard.press("ArrowDown")
            frame.wait_for_selector("regard-heatmap[data-known=exact]")
            t.page.keyboard.press("]")
            frame.wait_for_selector("regard-attention[data-map='1']")
        t.page.wait_for_timeout(400)  # an address is written by now, where there is one


def test_without_scripts_it_tells_in_words(tab, tmp_path):
    path = tmp_path / "x.html"
    look(layers(), WORDS, title="A small model").save(path)
    with tab(java_script_enabled=False) as t:
        t.page.goto(path.as_uri())
        text = t.page.locator("noscript").inner_text()
        assert "A small model" in text
        assert "This page needs JavaScript" in text
        assert "looks" in text


def test_a_torn_file_says_so(tab, tmp_path):
    path = tmp_path / "x.html"
    look(layers(), WORDS).save(path)
    page = path.read_text()
    start = page.index('id="regard-data">') + len('id="regard-data">')
    path.write_text(page[: start + 400] + page[page.index("</script>", start) :])
    with tab() as t:
        t.go(path)
        assert "torn" in t.page.get_by_role("alert").inner_text()
