"""Vocabularies: any text there and back, learned and drawn alike each time, bad files refused."""
# ruff: noqa: RUF001 - the punctuation of Chinese has to stay what it is

import io
import pickle
import random
import subprocess
import sys
from itertools import chain

import pytest

from regard.errors import FileError, MissingError, ValueRangeError
from regard.tasks import vocabulary as module
from regard.tasks.pairs import normalise
from regard.tasks.vocabulary import BOS, EOS, PAD, UNK, Vocabulary

sentencepiece = pytest.importorskip("sentencepiece")

TEXT = "the cat sat on a mat and read books about Xi'an, didn't it? 1,234.5 Yes! no"
WORDS = TEXT.split()
SIGNS = "你想看书吗？介绍一下西安。我们明天去北京，好不好！她说：“好。”"


def corpus(count=300):
    draw = random.Random(1)
    english = [" ".join(draw.choices(WORDS, k=draw.randint(1, 9))) for _ in range(count)]
    chinese = ["".join(draw.choices(SIGNS, k=draw.randint(1, 12))) for _ in range(count)]
    return english + chinese


@pytest.fixture(scope="module")
def unigram():
    return Vocabulary.learn(corpus(), 420)


@pytest.fixture(scope="module")
def bpe():
    return Vocabulary.learn(corpus(), 420, kind="bpe")


@pytest.fixture(params=["unigram", "bpe"])
def vocabulary(request):
    return request.getfixturevalue(request.param)


TEXTS = [
    "",
    " ",
    "the cat sat",
    "  two   spaces\tand a tab ",
    "你想看书吗？",
    "。！？，：“”（）",
    "ＡＢＣ１２３",
    "emoji 😀 👩\u200d💻 🇨🇳",
    "Ελληνικά Русский العربية עברית हिन्दी ภาษาไทย 한국어 日本語 ქართული",
    "cafe\u0301 n\u0303",
    "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𓀀 \U0010ffff \ufffe \ue000",
    "\x00\x01\x7f\x85\u2028\u2029",
    "\ud800 a \udfff",
    "\udc80\udcff",
    "▁▁ a▁b",
    "<s> </s> <unk> <pad> <0x41> ⁇ \u2585",
    "\ufeff\u200b\u00ad",
]


@pytest.mark.parametrize("text", TEXTS)
def test_there_and_back(text, vocabulary):
    ids = vocabulary.encode(text)
    assert vocabulary.decode(ids) == normalise(text)
    assert not {PAD, BOS, EOS, UNK} & set(ids)
    assert vocabulary.encode_all([text, "x", text]) == [ids, vocabulary.encode("x"), ids]
    for seed in range(3):
        sampled = vocabulary.encode_all([text, text], sample=0.5, seed=seed)
        assert [vocabulary.decode(ids) for ids in sampled] == [normalise(text)] * 2
        assert not {PAD, BOS, EOS, UNK} & set(chain(*sampled))


def test_any_characters_there_and_back(vocabulary):
    draw = random.Random(2)
    for _ in range(500):
        text = "".join(chr(draw.randrange(0x110000)) for _ in range(draw.randrange(20)))
        assert vocabulary.decode(vocabulary.encode(text)) == normalise(text)


@pytest.mark.parametrize("letter", ["a", "你", "😀", " a"])
def test_a_hundred_thousand_characters(letter, vocabulary):
    text = normalise((letter * 100_000)[:100_000])
    assert vocabulary.decode(vocabulary.encode(text)) == text


def test_the_first_numbers_are_fixed(vocabulary):
    assert (PAD, BOS, EOS, UNK) == (0, 1, 2, 3)
    assert vocabulary.pieces([0, 1, 2, 3, 4, 259]) == [
        "<pad>", "<s>", "</s>", "<unk>", "<0x00>", "<0xFF>",
    ]  # fmt: skip
    assert len(vocabulary) <= 420


def test_decoding_ends_at_the_end(vocabulary):
    ids = vocabulary.encode("the cat")
    more = vocabulary.encode("sat")
    assert vocabulary.decode([BOS, *ids, EOS, *more, EOS, PAD]) == "the cat"
    assert vocabulary.decode([PAD, *ids, PAD, *more]) == "the cat sat"
    assert vocabulary.decode([]) == vocabulary.decode([EOS, *ids]) == ""


def test_pieces_keep_their_spaces(unigram):
    pieces = unigram.pieces(unigram.encode("the cat"))
    assert "".join(pieces) == "▁the▁cat"


def test_numbers_that_are_none_of_its_own(unigram):
    for bad in (-1, len(unigram)):
        for call in (unigram.decode, unigram.pieces):
            with pytest.raises(ValueRangeError) as raised:
                call([5, bad])
            assert str(raised.value) == f"ids must be from 0 to {len(unigram) - 1}, got {bad}"


