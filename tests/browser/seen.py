"""What a page looks like: pixels of a canvas, and pictures compared loosely."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np

SCREENS = Path(__file__).parent / "screens"
SIZE = (64, 40)
CLOSE = 8.0  # of 255, on average: fonts differ between machines, layouts do not
AXE = {"resultTypes": ["violations"]}


def grey(png):
    """A picture in small and without colours, [40, 64]."""
    from PIL import Image

    with Image.open(io.BytesIO(png)) as picture:
        small = picture.convert("L").resize(SIZE, Image.Resampling.BOX)
    return np.asarray(small, dtype=np.float64)


def resembles(page, name):
    """Hold a page to the stored picture of that name; REGARD_SCREENS=write stores it."""
    import os

    from PIL import Image

    png = page.screenshot(animations="disabled", caret="hide")
    small = grey(png)
    stored = SCREENS / f"{name}.png"
    if os.environ.get("REGARD_SCREENS") == "write":
        Image.fromarray(small.astype(np.uint8)).save(stored)
    with Image.open(stored) as picture:
        wanted = np.asarray(picture, dtype=np.float64)
    apart = float(np.abs(small - wanted).mean())
    assert apart < CLOSE, f"{name}: {apart:.1f} of 255 from the stored picture"
    return png


def faults(page):
    """What axe-core holds to be seriously wrong, one line each."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page, options=AXE).response["violations"]
    return [
        f"{fault['id']}: {json.dumps(node['target'])} {node['failureSummary']}"
        for fault in found
        if fault["impact"] in {"serious", "critical"}
        for node in fault["nodes"]
    ]


def cividis(share):
    """The colours of cividis, by the polynomial that d3 has of it."""
    t = share
    red = -4.54 - t * (35.34 - t * (2381.73 - t * (6402.7 - t * (7024.72 - t * 2710.57))))
    green = 32.49 + t * (170.73 + t * (52.82 - t * (131.46 - t * (176.58 - t * 67.37))))
    blue = 81.24 + t * (442.36 - t * (2482.43 - t * (6167.24 - t * (6614.94 - t * 2475.67))))
    return [min(255, max(0, round(part))) for part in (red, green, blue)]


def pixels(element, places):
    """The colours on the canvas at places of the screen, r, g, b and opacity."""
    return element.locator("canvas").evaluate(
        """(canvas, places) => {
            const box = canvas.getBoundingClientRect();
            const scale = canvas.width / box.width;
            const copy = new OffscreenCanvas(canvas.width, canvas.height);
            const context = copy.getContext('2d', { willReadFrequently: true });
            context.drawImage(canvas, 0, 0);
            return places.map(([x, y]) =>
                [...context.getImageData((x - box.x) * scale, (y - box.y) * scale, 1, 1).data]);
        }""",
        places,
    )
