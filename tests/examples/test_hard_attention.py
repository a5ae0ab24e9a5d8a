"""The example runs as a script, and its three curves rise."""

import runpy
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "examples" / "hard_attention.py"


def test_it_prints_three_curves_that_rise(capsys):
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split() == ["step", "soft", "straight-through", "score-function"]
    assert [int(row.split()[0]) for row in rows] == list(range(0, 126, 25))
    first, last = (
        [float(x.removesuffix("%")) for x in row.split()[1:]] for row in (rows[0], rows[-1])
    )
    assert max(first) < 30
    assert min(last) > 95
