"""An image and a sound behind the weights: each patch has its colour, and the picture shows."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from regard import look
from regard.viewing.backdrop import over_image, over_sound
from tests.browser.seen import cividis, faults, pixels, resembles

OVERLAY = "regard-overlay"
PATCH, SIDE = 4, 7


def picture():
    """A seven, white on black."""
    x = np.zeros((28, 28, 1), dtype=np.uint8)
    x[6:9, 6:22] = 255
    for row in range(9, 24):
        x[row, 20 - (row - 9) // 2 : 23 - (row - 9) // 2] = 255
    return x


def weights(count):
    scores = torch.randn(1, 3, count, generator=torch.Generator().manual_seed(5))
    return (1.5 * scores).softmax(-1)


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    path = tmp_path_factory.mktemp("pages") / "image.html"
    view = look(weights(SIDE * SIDE + 1), title="A seven")
    view.backdrop = over_image(picture(), PATCH, offset=1)
    view.save(path)
    return path


def opened(t, path, row=1):
    t.go(f"{path.as_uri()}#at={row},0&pin={row},0")
    t.page.wait_for_selector(f"{OVERLAY}[data-ready=true]")
    t.page.wait_for_selector(f"regard-tokens[data-row='{row}'][data-ready=true]")
    overlay = t.page.locator(OVERLAY)
    overlay.locator("canvas").scroll_into_view_if_needed()
    return overlay


def set_opacity(overlay, value):
    overlay.evaluate("(e, value) => { e.opacity = value; }", value)
    overlay.evaluate("e => e.updateComplete.then(() => new Promise(requestAnimationFrame))")


def middles(overlay):
    """Places near the upper left corners of all patches, row by row."""
    box = overlay.locator("canvas").bounding_box()
    size = box["width"] / SIDE
    return [
        (box["x"] + (col + 0.1) * size, box["y"] + (row + 0.1) * size)
        for row in range(SIDE)
        for col in range(SIDE)
    ]


def test_each_patch_has_the_colour_of_its_weight_over_the_picture(tab, image):
    row = weights(SIDE * SIDE + 1)[0, 1, 1:]
    grey = picture()[::PATCH, ::PATCH, 0].reshape(-1).astype(float)
    with tab() as t:
        overlay = opened(t, image)
        set_opacity(overlay, 0)
        bare = pixels(overlay, middles(overlay))
        for colour, wanted in zip(bare, grey, strict=True):
            assert colour == pytest.approx([wanted, wanted, wanted, 255], abs=1)
        set_opacity(overlay, 1)
        most = overlay.evaluate("e => e.scale.max")
        found = pixels(overlay, middles(overlay))
        for i, colour in enumerate(found):
            share = row[i].item() / most
            part = 0.4 + 0.6 * share
            mixed = [c * part + grey[i] * (1 - part) for c in cividis(share)]
            assert colour[:3] == pytest.approx(mixed, abs=4), i


def test_it_says_where_the_query_looks_and_what_is_pointed_at(tab, image):
    row = weights(SIDE * SIDE + 1)[0, 1]
    at = int(row[1:].argmax())
    with tab() as t:
        overlay = opened(t, image)
        said = overlay.locator("[role=status]")
        place = f"row {at // SIDE + 1}, column {at % SIDE + 1}"
        assert place in said.inner_text()
        assert f"{row[0].item() * 100:.1f} % of the weight is on keys that are not" in (
            said.inner_text()
        )
        overlay.locator(".picture").focus()
        t.page.keyboard.press("Home")
        first = at // SIDE * SIDE
        assert f"row {at // SIDE + 1}, column 1: weight" in said.inner_text()
        assert f"{row[1 + first].item():.3g}" in said.inner_text()
        t.page.mouse.move(*middles(overlay)[-1])
        assert "row 7, column 7" in said.inner_text()


def test_another_query_is_drawn_anew(tab, image):
    with tab() as t:
        overlay = opened(t, image)
        before = pixels(overlay, middles(overlay))
        t.page.evaluate("() => { location.hash = '#at=2,0&pin=2,0'; }")
        at = int(weights(SIDE * SIDE + 1)[0, 2, 1:].argmax())
        place = f"row {at // SIDE + 1}, column {at % SIDE + 1}"
        overlay.get_by_text(place).wait_for()
        overlay.evaluate("e => new Promise(requestAnimationFrame)")
        assert pixels(overlay, middles(overlay)) != before


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_spectrogram_has_its_weights_above_it(tab, tmp_path, scheme):
    frames = np.random.default_rng(0).normal(size=(200, 40))
    frames[60:120, 10:14] += 6
    path = tmp_path / "sound.html"
    view = look(weights(50), title="A word", language="zh" if scheme == "dark" else None)
    view.backdrop = over_sound(frames, 4)
    view.save(path)
    with tab(color_scheme=scheme) as t:
        overlay = opened(t, path)
        at = int(weights(50)[0, 1].argmax()) + 1
        said = overlay.locator("[role=status]").inner_text()
        assert (f"frame {at}" if scheme == "light" else f"第 {at} 帧") in said
        assert faults(t.page) == []
        resembles(t.page, f"sound_{scheme}")
