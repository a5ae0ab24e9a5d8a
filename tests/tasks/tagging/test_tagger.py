"""Taggers: found by name or folder, and never at a loss for an answer."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch

from regard.errors import FileError, KindError, StateError, ValueRangeError
from regard.tasks.packed import ship
from regard.tasks.run import Run
from regard.tasks.tagging import tagger as module
from regard.tasks.tagging.numbered import Numbered, Piece
from regard.tasks.tagging.tagger import Tagger, shipped_models
from tests.tasks.tagging.tiny import SENTENCES, tiny_run

TEXTS = [" ".join(x.words) for x in SENTENCES]
STRANGE = [
    "",
    " ",
    "😀",
    "\x00",
    "\ud800",
    "\u202e",
    "中文没有空格",
    "a" * 5000,
    "!" * 500,
    "\n\n",
    "e\u0301",
]


@pytest.fixture(scope="module", params=["self-attention", "truncated", "cnn", "rnn", "window"])
def tagger(request, tmp_path_factory):
    return Tagger.load(tiny_run(tmp_path_factory.mktemp("runs") / "run", encoder=request.param))


@pytest.fixture(scope="module")
def looking(tmp_path_factory):
    return Tagger.load(tiny_run(tmp_path_factory.mktemp("runs") / "run"))


def alike(one, other):
    assert one.words == other.words
    assert one.labels == other.labels
    assert one.probabilities == pytest.approx(other.probabilities, abs=1e-5)
    assert len(one.parts) == len(other.parts)


# what comes out


def test_the_labels_are_the_models_own(tagger):
    found = tagger("The dog sees 12 cats.")
    assert found.words == ("The", "dog", "sees", "12", "cats", ".")
    numbered = Numbered.of([type(SENTENCES[0])(found.words, (), 0)], tagger.words)
    words, spellings, lens, *_ = numbered.stacked([Piece(0, 0, 6, 0, 6)])
    chances = tagger.model(words, spellings, lens).softmax(-1)[0]
    assert found.labels == tuple(tagger.labels[i] for i in chances.argmax(-1))
    assert found.probabilities == pytest.approx(chances.amax(-1).tolist(), abs=1e-6)
    assert found.parts == ()


def test_words_that_are_given_stay_as_they_are(tagger):
    words = ["don't", "New York", "a.b"]
    assert tagger(words).words == tuple(words)
    assert tagger(tuple(words)).words == tuple(words)
    alike(tagger(["dogs", "bark", "."]), tagger("dogs bark."))


def test_a_text_of_several_sentences(tagger):
    found = tagger("Dogs bark. She sleeps!\nthe cat")
    assert [str(x.words) for x in found.parts] == [
        "('Dogs', 'bark', '.')", "('She', 'sleeps', '!')", "('the', 'cat')"
    ]  # fmt: skip
    alike(found.parts[1], tagger("She sleeps!"))


def test_many_at_once_are_the_same_as_one_by_one(tagger):
    texts = [*TEXTS[:4], *STRANGE, TEXTS[0], " ".join(TEXTS), ["the", "dog"], []]
    for together, text in zip(tagger.many(texts), texts, strict=True):
        alike(together, tagger(text))


def test_any_text_gets_an_answer(tagger):
    for text in STRANGE:
        found = tagger(text)
        assert "".join(found.words) == "".join(text.split())
        assert len(found.labels) == len(found.probabilities) == len(found.words)
        assert set(found.labels) <= set(tagger.labels)


def test_nothing_is_answered_with_nothing(tagger):
    assert tagger("").words == tagger([]).words == ()
    assert tagger.many([]) == []


def test_a_sentence_longer_than_those_learned_from_is_tagged_whole(tagger):
    words = [x for s in SENTENCES for x in s.words] * 5
    assert len(words) > 10 * tagger.settings.max_len
    found = tagger(words)
    assert found.words == tuple(words)
    assert found.parts == ()
    # far from the ends every repetition looks alike, so its labels are
    once = len(words) // 5
    if tagger.settings.encoder == "window":  # sees 4 words, and each piece has as many around
        assert found.labels[once : 2 * once] == found.labels[2 * once : 3 * once]


def test_tell_is_told(tagger):
    told = []
    tagger.many(TEXTS, tell=told.append)
    assert told[-1] == 1.0
    assert told == sorted(told)


def test_threads_share_a_tagger(looking):
    def one(i):
        found = looking(TEXTS[i % len(TEXTS)])
        return found.labels, found.weights

    wanted = [one(i) for i in range(len(TEXTS))]
    with ThreadPoolExecutor(8) as pool:
        for i, (labels, weights) in enumerate(pool.map(one, range(40))):
            assert labels == wanted[i % len(TEXTS)][0]
            assert torch.equal(weights, wanted[i % len(TEXTS)][1])


# looking


def test_the_weights_are_the_models_own(looking):
    found = looking("the dogs saw a saw.")
    assert "attention" not in vars(found)  # computed when read
    assert found.attention.shape == (2, 2, 6, 6)
    numbered = looking._numbered([found.words])
    looking.model(*numbered.stacked([Piece(0, 0, 6, 0, 6)])[:3])
    wanted = torch.stack(looking.model.attention_weights)[:, 0]
    torch.testing.assert_close(found.attention, wanted)
    torch.testing.assert_close(found.weights.sum(1), torch.ones(6))
    assert not found.weights.requires_grad
    assert not found.weights.is_inference()


def test_the_weights_of_a_long_sentence_lie_within_its_pieces(looking):
    found = looking([x for s in SENTENCES for x in s.words])
    n = len(found.words)
    assert n > 2 * looking.settings.max_len
    torch.testing.assert_close(found.weights.sum(1), torch.ones(n))
    assert not found.weights[0, looking.settings.max_len :].any()
    assert found.weights[n // 2].count_nonzero() == looking.settings.max_len
    numbered = looking._numbered([found.words])
    for piece in looking._pieces(numbered):
        looking.model(*numbered.stacked([piece])[:3])
        wanted = torch.stack(looking.model.attention_weights)[:, 0]
        rows, across = slice(piece.kept, piece.end_kept), slice(piece.start, piece.end)
        within = slice(piece.kept - piece.start, piece.end_kept - piece.start)
        torch.testing.assert_close(found.attention[:, :, rows, across], wanted[:, :, within])


def test_encoders_without_attention_say_so(tmp_path):
    tagger = Tagger.load(tiny_run(tmp_path / "run", encoder="rnn"))
    assert not tagger.looks
    told = "this tagger's encoder is 'rnn', which has no attention to look at"
    with pytest.raises(StateError, match=told):
        _ = tagger("dogs bark").weights


# what is asked wrongly


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (None, "a text must be a str, or a list of words, got NoneType"),
        (b"dogs", "a text must be a str, or a list of words, got bytes"),
        (7, "a text must be a str, or a list of words, got int"),
        (["dogs", None], "a word must be a str, got NoneType"),
        ([["dogs"]], "a word must be a str, got list"),
    ],
)
def test_what_is_no_text(looking, text, told):
    with pytest.raises(KindError) as raised:
        looking(text)
    assert str(raised.value) == told


def test_an_empty_word(looking):
    with pytest.raises(ValueRangeError, match="a word must have something in it, got an empty one"):
        looking(["dogs", ""])


@pytest.mark.parametrize("texts", ["dogs", b"dogs", None, 7])
def test_many_wants_many(looking, texts):
    with pytest.raises(KindError, match="texts must be a list of texts, got"):
        looking.many(texts)


def test_many_takes_what_can_be_gone_through(looking):
    assert len(looking.many(x for x in TEXTS)) == len(TEXTS)


# found, or not


def test_it_is_found_by_name(tmp_path, monkeypatch, looking):
    ship(looking.folder, tmp_path / "shipped" / "xx")
    monkeypatch.setattr(module, "_shipped", lambda: tmp_path / "shipped")
    assert list(shipped_models()) == ["xx"]
    packed = Tagger.load("xx")
    assert (packed.name, packed.folder) == ("xx", tmp_path / "shipped" / "xx")
    ours, theirs = looking(TEXTS[3]), packed(TEXTS[3])
    assert theirs.probabilities == pytest.approx(ours.probabilities, abs=0.05)
    assert len(packed.sha256) == 64
    with pytest.raises(
        ValueRangeError, match="there is no model and no folder 'yy'; of models there are xx"
    ):
        Tagger.load("yy")


def test_another_run_is_refused(tmp_path, looking):
    with Run.create(tmp_path / "run", looking.settings.encoder and "", {"source": b"x"}):
        pass
    with pytest.raises(FileError, match="must be a run of regard train tagging, and is another"):
        Tagger.load(tmp_path / "run")


def test_a_run_without_weights(tmp_path, looking):
    run = Run.open(looking.folder)
    Run.create(tmp_path / "run", run.config, run.vocabularies).close()
    with pytest.raises(StateError, match="is not there yet"):
        Tagger.load(tmp_path / "run")


def test_weights_of_another_model(tmp_path, looking):
    run = Run.open(looking.folder)
    tensors, about = run.load_weights()
    config = run.config.replace("width = 16", "width = 32")
    with Run.create(tmp_path / "run", config, run.vocabularies) as other:
        other.save_weights(tensors, about)
    with pytest.raises(FileError, match=r"weights\.safetensors: does not fit config\.toml beside"):
        Tagger.load(tmp_path / "run")


def test_damaged_words(tmp_path, looking):
    run = Run.open(looking.folder)
    with Run.create(tmp_path / "run", run.config, {"words": b"{}"}) as other:
        other.save_weights(*run.load_weights())
    with pytest.raises(FileError, match=r"words\.model: is not what `regard train tagging` writes"):
        Tagger.load(tmp_path / "run")


def test_no_such_device(looking):
    with pytest.raises(ValueRangeError, match="device must be cpu or cuda, got 'tpu'"):
        Tagger.load(looking.folder, "tpu")


def test_a_folder_that_is_none():
    with pytest.raises(ValueRangeError, match="there is no model and no folder"):
        Tagger.load(Path("nowhere"))
