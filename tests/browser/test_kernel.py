"""Kernel regression on its page: the query moves, the bandwidth answers."""

from __future__ import annotations

import time

import numpy as np
import pytest
import torch

from regard import Gaussian, attend, look, weights
from tests.browser.seen import faults, resembles


def data(count):
    random = np.random.default_rng(7)
    x = np.sort(random.uniform(0, 5, count)).astype(np.float32).astype(np.float64)
    y = 2 * np.sin(x) + x**0.8 + random.normal(0, 0.5, count)
    return x, y.astype(np.float32).astype(np.float64)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("pages") / "kernel.html"
    look(data(60), kernel="gaussian", width=0.35, title="Heights of waves").save(path)
    return path


def element(tab):
    return tab.page.locator("regard-kernel")


def shown(tab):
    return element(tab).evaluate(
        "e => ({query: e.query, width: e.width, kernel: e.kernel, alone: e.now.alone,"
        " prediction: e.now.prediction, weights: [...e.now.weights]})"
    )


def as_regard(now, x, y):
    q, k, v = (torch.tensor(np.atleast_1d(z))[:, None] for z in (now["query"], x, y))
    score = Gaussian(width=now["width"])
    return weights(q, k, score=score)[0].numpy(), attend(q, k, v, score=score).item()


def test_the_page_shows_the_weights_that_regard_computes(tab, saved):
    x, y = data(60)
    with tab() as t:
        t.go(saved)
        now = shown(t)
        assert (now["width"], now["kernel"]) == (0.35, "gaussian")
        wanted, prediction = as_regard(now, x, y)
        np.testing.assert_allclose(now["weights"], wanted, atol=1e-9)
        assert now["prediction"] == pytest.approx(prediction, abs=1e-9)
        element(t).locator(".best").wait_for()  # the error is worked out meanwhile
        resembles(t.page, "kernel")


def test_the_query_follows_the_pointer(tab, saved):
    x, y = data(60)
    with tab() as t:
        t.go(saved)
        box = element(t).locator(".plot").bounding_box()
        before = shown(t)
        t.page.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + 100)
        assert shown(t)["query"] == before["query"]
        t.page.mouse.down()
        t.page.mouse.move(box["x"] + 0.8 * box["width"], box["y"] + 100, steps=5)
        moved = shown(t)
        t.page.mouse.up()
        t.page.mouse.move(box["x"] + 0.2 * box["width"], box["y"] + 100)
        assert moved["query"] > before["query"] + 1
        assert shown(t)["query"] == moved["query"]
        np.testing.assert_allclose(moved["weights"], as_regard(moved, x, y)[0], atol=1e-9)


def test_the_query_moves_with_the_keys_and_says_where_it_is(tab, saved):
    with tab() as t:
        t.go(saved)
        plot = element(t).locator(".plot")
        plot.focus()
        before = shown(t)["query"]
        for key, sign in (("ArrowRight", 1), ("ArrowLeft", -1), ("PageUp", 1), ("PageDown", -1)):
            here = shown(t)["query"]
            t.page.keyboard.press(key)
            assert (shown(t)["query"] - here) * sign > 0
        assert shown(t)["query"] == pytest.approx(before)
        t.page.keyboard.press("Home")
        low, high = element(t).evaluate("e => e.range")
        assert shown(t)["query"] == low
        assert float(plot.get_attribute("aria-valuenow")) == low
        t.page.keyboard.press("End")
        assert shown(t)["query"] == high
        said = element(t).locator("[role=status]")
        t.page.wait_for_function(
            "() => document.querySelector('regard-kernel').shadowRoot"
            ".querySelector('[role=status]').textContent.includes('5.')"
        )
        assert "the prediction is" in said.text_content()


