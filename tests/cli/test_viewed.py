"""What is looked at: the maps of a model that reads a text, with the right tokens beside them."""

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from regard.cli import viewed
from regard.cli.viewed import Chosen, of_file, of_model, together
from regard.errors import StateError, ValueRangeError
from regard.tasks.captures import save_captures
from regard.tasks.classification import Classifier
from regard.tasks.tagging import Tagger
from regard.tasks.translation.translator import Translator
from regard.viewing.capturing import capture
from regard.viewing.looking import look
from tests.tasks.classification import tiny as classification
from tests.tasks.tagging import tiny as tagging
from tests.tasks.translation import tiny as translation

ALL = Chosen()
SOURCE = translation.PAIRS[0][0]
TEXT = "the dog barks. cats see dogs!"


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    made = {
        "transformer": translation.tiny_run(folder / "transformer"),
        "bahdanau": translation.tiny_run(folder / "bahdanau", "bahdanau"),
        "tagger": tagging.tiny_run(folder / "tagger"),
        "cnn": tagging.tiny_run(folder / "cnn", encoder="cnn"),
        "text": classification.tiny_run(folder / "text", "text"),
        "images": classification.tiny_run(folder / "images", "images"),
    }
    return {name: str(path) for name, path in made.items()}


def words(view, one):
    return tuple(view.tokens[i] for i in (one.row_tokens, one.col_tokens))


def weights(one):
    return one.head.tile(slice(None), slice(None), 1000).values


def test_a_translation(runs):
    """Source on source, target on target without looking ahead, and target on source."""
    view = of_model(runs["transformer"], SOURCE, None, ALL)
    wanted = Translator.load(runs["transformer"])(SOURCE)
    layers = {one.head.layer for one in view.drawn}
    assert len(layers) == 1 + 2 + 2
    assert len(view.drawn) == 2 * len(layers)
    across = []
    for one in view.drawn:
        rows, cols = words(view, one)
        n, m = len(wanted.tokens), len(wanted.source_tokens)
        if one.head.layer.startswith("encoder"):
            assert (len(rows), len(cols), one.head.shape) == (m, m, "self")
        elif ".to_source" in one.head.layer:
            assert (len(rows), len(cols)) == (n, m)
            assert rows[-1] == wanted.tokens[-1]
            across.append(one)
        else:
            assert (len(rows), len(cols), one.head.shape) == (n, n, "causal")
            assert rows == cols
            assert rows[0] == "<s>"
    mean = torch.stack([weights(one) for one in across[:2]]).mean(0)  # of the last block but one
    torch.testing.assert_close(mean, wanted.weights, atol=1e-5, rtol=1e-4)
    assert view.title == SOURCE


def test_sentences_stand_side_by_side(runs):
    one, two = SOURCE, translation.PAIRS[9][0]
    view = of_model(runs["transformer"], one + two, None, ALL)
    assert list(dict.fromkeys(x.model for x in view.drawn)) == [f"1. {one}", f"2. {two}"]
    for drawn in view.drawn:
        rows, cols = words(view, drawn)
        assert (len(rows), len(cols)) == (drawn.head.n, drawn.head.m)
    alone = of_model(runs["transformer"], two, None, ALL)
    half = len(view.drawn) // 2
    assert torch.equal(weights(view.drawn[half]), weights(alone.drawn[0]))


def test_a_translator_with_one_look(runs):
    view = of_model(runs["bahdanau"], SOURCE, None, ALL)
    wanted = Translator.load(runs["bahdanau"])(SOURCE)
    torch.testing.assert_close(weights(view.drawn[0]), wanted.weights, atol=1e-5, rtol=1e-4)


