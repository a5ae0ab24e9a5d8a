"""The benchmark of decoding checks what it times."""

import pytest
import torch
from benchmarks.decoding import WholePrefix, sentences, translate
from benchmarks.records import Row, append, read

from benchmarks import decoding, report
from regard.models import Bahdanau, BahdanauConfig, Transformer, TransformerConfig

SMALL = {
    "transformer": lambda: Transformer(
        TransformerConfig(8000, 8000, width=8, num_heads=2, encoder_layers=1, decoder_layers=1)
    ),
    "bahdanau": lambda: Bahdanau(BahdanauConfig(8000, 8000, embedding=4, hidden=8)),
}


def test_a_small_run(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(decoding, "MODELS", SMALL)
    threads = torch.get_num_threads()
    monkeypatch.setattr(decoding, "use_cores", lambda _: None)
    out = tmp_path / "rows.jsonl"
    words = ["--sentences", "12", "--together", "5", "--rounds", "1", "--beam", "2"]
    decoding.main([*words, "--out", str(out)])
    assert torch.get_num_threads() == threads
    lines = [line.split() for line in capsys.readouterr().out.splitlines()[1:]]
    assert [line[:2] for line in lines] == [["transformer", "2"], ["bahdanau", "2"]]
    rows = read(out)
    assert [row.provider for row in rows] == ["ours", "whole prefix"] * 2
    assert all(row.ms > 0 and row.shape == {"sentences": 12, "beam": 2} for row in rows)
    assert rows[0].extra == {"differ": 0}


def test_the_report_holds_it_against_the_bar(tmp_path):
    times = {"ours": [1e3, 1e3, 2e3], "whole prefix": [6e3, 7e3, 14e3]}
    rows = [
        Row("case", "x, real sentences", way, "search", {"sentences": 1000, "beam": 4}, ms=ms[1],
            rounds=ms, extra={"differ": 3})
        for way, ms in times.items()
    ]  # fmt: skip
    assert report._decoding(tmp_path) == []
    append(tmp_path / "decoding-cpu.jsonl", rows)
    *_, table = report._decoding(tmp_path)
    wanted = "| x, real sentences | 1,000 | 4 | 1.00 | 7.00 | 3 | 7.0x (6.4 to 7.0) | met |"
    assert table.splitlines()[2] == wanted


def test_the_shipped_models_on_sentences_of_a_file(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(decoding, "use_cores", lambda _: None)
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("你好。\tHello.\n我喜欢喝茶。\tI like tea.\n", encoding="utf-8")
    decoding.main(["--data", str(pairs), "--rounds", "1", "--beam", "2"])
    lines = [line.split() for line in capsys.readouterr().out.splitlines()[1:]]
    assert [line[:2] for line in lines] == [["zh-en", "2"], ["zh-en-bahdanau", "2"]]
    assert [line[-1] for line in lines] == ["0", "0"]


@pytest.mark.parametrize("kind", SMALL)
@pytest.mark.parametrize("beam", [1, 3])
def test_both_ways_write_the_same_in_the_lengths_wanted(kind, beam):
    torch.manual_seed(0)
    model = SMALL[kind]().eval()
    given = sentences(10)
    ours = translate(model, given, beam, 4)
    whole = translate(WholePrefix(model), given, beam, 4)
    assert [x.tokens for x in ours] == [x.tokens for x in whole]
    order = given.source_lens.argsort(stable=True)
    assert [len(x.tokens) for x in ours] == given.target_lens[order].tolist()


def test_another_answer_is_not_timed(monkeypatch):
    monkeypatch.setattr(decoding, "MODELS", SMALL)
    monkeypatch.setattr(decoding, "use_cores", lambda _: None)

    class Forgetful(WholePrefix):
        def step(self, tokens, state):
            scores, state = super().step(tokens, state)
            return scores.flip(-1), state

    monkeypatch.setattr(decoding, "WholePrefix", Forgetful)
    with pytest.raises(SystemExit, match="transformer, beam 1: the two ways do not write the same"):
        decoding.main(["--sentences", "12", "--rounds", "1"])


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--only", "nonsense"], "--only must be one of transformer, bahdanau, got nonsense"),
        (["--data", "x.tsv", "--only", "bahdanau"], "--only must be one of zh-en, zh-en-bahdanau"),
        (["--rounds", "0"], "must be at least 1"),
        (["--sentences", "-1"], "must be at least 1"),
    ],
)
def test_wrong_words_are_refused(words, complaint, capsys):
    with pytest.raises(SystemExit, match="2"):
        decoding.main(words)
    assert complaint in capsys.readouterr().err


def test_the_lengths_are_those_of_short_sentences():
    given = sentences(1000)
    assert 6 < given.source_lens.float().mean() < 9
    assert 8 < given.target_lens.float().mean() < 11
