"""What onnxruntime makes of the graphs is what regard makes of the model."""

import subprocess
import sys

import numpy as np
import pytest
import torch

from regard import MissingError, ValueRangeError
from regard.models import Transformer, TransformerConfig
from regard.tasks.translation import exported as module
from regard.tasks.translation.exported import NAMES, Exported, check_folder, export, save
from regard.tasks.translation.search import search
from regard.tasks.vocabulary import BOS, EOS
from tests.tasks.translation.graphs_of_tiny import exported

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")
pytest.importorskip("onnxscript")

KINDS = ["transformer", "bahdanau"]


def greedy(graphs, source, lens, limits):
    """Greedy decoding of a batch, by onnxruntime alone."""
    encoder, decoder = (
        onnxruntime.InferenceSession(x, providers=["CPUExecutionProvider"])
        for x in (graphs.encoder, graphs.decoder)
    )
    fixed = {"source_lens": lens}
    state = dict(zip(graphs.given, encoder.run(None, {"source": source, **fixed}), strict=True))
    tokens = np.full(len(source), BOS)
    written = [[] for _ in source]
    for _ in range(max(limits)):
        scores, *after = decoder.run(None, {"tokens": tokens, **fixed, **state})
        tokens = scores[:, 2:].argmax(-1) + 2
        state.update(zip(graphs.changing, after, strict=True))
        for row, token in zip(written, tokens.tolist(), strict=True):
            row.append(token)
    cut = []
    for row, limit in zip(written, limits, strict=True):
        end = row.index(EOS) if EOS in row[:limit] else limit
        cut.append(tuple(row[:end]))
    return cut


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("b", "m"), [(1, 1), (1, 9), (3, 4), (8, 17)])
def test_onnxruntime_writes_the_same_tokens(kind, b, m):
    translator, graphs = exported(kind)
    torch.manual_seed(m)
    source = torch.randint(4, len(translator.source), (b, m))
    lens = torch.randint(1, m + 1, (b,))
    wanted = [found.tokens for (found,) in search(translator.model, source, lens, beam=1)]
    limits = [2 * n + 10 for n in lens.tolist()]
    assert greedy(graphs, source.numpy(), lens.numpy(), limits) == wanted
    if b > 1:
        assert len(set(wanted)) > 2  # of different lengths, some cut off


@pytest.mark.parametrize("kind", KINDS)
def test_no_length_is_too_long(kind):
    """Beyond 1,000 tokens: as far as a table of positions is made in advance."""
    translator, graphs = exported(kind)
    source, lens = torch.randint(4, len(translator.source), (1, 1010)), torch.tensor([1010])
    state = translator.model.start(source, lens)
    session = onnxruntime.InferenceSession(graphs.encoder, providers=["CPUExecutionProvider"])
    names = [x.name for x in session.get_outputs()]
    got = session.run(None, {"source": source.numpy(), "source_lens": lens.numpy()})
    given = dict(zip(names, map(torch.tensor, got), strict=True))
    mine, wanted = (
        (given["source_keys"][-1], state.caches[-1].source_k)
        if kind == "transformer"
        else (given["states"], state.decoder[1])
    )
    torch.testing.assert_close(mine, wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_the_graphs_are_whole_and_say_what_varies(kind):
    _, graphs = exported(kind)
    for data, inputs in (
        (graphs.encoder, ["source", "source_lens"]),
        (graphs.decoder, ["tokens", "source_lens", *graphs.given]),
    ):
        made = onnx.load_from_string(data)
        onnx.checker.check_model(made)
        assert made.opset_import[0].version >= 17
        assert [x.name for x in made.graph.input] == inputs
        assert made.graph.input[0].type.tensor_type.shape.dim[0].dim_param
        for value in made.graph.output:
            sizes = [d.dim_value for d in value.type.tensor_type.shape.dim]
            assert 5 not in sizes, value.name  # the example's length
    named = [x.name for x in onnx.load_from_string(graphs.decoder).graph.output]
    assert named == ["scores", *(f"next_{x}" for x in graphs.changing)]


@pytest.mark.parametrize("kind", KINDS)
def test_the_readme_translates(kind, tmp_path):
    translator, graphs = exported(kind)
    source, target = translator.source, translator.target
    text = "今天天气很好"
    paths = save(
        graphs, source.model, target.model, tmp_path / "new", vocab=len(target), example=text
    )
    assert tuple(path.name for path in paths) == NAMES
    said = paths[-1].read_text(encoding="utf-8")
    code = said.partition("```python\n")[2].partition("```")[0]
    done = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", code],
        cwd=tmp_path / "new",
        capture_output=True,
        encoding="utf-8",
        check=True,
        timeout=120,
    )
    ids = torch.tensor([source.encode(text)])
    ((found,),) = search(translator.model, ids, beam=1)
    assert found.ended
    assert done.stdout == target.decode(found.tokens) + "\n"
    assert f"`scores` [b, {len(target)}]" in said


