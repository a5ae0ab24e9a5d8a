"""The GPU's benchmark, without a GPU: what is checked, kept, judged and reported."""

import json
from dataclasses import replace

import pytest
import torch
from benchmarks.bars import AsFastAs, Novelty, Peak, Runs, Within
from benchmarks.environment import describe
from benchmarks.gpu_cases import CASES, FLEX_MASK
from benchmarks.gpu_peers import Peer, exact, make_problem, once, peer
from benchmarks.gpu_records import Reading, by_case, keep, read_readings

from benchmarks import gpu, gpu_report
from regard import attend

BY_NAME = {case.name: case for case in CASES}


def reading(provider="ours", ms=1.0, *, case="additive", direction="forward", run="r", **more):
    shape = more.pop("shape", BY_NAME[case].sizes)
    kind = "growth" if case.startswith("growth") else "case"
    machine = {"gpu": "an abacus", "cores": 2, "cpu": "beads"}
    return Reading(
        kind,
        case,
        provider,
        direction,
        shape,
        ms=ms,
        run=run,
        date="today",
        machine=machine,
        **more,
    )


def session(tmp_path, **more):
    return gpu.Session(tmp_path / "rows.jsonl", "cpu", describe(), rep=1, **more)


def judged(bar, *readings, direction="forward", timing="ms"):
    return bar.judge(readings[0].case, direction, by_case(readings), timing)


# what runs ------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_dry_run(case, tmp_path, one_thread):
    one = session(tmp_path)
    gpu.run(one, [case])
    kept = read_readings(one.out)
    assert kept == one.readings
    assert not one.skipped
    assert {x.provider for x in kept} - {FLEX_MASK} == set(case.providers)
    assert {x.direction for x in kept} == set(case.directions)
    ours = [x for x in kept if x.provider == "ours"]
    assert all(x.ms > 0 and not x.note.startswith("not set up") for x in ours)
    assert ours[0].error < gpu.TOLERANCE[case.dtype]
    assert all(x.ms is not None or x.note for x in kept)  # nothing is missing without a reason
    assert not [x.note for x in kept if "WrongAnswerError" in x.note]


@pytest.mark.parametrize("name", ["additive", "dot-causal", "dot-lengths", "dot-window"])
def test_the_definition_in_pieces_is_the_definition(name, monkeypatch):
    problem = make_problem(BY_NAME[name], BY_NAME[name].dry, "cpu")
    whole, rows = exact(problem, grads=True)
    monkeypatch.setattr("benchmarks.gpu_peers.AT_A_TIME", 1000)  # a few rows at a time
    pieces, _ = exact(problem, grads=True)
    assert rows.tolist() == list(range(problem.q.shape[-2]))
    double = replace(
        problem,
        **{x: getattr(problem, x).detach().double().requires_grad_() for x in ("q", "k", "v")},
        dout=problem.dout.double(),
        w=None if problem.w is None else problem.w.detach().double().requires_grad_(),
    )
    score, mask = double.score(), double.mask()
    ours = once(
        double,
        "forward+backward",
        lambda: attend(double.q, double.k, double.v, score=score, mask=mask, impl="reference"),
    )
    for one in (whole, pieces):
        assert one.keys() == ours.keys()
        for key, x in ours.items():
            torch.testing.assert_close(one[key], x, rtol=1e-10, atol=1e-12)


def test_some_rows_are_checked_where_all_would_take_long():
    case = replace(BY_NAME["gaussian"], checked=5)
    problem = make_problem(case, case.dry, "cpu")
    wanted, rows = exact(problem, grads=False)
    assert rows.tolist() == [0, 75, 150, 224, 299]  # halves go to the even
    got = once(problem, "forward", peer("ours", problem).forward)
    assert gpu.errors(got, wanted, "float32", rows)["error"] < 1e-6
    with pytest.raises(gpu.WrongAnswerError, match="out: wrong by"):
        gpu.errors(got, wanted, "float32", rows.flip(0))


