"""What these tests rely on: a page that asks, complains or shuts people out is found out."""

from __future__ import annotations

import pytest

from tests.browser.seen import SCREENS, faults, resembles

HEAD = '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>t</title><body data-ready>'


def test_a_page_that_asks_for_something_is_found_out(tab, tmp_path):
    path = tmp_path / "asks.html"
    path.write_text(f'{HEAD}<img alt="" src="https://example.org/x.png">')
    with pytest.raises(AssertionError, match=r"example\.org"), tab() as t:
        t.go(path)


def test_a_page_that_asks_for_another_file_is_found_out(tab, tmp_path):
    path = tmp_path / "asks.html"
    (tmp_path / "other.js").write_text("")
    path.write_text(f'{HEAD}<script src="other.js"></script>')
    with pytest.raises(AssertionError, match=r"other\.js"), tab() as t:
        t.go(path)


def test_a_page_whose_script_fails_is_found_out(tab, tmp_path):
    path = tmp_path / "fails.html"
    path.write_text(f"{HEAD}<script>nothing.there()</script>")
    with pytest.raises(AssertionError, match="nothing is not defined"), tab() as t:
        t.go(path)


def test_a_page_that_breaks_its_policy_is_found_out(tab, tmp_path):
    path = tmp_path / "breaks.html"
    policy = "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'\">"
    path.write_text(f'{HEAD.replace("<title>", f"{policy}<title>")}<p style="color:red">')
    with (
        pytest.raises(AssertionError, match="violates the following Content"),
        tab() as t,
    ):
        t.go(path)


def test_a_page_without_labels_has_faults(tab, tmp_path):
    path = tmp_path / "faulty.html"
    path.write_text(f"{HEAD}<main><h1>t</h1><input type=range></main>")
    with tab() as t:
        t.go(path)
        assert "label" in faults(t.page)[0]


def test_another_picture_does_not_resemble(tab, tmp_path, monkeypatch):
    monkeypatch.delenv("REGARD_SCREENS", raising=False)
    path = tmp_path / "white.html"
    path.write_text(f"{HEAD}<main><h1>t</h1></main>")
    assert (SCREENS / "kernel_zh.png").exists()
    with tab() as t:
        t.go(path)
        with pytest.raises(AssertionError, match="of 255 from the stored picture"):
            resembles(t.page, "kernel_zh")