def test_bytes_that_are_no_text_are_decoded(unigram):
    assert unigram.decode([4 + 0xFF, 4 + 0xC3]) == "\ufffd\ufffd"


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_learning_twice_gives_the_same_bits(kind):
    first, second = (Vocabulary.learn(iter(corpus()), 400, kind=kind) for _ in range(2))
    assert first.model == second.model
    assert first.sha256 == second.sha256
    assert first.kind == kind
    assert first.sha256 != Vocabulary.learn(corpus(200), 400, kind=kind).sha256


def test_learning_is_silent():
    code = (
        "from regard.tasks.vocabulary import Vocabulary\n"
        "Vocabulary.learn(['a cat', 'a mat'], 8000); Vocabulary.learn(['a' * 9000, 'b'], 300)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"", b"")


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_a_small_text_gives_fewer_and_says_so(kind):
    vocabulary = Vocabulary.learn(["你想看书吗？", "Do you want to read?"], 8000, kind=kind)
    count = len(vocabulary)
    assert 260 < count < 400
    assert vocabulary.note == f"{count} pieces instead of 8,000: the text holds no more"
    assert vocabulary.decode(vocabulary.encode("你 read 我？")) == "你 read 我？"
    assert len(Vocabulary.learn(["a"], 300, kind=kind)) < 300


def test_long_lines_are_learned_from_too():
    vocabulary = Vocabulary.learn(["the cat sat on the mat " * 1000], 300)
    assert vocabulary.pieces(vocabulary.encode("the")) == ["▁the"]


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_many_characters_give_more_and_say_so(kind):
    signs = "".join(chr(0x4E00 + i) for i in range(400))
    vocabulary = Vocabulary.learn([signs], 300, coverage=1.0, kind=kind)
    count = len(vocabulary)
    assert count > 650
    assert vocabulary.note == f"{count} pieces instead of 300: its characters need that many"
    assert len(vocabulary.encode(signs)) <= 401


def test_no_note_when_all_is_as_asked(bpe):
    assert (len(bpe), bpe.note) == (420, "")
    assert repr(bpe) == f"Vocabulary(420 pieces, bpe, {bpe.sha256[:12]})"


@pytest.mark.parametrize(
    ("lines", "settings", "message"),
    [
        ([], {}, "a vocabulary is learned from texts, and there is none but empty ones"),
        (["", " \x00"], {}, "a vocabulary is learned from texts, and there is none but empty ones"),
        (["a"], {"size": 260}, "size must be from 261 to 1,048,576, got 260"),
        (["a"], {"size": 1 << 21}, "size must be from 261 to 1,048,576, got 2,097,152"),
        (["a"], {"coverage": 0.5}, "coverage must be from 0.98 to 1, got 0.5"),
        (["a"], {"coverage": float("nan")}, "coverage must be from 0.98 to 1, got nan"),
        (["a"], {"kind": "word"}, "kind must be one of unigram, bpe; got 'word'"),
    ],
)
def test_what_cannot_be_learned(lines, settings, message):
    with pytest.raises(ValueRangeError) as raised:
        Vocabulary.learn(lines, **{"size": 300, **settings})
    assert str(raised.value) == message


def test_what_sentencepiece_refuses_is_said_in_our_words(monkeypatch):
    def refuses(**settings):
        raise RuntimeError("INTERNAL: something")

    monkeypatch.setattr(sentencepiece.SentencePieceTrainer, "train", refuses)
    with pytest.raises(ValueRangeError) as raised:
        Vocabulary.learn(["a"], 300)
    assert str(raised.value) == (
        "no vocabulary could be learned from these texts; sentencepiece says: INTERNAL: something"
    )


def test_without_sentencepiece(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentencepiece", None)
    with pytest.raises(MissingError) as raised:
        Vocabulary.learn(["a"], 300)
    assert str(raised.value) == (
        "a vocabulary of subwords needs sentencepiece, which is not installed; "
        "pip install 'regard[text]'"
    )


def test_samples_are_drawn_again_by_their_seed(vocabulary):
    lines = corpus(60)
    first = vocabulary.encode_all(lines, sample=0.3, seed=7)
    assert vocabulary.encode_all(lines, sample=0.3, seed=7) == first
    assert Vocabulary(vocabulary.model).encode_all(lines, sample=0.3, seed=7) == first
    assert vocabulary.encode_all(lines, sample=0.3, seed=8) != first
    assert vocabulary.encode_all(lines, sample=0.3, seed=2**63) != first
    assert vocabulary.encode_all(lines) != first


def test_samples_are_the_same_in_another_process(vocabulary, tmp_path):
    (tmp_path / "a.model").write_bytes(vocabulary.model)
    code = (
        "import sys; from pathlib import Path; from regard.tasks.vocabulary import Vocabulary\n"
        "print(Vocabulary.load(Path(sys.argv[1]))"
        ".encode_all(['the cat sat on a mat'] * 9, sample=0.4, seed=3))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "a.model")], capture_output=True, check=True
    )
    here = vocabulary.encode_all(["the cat sat on a mat"] * 9, sample=0.4, seed=3)
    assert done.stdout.decode().strip() == str(here)


def test_a_sample_without_chance_is_what_sentencepiece_gives(unigram, bpe):
    lines = [*corpus(100), *TEXTS]
    score = unigram._processor.get_score
    drawn = unigram.sampler(tuple(lines), 300.0).draw(0).lists()
    for ids, best in zip(drawn, unigram.encode_all(lines), strict=True):
        assert ids == best or sum(map(score, ids)) == pytest.approx(sum(map(score, best)), abs=1e-3)
    assert bpe.sampler(tuple(lines), 0.0).draw(0).lists() == bpe.encode_all(lines)


def test_a_sampler_is_kept_for_the_next_epoch(unigram):
    lines = tuple(corpus(10))
    assert unigram.sampler(lines, 0.2) is unigram.sampler(tuple(corpus(10)), 0.2)


@pytest.mark.parametrize("sample", [-0.1, 1.1, float("nan")])
def test_a_share_out_of_range(sample, unigram):
    with pytest.raises(ValueRangeError, match=r"^sample must be from 0 to 1, got "):
        unigram.encode_all(["a"], sample=sample)


def test_a_file_and_back(vocabulary, tmp_path):
    path = tmp_path / "source.model"
    path.write_bytes(vocabulary.model)
    loaded = Vocabulary.load(path)
    assert (loaded.sha256, loaded.kind) == (vocabulary.sha256, vocabulary.kind)
    assert loaded.encode_all(corpus(20)) == vocabulary.encode_all(corpus(20))
    with pytest.raises(FileNotFoundError):
        Vocabulary.load(tmp_path / "none.model")


def other_model(**settings):
    out = io.BytesIO()
    given = {
        "pad_id": 0, "bos_id": 1, "eos_id": 2, "unk_id": 3, "byte_fallback": True,
        "normalization_rule_name": "identity", "hard_vocab_limit": False, "minloglevel": 2,
    }  # fmt: skip
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(corpus()), model_writer=out, vocab_size=400, **(given | settings)
    )
    return out.getvalue()


NOT_OURS = (
    "wanted a vocabulary that regard has learned, with 0 to 3 for padding, begin, end and "
    "unknown, and every byte after them; this is another, or damaged"
)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"normalization_rule_name": "nmt_nfkc"},
            "wanted a vocabulary that regard has learned, this is none "
            "(it rewrites texts in a way of its own)",
        ),
        (
            {"add_dummy_prefix": False},
            "wanted a vocabulary that regard has learned, this is none "
            "(it rewrites texts in a way of its own)",
        ),
        (
            {"model_type": "char"},
            "wanted a vocabulary that regard has learned, this is none "
            "(it is neither a unigram nor a bpe model)",
        ),
        ({"byte_fallback": False}, NOT_OURS),
        ({"pad_id": -1}, NOT_OURS),
        ({"eos_id": 1, "bos_id": 2}, NOT_OURS),
    ],
)
def test_a_vocabulary_that_is_not_ours(settings, message):
    model = other_model(**settings)
    with pytest.raises(FileError) as raised:
        Vocabulary(model, name="x.model")
    assert str(raised.value) == f"x.model: {message}"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"hello\tworld\n" * 50,
        b"\x80\x04N.",
        pickle.dumps({"a": 1}),
        bytes(1000),
        b"PK\x03\x04",
    ],
)
def test_a_file_that_is_no_vocabulary(content, tmp_path):
    path = tmp_path / "x.model"
    path.write_bytes(content)
    with pytest.raises(FileError) as raised:
        Vocabulary.load(path)
    assert str(raised.value).startswith(f"{path}: wanted a vocabulary that regard has learned")