@pytest.mark.parametrize("wrong", [1.01, float("nan")])
def test_a_wrong_gradient_is_not_timed(wrong, tmp_path, monkeypatch):
    def bad(name, problem):
        return Peer(lambda: peer("eager", problem).forward() * wrong)

    monkeypatch.setattr(gpu, "peer", bad)
    one = session(tmp_path)
    gpu.run(one, [replace(BY_NAME["additive"], providers=("ours",))])
    assert [x.ms for x in one.readings] == [None, None]
    assert all("WrongAnswerError: out: wrong by" in x.note for x in one.readings)


def test_one_failure_does_not_stop_the_rest(tmp_path, monkeypatch):
    def broken(case, sizes, device):
        if case.name == "additive":
            msg = "no inputs\nand a second line"
            raise RuntimeError(msg)
        return make_problem(case, sizes, device)

    monkeypatch.setattr(gpu, "make_problem", broken)
    one = session(tmp_path)
    gpu.run(one, [BY_NAME["additive"], BY_NAME["gaussian"]])
    notes = [(x.case, x.note) for x in one.readings]
    why = "not set up: RuntimeError: no inputs"
    assert notes[:2] == [("additive", why)] * 2
    assert one.readings[-1].case == "gaussian"
    assert one.readings[-1].ms > 0


def test_what_there_is_no_time_for_leaves_no_row(tmp_path):
    one = session(tmp_path, deadline=0.0)
    gpu.run(one, [BY_NAME["gaussian"]])
    assert one.attempt(reading_about("gaussian"), dict) is None
    assert one.skipped == ["gaussian", "gaussian forward ours"]
    assert not one.out.exists()


def reading_about(case):
    return {"case": case, "provider": "ours", "direction": "forward", "kind": "case", "shape": {}}


def test_a_provider_can_be_left_out(tmp_path):
    one = session(tmp_path, without=frozenset({"torch in chunks"}))
    gpu.run(one, [BY_NAME["gaussian"]])
    assert [x.provider for x in one.readings] == ["ours"]


@pytest.mark.parametrize(
    ("graph", "mib", "note"),
    [
        ([0.5, 0.4, 0.6], 10.0, ""),
        (RuntimeError("looked at a number"), 10.0, "no graph: RuntimeError: looked at a number"),
        ([0.5, 0.4, 0.6], 2e4, "no graph: too long or too large to be launch bound"),
    ],
)
def test_a_graph_is_tried_and_never_needed(graph, mib, note, monkeypatch):
    class Recorded:
        def replay(self):
            raise AssertionError

    def graphed(call):
        if isinstance(graph, Exception):
            raise graph
        return Recorded()

    monkeypatch.setattr(gpu, "_peak", lambda call, device: (mib, 0.01))
    monkeypatch.setattr(gpu, "_graphed", graphed)
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: None)
    monkeypatch.setattr(gpu, "_times", lambda call, *_: [1.0, 0.9, 1.1] if call is once else graph)
    found = gpu.measure(once, "cuda", 1)
    assert (found["ms"], found["spread"], found["mib"]) == (1.0, [0.9, 1.1], mib)
    assert found.get("note", "") == note
    assert found.get("graph_ms") == (None if note else 0.5)


def test_growth_stops_before_it_is_too_much():
    def at(ms, mib):
        return reading(ms=ms, mib=mib, case="growth-dot")

    assert gpu.too_much([]) == ""
    assert gpu.too_much([at(499, 1)]) == ""
    assert gpu.too_much([at(600, 1)]) == "would take about 2.4 s"
    assert gpu.too_much([at(1, 20_000)]) == "would need about 78 GiB"
    assert gpu.too_much([at(1, 10_000), at(1, 20_000)]) == ""  # linear: 40,000 next


