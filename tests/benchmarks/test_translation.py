"""The translators' benchmark checks what it times, and the report says what came out."""

from dataclasses import replace

import pytest
import torch
from benchmarks.gate import WrongAnswerError
from benchmarks.measure import Pace
from benchmarks.records import Row, append, read
from benchmarks.report import write_report
from benchmarks.sentences import SHAPES, sentences, shape_of
from benchmarks.translation_report import measured, verdicts

from benchmarks import translation
from regard.tasks.vocabulary import PAD

CPU = torch.device("cpu")
SMALL = {
    "translation-transformer": {"width": 16, "heads": 2, "hidden": 24, "encoder_layers": 2},
    "translation-bahdanau": {"width": 12, "hidden": 16},
}
CASES = [
    replace(
        case,
        settings=replace(case.settings, vocab_size=300, decoder_layers=1, **SMALL[case.name]),
    )
    for case in translation.CASES
]
NAMES = ["transformer", "bahdanau"]


@pytest.fixture(scope="module")
def batches():
    return sentences(256, 3, 300)


def pair(case):
    ours = translation._ours(case, CPU)
    return ours, translation._peer(case, "auto", ours, CPU)


def test_sentences_are_like_sentences():
    found = sentences(2048, 20, 8000)
    assert len(found) == 20
    assert 2 <= len({shape_of(batch) for batch in found}) <= SHAPES
    assert all(batch.source.shape[0] * max(shape_of(batch)[1:]) <= 2048 for batch in found)
    lengths = torch.cat([(batch.source != PAD).sum(1) for batch in found])
    assert 7 <= lengths[lengths > 0].median() <= 13
    ids = torch.cat([batch.source.flatten() for batch in found])
    ids = ids[ids != PAD]
    assert 4 <= ids.min() < 10
    assert 7900 < ids.max() < 8000
    again = sentences(2048, 20, 8000)
    assert all(torch.equal(a.target_out, b.target_out) for a, b in zip(found, again, strict=True))


def test_a_small_run(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(translation, "CASES", CASES)
    monkeypatch.setattr(translation, "use_cores", lambda count: None)  # the tests' own
    out = tmp_path / "rows.jsonl"
    asked = ["--device", "cpu", "--tokens", "256", "--steps", "3", "--seconds", "0.01"]
    translation.main([*asked, "--out", str(out)])
    rows = read(out)
    assert [(row.case, row.provider) for row in rows] == [
        ("translation-transformer", "ours"),
        ("translation-transformer", "torch.nn.Transformer"),
        ("translation-bahdanau", "ours"),
        ("translation-bahdanau", "textbook"),  # in float32 here anyway
    ]
    assert all(row.kind == "training" and row.ms > 0 and row.versions for row in rows)
    assert {row.shape["tokens"] for row in rows} == {256}
    batches = sentences(256, 3, 300)
    assert rows[0].extra["target_tokens"] == sum(batch.tokens for batch in batches)
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].split()[:4] == ["case", "provider", "target/s", "both/s"]
    assert [line.split()[0] for line in printed[1:]] == [row.case for row in rows]


def exactly(case, ours):
    """The peer in float64."""
    exact = translation._peer(case, "float32", ours, CPU)
    exact.model.double()
    return exact


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_another_network_is_not_timed(case, batches):
    ours, peer = pair(case)
    exact = exactly(case, ours)
    translation.agree(case.name, "them", ours, peer, exact, batches[0])
    with torch.no_grad():
        peer.model.source_embedding.weight[:, 0] += 1
    with pytest.raises(WrongAnswerError, match=f"{case.name}, them: a loss of"):
        translation.agree(case.name, "them", ours, peer, exact, batches[0])


@pytest.mark.parametrize("case", CASES, ids=NAMES)
@pytest.mark.parametrize("wrong", ["theirs", "ours"])
def test_another_gradient_is_not_timed(case, wrong, batches):
    ours, peer = pair(case)
    exact = exactly(case, ours)
    changed, much = (peer, 1.01) if wrong == "theirs" else (ours, 1.001)
    changed.model.source_embedding.weight.register_hook(lambda x: x * much)
    said = "off by 1.0e-02, and ours by" if wrong == "theirs" else "and ours by 1.0e-03"
    with pytest.raises(WrongAnswerError, match=f"them: gradients are .*{said}"):
        translation.agree(case.name, "them", ours, peer, exact, batches[0])


def test_a_few_tokens_may_have_another_gradient_but_none_that_is_not_finite():
    true = torch.arange(1.0, 201.0, dtype=torch.float64)[:, None].expand(200, 3)
    few = true.clone()
    few[50:66] *= -5
    assert translation._off(few, true, 16) == 0
    few[66] *= 1.5
    assert translation._off(few, true, 16) > 0.1
    few[66] = torch.nan
    assert translation._off(few, true, 16) == torch.inf


