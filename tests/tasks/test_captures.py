"""Captures in files: what comes back, and what is refused."""

import json
import subprocess
import sys
from dataclasses import dataclass

import pytest
import torch

from regard import Elementwise, Slope
from regard.errors import FileError, KindError, StateError
from regard.masks import Causal, Dense, Documents, Lengths, NotSelf, Window
from regard.scores import (
    Additive,
    Bilinear,
    Cosine,
    Distances,
    Dot,
    Epanechnikov,
    Gaussian,
    Laplacian,
    Uniform,
)
from regard.scores.base import Score
from regard.tasks.captures import load_captures, save_captures
from regard.tasks.checkpoint import read_tensors, write_tensors
from regard.viewing.capped import Capped
from regard.viewing.capturing import Captured, Captures, capture
from regard.viewing.visible import Interval

SCORES = [
    Dot(),
    Dot(0.3),
    Dot(torch.tensor(0.7)),
    Gaussian(width=2.0),
    Laplacian(width=torch.tensor([[1.0], [2.0]])),
    Epanechnikov(width=9.0),
    Cosine(0.5),
    Additive(torch.linspace(-1, 1, 4)),
    Bilinear(torch.eye(4)),
    Uniform(),
    Dot() + Slope(torch.tensor([0.5, 0.25])),
    Gaussian() + Distances(torch.tensor([0.1, 0.2, 0.3]), offset=1),
    Elementwise(lambda q, k, sharp: -sharp * abs(q - k) ** 1.5, p0=4.0),
    Elementwise(lambda q, k: q * k),
    Capped(0.5, 3.0),
]
MASKS = [
    None,
    Causal(),
    Causal(offset=1),
    Window(left=2, right=None),
    NotSelf(),
    Lengths([3, 5]),
    Documents([1, 1, 2, 2, 2]),
    Dense(torch.rand(5, 5) > 0.3),
    Causal() & Window(left=2) & NotSelf(),
    Interval(torch.zeros(1, dtype=torch.int64), torch.tensor([1, 5, 2, 3, 3])),
]


def call(score=None, mask=None, name="layer.0", heads=None):
    torch.manual_seed(0)
    q, k = torch.randn(2, 2, 5, 4), torch.randn(2, 2, 5, 4)
    return Captured(name, q, k, score or Dot(), mask, heads)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "x.safetensors"


@pytest.mark.parametrize("score", SCORES, ids=lambda x: type(x).__name__)
def test_every_score_comes_back(score, path):
    given = call(score)
    save_captures(given, path)
    (found,) = load_captures(path).captures
    assert type(found.score) is type(score)
    assert torch.equal(found.weights(), given.weights())


@pytest.mark.parametrize("mask", MASKS, ids=lambda x: type(x).__name__)
def test_every_mask_comes_back(mask, path):
    given = call(mask=mask)
    save_captures(given, path)
    (found,) = load_captures(path).captures
    assert type(found.mask) is type(mask)
    assert torch.equal(found.weights(), given.weights())


def test_a_model_with_its_tokens(path):
    torch.manual_seed(0)
    net = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()
    with capture(net) as seen:
        net(torch.randn(1, 3, 8))
    save_captures(seen, path, tokens=["▁The", "狗", "\u202e\ud800"])
    found = load_captures(path)
    assert found.captures.names == ["self_attn"]
    assert found.tokens == ["▁The", "狗", "\u202e\ud800"]
    assert torch.equal(found.captures[0].weights(), seen[0].weights())


def test_calls_in_their_order_with_names_and_heads(path):
    several = Captures()
    for number in range(12):  # "10" stands before "2" in a list of names
        several.add(call(name=f"layer {number}", heads=(number, 20)))
    save_captures(several, path)
    found = load_captures(path)
    assert [(x.name, x.heads) for x in found.captures] == [
        (f"layer {number}", (number, 20)) for number in range(12)
    ]
    assert found.tokens is None


