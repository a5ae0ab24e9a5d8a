"""Packed weights: how far off they are, and what is made of a run."""

import pytest
import torch

from regard.errors import ValueRangeError
from regard.tasks.packed import main, pack, ship, unpack
from regard.tasks.run import Run
from regard.tasks.translation.translator import Translator
from tests.tasks.translation.tiny import tiny_run


def test_an_entry_of_a_matrix_is_off_by_half_a_scale_at_most():
    torch.manual_seed(0)
    x = torch.randn(50, 33) * torch.logspace(-30, 30, 50)[:, None]
    x[7], x[8, 1:] = 0, 0
    packed = pack({"x": x})
    assert {name: y.dtype for name, y in packed.items()} == {
        "x": torch.int8,
        "x:scale": torch.float32,
    }
    scale = packed["x:scale"]
    back = unpack(packed)["x"]
    assert back.dtype == torch.float32
    assert ((back - x).abs() <= scale[:, None] * 0.50001).all()
    assert packed["x"].abs().amax(1)[x.abs().amax(1) > 0].eq(127).all()  # the whole range is used
    assert back[7].eq(0).all()
    torch.testing.assert_close(back[8, 0], x[8, 0])


@pytest.mark.parametrize(
    ("x", "dtype"),
    [
        (torch.tensor([1.0, -0.1, 0.0]), torch.float16),
        (torch.tensor([1e5, 1.0]), torch.float32),  # beyond float16
        (torch.tensor([1e-7, 2e-7]), torch.float32),  # below its digits
        (torch.tensor([1.0, 1e-9]), torch.float16),  # lost beside the other
        (torch.tensor(0.25), torch.float16),
        (torch.zeros(0), torch.float16),
        (torch.zeros(3), torch.float16),
        (torch.tensor([1.5], dtype=torch.float64), torch.float16),
        (torch.ones(2, 2, 2) / 4, torch.float16),
    ],
)
def test_other_numbers_are_short_where_that_is_exact_enough(x, dtype):
    packed = pack({"x": x})
    assert packed["x"].dtype == dtype
    back = unpack(packed)
    assert back["x"].dtype == torch.float32
    most = x.abs().max().item() if x.numel() else 0.0
    torch.testing.assert_close(back["x"], x.float(), rtol=0, atol=most * 2**-11)


def test_whole_numbers_and_empty_matrices_stay():
    x = {"i": torch.tensor([1, 2]), "e": torch.zeros(0, 4), "f": torch.zeros(4, 0)}
    back = unpack(pack(x))
    assert all(torch.equal(back[name], x[name]) for name in x)


@pytest.mark.parametrize("value", [torch.nan, torch.inf])
def test_what_is_not_finite_is_refused(value):
    for x in (torch.ones(2, 2), torch.ones(3)):
        x[0] = value
        with pytest.raises(ValueRangeError) as raised:
            pack({"fine": torch.ones(1), "the.name": x})
        count = x.isfinite().logical_not().sum()
        assert str(raised.value) == (
            f"the.name must hold finite numbers, got {count} that are infinite or NaN"
        )


@pytest.mark.parametrize("model", ["transformer", "bahdanau"])
def test_a_packed_model_scores_as_the_whole_one(tmp_path, model):
    run = tiny_run(tmp_path / "run", model)
    ship(run, tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "config.toml", "run.json", "source.model", "target.model", "weights.safetensors"
    ]  # fmt: skip
    small, large = ((folder / "weights.safetensors").stat().st_size for folder in
                    (tmp_path / "out", run))  # fmt: skip
    assert small < 0.55 * large  # of so few numbers the header is much
    whole, packed = Translator.load(run), Translator.load(tmp_path / "out")
    torch.manual_seed(0)
    source, target = torch.randint(4, 260, (3, 9)), torch.randint(4, 260, (3, 7))
    wanted, got = whole.model(source, target), packed.model(source, target)
    assert not torch.equal(wanted, got)
    assert (got - wanted).std() < 0.02 * wanted.std()
    assert packed.source.sha256 == whole.source.sha256


def test_shipping_twice_changes_nothing(tmp_path):
    ship(tiny_run(tmp_path / "run"), tmp_path / "once")
    ship(tmp_path / "once", tmp_path / "twice")
    first, second = ((tmp_path / name / "weights.safetensors").read_bytes() for name in
                     ("once", "twice"))  # fmt: skip
    assert first == second


def test_where_a_training_began_is_not_told(tmp_path):
    run = Run.open(tiny_run(tmp_path / "run"))
    config = run.config.replace('start_from = ""', 'start_from = "/home/me/first"')
    assert "/home/me" in config
    tensors, about = run.load_weights()
    with Run.create(tmp_path / "next", config, run.vocabularies) as begun:
        begun.save_weights(tensors, about | {"config": config})  # as a training does
    ship(tmp_path / "next", tmp_path / "out")
    assert Run.open(tmp_path / "out").config == run.config
    assert not [x for x in (tmp_path / "out").iterdir() if b"/home/me" in x.read_bytes()]
    Translator.load(tmp_path / "out")("你好")


def test_a_run_that_went_wrong_is_not_shipped(tmp_path, capsys):
    run = tiny_run(tmp_path / "run")
    with Run.open(run) as opened:
        tensors, about = opened.load_weights()
        next(iter(tensors.values())).view(-1)[0] = torch.nan
        opened.save_weights(tensors, about)
    assert main([str(run), str(tmp_path / "out")]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("packed: ")
    assert said.err.endswith("must hold finite numbers, got 1 that are infinite or NaN\n")
    assert not (tmp_path / "out").exists()


def test_from_the_command_line(tmp_path, capsys):
    run = tiny_run(tmp_path / "run")
    assert main([str(run), str(tmp_path / "out")]) == 0
    said = capsys.readouterr()
    assert (said.out, said.err) == (f"{tmp_path / 'out'}: 0.1 MiB\n", "")
    assert main([str(run), str(tmp_path / "out")]) == 2  # it is not written over
    assert "holds a run already" in capsys.readouterr().err
