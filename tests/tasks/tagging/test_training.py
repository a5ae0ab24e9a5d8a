"""Training a tagger: it learns, goes on where it was, and is refused what cannot be."""

import json
from dataclasses import replace

import pytest
import torch

from regard.errors import FileError, ValueRangeError
from regard.tasks.engine.weights import weights_of
from regard.tasks.tagged import Sentence
from regard.tasks.tagging.corpus import Corpus
from regard.tasks.tagging.tagger import Tagger
from regard.tasks.tagging.training import TASK, train
from regard.tasks.tagging.words import UNKNOWN
from tests.tasks.tagging.tiny import SENTENCES, TEXTS, small, tsv, words_of


@pytest.fixture(autouse=True)
def one_thread():
    count = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(count)


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data.tsv"
    path.write_text(tsv(SENTENCES * 4), encoding="utf-8")
    return path


def quick(**changes):
    usual = {
        "batch_tokens": 60, "epochs": 12, "warmup": 5, "learning_rate": 0.02, "dropout": 0.0,
        "encoder_dropout": 0.0, "validate_every": 30, "log_every": 10, "layers": 1, "patience": 0,
    }  # fmt: skip
    return small(**(usual | changes))


@pytest.mark.parametrize("encoder", ["self-attention", "rnn"])
def test_it_learns(encoder, data, tmp_path, capsys):
    run = train(quick(encoder=encoder), [data], data, tmp_path / "run", device="cpu")
    tag = Tagger.load(run.folder)
    # "saw" is a verb and a noun: only the words around it tell which
    assert str(tag(["the", "dogs", "saw", "a", "saw", "."])) == TEXTS[5]
    assert [str(x) for x in tag.many(x.words for x in SENTENCES)] == TEXTS
    told = capsys.readouterr().err
    assert "different words, " in told
    assert ", 9 labels, 9 beside" in told
    assert f"regard tag --model {run.folder}" in told


def test_without_files_to_be_judged_by_some_are_held_out(data, tmp_path, capsys):
    train(quick(epochs=1), [data], None, tmp_path / "run", device="cpu")
    assert "4 sentences held out for validation" in capsys.readouterr().err


def test_a_training_that_goes_on_gives_the_same_bits(data, tmp_path):
    whole = quick(epochs=4, dropout=0.2, encoder_dropout=0.1, save_every=3, schedule="constant")
    one = train(whole, [data], data, tmp_path / "one", device="cpu")
    train(replace(whole, steps=7), [data], data, tmp_path / "two", device="cpu")
    two = train(whole, [], None, tmp_path / "two", resume=True, device="cpu")
    (ours, _), (theirs, _) = one.load_last(), two.load_last()
    assert any(name.startswith("weights.") for name in ours)
    for name, x in ours.items():
        assert torch.equal(x, theirs[name]), name


def test_the_run_keeps_the_words_and_their_hash(data, tmp_path):
    run = train(quick(epochs=1), [data], data, tmp_path / "run", device="cpu")
    assert json.loads(run.vocabularies["words"])["labels"] == list(words_of().labels)
    _, about = run.load_weights()
    assert about["kind"] == "tagging"
    assert len(about["words"]) == 64
    run.verify()


def test_settings_that_do_not_fit_are_refused_before_anything_is_read(tmp_path):
    with pytest.raises(ValueRangeError, match="width must be a multiple of heads=3"):
        train(small(heads=3), [tmp_path / "none.tsv"], None, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_data_without_labels_are_refused(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("dogs\nbark\n", encoding="utf-8")
    with pytest.raises(FileError, match="no sentence is left"):
        train(small(), [path], None, tmp_path / "run")


def test_a_lesson_of_another_task_is_refused():
    corpus = Corpus(tuple(SENTENCES), tuple(SENTENCES), "a.tsv")
    with pytest.raises(FileError, match=r"no words\.model"):
        TASK.lesson(corpus, {"source": b""}, small())


def test_the_settings_reach_batches_and_loss():
    settings = small(
        word_dropout=1000.0, label_smoothing=0.25, auxiliary_weight=0.75, batch_tokens=16, seed=5
    )
    corpus = Corpus(tuple(SENTENCES), tuple(SENTENCES), "a.tsv")
    lesson = TASK.lesson(corpus, {"words": words_of().to_json()}, settings)
    losses = lesson.losses(lesson.model())
    assert (losses.label_smoothing, losses.auxiliary_weight) == (0.25, 0.75)
    batches = list(lesson.epochs(fixed_shapes=False).batches(0).epoch(0))
    words = torch.cat([batch.parts[0].flatten() for batch in batches])
    assert (words == UNKNOWN).sum() > 30  # of 41
    assert max(batch.parts[0].numel() for batch in batches) <= 16
    fixed = lesson.epochs(fixed_shapes=True).batches(0).epoch(0)
    assert {batch.parts[0].shape[0] for batch in fixed} == {8}


def test_long_sentences_are_told_and_learned(tmp_path):
    words = tuple(f"w{i}" for i in range(50))
    long = Sentence(words, ("X", "Y") * 25, 1)
    corpus = Corpus((long,), (long,), "a.tsv")
    lesson = TASK.lesson(corpus, TASK.learn(corpus, small(), lambda _: None), small())
    with lesson.epochs(fixed_shapes=False) as epochs:
        assert epochs.notes[0].startswith("1 sentence of more than 16 words: cut into pieces")
        batches = list(epochs.batches(0).epoch(0))
    assert sum(batch.tokens for batch in batches) == 50
    loss = lesson.losses(lesson.model())(*batches[0].parts)
    assert loss.isfinite()
    assert set(weights_of(lesson.model())) == set(lesson.model().state_dict())