def test_half_precision_stays_what_it_was(path):
    given = call()
    save_captures(Captured("", given.q.half(), given.k.half(), Dot(), None), path)
    assert load_captures(path).captures[0].q.dtype == torch.float16


def test_nothing_is_not_kept(path):
    with pytest.raises(StateError, match="nothing to keep"):
        save_captures(Captures(), path)
    empty = Captured("x", torch.zeros(1, 0, 4), torch.zeros(1, 0, 4), Dot(), None)
    with pytest.raises(StateError, match="'x' cannot be kept: it has no queries"):
        save_captures(empty, path)
    assert not path.exists()


@dataclass(frozen=True, eq=False)
class Own(Score):
    """Somebody's own."""

    def pairwise(self, q, k):
        return q @ k.transpose(-1, -2)


Dot2 = type("Dot", (Own,), {})  # of a name that is known


@pytest.mark.parametrize("score", [Own(), Dot2()])
def test_a_score_of_ones_own_cannot_be_written(score, path):
    with pytest.raises(KindError, match="can name only those of regard"):
        save_captures(call(score), path)
    assert not path.exists()


@pytest.mark.parametrize("tokens", ["text", ["a", 1], [b"a"], 5, {"a": "text"}])
def test_tokens_that_are_none(tokens, path):
    with pytest.raises(KindError, match="tokens must be a list of str"):
        save_captures(call(), path, tokens)


@pytest.mark.parametrize(
    "tokens",
    [
        [],
        ["a", "b"],
        (["a"], ["b", "c"]),
        [["a"], ["b", "c"]],
        {"encoder": ["a"], "decoder": (["b"], ["c", "d"])},
    ],
)
def test_tokens_in_every_form_that_look_takes(tokens, path):
    save_captures(call(), path, tokens)
    assert load_captures(path).tokens == tokens


def test_another_file_of_tensors(path):
    write_tensors(path, {"a": torch.ones(2)}, {"kind": "translation"})
    with pytest.raises(FileError, match="not those of a capture"):
        load_captures(path)


def test_no_file_of_tensors(path):
    path.write_bytes(b"\x80\x04cos\nsystem\n")
    with pytest.raises(FileError, match="is a pickle"):
        load_captures(path)
    with pytest.raises(FileNotFoundError):
        load_captures(path.parent / "y")


def test_no_bit_changes_unnoticed(path):
    save_captures(call(Additive(torch.ones(4)), Lengths([3, 5])), path, ["a"] * 5)
    data = path.read_bytes()
    for at in range(0, len(data), 7):
        path.write_bytes(data[:at] + bytes([data[at] ^ 16]) + data[at + 1 :])
        with pytest.raises(FileError):
            load_captures(path)
    for length in range(0, len(data), 101):
        path.write_bytes(data[:length])
        with pytest.raises(FileError):
            load_captures(path)


DEEP = {"type": "Dot", "scale": None}
for _ in range(300):
    DEEP = {"type": "Biased", "score": DEEP, "bias": {"type": "Slope", "slopes": 1.0, "offset": 0}}