def test_a_file_that_is_far_too_large(unigram, tmp_path, monkeypatch):
    path = tmp_path / "x.model"
    path.write_bytes(unigram.model)
    monkeypatch.setattr(module, "LARGEST", len(unigram.model))
    assert Vocabulary.load(path).sha256 == unigram.sha256
    monkeypatch.setattr(module, "LARGEST", 2000)
    with pytest.raises(FileError) as raised:
        Vocabulary.load(path)
    assert str(raised.value) == f"{path}: wanted a vocabulary, this has more than 2,000 bytes"


def test_damaged_files_are_refused_or_work(vocabulary):
    """Truncated at any length: refused. With a bit changed: refused, or a vocabulary all the same.

    That it is not the one a model was trained with is seen from its hash.
    """
    draw = random.Random(3)
    for length in draw.sample(range(len(vocabulary.model)), 60):
        with pytest.raises(FileError):
            Vocabulary(vocabulary.model[:length])
    refused = 0
    for _ in range(150):
        spoiled = bytearray(vocabulary.model)
        spoiled[draw.randrange(len(spoiled))] ^= 1 << draw.randrange(8)
        try:
            other = Vocabulary(bytes(spoiled))
        except FileError:
            refused += 1
        else:
            assert other.sha256 != vocabulary.sha256
            assert isinstance(other.decode(other.encode("the cat 你 😀")), str)
            other.decode(range(3, len(other)))
    assert 50 < refused < 150


def test_random_bytes_are_refused():
    draw = random.Random(4)
    for _ in range(150):
        with pytest.raises(FileError):
            Vocabulary(draw.randbytes(draw.randrange(3000)))
