"""Translators: found by name or folder, and never at a loss for an answer."""

import unicodedata

import pytest
import torch

from regard.errors import FileError, KindError, ValueRangeError
from regard.tasks.run import Run
from regard.tasks.translation import translator as module
from regard.tasks.translation.packed import ship
from regard.tasks.translation.search import Found, search
from regard.tasks.translation.translated import END, Translation
from regard.tasks.translation.translator import Translator, shipped_models
from regard.tasks.vocabulary import BOS
from tests.tasks.translation.tiny import PAIRS, tiny_run

SOURCES = [source for source, _ in PAIRS]
LONG = "".join(SOURCES)


@pytest.fixture(scope="module", params=["transformer", "bahdanau"])
def translator(request, tmp_path_factory):
    folder = tiny_run(tmp_path_factory.mktemp("runs") / "run", request.param)
    return Translator.load(folder)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """One whose sentences are short, as after a training with few tokens."""
    return Translator.load(tiny_run(tmp_path_factory.mktemp("runs") / "run", max_len=12))


# what comes out


def test_a_translation_is_what_the_search_finds(translator):
    source = "你想看书"
    found = translator(source, beam=3)
    ids = translator.source.encode(source)
    [[best]] = search(translator.model, torch.tensor([ids]), beam=3)
    assert found.text == " ".join(translator.target.decode(best.tokens).split())
    assert found.score == best.score
    assert found.source == source
    assert found.source_tokens == tuple(translator.source.pieces(ids))
    assert found.tokens == (*translator.target.pieces(best.tokens), *[END] * best.ended)
    assert found.parts == ()
    assert [way.text for way in found.alternatives] == [found.text]


def test_the_weights_are_the_models_own(translator):
    source = "介绍一下西安"
    found = translator(source)
    assert "weights" not in vars(found)  # computed when read
    ids = translator.source.encode(source)
    [[best]] = search(translator.model, torch.tensor([ids]))
    before = [BOS, *best.tokens][: len(found.tokens)]
    wanted = translator.model.alignment(torch.tensor([ids]), torch.tensor([before]))[0]
    assert found.weights.shape == (len(found.tokens), len(found.source_tokens))
    assert found.weights.dtype == torch.float32
    torch.testing.assert_close(found.weights, wanted)
    torch.testing.assert_close(found.weights.sum(1), torch.ones(len(found.tokens)))
    assert found.weights is found.weights
    assert not found.weights.is_inference()


def test_the_end_has_a_row_of_its_own():
    net = Translator.__new__(Translator)
    net.model = type("M", (), {"out": torch.nn.Linear(1, 1)})()
    seen = []
    net.model.alignment = lambda s, t, n: seen.append((s, t, n)) or torch.ones(1, t.shape[1], 2)
    assert net._weights([7, 8], [BOS, 5, 6]).shape == (3, 2)
    assert [x.tolist() for x in seen[0]] == [[[7, 8]], [[BOS, 5, 6]], [2]]
    assert net._weights([7, 8], []).shape == (0, 2)


def test_many_at_once_are_the_same_as_one_by_one(translator):
    texts = [*SOURCES, "", LONG, "a"]
    together = translator(texts)
    alone = [translator(text) for text in texts]
    assert [x.tokens for x in together] == [x.tokens for x in alone]
    assert [x.source for x in together] == [x.source for x in alone]
    assert translator([]) == []
    assert translator(tuple(SOURCES[:2]))[1].source == SOURCES[1]


def test_batches_are_bounded(translator, monkeypatch):
    sizes = []

    def counting(model, source, lengths, *, beam, **options):
        sizes.append(source.numel() * beam)
        return search(model, source, lengths, beam=beam, **options)

    monkeypatch.setattr(module, "search", counting)
    monkeypatch.setattr(module, "TOGETHER", 48)
    told = []
    texts = SOURCES * 3
    found = translator(texts, beam=2, tell=told.append)
    assert len(sizes) > 3
    assert max(sizes) <= 48
    assert told == sorted(told)
    assert told[-1] == 1
    assert [x.source for x in found] == texts