def test_the_slider_is_the_bandwidth_and_the_temperature(tab, saved):
    x, y = data(60)
    with tab() as t:
        t.go(saved)
        slider = element(t).locator("#width")
        slider.focus()
        t.page.keyboard.press("End")
        wide = shown(t)
        t.page.keyboard.press("Home")
        narrow = shown(t)
        assert wide["prediction"] == pytest.approx(y.mean(), rel=0.02)
        nearest = np.abs(x - narrow["query"]).argmin()
        assert narrow["weights"][nearest] == pytest.approx(1, abs=0.05)
        t.page.keyboard.press("PageUp")
        width = shown(t)["width"]
        said = element(t).locator(".temperature").text_content()
        assert "temperature of the softmax: T = w²" in said
        assert f"= {width * width:.3g}"[:6] in said
        np.testing.assert_allclose(shown(t)["weights"], as_regard(shown(t), x, y)[0], atol=1e-9)


def test_the_width_of_least_error_is_offered(tab, saved):
    x, y = (torch.tensor(z)[:, None] for z in data(60))
    with tab() as t:
        t.go(saved)
        element(t).locator(".best").click()
        best = shown(t)["width"]
    from regard import NotSelf

    def error(width):
        others = attend(x, x, y, score=Gaussian(width=width), mask=NotSelf())
        return (y - others).square().mean().item()

    assert error(best) <= min(map(error, np.geomspace(0.05, 5, 200))) * (1 + 1e-4)


def test_a_kernel_with_an_edge_far_from_data_takes_the_nearest(tab, saved):
    y = data(60)[1]
    with tab() as t:
        t.go(saved)
        element(t).locator("#kernel").select_option("epanechnikov")
        element(t).evaluate("e => { e.width = 0.01; e.query = e.range[1]; }")
        element(t).evaluate("e => e.updateComplete")
        now = shown(t)
        assert now["alone"]
        assert now["prediction"] == y[-1]
        assert now["weights"][-1] == 1
        assert "temperature" in element(t).locator(".temperature").text_content()


def test_two_thousand_points_stay_smooth(tab, tmp_path):
    path = tmp_path / "many.html"
    look(data(2000), kernel="gaussian", width=0.2).save(path)
    with tab() as t:
        t.go(path)
        took = element(t).evaluate("""async (e) => {
            const times = [];
            for (let i = 0; i < 12; i += 1) {
                const start = performance.now();
                e.width *= 1.1; e.query += 0.05;
                await e.updateComplete;
                e.paint();
                times.push(performance.now() - start);
            }
            return times;
        }""")
    assert np.median(took) < 150, (
        took
    )  # a frame, worked out and painted; a tenth of it on a quiet core


def test_the_view_is_in_the_address(tab, saved):
    with tab() as t:
        t.go(f"{saved.as_uri()}#x=3.25&w=0.5&kernel=tricube")
        now = shown(t)
        assert (now["query"], now["width"], now["kernel"]) == (3.25, 0.5, "tricube")
        element(t).locator(".plot").focus()
        t.page.keyboard.press("ArrowRight")
        t.page.wait_for_function("() => !location.hash.includes('x=3.25&')")
        assert "kernel=tricube" in t.page.url
    with tab() as t:
        t.go(f"{saved.as_uri()}#x=<b>&w=-1&kernel=evil&lang=xx")
        assert shown(t)["width"] == 0.35


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_seriously_wrong_for_those_who_cannot_see_it(tab, saved, scheme):
    with tab(color_scheme=scheme) as t:
        t.go(saved)
        assert faults(t.page) == []


def test_it_speaks_chinese(tab, tmp_path):
    path = tmp_path / "zh.html"
    look(data(60), kernel="tricube", width=0.5, language="zh").save(path)
    with tab(color_scheme="dark") as t:
        t.go(path)
        text = element(t).evaluate("e => e.shadowRoot.textContent")
        assert "带宽 w" in text
        assert "softmax" in text
        assert "三次立方核" in text
        element(t).locator(".best").wait_for()
        resembles(t.page, "kernel_zh")


def test_opening_takes_a_moment(tab, saved):
    with tab() as t:
        start = time.perf_counter()
        t.go(saved)
        assert time.perf_counter() - start < 5
