"""The page as a file: complete, closed to the network, and no text in it is HTML."""

import html as standard

import pytest
import torch

from regard.errors import StateError
from regard.viewing import page
from regard.viewing.looking import look
from tests.viewing.pages import Page, hash_of
from tests.viewing.test_tokens import HOSTILE

SCRIPT, STYLE = 'document.title += "<&>";\n', "body > p { color: red }\n"
OURS = ["html", "head", "meta", "meta", "meta", "meta", "title", "style", "body", "noscript", "h1",
        "pre", "script", "script", "script"]  # fmt: skip


@pytest.fixture(autouse=True)
def built(tmp_path, monkeypatch):
    folder = tmp_path / "built"
    folder.mkdir()
    (folder / "page.js").write_text(SCRIPT)
    (folder / "page.css").write_text(STYLE)
    monkeypatch.setattr(page, "files", lambda name: tmp_path)
    return folder


def view(**how):
    return look(torch.tensor([[0.75, 0.25], [0.5, 0.5]]), ["a", "b"], **how)


def test_a_page_holds_its_document_its_script_and_its_style():
    seen = view(title="A title")
    found = Page(seen.html())
    assert found.tags == OURS
    assert found.header == seen.document().header
    assert found.data == seen.document().data
    assert found.text("script", type="module") == SCRIPT
    assert found.text("style") == STYLE
    assert found.text("title") == "A title"
    assert found.elements[0] == ("html", {"lang": "en"})
    assert Page(view(language="zh").html()).elements[0] == ("html", {"lang": "zh"})


def test_its_policy_lets_its_own_script_and_style_run_and_nothing_else():
    found = Page(view().html())
    assert found.policy == {
        "default-src": "'none'",
        "script-src": hash_of(found.text("script", type="module")),
        "style-src": hash_of(found.text("style")),
        "img-src": "data: blob:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    live = Page(page.html(view().document(live=True), live=True)).policy
    assert live == found.policy | {"connect-src": "'self'"}


def test_line_ends_of_another_system_do_not_break_the_hash(built):
    (built / "page.js").write_bytes(b"a\r\nb")
    found = Page(view().html())
    assert found.policy["script-src"] == hash_of("a\nb")


@pytest.mark.parametrize("text", HOSTILE)
def test_no_hostile_text_becomes_part_of_the_page(text):
    w = torch.tensor([[0.75, 0.25], [0.5, 0.5]])
    seen = look({text: w}, [text, text + "b"], title=text)
    whole = seen.html()
    found = Page(whole)
    assert found.tags == OURS
    assert found.header["tokens"] == seen.tokens
    assert found.header["layers"][0]["model"] == seen.document().header["layers"][0]["model"]
    if "<" in text:
        assert text not in whole
    inside = Page(seen._repr_html_())
    assert inside.tags == ["iframe"]
    assert inside.elements[0][1]["srcdoc"] == whole
    assert inside.elements[0][1]["sandbox"] == "allow-scripts"
    whole.encode()


def test_those_without_scripts_read_a_summary():
    seen = look(torch.rand(300, 300), limit=3000, title="T")
    text = Page(seen.html()).text("pre")
    assert "needs JavaScript" in text
    assert seen.document().header["notes"][0]["en"] in text
    assert seen.summary() in text
    seen = look(torch.rand(300, 300), limit=3000, language="zh")
    assert seen.document().header["notes"][0]["zh"] in Page(seen.html()).text("pre")


def test_a_frame_has_a_title_and_no_rights_but_scripts():
    text = page.frame("<p>", 'a "title"', 300)
    (tag, attrs), *_ = Page(text).elements
    assert (tag, attrs["title"], attrs["height"]) == ("iframe", 'a "title"', "300")
    assert attrs["sandbox"] == "allow-scripts"
    assert attrs["width"] == "100%"
    assert standard.unescape(attrs["srcdoc"]) == "<p>"


def test_a_page_that_was_not_built_says_how(built):
    (built / "page.js").unlink()
    with pytest.raises(StateError, match=r"page\.js is not there: .* run `make page`"):
        view().html()


def test_a_script_that_would_end_the_page_is_refused(built):
    (built / "page.js").write_text("x = '</SCRIPT>'")
    with pytest.raises(StateError, match=r"page\.js holds"):
        view().html()