HOSTILE = {
    "no calls": lambda about, tensors: about.pop("calls"),
    "calls that are none": lambda about, tensors: about.update(calls=7),
    "a call that is none": lambda about, tensors: about["calls"].append("x"),
    "a call without tensors": lambda about, tensors: about["calls"].append(about["calls"][0]),
    "no name": lambda about, tensors: about["calls"][0].pop("name"),
    "a name that is none": lambda about, tensors: about["calls"][0].update(name=["x"]),
    "no score": lambda about, tensors: about["calls"][0].update(score=None),
    "an unknown score": lambda about, tensors: about["calls"][0].update(score={"type": "os"}),
    "an abstract score": lambda about, tensors: about["calls"][0].update(score={"type": "Score"}),
    "a mask for a score": lambda about, tensors: about["calls"][0].update(
        score={"type": "NotSelf"}
    ),
    "a score for a mask": lambda about, tensors: about["calls"][0].update(mask={"type": "Uniform"}),
    "a type that is none": lambda about, tensors: about["calls"][0].update(score={"type": [1]}),
    "another argument": lambda about, tensors: about["calls"][0]["score"].update(x=1),
    "an argument that is none": lambda about, tensors: about["calls"][0]["score"].update(scale="x"),
    "a tensor that is not there": lambda about, tensors: about["calls"][0]["score"].update(
        scale={"tensor": "y"}
    ),
    "a tensor that does not fit": lambda about, tensors: about["calls"][0]["score"].update(
        scale={"tensor": "0.q"}
    ),
    "a list": lambda about, tensors: about["calls"][0]["score"].update(scale=[1]),
    "too deep": lambda about, tensors: about["calls"][0].update(score=DEEP),
    "a formula that runs": lambda about, tensors: about["calls"][0].update(
        score={"type": "Elementwise", "text": "__import__('os').abort()", "p0": None, "p1": None}
    ),
    "a formula without its parameter": lambda about, tensors: about["calls"][0].update(
        score={"type": "Elementwise", "text": "q * p0", "p0": None, "p1": None}
    ),
    "a formula without an end": lambda about, tensors: about["calls"][0].update(
        score={"type": "Elementwise", "text": "-" * 9000 + "q", "p0": None, "p1": None}
    ),
    "a formula too long": lambda about, tensors: about["calls"][0].update(
        score={"type": "Elementwise", "text": "q+" * 9000 + "q", "p0": None, "p1": None}
    ),
    "a formula that is none": lambda about, tensors: about["calls"][0].update(
        score={"type": "Elementwise", "text": 5, "p0": None, "p1": None}
    ),
    "lengths of another batch": lambda about, tensors: (
        tensors.update(x=torch.ones(9, dtype=torch.int64)),
        about["calls"][0].update(mask={"type": "Lengths", "lengths": {"tensor": "x"}}),
    ),
    "an interval of nothing": lambda about, tensors: (
        tensors.update(lo=torch.tensor([-9]), hi=torch.tensor([9])),
        about["calls"][0].update(
            mask={"type": "Interval", "lo": {"tensor": "lo"}, "hi": {"tensor": "hi"}}
        ),
    ),
    "a very wide window": lambda about, tensors: about["calls"][0].update(
        mask={"type": "Causal", "offset": 10**30}
    ),
    "heads that are not there": lambda about, tensors: about["calls"][0].update(heads=[1]),
    "heads that are none": lambda about, tensors: about["calls"][0].update(heads=["a", "b"]),
    "keys of another width": lambda about, tensors: tensors.update({"0.k": torch.ones(2, 2, 5, 3)}),
    "whole numbers": lambda about, tensors: tensors.update(
        {name: torch.ones(2, 2, 5, 4, dtype=torch.int64) for name in ("0.q", "0.k")}
    ),
    "a number": lambda about, tensors: tensors.update({"0.q": torch.ones(())}),
    "endless rows of nothing": lambda about, tensors: tensors.update(
        {name: torch.empty(1 << 40, 0) for name in ("0.q", "0.k")}
    ),
    "tokens that are no text": lambda about, tensors: tensors.update(tokens=torch.arange(9)),
    "tokens that are numbers": lambda about, tensors: tensors.update(
        tokens=torch.tensor(list(json.dumps([1]).encode()), dtype=torch.uint8)
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_file_made_to_harm(name, path):
    save_captures(call(), path)
    tensors, about = read_tensors(path)
    HOSTILE[name](about, tensors)
    write_tensors(path, tensors, about)
    with pytest.raises(FileError, match="is no capture that can be read"):
        load_captures(path)


def test_what_it_reads_it_does_not_run(path):
    """In a process of its own: a formula that ends it would end this one, too."""
    save_captures(call(), path)
    tensors, about = read_tensors(path)
    HOSTILE["a formula that runs"](about, tensors)
    write_tensors(path, tensors, about)
    code = f"from regard.tasks.captures import load_captures; load_captures({str(path)!r})"
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert found.returncode == 1
    assert "FileError" in found.stderr
