"""What kernel regression gives for a few points, for the page's own arithmetic to be held to.

python -m tests.viewing.golden writes the file anew.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import torch

from regard import (
    Biweight,
    Boxcar,
    Cauchy,
    CosineKernel,
    Epanechnikov,
    Gaussian,
    Laplacian,
    NotSelf,
    Triangular,
    Tricube,
    attend,
    weights,
)
from regard.regression import NadarayaWatson

FILE = Path(__file__).parents[2] / "page" / "src" / "kernel" / "golden.json"

SCORES = {
    "gaussian": Gaussian,
    "laplacian": Laplacian,
    "cauchy": Cauchy,
    "boxcar": Boxcar,
    "triangular": Triangular,
    "epanechnikov": Epanechnikov,
    "biweight": Biweight,
    "tricube": Tricube,
    "cosine": CosineKernel,
}
# these the regression knows, and attention does not
REGRESSION = ("matern32", "matern52", "triweight")
X = [-1.25, -0.5, -0.375, 0.0, 0.3, 0.35, 1.0, 2.125]
Y = [0.5, -1.0, 0.25, 2.0, 1.5, 1.75, -0.5, 3.0]
QUERIES = [-1.3, -0.4375, 0.1, 1.5625, -40.0, 30.0]  # two are far from all points
WIDTHS = [0.11, 0.8, 4.0]


def golden():
    """The points, and for every kernel and width: weights, predictions, leave-one-out error.

    Weights are null where no point is in reach: there the nearest one stands in, as in
    ``NadarayaWatson``.
    """
    cases = [_attention(name, width) for name in SCORES for width in WIDTHS]
    cases += [_regression(name, width) for name in REGRESSION for width in WIDTHS]
    return {"x": X, "y": Y, "queries": QUERIES, "cases": cases}


def _attention(name, width):
    x, y, q = (torch.tensor(a, dtype=torch.float64)[:, None] for a in (X, Y, QUERIES))
    score = SCORES[name](width=width)
    rows = weights(q, x, score=score)
    alone = rows.sum(-1) < 0.5
    near = y[(q - x.T).abs().argmin(-1)]
    predictions = torch.where(alone[:, None], near, attend(q, x, y, score=score))
    # and every point from the others
    apart = (x - x.T).abs().fill_diagonal_(torch.inf)
    lonely = weights(x, x, score=score, mask=NotSelf()).sum(-1) < 0.5
    others = attend(x, x, y, score=score, mask=NotSelf())
    others = torch.where(lonely[:, None], y[apart.argmin(-1)], others)
    return {
        "kernel": name,
        "width": width,
        "weights": [None if a else row.tolist() for row, a in zip(rows, alone, strict=True)],
        "predictions": predictions[:, 0].tolist(),
        "leave_one_out": (y - others).square().mean().item(),
    }


def _regression(name, width):
    x, y, q = (np.array(a)[:, None] for a in (X, Y, QUERIES))
    model = NadarayaWatson(kernel=name, bandwidth=width).fit(x, y[:, 0])
    return {"kernel": name, "width": width, "predictions": model.predict(q).tolist()}


if __name__ == "__main__":
    FILE.write_text(json.dumps(golden(), separators=(",", ":")) + "\n")
