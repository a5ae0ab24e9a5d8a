"""How a model is judged while it is trained."""

import pytest
import torch

from regard.tasks.pairs import Pair
from regard.tasks.translation import validation
from regard.tasks.translation.search import search
from regard.tasks.translation.settings import model_of
from regard.tasks.translation.validation import Validation
from regard.tasks.vocabulary import BOS, EOS, Vocabulary
from tests.tasks.translation.toy import WORDS, small, translated

CPU = torch.device("cpu")
TEXTS = [" ".join(list(WORDS)[i : i + 1 + i % 4]) for i in range(8)]
PAIRS = [Pair(text, translated(text), i) for i, text in enumerate(TEXTS)]
SOURCE = Vocabulary.learn(TEXTS, 300)
TARGET = Vocabulary.learn([pair.target for pair in PAIRS], 300)

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture
def model():
    torch.manual_seed(0)
    return model_of(small(dropout=0.5), len(SOURCE), len(TARGET)).train()


def judge(**settings):
    return Validation(PAIRS, SOURCE, TARGET, small(**settings))


def test_bleu_is_that_of_the_translations_in_the_order_of_the_pairs(model, monkeypatch):
    told = []
    monkeypatch.setattr(Validation, "bleu", lambda self, texts: told.extend(texts) or 12.5)
    monkeypatch.setattr(validation, "TOGETHER", 16)  # several batches
    judged = judge(beam=2)(model, CPU)
    assert judged.score == 12.5
    model.eval()
    for text, pair in zip(told, PAIRS, strict=True):
        source = torch.tensor([SOURCE.encode(pair.source)])
        assert text == TARGET.decode(search(model, source, beam=2)[0][0].tokens)


def test_perfect_translations_have_a_bleu_of_100():
    assert judge().bleu([pair.target for pair in PAIRS]) == pytest.approx(100)
    assert judge().bleu([pair.target for pair in PAIRS[::-1]]) < 50


def test_the_loss_is_the_mean_over_tokens_without_smoothing(model):
    judged = judge(label_smoothing=0.5)(model, CPU)
    assert model.training
    model.eval()
    total = count = 0
    for pair in PAIRS:
        ids = TARGET.encode(pair.target)
        scores = model(torch.tensor([SOURCE.encode(pair.source)]), torch.tensor([[BOS, *ids]]))
        logs = scores[0].detach().log_softmax(-1)
        total -= sum(float(logs[i, token]) for i, token in enumerate([*ids, EOS]))
        count += len(ids) + 1
    assert judged.loss == pytest.approx(total / count, rel=1e-5)


def test_long_pairs_are_cut_and_many_are_not_all_taken(model, monkeypatch):
    monkeypatch.setattr(validation, "MOST", 3)
    pairs = [Pair("ba " * 50, "one " * 50, 0), *PAIRS]
    judged = Validation(pairs, SOURCE, TARGET, small(max_len=6))
    assert len(judged._sources) == 3
    assert max(map(len, judged._sources)) == 6
    assert judged._batches.too_long == 0
    assert judged(model, CPU).loss > 0


def test_there_may_be_no_time(model):
    assert judge()(model, CPU, lambda: True) is None
    assert model.training