def test_steps_that_lead_nowhere_are_not_timed(monkeypatch, batches):
    monkeypatch.setattr(translation, "LR", 0.0)
    still = CASES[1]
    still = replace(still, settings=replace(still.settings, dropout=0.0))
    with pytest.raises(WrongAnswerError, match="ours: the losses of steps on one batch do not"):
        translation.rows(still, batches, CPU, Pace(0.01), shape={})


def test_steps_that_are_not_finite_are_not_timed(batches):
    ours, _ = pair(CASES[1])
    with torch.no_grad():
        ours.model.out.weight[5] = torch.nan
    with pytest.raises(WrongAnswerError, match="c, ours: a loss of nan"):
        translation._descent("c", "ours", ours, batches[0])


def test_steps_that_go_another_way_are_not_timed():
    translation._same_way("c", "them", [9.0, 8.0], [9.1, 7.9])
    with pytest.raises(WrongAnswerError, match="c, them: losses of the same steps are apart by 6"):
        translation._same_way("c", "them", [9.0, 8.0], [9.1, 7.5])


def test_a_peer_that_cannot_run_is_a_reason(monkeypatch, batches):
    def out_of_memory(self, batch):
        raise torch.OutOfMemoryError("too little\nby far")

    monkeypatch.setattr(translation.PlainStepper, "step", out_of_memory)
    found = translation.rows(CASES[1], batches, CPU, Pace(0.01, 1, 1), shape={"tokens": 256})
    assert [(row.kind, row.provider) for row in found] == [
        ("training", "ours"),
        ("refused", "textbook"),
    ]
    assert found[1].note == "OutOfMemoryError: too little"


def row(case, provider, ms, tokens=translation.FULL_SIZE, kind="training", run="1", **machine):
    return Row(
        kind,
        case.name,
        provider,
        "training",
        {"tokens": tokens, "steps": 30},
        ms=ms,
        ms_p20=ms,
        ms_p80=2 * ms,
        rounds=[ms, ms],
        repeats=4,
        peak_mib=1234.5,
        extra={"source_tokens": 3000, "target_tokens": 6000, "shapes": 8},
        note="too little" if kind == "refused" else "",
        run=run,
        machine={"cpu": "an abacus", "cores": 2, **machine},
        versions={"torch": "9.9"},
    )


@pytest.mark.parametrize(("theirs", "said"), [(301, "met"), (270, "missed: 0.90x of the bar")])
def test_the_report(tmp_path, theirs, said):
    case = translation.CASES[0]
    peer = next(iter(case.peers))
    data = tmp_path / "rows.jsonl"
    append(data, [])
    assert "Translation" not in write_report(data, tmp_path)
    rows = [row(case, "ours", 100, gpu="a loom"), row(case, peer, theirs, gpu="a loom")]
    append(tmp_path / "translation-cuda.jsonl", rows)
    text = write_report(data, tmp_path)
    section = text.split("## Translation: training, on the GPU")[1].split("\n## ")[0]
    assert "- a loom; 2 cores of an abacus; torch 9.9" in section
    ratio = f"{theirs / 100:.1f}x ({theirs / 100:.1f} to {theirs / 100:.1f})"
    bar = f"at least 3x faster than torch.nn.Transformer | {ratio} | {said} |"
    assert f"| {case.title} | {bar}" in section
    size = "8,192 tokens a batch, 30 batches of 8 shapes"
    speeds = "60,000 (30,000 to 60,000) | 90,000 | 3.33 |"
    assert f"| {case.title}; {size} | ours | {speeds}  | 1,234 | 4 |" in section
    assert "Not measured" not in section


def test_bars_are_for_the_full_size_on_a_gpu():
    case = translation.CASES[1]
    rows = [row(case, name, 10, gpu="a loom") for name in ("ours", "textbook")]
    rows.append(row(case, "textbook in float32", 0, kind="refused", gpu="a loom"))
    assert [line[-1] for line in verdicts(rows)] == ["missed: 0.20x of the bar", "not measured"]
    assert len(list(measured(rows))) == 2
    assert not list(verdicts([replace(one, shape={"tokens": 64, "steps": 1}) for one in rows]))
    assert not list(verdicts([replace(one, machine={}) for one in rows]))


def test_only_the_newest_run_is_compared():
    case = translation.CASES[0]
    rows = [row(case, "torch.nn.Transformer", 900, run="1"), row(case, "ours", 100, run="2")]
    assert [line[1] for line in measured(rows)] == ["ours"]
