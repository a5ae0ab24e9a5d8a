"""The report tells a met bar from a missed one."""

from dataclasses import asdict

import pytest
from benchmarks.cases import CASES
from benchmarks.records import Row, append
from benchmarks.report import write_report

CASE = next(case for case in CASES if case.name == "additive-grad")  # 10x eager, below 64 MiB


def row(provider, ms, mib=1.0, kind="case", n=None, **more):
    shape = asdict(CASE.shape)
    if n:
        shape["n"] = shape["m"] = n
    return Row(
        kind,
        more.pop("case", CASE.name),
        provider,
        CASE.direction,
        shape,
        ms=ms,
        ms_p20=ms,
        ms_p80=ms,
        rounds=[ms, ms * 1.1, ms],
        repeats=3,
        peak_mib=mib,
        machine={"cpu": "an abacus", "cores": 2},
        versions={"torch": "9.9"},
        **more,
    )


def verdicts(tmp_path, *rows):
    data = tmp_path / "rows.jsonl"
    append(data, rows)
    text = write_report(data, tmp_path)
    assert (tmp_path / "REPORT.md").read_text() == text
    table = text.split("## What had to be reached")[1].split("## ")[0]
    lines = [line for line in table.splitlines() if CASE.title in line and "backward" in line]
    return {str(bar): line for bar, line in zip(CASE.bars, lines, strict=True)}, text


@pytest.mark.parametrize(
    ("eager", "said"),
    [(100, "| 10.0x (10.0 to 10.0) | met |"), (90, "| missed: 0.90x of the bar |")],
)
def test_speed_is_judged(tmp_path, eager, said):
    found, text = verdicts(tmp_path, row("ours", 10), row("eager", eager))
    assert said in found["at least 10x faster than eager"]
    assert found["at least 4x faster than compiled"].endswith("| not measured |")
    assert "never typed by hand" in text
    assert "2 cores of an abacus; torch 9.9" in text


@pytest.mark.parametrize(("mib", "said"), [(63.9, "met"), (128.0, "missed: 0.50x of the bar")])
def test_memory_is_judged(tmp_path, mib, said):
    found, _ = verdicts(tmp_path, row("ours", 10, mib))
    assert found["extra memory below 64 MiB"].endswith(f"| {mib:.1f} MiB | {said} |")


def test_the_newest_row_counts(tmp_path):
    found, _ = verdicts(tmp_path, row("ours", 1e4), row("eager", 100), row("ours", 10))
    assert found["at least 10x faster than eager"].endswith("| met |")


def test_another_size_is_not_judged(tmp_path):
    found, _ = verdicts(tmp_path, row("ours", 10, n=512), row("eager", 1000, n=512))
    assert all("not judged" in line for line in found.values())


def test_growth_and_refusals(tmp_path):
    sizes = (2048, 4096, 8192)
    rows = [row("ours", n**2 / 1e6, None, "growth", n, case="additive, ours") for n in sizes]
    _, text = verdicts(tmp_path, *rows, row("sdpa", 0, kind="refused", note="has no tanh"))
    assert "| grows as | n^2.00 |" in text
    assert "sdpa: has no tanh" in text
    assert (tmp_path / "growth.png").stat().st_size > 1000