def test_a_tagged_text(runs):
    view = of_model(runs["tagger"], TEXT, None, ALL)
    wanted = Tagger.load(runs["tagger"])(TEXT).sentences
    assert len(view.drawn) == len(wanted) * 2 * 2
    first = wanted[0].attention
    for at, drawn in enumerate(view.drawn[:4]):
        assert words(view, drawn)[0] == list(wanted[0].words)
        torch.testing.assert_close(weights(drawn), first[at // 2, at % 2], atol=1e-5, rtol=1e-4)


def test_a_sentence_that_is_read_in_pieces(runs):
    """Its weights are put together, and none is lost."""
    long = " ".join(["dogs", "bark"] * 20)
    view = of_model(runs["tagger"], long, None, ALL)
    wanted = Tagger.load(runs["tagger"])(long).attention
    assert len(view.drawn) == 4
    torch.testing.assert_close(weights(view.drawn[3]), wanted[1, 1], atol=1e-5, rtol=1e-4)


def test_a_tagger_without_attention(runs):
    with pytest.raises(StateError, match="has no attention to look at"):
        of_model(runs["cnn"], TEXT, None, ALL)


def test_a_classified_text(runs):
    view = of_model(runs["text"], "a good day", None, ALL)
    wanted = Classifier.load(runs["text"])("a good day")
    pooling = [one for one in view.drawn if one.head.layer.startswith("pooling")]
    assert words(view, pooling[0])[0] == [wanted.label]
    found = torch.cat([weights(one) for one in pooling])
    torch.testing.assert_close(found, wanted.looks, atol=1e-5, rtol=1e-4)


def test_a_classified_image(runs, tmp_path):
    file = tmp_path / "x.png"
    pixels = classification.striped(0, np.random.default_rng(0))
    Image.fromarray(np.asarray(pixels, np.uint8)).save(file)
    view = of_model(runs["images"], None, file, ALL)
    assert view.backdrop["kind"] == "image"
    with pytest.raises(ValueRangeError, match="one at a time"):
        together({"one": view, "two": view})


@pytest.mark.parametrize(
    ("name", "text", "file", "words"),
    [
        ("transformer", None, None, "say with --text what the model shall read"),
        ("transformer", "a", Path("x.wav"), "--file is what a classifier"),
        ("text", None, None, "this model classifies text; give --text"),
        ("images", "a", None, "this model classifies images; give --file"),
        ("nothing", "a", None, "there is no capture, no run and no model 'nothing'"),
    ],
)
def test_what_is_not_said(runs, name, text, file, words):
    with pytest.raises(ValueRangeError, match=words):
        of_model(runs.get(name, name), text, file, ALL)


@pytest.mark.parametrize("name", ["transformer", "bahdanau", "tagger"])
def test_a_text_with_nothing_in_it(runs, name):
    with pytest.raises(StateError, match="nothing to look at in the text ' '"):
        of_model(runs[name], " ", None, ALL)


def test_some_layers_and_heads(runs):
    view = of_model(runs["transformer"], SOURCE, None, Chosen(["encoder"], [1]))
    assert [(x.head.layer.split(".")[0], x.head.number) for x in view.drawn] == [("encoder", 1)]
    with pytest.raises(ValueRangeError, match=r"--layers must be among encoder\.0\."):
        of_model(runs["transformer"], SOURCE, None, Chosen(["enc"]))
    with pytest.raises(ValueRangeError, match=r"heads from 0 to 1, wanted 7"):
        of_model(runs["transformer"], SOURCE, None, Chosen(None, [7]))


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    torch.manual_seed(0)
    net = torch.nn.TransformerEncoder(
        torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2, enable_nested_tensor=False
    ).eval()
    with capture(net) as seen:
        net(torch.randn(1, 3, 8))
    path = tmp_path_factory.mktemp("kept") / "x.safetensors"
    save_captures(seen, path, ["a", "b", "c"])
    return path, seen


def test_a_capture_that_was_saved(kept):
    path, seen = kept
    view = of_file(path, ALL)
    assert len(view.drawn) == 4
    assert view.title == "x.safetensors"
    assert words(view, view.drawn[0]) == (["a", "b", "c"], ["a", "b", "c"])
    assert torch.equal(weights(view.drawn[3]), seen[1].weights()[0, 1])
    some = of_file(path, Chosen(["layers.1"], [1]))
    assert [(x.head.layer, x.head.number) for x in some.drawn] == [("layers.1.self_attn", 1)]
    with pytest.raises(ValueRangeError, match="--heads must be among 0, 1"):
        of_file(path, Chosen(None, [2]))
    with pytest.raises(ValueRangeError, match=r"--layers must be among layers\.0"):
        of_file(path, Chosen(["layers.2"]))


def test_together_each_keeps_its_tokens():
    one = look(torch.eye(2), ["a", "b"])
    two = look(torch.eye(3), ["x", "y", "z"])
    both = together({"one": one, "two": two})
    assert [x.model for x in both.drawn] == ["one", "two"]
    assert words(both, both.drawn[1])[0] == ["x", "y", "z"]
    assert together({"one": one}) is one


def test_the_models_that_come_with_regard_have_a_text(monkeypatch):
    """Nobody has to know Chinese to look at a translator."""
    asked = []
    monkeypatch.setattr(viewed, "of_translator", lambda model, text, chosen: asked.append(text))
    monkeypatch.setattr(Translator, "load", lambda *_: None)
    of_model("zh-en", None, None, ALL)
    assert asked == [viewed.EXAMPLES["zh"]]
