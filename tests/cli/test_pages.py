"""``--page`` of every verb that has one: what is in the page is what was found."""

import base64
import io

import numpy as np
import pytest
import torch

from regard.cli import pages
from regard.cli.main import main
from regard.tasks.classification import Classifier
from regard.tasks.tagging import Tagger
from regard.tasks.translation.translated import Translation
from regard.tasks.translation.translator import Translator
from tests.tasks.classification import tiny as classification
from tests.tasks.tagging import tiny as tagging
from tests.tasks.translation import tiny as translation
from tests.viewing.pages import Page

SOURCE = translation.PAIRS[0][0]


@pytest.fixture(scope="module")
def translator(tmp_path_factory):
    return str(translation.tiny_run(tmp_path_factory.mktemp("runs") / "run"))


def said(capsys, *words, code=0):
    assert main(list(map(str, words))) == code
    return capsys.readouterr()


def weights(found, here):
    (grid,) = here["grids"]
    assert (grid["reduce"], grid["type"]) == ("exact", "f4")
    numbers = np.frombuffer(found.data, "<f4", grid["rows"] * grid["cols"], grid["at"])
    return torch.tensor(numbers.reshape(grid["rows"], grid["cols"]))


def test_a_translation_has_a_map_for_each_way_to_say_it(translator, tmp_path, capsys):
    path = tmp_path / "new" / "x.html"
    words = ("translate", SOURCE, "--n-best", "3", "--model", translator)
    plain = said(capsys, *words).out
    got = said(capsys, *words, "--page", path)
    assert (got.out, got.err) == (plain, f"The page is {path}\n")
    wanted = Translator.load(translator)(SOURCE, beam=4, n_best=3)
    found = Page(path.read_text(encoding="utf-8"))
    header = found.header
    assert len(header["maps"]) == len(wanted.alternatives) > 1
    for i, (here, way) in enumerate(zip(header["maps"], wanted.alternatives, strict=True)):
        assert (header["layers"][here["layer"]]["name"], here["head"]) == ("translation", i + 1)
        assert f"{i + 1}: {pages._short(way.text)} ({way.score:.3f})" in header["notes"][0]["en"]
        assert pages._short(way.text) in header["notes"][0]["zh"]
        assert here["shape"] in ("cross", "self", "causal")
        assert len(header["tokens"][here["row_tokens"]]) == len(way.tokens)
        assert len(header["tokens"][here["col_tokens"]]) == len(wanted.source_tokens)
        torch.testing.assert_close(weights(found, here), way.look())
        # where a token looks follows from those before it: alike as long as these are
        same = next(
            (k for k, (a, b) in enumerate(zip(way.tokens, wanted.tokens, strict=False)) if a != b),
            99,
        )
        torch.testing.assert_close(way.look()[: same + 1], wanted.weights[: same + 1])
        assert i == 0 or not torch.allclose(way.look()[same + 1], wanted.weights[same + 1])
    torch.testing.assert_close(weights(found, header["maps"][0]), wanted.weights)
    assert not any("▁" in token for tokens in header["tokens"] for token in tokens)


def test_a_text_of_several_sentences_has_a_map_for_each(translator):
    found = Translator.load(translator)(f"{SOURCE}。" * 3)
    view = pages.of_translation(found)
    names = [x["name"] for x in view.document().header["layers"]]
    assert names == [f"sentence {i + 1}" for i in range(len(found.parts))]
    header = view.document().header
    assert [x["label"]["zh"] for x in header["layers"]] == ["第 1 句", "第 2 句", "第 3 句"]
    assert header["called"]["head"]["en"] == "translation"
    assert len(found.parts) > 1
    torch.testing.assert_close(found.alternatives[0].look(), found.weights)


def test_nothing_has_no_page(translator, tmp_path, capsys):
    path = tmp_path / "x.html"
    got = said(capsys, "translate", " ", "--page", path, "--model", translator)
    assert got.err == "Nothing to show\n"
    assert not path.exists()
    assert pages.of_translation(Translation("", "")) is None


def test_tags_have_a_map_for_each_layer_and_head(tmp_path, capsys):
    run = tagging.tiny_run(tmp_path / "run")
    text = "the old dog sees a cat . the dog runs ."
    path = tmp_path / "x.html"
    got = said(capsys, "tag", text, "--page", path, "--model", run)
    assert got.err == f"The page is {path}\n"
    found = Page(path.read_text(encoding="utf-8"))
    wanted = Tagger.load(run)(text)
    maps = iter(found.header["maps"])
    for sentence in wanted.sentences:
        for layer in sentence.attention:
            for head in layer:
                here = next(maps)
                torch.testing.assert_close(weights(found, here), head)
                assert found.header["tokens"][here["col_tokens"]] == list(sentence.words)
                rows = [f"{word}/{label}" for word, label in sentence]
                assert found.header["tokens"][here["row_tokens"]] == rows
    assert next(maps, None) is None
    assert found.header["layers"][0]["label"]["zh"] == "第 1 句\uff0c层 1"
    assert found.header["called"] is None
    said(capsys, "tag", text, "--page", path, "--head", "2", "--model", run)
    assert {x["head"] for x in Page(path.read_text()).header["maps"]} == {2}


