"""Translators: found by name or folder, and never at a loss for an answer."""

import copy
import sys
import threading
import unicodedata
from pathlib import Path

import numpy as np
import pytest
import torch

from regard.errors import FileError, KindError, StateError, ValueRangeError
from regard.tasks.packed import ship
from regard.tasks.run import Run
from regard.tasks.translation import batched
from regard.tasks.translation import translator as module
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
    net._turn = threading.Lock()
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


def test_n_best_are_different_and_in_order(translator):
    found = translator(SOURCES[2], beam=6, n_best=4)
    texts = [way.text for way in found.alternatives]
    assert len(set(texts)) == len(texts) == 4
    scores = [way.score for way in found.alternatives]
    assert scores == sorted(scores, reverse=True)
    assert (found.text, found.tokens, found.score) == (
        texts[0], found.alternatives[0].tokens, scores[0]
    )  # fmt: skip
    assert found.score >= translator(SOURCES[2], beam=6).score


class Cuts:
    """A search that finds one text in many cuts, and a new text with every tenth of a beam."""

    def __init__(self, target, every=10, most=100):
        self.target, self.every, self.most, self.beams = target, every, most, []

    def __call__(self, model, source, lengths, *, beam, n_best, **options):
        self.beams.append((len(source), beam, n_best))
        texts = ["Hello" + "!" * i for i in range(1, beam // self.every + 1)]
        ways = ["Hello"] * (beam - len(texts)) + texts
        found = [
            Found(tuple(self.target.encode(text)), -float(i), -1.0, ended=True)
            for i, text in enumerate(ways)
        ]
        return [found[: min(n_best, self.most)] for _ in source]


def test_texts_that_differ_in_their_cut_alone_are_one_and_more_are_looked_for(
    translator, monkeypatch
):
    monkeypatch.setattr(batched, "search", finds := Cuts(translator.target))
    found = translator(["x", "y"], beam=4, n_best=3)
    assert [way.text for way in found[1].alternatives] == ["Hello", "Hello!", "Hello!!"]
    assert finds.beams == [(2, beam, beam) for beam in (4, 8, 16, 32)]


def test_only_those_with_too_few_are_looked_for_again(translator, monkeypatch):
    asked = []
    plenty, scarce = (translator.source.encode(text) for text in ("你好", "今天天气"))
    assert len(plenty) != len(scarce)

    def finds(model, source, lengths, *, beam, **options):
        asked.append((sorted(lengths.tolist()), beam))
        enough = [int(n) == len(plenty) or beam > 4 for n in lengths]
        return [
            [
                Found(tuple(translator.target.encode("!" * (i * many + 1))), -i, -i, ended=True)
                for i in range(beam)
            ]
            for many in enough
        ]

    monkeypatch.setattr(batched, "search", finds)
    found = translator(["今天天气", "你好"], beam=4, n_best=3)
    assert [len(x.alternatives) for x in found] == [3, 3]
    assert asked == [(sorted([len(plenty), len(scarce)]), 4), ([len(scarce)], 8)]


@pytest.mark.parametrize(("most", "beams"), [(100, [60, 100]), (59, [60]), (99, [60, 100])])
def test_looking_for_more_ends(translator, monkeypatch, most, beams):
    """At the widest beam, and where a beam is not full: there is nothing more to be found."""
    monkeypatch.setattr(batched, "search", finds := Cuts(translator.target, 1000, most))
    assert len(translator("x", beam=60, n_best=3).alternatives) == 1
    assert [beam for _, beam, _ in finds.beams] == beams


def test_one_is_enough_where_one_is_asked_for(translator, monkeypatch):
    monkeypatch.setattr(batched, "search", finds := Cuts(translator.target))
    assert translator("x", beam=40).text == "Hello"
    assert finds.beams == [(1, 40, 1)]


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
    monkeypatch.setattr(batched, "search", lambda *_, **__: pytest.fail("the model was asked"))
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

    monkeypatch.setattr(batched, "search", finds)
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


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "text must be a str, or a list or tuple of them, got NoneType"),
        (3, "text must be a str, or a list or tuple of them, got int"),
        (b"a", "text must be a str, or a list or tuple of them, got bytes"),
        (iter(["a"]), "text must be a str, or a list or tuple of them, got list_iterator"),
        ({"a": "b"}, "text must be a str, or a list or tuple of them, got dict"),
        (np.array(["a"]), "text must be a str, or a list or tuple of them, got ndarray"),
        ([None], "text must hold str alone, got NoneType at index 0"),
        (["a", b"b"], "text must hold str alone, got bytes at index 1"),
        (("a", ["b"]), "text must hold str alone, got list at index 1"),
    ],
    ids=str,
)
def test_what_is_no_text_is_refused(translator, text, message):
    with pytest.raises(KindError) as raised:
        translator(text)
    assert str(raised.value) == message


def test_what_is_as_good_as_a_text_is_taken(translator):
    wanted = translator("你好")
    assert translator(np.str_("你好")).tokens == wanted.tokens
    assert type(translator([np.str_("你好")])[0].source) is str
    assert (
        translator("你好", beam=np.int64(4), length_penalty=np.float32(1)).tokens == wanted.tokens
    )


