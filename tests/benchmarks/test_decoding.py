"""The benchmark of decoding checks what it times."""

import json

import pytest
import torch
from benchmarks.decoding import WholePrefix, sentences, translate

from benchmarks import decoding
from regard.models import Bahdanau, BahdanauConfig, Transformer, TransformerConfig

SMALL = {
    "transformer": lambda: Transformer(
        TransformerConfig(8000, 8000, width=8, num_heads=2, encoder_layers=1, decoder_layers=1)
    ),
    "bahdanau": lambda: Bahdanau(BahdanauConfig(8000, 8000, embedding=4, hidden=8)),
}


def test_a_small_run(monkeypatch, capsys):
    monkeypatch.setattr(decoding, "MODELS", SMALL)
    threads = torch.get_num_threads()
    monkeypatch.setattr(decoding, "use_cores", lambda _: None)
    decoding.main(["--sentences", "12", "--together", "5", "--rounds", "1", "--beam", "2"])
    assert torch.get_num_threads() == threads
    *table, last = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in table[1:]] == [["transformer", "2"], ["bahdanau", "2"]]
    rows = json.loads(last)["measured"]
    assert all(row["ratio"] > 0 for row in rows)


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


def test_the_lengths_are_those_of_short_sentences():
    given = sentences(1000)
    assert 6 < given.source_lens.float().mean() < 9
    assert 8 < given.target_lens.float().mean() < 11