GRAPHS = Exported(b"reads", b"writes", ("keys",), ("keys",))


def test_an_earlier_export_is_written_over_and_nothing_else_is(tmp_path):
    def saved(folder):
        return save(GRAPHS, b"s", b"t", folder, vocab=7, example="a")

    assert [x.read_bytes() for x in saved(tmp_path / "a" / "b")[:4]] == [
        b"reads",
        b"writes",
        b"s",
        b"t",
    ]
    saved(tmp_path / "a" / "b")
    (tmp_path / "a" / "b" / "notes.txt").write_text("mine")
    with pytest.raises(ValueRangeError) as raised:
        saved(tmp_path / "a" / "b")
    assert str(raised.value) == (
        f"{tmp_path / 'a' / 'b'}: wanted a new or empty folder, or an earlier export to write "
        "over; other files are there, such as notes.txt"
    )
    (tmp_path / "c").mkdir()
    check_folder(tmp_path / "c")
    (tmp_path / "c" / "README.md").write_text("mine")
    with pytest.raises(ValueRangeError, match=r"such as README\.md"):
        saved(tmp_path / "c")
    assert (tmp_path / "c" / "README.md").read_text() == "mine"
    with pytest.raises(NotADirectoryError):
        check_folder(tmp_path / "c" / "README.md")


def test_where_nothing_can_be_written_is_told_before_the_work(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("mine")
    circle = tmp_path / "circle"
    circle.symlink_to(circle)
    for folder, error in [
        (tmp_path / "file", NotADirectoryError),
        (tmp_path / "file" / "a", NotADirectoryError),
        (circle / "a", OSError),
    ]:
        with pytest.raises(error) as raised:
            check_folder(folder)
        assert raised.value.filename == str(folder)
    (tmp_path / "b" / "encoder.onnx").mkdir(parents=True)
    with pytest.raises(ValueRangeError) as raised:
        check_folder(tmp_path / "b")
    assert str(raised.value) == (
        f"{tmp_path / 'b' / 'encoder.onnx'}: is no file, and will not be written over; give "
        "another folder"
    )

    def refuse(dir):  # noqa: A002 - as tempfile has it
        asked.append(dir)
        raise PermissionError(13, "Permission denied", f"{dir}/tmpabc123")

    asked = []
    monkeypatch.setattr(module.tempfile, "TemporaryFile", refuse)
    with pytest.raises(PermissionError) as raised:
        check_folder(tmp_path / "new" / "a")
    assert asked == [tmp_path]
    assert raised.value.filename == str(tmp_path / "new" / "a")
    assert not (tmp_path / "new").exists()


def test_where_places_are_learned_their_number_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_graph", lambda *_: b"")
    sizes = {"width": 8, "num_heads": 1, "encoder_layers": 1, "decoder_layers": 1}
    for positions, longest in (("learned", 1024), ("sinusoidal", None)):
        config = TransformerConfig(20, 20, **sizes, positions=positions)
        made = export(Transformer(config))
        assert made.longest == longest
        *_, readme = save(made, b"", b"", tmp_path / positions, vocab=20, example="a")
        said = " ".join(readme.read_text(encoding="utf-8").split())
        wanted = "No sentence and no translation may have more than 1,024 tokens"
        assert (wanted in said) == (longest is not None)


def test_without_onnx_it_says_so(monkeypatch):
    translator, _ = exported("bahdanau")
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(MissingError) as raised:
        export(translator.model)
    wanted = "an export needs onnx, which is not installed; pip install 'regard[export]'"
    assert str(raised.value) == wanted


def test_a_model_in_training_goes_on_training(monkeypatch):
    translator, _ = exported("bahdanau")
    seen = []
    monkeypatch.setattr(module, "_graph", lambda part, *_: seen.append(part.model.training))
    translator.model.train()
    try:
        made = export(translator.model)
        assert translator.model.training
    finally:
        translator.model.eval()
    assert made.changing == ("states",)
    assert seen == [False, False]