@pytest.mark.parametrize("text", ["你好", ""])  # where there is nothing to do, too
@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"beam": "4"}, KindError, "beam must be an integer, got '4'"),
        ({"beam": None}, KindError, "beam must be an integer, got None"),
        ({"beam": 4.0}, KindError, "beam must be an integer, got 4.0"),
        ({"beam": True}, KindError, "beam must be an integer, got True"),
        ({"beam": 0}, ValueRangeError, "beam must be at least 1, got 0"),
        ({"beam": 101}, ValueRangeError, "beam must be at most 100, got 101"),
        ({"n_best": "1"}, KindError, "n_best must be an integer, got '1'"),
        ({"n_best": 0}, ValueRangeError, "n_best must be at least 1, got 0"),
        (
            {"beam": 2, "n_best": 3},
            ValueRangeError,
            "n_best must be at most beam=2, got 3; a wider beam gives more",
        ),
        ({"length_penalty": "1"}, KindError, "length_penalty must be a number, got '1'"),
        ({"tell": 3}, KindError, "tell must be a function, got 3"),
        (
            {"length_penalty": 1e9},
            ValueRangeError,
            "length_penalty must be from -10 to 10, got 1000000000.0",
        ),
    ],
    ids=str,
)
def test_numbers_that_cannot_be(translator, text, options, error, message):
    with pytest.raises(error) as raised:
        translator(text, **options)
    assert str(raised.value) == f"Translator: {message}"


def test_letters_spelled_in_bytes_have_no_more_to_say(translator, monkeypatch):
    limits = []

    def finds(model, source, lengths, *, max_len, **options):
        limits.append((int(lengths[0]), *max_len))
        return [[Found((5,), -1.0, -1.0, ended=True)] for _ in source]

    monkeypatch.setattr(batched, "search", finds)
    ordinary, rare = "你想看书", "\U00020000\U00020001\U00020002"
    translator(ordinary)
    translator(rare)
    assert limits == [
        (n := len(translator.source.encode(ordinary)), 2 * n + 10),
        (len(translator.source.encode(rare)), 2 * 4 + 10),  # a space begins every sentence
    ]
    assert limits[1][0] >= 12


# several at a time


def test_threads_get_what_one_by_one_gets(translator):
    texts = SOURCES[4:7]
    wanted = [translator(text, beam=1) for text in texts]
    weights = [x.look() for x in wanted]
    wrong = []

    def ask(i):
        found = translator(texts[i], beam=1)
        seen = [found.look() for _ in range(4)]
        if found.tokens != wanted[i].tokens or any(not torch.equal(x, weights[i]) for x in seen):
            wrong.append(texts[i])

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)  # or they would hardly ever meet
    try:
        _in_threads(ask, len(texts))
    finally:
        sys.setswitchinterval(before)
    assert wrong == []


def _in_threads(ask, count):
    threads = [threading.Thread(target=ask, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_the_model_has_one_caller_at_a_time(translator, monkeypatch):
    inside, most, real = [], [], translator.model.start

    def start(*args):
        inside.append(1)
        most.append(len(inside))
        threading.Event().wait(0.01)
        inside.pop()
        return real(*args)

    monkeypatch.setattr(translator.model, "start", start)
    _in_threads(lambda i: translator(SOURCES[4 + i], beam=1).look(), 4)
    assert most == [1] * 8


def test_a_copy_has_a_turn_of_its_own(translator):
    other = copy.deepcopy(translator)
    with translator._turn:
        assert other("你好").look().isfinite().all()
    assert other("你好").tokens == translator("你好").tokens


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
    monkeypatch.chdir(tmp_path / "here")  # a folder that is no run is not meant
    assert list(shipped_models()) == ["zh-en", "zh-en-bahdanau"]
    for name, kind in [("zh-en", "Transformer"), ("zh-en-bahdanau", "Bahdanau")]:
        found = Translator.load(name)
        assert type(found.model).__name__ == kind
        assert (found.name, found.folder) == (name, shipped / name)
        assert found("你好").source == "你好"


def test_of_a_name_and_a_run_of_that_name_neither_is_taken(shipped, monkeypatch, tmp_path):
    run = tiny_run(tmp_path / "here" / "zh-en", "bahdanau")
    monkeypatch.chdir(tmp_path / "here")
    with pytest.raises(ValueRangeError) as raised:
        Translator.load("zh-en")
    assert str(raised.value) == (
        "'zh-en' is a model that comes with regard, and the folder of a run here; say ./zh-en for "
        f"the run, {shipped / 'zh-en'} for the model"
    )
    for mine in ("./zh-en", "zh-en/", Path("zh-en"), run):
        assert type(Translator.load(mine).model).__name__ == "Bahdanau"
    for other in (str(shipped / "zh-en"), shipped_models()["zh-en"]):
        assert type(Translator.load(other).model).__name__ == "Transformer"


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


def test_a_run_of_something_else_is_told_whatever_its_files_hold(tmp_path):
    with Run.create(tmp_path / "run", "colour = 'red'\n", {"words": b"no vocabulary"}) as run:
        run.save_weights({"a": torch.ones(1)}, {"kind": "tagging"})
    with pytest.raises(FileError) as raised:
        Translator.load(tmp_path / "run")
    wanted = "must be a run of regard train translation, and is another one"
    assert str(raised.value) == f"{tmp_path / 'run'}: {wanted}"


def test_a_training_that_has_just_begun_is_told(tmp_path):
    folder = tiny_run(tmp_path / "run")
    (folder / "weights.safetensors").unlink()
    with pytest.raises(StateError, match=r"weights\.safetensors: is not there yet"):
        Translator.load(folder)