def test_n_best_are_different_and_in_order(translator):
    found = translator(SOURCES[2], beam=6, n_best=4)
    texts = [way.text for way in found.alternatives]
    assert 1 < len(texts) <= 4
    assert len(set(texts)) == len(texts)
    scores = [way.score for way in found.alternatives]
    assert scores == sorted(scores, reverse=True)
    assert (found.text, found.tokens, found.score) == (
        texts[0], found.alternatives[0].tokens, scores[0]
    )  # fmt: skip
    assert found.text == translator(SOURCES[2], beam=6).text


def test_texts_that_differ_in_their_cut_alone_are_one(translator, monkeypatch):
    """Three tokens that spell the same as one."""
    p, whole = translator.target, "Hello"
    one, other = p.encode(whole), [p.encode("H")[-1], *p.encode("ello")[-4:]]

    def finds(model, source, lengths, **options):
        ways = [Found(tuple(ids), -i, -i, ended=True) for i, ids in enumerate([one, one, other])]
        return [ways]

    monkeypatch.setattr(module, "search", finds)
    found = translator("x", n_best=3)
    assert [way.text for way in found.alternatives] == list(dict.fromkeys([whole, p.decode(other)]))


def test_a_long_text_is_translated_by_sentences(translator):
    found = translator(LONG, n_best=2)
    assert [part.source for part in found.parts] == [
        f"{part}。" if not part.endswith("？") else part  # noqa: RUF001
        for source in SOURCES
        for part in source.replace("。", "\n").split("\n")
        if part
    ]
    assert found.source == LONG
    assert found.text == " ".join(part.text for part in found.parts if part.text)
    assert found.tokens == tuple(token for part in found.parts for token in part.tokens)
    assert found.weights.shape == (len(found.tokens), len(found.source_tokens))
    first = found.parts[0]
    n, m = len(first.tokens), len(first.source_tokens)
    assert torch.equal(found.weights[:n, :m], first.weights)
    assert found.weights[:n, m:].eq(0).all()
    scores = [part.score for part in found.parts]
    assert min(scores) <= found.score <= max(scores)
    assert found.alternatives[0].text == found.text
    assert found.alternatives[1].text != found.text


def test_sentences_and_lines_are_translated_by_themselves(translator):
    assert translator("我要睡了。").parts == ()
    got = [part.source for part in translator("我要睡了。晚安。").parts]
    assert got == ["我要睡了。", "晚安。"]
    assert [part.source for part in translator("你好\n谢谢").parts] == ["你好", "谢谢"]
    assert translator("\n 你好 \n").parts == ()


@pytest.mark.parametrize("text", ["", " ", "\n\t\u3000", "\x00\x1b", "\u2028"])
def test_nothing_is_answered_with_nothing(translator, text, monkeypatch):
    monkeypatch.setattr(module, "search", lambda *_, **__: pytest.fail("the model was asked"))
    found = translator(text)
    assert found == Translation("", "")
    assert found.weights.shape == (0, 0)


@pytest.mark.parametrize(
    "text",
    [
        "a",
        "hello world",
        "Привет, мир! שלום עולם",
        "😀👩\u200d👧🇨🇳",
        "\x00\x07\x1b[31m你好\x9b",
        "\ud800你好\udfff",
        "▁▁▁",
        "</s><s><pad><0x0A>",
        "e" + "\u0301" * 50,
        "\ufeff\u202e你好",
        "你" * 61,
        "<>&\"'\\",
    ],
)
def test_any_text_has_an_answer(translator, text):
    found = translator(text, beam=2)
    assert not any(unicodedata.category(letter) in {"Cc", "Cs"} for letter in found.text)
    assert found.weights.isfinite().all()
    found.text.encode()  # can be written


@pytest.mark.parametrize("letter", ["我", "😀", "a ", "\u0301", "\ud800", "我。", "\n"])
def test_five_thousand_characters_are_cut_into_what_can_be_read(small, letter, monkeypatch):
    def finds(model, source, lengths, **options):
        assert source.shape[1] <= 12
        return [[Found(tuple(row[:2].tolist()), -1.0, -1.0, ended=True)] for row in source]

    monkeypatch.setattr(module, "search", finds)
    found = small((letter * 5000)[:5000])
    read = "".join(part.source for part in found.parts)
    assert read.replace(" ", "") == found.source.replace(" ", "")


def test_five_thousand_characters_end(small):
    found = small(LONG * 80, beam=1)
    assert len(found.source) == 80 * len(LONG) > 5000
    assert len(found.parts) == 80 * 11