def test_without_a_gpu_it_says_so(capsys, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(SystemExit):
        gpu.main([])
    assert "no CUDA GPU here; --dry" in capsys.readouterr().err


def test_the_command_line(tmp_path, capsys):
    out = tmp_path / "rows.jsonl"
    assert gpu.main(["--dry", "--only", "gaussian", "--out", str(out)]) == 0
    assert len(read_readings(out)) == 2
    assert "2 rows in" in capsys.readouterr().out


# what is kept ---------------------------------------------------------------------------------


def test_the_newest_reading_counts(tmp_path):
    file = tmp_path / "rows.jsonl"
    small, large = ({"n": 16}, {"n": 32})
    for one in (
        reading(ms=3.0),
        reading("eager", 9.0),
        reading(ms=8.0, direction="forward+backward"),
        reading(ms=1.0, case="growth-dot", shape=small),
        reading(ms=2.0, case="growth-dot", shape=large),
        reading(ms=2.0),
        reading("eager", None, note="out of memory"),
    ):
        keep(file, one)
    with file.open("a") as more:
        more.write("\n")
    kept = read_readings(file)
    assert [x.ms for x in kept] == [2.0, None, 8.0, 1.0, 2.0]
    assert kept[1].note == "out of memory"
    assert json.loads(file.read_text().splitlines()[0])["case"] == "additive"
    assert len(by_case(kept)) == 3


# what is judged -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ms", "said"),
    [
        (1.4, "met: 1.00x of what is allowed"),
        (0.7, "met: 0.50x of what is allowed"),
        (2.1, "missed: 1.50x of what is allowed"),
        (1.401, "missed: 1.0007x of what is allowed"),
    ],
)
def test_time_is_judged(ms, said):
    assert str(judged(Within(1.4), reading(ms=ms))) == said
    graph = reading(ms=9.0, graph_ms=ms)
    assert str(judged(Within(1.4), graph, timing="graph_ms")) == said
    assert judged(Within(1.4), reading(ms=ms), timing="graph_ms") is None


def test_memory_is_judged_once():
    bar = Peak(30)
    assert str(judged(bar, reading(mib=33.0))) == "missed: 1.10x of what is allowed"
    assert judged(bar, reading(mib=29.0)).met
    assert judged(bar, reading(mib=29.0), timing="graph_ms") is None
    assert judged(bar, reading()) is None


def test_the_fastest_peer_of_the_same_run_is_the_bar():
    bar = AsFastAs(("SDPA cuDNN", "SDPA flash", "FlexAttention"))
    ours = reading(ms=2.4, graph_ms=2.3, case="dot")
    slow = reading("SDPA flash", 3.5, graph_ms=3.5, case="dot")
    fast = reading("SDPA cuDNN", 2.0, graph_ms=2.5, case="dot")
    other_run = reading("FlexAttention", 0.1, graph_ms=0.1, case="dot", run="another")
    failed = reading("FlexAttention", None, case="dot", note="no compiler")
    found = judged(bar, ours, slow, fast, other_run)
    assert found.reached == "2.4 ms beside 2 ms of SDPA cuDNN"
    assert str(found) == "missed: 1.20x of what is allowed"
    assert judged(bar, ours, slow, fast, failed, timing="graph_ms").met
    assert judged(bar, ours, other_run) is None


def test_running_at_all_is_judged():
    assert str(judged(Runs(), reading(ms=90.0))) == "met"
    assert str(judged(Runs(), reading(ms=None, note="out of memory"))) == "missed"


def test_planning_for_a_length_is_seen():
    bar = Novelty(1.5)

    def took(seconds, again):
        return reading(case="changing", extra={"seconds": seconds, "again": again, "calls": 200.0})

    assert judged(bar, took(1.1, 1.0)).met
    assert str(judged(bar, took(6.0, 1.0))) == "missed: 4.00x of what is allowed"
    assert judged(bar, reading(case="changing")) is None


