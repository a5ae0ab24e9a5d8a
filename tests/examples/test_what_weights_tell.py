"""What docs/weights.md says of a real BERT is what the example finds."""

import runpy
from pathlib import Path

import pytest
import torch

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "what_weights_tell.py"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of transformers
def test_it_prints_what_the_page_quotes(capsys):
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    printed = capsys.readouterr().out.strip()
    page = (ROOT / "docs" / "weights.md").read_text(encoding="utf-8")
    assert printed in page


def test_correlation_is_of_orders():
    correlation = runpy.run_path(str(EXAMPLE))["correlation"]
    x = torch.tensor([1.0, 5.0, 2.0])
    assert correlation(x, x.exp()) == pytest.approx(1)
    assert correlation(x, -x) == pytest.approx(-1)