def test_a_model_of_nan_ends(tmp_path):
    folder = tiny_run(tmp_path / "run")
    with Run.open(folder) as run:
        tensors, about = run.load_weights()
        run.save_weights({name: x * torch.nan for name, x in tensors.items()}, about)
    found = Translator.load(folder)(SOURCES)
    assert {x.text for x in found} == {""}


# how it is asked


def test_what_is_no_text_is_refused(translator):
    for text in (None, 3, ["a", b"b"]):
        with pytest.raises((KindError, TypeError)):
            translator(text)
    with pytest.raises(KindError, match="a text must be a str, got bytes"):
        translator(["a", b"b"])


@pytest.mark.parametrize(("beam", "n_best"), [(2, 3), (2, 0), (0, 1), (-1, -1)])
def test_a_beam_that_cannot_be(translator, beam, n_best):
    with pytest.raises(ValueRangeError) as raised:
        translator("你好", beam=beam, n_best=n_best)
    assert str(raised.value) == f"n_best must be at least 1 and at most beam={beam}, got {n_best}"


# how it is found


@pytest.fixture
def shipped(tmp_path, monkeypatch):
    """Two models that come with the package."""
    for name, model in [("zh-en", "transformer"), ("zh-en-bahdanau", "bahdanau")]:
        ship(tiny_run(tmp_path / "runs" / name, model), tmp_path / "shipped" / name)
    monkeypatch.setattr(module, "_shipped", lambda: tmp_path / "shipped")
    return tmp_path / "shipped"


def test_by_name(shipped, monkeypatch, tmp_path):
    (tmp_path / "here" / "zh-en").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here")  # a folder of that name is meant by ./zh-en
    assert list(shipped_models()) == ["zh-en", "zh-en-bahdanau"]
    for name, kind in [("zh-en", "Transformer"), ("zh-en-bahdanau", "Bahdanau")]:
        found = Translator.load(name)
        assert type(found.model).__name__ == kind
        assert (found.name, found.folder) == (name, shipped / name)
        assert found("你好").source == "你好"


def test_a_name_that_is_not_there(shipped, monkeypatch, tmp_path):
    with pytest.raises(ValueRangeError) as raised:
        Translator.load("zh-fr")
    assert str(raised.value) == (
        "there is no model and no folder 'zh-fr'; of models there are zh-en, zh-en-bahdanau, and "
        "a run is named by its folder"
    )
    monkeypatch.setattr(module, "_shipped", lambda: tmp_path / "none")
    with pytest.raises(ValueRangeError, match="of models none came with this regard"):
        Translator.load("zh-en")


def test_with_one_vocabulary(tmp_path):
    found = Translator.load(str(tiny_run(tmp_path / "run", shared=True)))
    assert found.source is found.target
    assert found.settings.shared_vocab
    assert found.device == torch.device("cpu")
    assert found("你好").tokens
    assert len(found.sha256) == 64


def test_what_is_no_run_is_told(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(FileError, match="must be the folder of a run, and is a file"):
        Translator.load(tmp_path / "file")
    with pytest.raises(FileError, match="is no run"):
        Translator.load(tmp_path)


def test_weights_that_do_not_fit_are_told(tmp_path):
    folder = tiny_run(tmp_path / "run")
    with Run.open(folder) as run:
        tensors, about = run.load_weights()
        run.save_weights(tensors | {"more": torch.ones(1)}, about)
    with pytest.raises(FileError) as raised:
        Translator.load(folder)
    assert str(raised.value) == (
        f"{folder}/weights.safetensors: does not fit config.toml beside it: the weight more has no "
        "place in this model; they are of another one"
    )
    with Run.open(folder) as run:
        run.save_weights(tensors, {"kind": "tagging"})
    with pytest.raises(FileError, match="must be a run of regard train translation"):
        Translator.load(folder)


@pytest.mark.parametrize(
    ("device", "message"),
    [
        ("gpu", "device must be cpu or cuda, got 'gpu'"),
        ("cuda", "device cuda: there is no GPU here, or this torch has no CUDA; take cpu"),
    ],
)
def test_a_device_that_is_not_there(tmp_path, device, message, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ValueRangeError) as raised:
        Translator.load(tmp_path, device)
    assert str(raised.value) == message