def test_a_failure_of_ours_is_a_bar_missed():
    found = by_case([reading(ms=None, note="illegal address")])
    lines = [line for line in gpu_report.verdicts(found) if line[:2] == lead("additive")]
    assert [line[4] for line in lines] == ["missed: illegal address"] * 2


def test_another_size_is_not_judged():
    found = by_case([reading(ms=0.1, mib=1.0, shape={"n": 3})])
    lines = [line for line in gpu_report.verdicts(found) if line[:2] == lead("additive")]
    assert [line[4] for line in lines] == ["not judged: measured at another size"] * 2


def lead(name, direction="forward"):
    return (BY_NAME[name].title, direction)


def test_a_series_is_in_the_order_of_n():
    points = [reading(case="growth-dot", shape={"n": n}) for n in (4, 1, 2)]
    points += [reading(case="growth-dot", shape={"n": 8}, ms=None), reading()]
    (found,) = gpu_report.series(points).values()
    assert [x.shape["n"] for x in found["ours"]] == [1, 2, 4]


# what is reported -----------------------------------------------------------------------------


@pytest.fixture
def report(tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    from benchmarks.report import write_report

    file = tmp_path / "cpu.jsonl"
    file.write_text("")
    return lambda: write_report(file, tmp_path)


def test_no_section_without_readings(report, tmp_path):
    assert "On a GPU" not in report()
    assert not (tmp_path / "growth-gpu.png").exists()


def test_the_section(report, tmp_path):
    file = tmp_path / "attention-cuda.jsonl"
    times = {"spread": [1.1, 1.3], "graph_ms": 1.0, "graph_spread": [0.9, 1.1]}
    extra = {"seconds": 6.0, "again": 1.0, "calls": 200.0}
    dot = {"case": "growth-dot", "mib": 16.0}
    for one in (
        reading(ms=1.2, mib=20.0, error=3e-7, impl="triton", **times),
        reading("eager", 24.0, mib=32_768.0, error=1e-7, note="no graph: RuntimeError: it waits"),
        reading("compiled", None, note="a minute to compile"),
        reading("SDPA cuDNN", 30.0, case="changing", direction="forward+backward", extra=extra),
        *(reading(ms=n / 1e3, shape={"n": n}, **dot) for n in (2048, 1024)),
        reading("SDPA math", 5.0, shape={"n": 1024}, **dot),
        reading("SDPA math", None, shape={"n": 2048}, case="growth-dot", note="would need 99 GiB"),
    ):
        keep(file, one)
    text = report().split("## On a GPU")[1].split("\n## ")[0]
    title = BY_NAME["additive"].title
    met = "met: 0.86x of what is allowed | 1 ms | met: 0.71x of what is allowed"
    for wanted in (
        "an abacus; 2 cores of beads",
        f"| {title} | forward | 1.4 ms | 1.2 ms | {met} |",
        f"| {title} | forward | 30 MiB | 20.0 MiB | met: 0.67x of what is allowed |  |  |",
        f"| {title} | forward+backward | 7 ms |  | not measured |  |  |",
        f"| {title}, forward | ours (triton) | 1.200 (1.100 to 1.300) | 1.000 (0.900 to 1.100) |"
        "  | 20.0 | 3.0e-07 |",
        "|  | eager | 24.0 |  | 20.00x | 32,768.0 | 1.0e-07 |",
        "| SDPA cuDNN | 200 | 6.00 | 1.00 | 6.00x |",
        "![time and memory](growth-gpu.png)",
        "| n = m | ours, ms / MiB | SDPA math, ms / MiB |",
        "| 1,024 | 1.024 / 16.0 | 5.000 / 16.0 |\n| 2,048 | 2.048 / 16.0 |  |",
        "- additive, forward, compiled: a minute to compile",
        "- additive, forward, eager: no graph: RuntimeError: it waits",
        "- growth-dot, n = 2,048, forward, SDPA math: would need 99 GiB",
    ):
        assert wanted in text
    assert (tmp_path / "growth-gpu.png").stat().st_size > 1000