@pytest.mark.parametrize("kind", ["text", "sound", "images"])
def test_what_was_classified_stands_behind_the_weights(kind, tmp_path, capsys):
    run = classification.tiny_run(tmp_path / "run", kind)
    what = "very sweet sugar"
    if kind == "sound":
        what = next(classification.write_sounds(tmp_path / "sounds", 3).rglob("*.wav"))
    elif kind == "images":
        what = classification.write_images(tmp_path / "x.npz", 1)
    path = tmp_path / "x.html"
    got = said(capsys, "classify", what, "--page", path, "--model", run)
    assert got.err == f"The page is {path}\n"
    found = Page(path.read_text(encoding="utf-8"))
    header, (here,) = found.header, found.header["maps"]
    classify = Classifier.load(run)
    content = what
    if kind == "images":
        with np.load(what) as data:
            content = next(x for x in data.values() if x.ndim > 1)[0]
    wanted = classify(content)
    torch.testing.assert_close(weights(found, here), wanted.looks)
    assert len(header["tokens"][here["col_tokens"]]) == len(wanted.places)
    assert header["title"].endswith(f": {wanted.label}")
    backdrop = header["backdrop"]
    if kind == "text":
        assert backdrop is None
        return
    assert backdrop["kind"] == {"sound": "spectrogram", "images": "image"}[kind]
    assert backdrop["rows"] * backdrop["cols"] == len(wanted.places)
    image = pytest.importorskip("PIL.Image")
    picture = image.open(io.BytesIO(base64.b64decode(backdrop["image"].partition(",")[2])))
    assert picture.size == (backdrop["width"], backdrop["height"])


def test_a_fit_has_its_data_and_its_width(tmp_path, capsys, monkeypatch):
    pytest.importorskip("pyarrow")
    pytest.importorskip("sklearn")
    monkeypatch.chdir(tmp_path)
    x = np.linspace(0, 5, 40)
    lines = [f"{a!r},{b!r}" for a, b in zip(x.tolist(), np.sin(x).tolist(), strict=True)]
    (tmp_path / "data.csv").write_text("\n".join(["a,b", *lines]) + "\n")
    got = said(
        capsys, "fit", "data.csv", "--x", "a", "--y", "b", "--bandwidth", "0.4", "--page", "x.html"
    )
    assert got.out.endswith("The page is x.html\n")
    header = Page((tmp_path / "x.html").read_text()).header
    assert (header["kind"], header["title"]) == ("kernel", "b by a")
    assert (header["kernel"]["width"], header["kernel"]["x"]["count"]) == (0.4, 40)
    for words, told in (
        (("--x", "a,b", "--y", "c"), "--page shows one --x, got a, b"),
        (("--x", "a", "--y", "b,c"), "--page shows one --y, got b, c"),
        (("--x", "a", "--y", "b", "--degree", "1"), "--page shows averages, --degree 0"),
    ):
        got = said(capsys, "fit", "data.csv", *words, "--page", "y.html", code=2)
        assert got.err.startswith(f"regard: {told}")
        assert not (tmp_path / "y.html").exists()


@pytest.mark.parametrize("verb", ["translate", "tag"])
@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["a", "b", "--page", "x.html"], "--page shows one TEXT, got 2"),
        (["--page", "x.html"], "--page shows one TEXT, got none"),
        (["a", "--page", "x.png"], "a page is written as .html, got 'x.png'"),
        (["a", "--page", "/dev/null/x.html"], ""),
    ],
)
def test_message(verb, words, told, capsys):
    got = said(capsys, verb, *words, code=2)
    assert got.err.startswith(f"regard: {told}")
    assert got.err.count("\n") == 1


def test_a_folder_is_no_page(tmp_path, capsys):
    (tmp_path / "x.html").mkdir()
    got = said(capsys, "translate", "a", "--page", tmp_path / "x.html", code=2)
    assert "is a folder, a device or a pipe" in got.err
    got = said(capsys, "classify", "a", "b", "--model", "x", "--page", "y.html", code=2)
    assert got.err == "regard: --page shows one PATH_OR_TEXT, got 2\n"
