"""From tensors to kernels: strides, empty calls, panels, bits, and which calls are refused."""

import os
import re
import subprocess
import sys

import pytest
import torch

from regard import (
    Additive,
    Causal,
    Cosine,
    Dot,
    Gaussian,
    ImplError,
    Laplacian,
    Lengths,
    NotSelf,
    ShapeError,
    Uniform,
    ValueRangeError,
    Window,
    attend,
    explain,
)
from regard.attention.call import Call
from regard.attention.choice import choose
from regard.testing import budget_used, qkv
from tests.attention.triton.calls import a_case, learned
from tests.attention.triton.conftest import poison
from tests.cases import Case

pytest.importorskip("triton")
interpreted = pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")


def scores(d, device):
    return {
        "dot": Dot(),
        "additive": Additive(torch.linspace(-1, 1, d, device=device)),
        "gaussian": Gaussian(1.5),
    }


def run(q, k, v, score, mask=None, loss=None, **options):
    """The output and the gradients of q, k and v."""
    q, k, v = (x.detach().requires_grad_() for x in (q, k, v))
    out = attend(q, k, v, score=score, mask=mask, impl="triton", **options)
    loss = out.detach().cos() if loss is None else loss
    return [out.detach(), *torch.autograd.grad(out, (q, k, v), loss)]


# Bits ----------------------------------------------------


@pytest.mark.parametrize(
    ("name", "mask"),
    [
        ("dot", None),
        ("dot", Window(7, 3) & NotSelf()),
        ("additive", Causal()),
        ("gaussian", Window(7, 3) & NotSelf()),
    ],
    ids=str,
)
def test_fresh_memory_does_not_matter(name, mask, pairs, triton, monkeypatch, device, small_tiles):
    q, k, v = (x.to(device) for x in qkv(2, n=17, m=35, d=5, v=3))
    score = scores(5, device)[name]
    monkeypatch.setattr(triton.memory, "fresh", poison)
    poisoned = run(q, k, v, score, mask)
    monkeypatch.setattr(triton.memory, "fresh", torch.zeros)
    clean = run(q, k, v, score, mask)
    assert all(torch.equal(a, b) for a, b in zip(poisoned, clean, strict=True))
    assert all(x.isfinite().all() for x in poisoned)


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("dot", torch.float32),
        ("dot", torch.bfloat16),
        ("additive", torch.float32),
        ("gaussian", torch.bfloat16),
    ],
)
def test_a_batch_entry_alone_is_what_it_is_in_the_batch(name, dtype, pairs, device, small_tiles):
    q, k, v = (x.to(device, dtype) for x in qkv(3, n=17, m=35, d=5, v=3))
    q[1] *= 30  # another kind of arithmetic for the additive score
    score = scores(5, device)[name]
    together = run(q, k, v, score)
    for b in range(3):
        alone = run(q[b : b + 1], k[b : b + 1], v[b : b + 1], score)
        for x, y in zip(together, alone, strict=True):
            assert torch.equal(x[b], y[0])


def test_a_batch_entry_alone_is_what_it_is_in_a_batch_of_other_panels(
    pairs, triton, monkeypatch, device, small_tiles
):
    # alone, an entry may have all its rows in one panel; among others it may not
    n, m = 300, 3
    monkeypatch.setattr(triton.panels, "PANEL", 2 * 256 * m)
    q, k, v = (x.to(device) for x in qkv(2, n=n, m=m, d=1, v=1))
    together = run(q, k, v, Gaussian())
    for b in range(2):
        alone = run(q[b : b + 1], k[b : b + 1], v[b : b + 1], Gaussian())
        for x, y in zip(together, alone, strict=True):
            assert torch.equal(x[b], y[0])


@pytest.mark.parametrize("name", ["additive", "gaussian"])
def test_a_batch_entry_alone_is_what_it_is_where_a_gpu_has_more_to_do(
    name, pairs, triton, monkeypatch, device, small_tiles
):
    # how a sum is cut must not go by how many entries keep the GPU busy
    monkeypatch.setattr(triton.panels, "BUSY", 6, raising=False)
    q, k, v = (x.to(device) for x in qkv(3, n=17, m=130, d=3, v=1))
    score = scores(3, device)[name]
    together = run(q, k, v, score)
    alone = run(q[1:2], k[1:2], v[1:2], score)
    for x, y in zip(together, alone, strict=True):
        assert torch.equal(x[1], y[0])


@pytest.mark.parametrize("name", ["dot", "additive", "gaussian"])
def test_the_same_bits_every_time(name, pairs, device, small_tiles):
    q, k, v = (x.to(device) for x in qkv(2, n=17, m=35, d=5, v=3))
    score = scores(5, device)[name]
    first = run(q, k, v, score, dropout=0.2, seed=3)
    for _ in range(250 if device == "cuda" else 1):
        again = run(q, k, v, score, dropout=0.2, seed=3)
        assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))


# Strides ----------------------------------------------------

LAYOUTS = {
    "transposed": lambda x: x.transpose(-1, -2).contiguous().transpose(-1, -2),
    "every other": lambda x: x.repeat_interleave(2, -1)[..., ::2],
    "odd offset": lambda x: torch.cat((x.new_zeros(*x.shape[:-1], 1), x), -1)[..., 1:],
    "rows apart": lambda x: x.repeat_interleave(3, -2)[..., ::3, :],
    "batch last": lambda x: x.permute(1, 2, 0).contiguous().permute(2, 0, 1),
}


@pytest.mark.parametrize(
    ("name", "layout"),
    [
        *(("dot", layout) for layout in LAYOUTS),
        ("additive", "transposed"),
        ("additive", "odd offset"),
        ("gaussian", "every other"),
        ("gaussian", "batch last"),
    ],
)
def test_strides_do_not_matter(name, layout, pairs, device, small_tiles):
    q, k, v = (x.to(device) for x in qkv(2, n=17, m=33, d=5, v=3))
    score, view = scores(5, device)[name], LAYOUTS[layout]
    assert not view(q).is_contiguous()
    loss = torch.linspace(-1, 1, 2 * 17 * 3, device=device).view(2, 17, 3)
    wanted = run(q, k, v, score, loss=loss)
    got = run(view(q), view(k), view(v), score, loss=view(loss))
    assert all(torch.equal(a, b) for a, b in zip(got, wanted, strict=True))


@pytest.mark.parametrize("name", ["dot", "additive", "gaussian"])
def test_rows_that_share_memory(name, pairs, device, small_tiles):
    q, k, v = (x.to(device) for x in qkv(2, n=17, m=33, d=5, v=3))
    score = scores(5, device)[name]
    shared = [x[:1].expand(x.shape) for x in (q, k, v)]
    loss = torch.ones((), device=device).expand(2, 17, 3)  # a gradient of stride 0
    wanted = run(*(x.contiguous() for x in shared), score, loss=loss.contiguous())
    got = run(*shared, score, loss=loss)
    assert all(torch.equal(a, b) for a, b in zip(got, wanted, strict=True))


@pytest.mark.parametrize("shape", [(0, 3, 4), (2, 0, 4), (2, 3, 0)], ids=str)
@pytest.mark.parametrize("name", ["dot", "additive"])
def test_empty_calls_give_zeros(name, shape, device):
    batch, n, m = shape
    w = torch.randn(5, device=device, requires_grad=True)
    q, k, v = (x.to(device).requires_grad_() for x in qkv(batch, n=n, m=m, d=5, v=6))
    score = Dot() if name == "dot" else Additive(w)
    out = attend(q, k, v, score=score, impl="triton")
    assert out.shape == (batch, n, 6)
    assert not out.any()
    out.sum().backward()
    assert w.grad is None or not w.grad.any()
    assert all(not x.grad.any() for x in (q, k, v))


@pytest.mark.parametrize("score", [Dot(), Gaussian(), Uniform()], ids=repr)
def test_no_features_and_no_values(score, device):
    q, k, v = (x.to(device).requires_grad_() for x in qkv(2, n=3, m=4, d=0, v=2))
    out = attend(q, k, v, score=score, impl="triton")
    torch.testing.assert_close(out, v.mean(1, keepdim=True).expand_as(out))
    out.sum().backward()
    torch.testing.assert_close(v.grad, torch.full_like(v, 3 / 4))
    q, k, v = (x.to(device).requires_grad_() for x in qkv(2, n=3, m=4, d=2, v=0))
    out = attend(q, k, v, score=score, impl="triton")
    assert out.shape == (2, 3, 0)
    out.sum().backward()
    assert not q.grad.any()


@pytest.mark.parametrize(("d", "v"), [(1, 4), (4, 1), (0, 2)])
def test_gradients_of_narrow_rows_lie_as_the_compiler_is_told(d, v, device):
    given = tuple(x.to(device).requires_grad_() for x in qkv(2, n=3, m=4, d=d, v=v))
    found = torch.autograd.grad(attend(*given, impl="triton").sum(), given)
    assert all(x.is_contiguous() for x in found)


class Compiled:
    """As Triton's, which takes constants too, and reads none."""

    def __init__(self, launched, key):
        self.launched, self.key = launched, key

    def __getitem__(self, grid):
        return self.launch

    def launch(self, *args):
        assert len(args) == len(Kernel.arg_names)
        self.launched.append((*self.key, args[2]))


class Kernel:
    """As Triton's: finds what is compiled for its arguments, and launches it."""

    arg_names = ("q", "notes", "n", "BM", "CAREFUL")

    def __init__(self, launched):
        self.launched, self.compiled, self.searches = launched, {}, 0

    def __getitem__(self, grid):
        return self.launch

    def launch(self, q, notes, n, *, BM, CAREFUL, num_warps, num_stages):
        self.searches += 1
        assert num_stages == (1 if CAREFUL else 3)
        key = (CAREFUL, q.dtype, n % 16 == 0)
        found = self.compiled.setdefault(key, Compiled(self.launched, key))
        found.launch(q, notes, n, BM, CAREFUL)
        return found


def test_the_second_launch_is_of_the_kernel_that_went_with_the_first(triton, device):
    launched = []
    kernel = Kernel(launched)
    cases = [(torch.float32, 16), (torch.float32, 5), (torch.float16, 16), (torch.float32, 32)]
    for again in (False, True):
        for dtype, n in cases:
            kernel.searches = 0
            x = torch.zeros(1, dtype=dtype, device=device)
            triton.dot._twice(kernel, 3, (x,), n, BM=16, num_warps=4, num_stages=3)
            told = (dtype, n % 16 == 0, n)
            assert launched[-2:] == [(False, *told), (True, *told)]
            assert kernel.searches == (1 if again or n == 32 else 2)


def test_a_look_copies_nothing_that_is_wide_enough(triton, device):
    q, k, v = (x.to(device) for x in qkv(2, n=3, m=4, d=2, v=0))
    look = triton.inspection.Look(Call(q, k, v))
    assert look.call.q is q
    assert look.call.k is k


# Panels ----------------------------------------------------


@pytest.mark.parametrize(
    ("score", "plan"),
    [("distances", (1, 16, 16)), ("additive", (1, 7, 16)), ("slope", (2, 7, 33))],
    ids=str,
)
def test_panels_are_pieces_of_one(
    score, plan, pairs, triton, monkeypatch, device, small_tiles, kernels_for_parameters
):
    case = a_case(score, "both", 17, 33, device=device, dropout=0.2)
    one = case.run("triton", torch.float32, torch.float32)
    monkeypatch.setattr(triton.panels.Panels, "_plan", lambda self: plan)
    many = case.run("triton", torch.float32, torch.float32)
    assert torch.equal(one.out, many.out)
    exact = case.run("reference", torch.float64, torch.float32)
    same = case.run("reference", torch.float32, torch.float32)
    for name, g in many.grads.items():
        # parameters: a sum of few in float32 may be luckier than another
        most = pairs if name in "qkv" else 8.0
        assert budget_used(g, same.grads[name], exact.grads[name]) <= most, name
    assert set(many.grads) > {"q", "k", "v"}


@pytest.mark.parametrize("panel", [1, 1000, 5 << 20])
def test_panels_are_bounded(panel, triton, monkeypatch):
    monkeypatch.setattr(triton.panels, "PANEL", panel)
    for batch, n, m in ((1, 1, 1), (8, 2048, 2048), (1, 16384, 16384), (300, 10, 10), (1, 3, 9000)):
        panels = object.__new__(triton.panels.Panels)
        panels.batch, panels.n, panels.m = batch, n, m
        entries, rows, keys = panels._plan()
        assert 1 <= entries <= batch
        assert 1 <= rows <= n
        assert 1 <= keys <= m
        # the least a panel is, whatever was asked for
        assert entries * rows * keys <= max(panel, 256 * 8192)


# Offsets ----------------------------------------------------

COMPILE = """
import re
import subprocess
import tempfile
from pathlib import Path

import triton
from triton.backends.compiler import GPUTarget
from triton.backends.nvidia.compiler import get_ptxas
from triton.compiler import ASTSource

from regard.attention.triton import matrix, operands
from regard.attention.triton.build import kernels
from regard.attention.triton.fusion import FUSED
from regard.scores import Additive, Boxcar, Gaussian


def made(fn, pointers, numbers, constants, warps=4, language=ASTSource, arch=90, **options):
    names = fn.arg_names
    signature = {n: "constexpr" for n in names}
    signature.update(pointers)
    signature.update(dict.fromkeys(numbers, "i32"))
    signature.update({n: "fp32" for n in ("scale", "keep_scale", "factor") if n in names})
    if "least" in names:
        signature["least"] = "i32"
    fixed = {(names.index(n),): constants[n] for n in names if signature[n] == "constexpr"}
    source = language(fn, signature, constexprs=fixed)
    options |= {"num_warps": warps, **FUSED}
    return triton.compile(source, target=GPUTarget("cuda", arch, 32), options=options).asm

"""
SOME = """

flags = dict(SPANS=True, NOT_SELF=True, DENSE=True, TABLE=True, DROP=True, LONG=False)
fn = matrix.forward
pointers = dict(q="*bf16", k="*bf16", v="*bf16", table="*fp32", lo="*i32", hi="*i32", dense="*i8",
                seed="*i64", out="*bf16", lse="*fp64", notes="*i32")
numbers = [n for n in fn.arg_names if n.islower() and n not in pointers
           and n not in ("scale", "least", "keep_scale")]
sizes = dict(BM=16, BN=16, D=16, DV=16, EVEN=False, VALUES=True, NEGATIVE=False,
             PRECISION="tf32x3", CAREFUL=True)
print(made(fn, pointers, numbers, flags | sizes)["ttir"])
fn = kernels(Gaussian.PHI).forward
pointers = dict.fromkeys("q k v p0 p1 table out scratch".split(), "*fp32") | dict(
    kind="*i32", lo="*i32", hi="*i32", dense="*i8", seed="*i64", lse="*fp64")
numbers = [n for n in fn.arg_names if n.islower() and n not in pointers
           and n not in ("scale", "least", "keep_scale")]
for few in (False, True):
    print("// ---")
    sizes = dict(BM=16, BN=32, DV=16, MODE=1, SUM=0, KEYS_FIRST=few)
    print(made(fn, pointers, numbers, flags | sizes)["ttir"])
sizes = dict(BM=64, BN=64, DV=1, MODE=1, SUM=0, KEYS_FIRST=True)
print("// ---")
print(made(fn, pointers, numbers, dict.fromkeys(flags, False) | sizes, warps=2)["ptx"])
fn = kernels(Additive.PHI).forward
for kind in (1, 2):
    sizes = dict(BM=16, BN=32, DV=16, MODE=1, SUM=kind, KEYS_FIRST=False)
    print("// ---")
    print(made(fn, pointers, numbers, flags | sizes, warps=8)["ttir"])
for phi in (Additive.PHI, Boxcar.PHI):
    sizes = dict(BM=16, BN=32, DV=16, MODE=1, SUM=4, KEYS_FIRST=False)
    print("// ---")
    print(made(kernels(phi).forward, pointers, numbers, flags | sizes, warps=8)["ttir"])
def assembled(text):
    # what the assembler has to say, as comments
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "kernel.ptx"
        file.write_text(text)
        to = ["--gpu-name", "sm_90a", "-o", file.with_suffix(".cubin")]
        command = [get_ptxas(90).path, "-v", file, *to]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    return "".join(f"// {line}\\n" for line in said.splitlines())


if operands.HAS_GLUON:
    from triton.experimental.gluon._runtime import GluonASTSource
    from regard.attention.triton import fours

    def told(fn, constants, **more):
        known = {n: t for n, t in (pointers | more).items() if n in fn.arg_names}
        numbers = [n for n in fn.arg_names if n.islower() and n not in known
                   and n not in ("scale", "least", "keep_scale")]
        warps = fours.LAUNCH["num_warps"]
        found = made(fn, known, numbers, flags | constants, warps, GluonASTSource)
        print("// ---", found["ttgir"], "// ---", found["ptx"], assembled(found["ptx"]), sep="\\n")

    told(fours.forward, dict(MODE=1, CHUNKS=2))
    told(fours.weigh, {}, weights="*fp32")
"""


def compiled_by(script):
    """What a script says of kernels it compiles; needs no GPU."""
    environment = {x: y for x, y in os.environ.items() if x != "TRITON_INTERPRET"}
    environment["PYTHONPATH"] = os.pathsep.join(sys.path)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", COMPILE + script],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"no kernel for a GPU: {done.stderr}"
    return done.stdout.split("// ---")


@pytest.fixture(scope="module")
def compiled():
    """The kernels' intermediate text, as compiled for an H100."""
    return compiled_by(SOME)


PARTS = {"matrix": 0, "features": 1, "few-features": 2, "few-pairs": 6}
PARTS |= {"fours": 8, "fours-weigh": 10}


def part(compiled, name):
    if PARTS[name] >= len(compiled):
        pytest.skip("this Triton has no Gluon")
    return compiled[PARTS[name]]


@pytest.mark.parametrize("name", PARTS)
def test_offsets_are_64_bits_wide(name, compiled):
    # what reaches beyond 2^31 elements: an entry's start, and a row within an entry
    lines = part(compiled, name).splitlines()
    added = [line for line in lines if "tt.addptr" in line]
    assert len(added) > 10
    narrow = [
        line for line in added if not re.search(r"tt\.addptr.*, (tensor<[\dx]+xi64[,>]|i64)", line)
    ]
    made = {}
    for line in lines:
        if found := re.match(r"\s*(%[\w#-]+) = (\S+) (.*)", line):
            made[found[1]] = (found[2], found[3])
    for line in narrow:
        operand = re.search(r"tt\.addptr %[\w#-]+, (%[\w#-]+)", line)[1]
        assert bounded(operand, made), f"a 32-bit offset that may be large: {line.strip()}"


@pytest.mark.parametrize("which", [4, 5], ids=["usual", "careful"])
def test_sums_of_tanh_compile(which, compiled):
    assert "rcp.approx" in compiled[which]  # and take reciprocals, no divisions


@pytest.mark.parametrize("which", [6, 7], ids=["smooth", "with an edge"])
def test_sums_of_few_pairs_compile(which, compiled):
    assert "tensor<2x1x8x32xf64" in compiled[which]
    assert "tensor<2x1x8x32xf64" not in compiled[4]


EVERYWHERE = """
from regard.attention.call import Call
import torch

made_for = kernels(Gaussian.PHI)
pointers = dict.fromkeys("q k v p0 p1 table out scratch weights dout".split(), "*fp32") | dict(
    kind="*i32", lo="*i32", hi="*i32", dense="*i8", seed="*i64", lse="*fp64", dv_out="*fp64")


def told(fn, constants, **options):
    known = {n: t for n, t in pointers.items() if n in fn.arg_names}
    numbers = [n for n in fn.arg_names if n.islower() and n not in known
               and n not in ("scale", "least", "keep_scale")]
    text = made(fn, known, numbers, constants, **options)["ptx"]
    print("// ---", text)


call = Call(*(torch.zeros(1, 1024, width) for width in (64, 64, 512)))
tile = operands.score_tile(call)
sizes = dict(BM=tile["BM"], BN=tile["BN"], KEYS_FIRST=False, DV=512, MODE=1, SUM=0)
off = dict.fromkeys("SPANS NOT_SELF DENSE TABLE DROP LONG".split(), False)
more = {"maxnreg": tile["maxnreg"]} if "maxnreg" in tile else {}
told(made_for.forward, sizes | off, warps=tile["num_warps"], num_stages=1, **more)
for arch, fine in ((80, False), (90, False), (90, True)):
    sizes = dict(ROWS=256, BM=32, BN=64, DV=16, PRECISION="tf32x3", FINE=fine)
    told(made_for.spread, sizes, arch=arch, num_stages=2)
"""


def test_the_widest_values_have_registers_enough_and_older_gpus_their_kernels():
    # refused were products of 512 columns with 128 registers, and single bits handed over before
    # Hopper
    found = compiled_by(EVERYWHERE)[1:]
    targets = [re.search(r"\.target (\w+)", text)[1] for text in found]
    assert targets == ["sm_90a", "sm_80", "sm_90a", "sm_90a"]


def test_fours_are_multiplied_on_the_matrix_units(compiled):
    text = part(compiled, "fours") and compiled[PARTS["fours"] + 1]
    assert "registers" in text  # the assembler has been asked
    assert "serialized" not in text  # where registers are too few, products wait for each other
    # two factors, six products each, written out for two times four features, and those of values
    assert text.count("wgmma.mma_async") >= 24
    assert text.count("rcp.approx") >= 2 * 32  # one for a pair and four features


def test_scores_are_rounded_before_anything_is_subtracted(compiled):
    # fused with that by the assembler, a score of 1e38 would be another by 1e31: NaN
    assert compiled[0].count("mul.rn.f32") >= 2


def test_with_few_features_no_sum_over_keys_leaves_its_thread(compiled):
    # else a tile of 64 x 64 takes a thousand of them, and a Gaussian thirteen times as long
    assert compiled[3].count("shfl.sync") < 50


def bounded(name, made):
    """Whether a 32-bit number is a row's or a key's own, or constant: no product of two sizes."""
    operation, rest = made.get(name, ("argument", ""))
    if "muli" in operation:
        return "arith.constant" in " ".join(
            made.get(x, ("", ""))[0] for x in re.findall(r"%[\w#-]+", rest.split(" :")[0])
        )
    inner = re.findall(r"%[\w#-]+", rest.split(" :")[0])
    if operation in {"tt.splat", "tt.broadcast", "tt.expand_dims", "arith.addi", "arith.extsi"}:
        return all(bounded(x, made) for x in inner)
    return True


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs the memory of a GPU")
@pytest.mark.parametrize("name", ["dot", "gaussian"])
def test_offsets_beyond_two_to_the_31(name, device):
    # entry 1 lies 2^31 elements behind entry 0, of which only a few rows are ever touched
    buffer = torch.zeros(2**31 + 4096, dtype=torch.bfloat16, device=device)
    score = scores(16, device)[name]
    given = [x.to(device, torch.bfloat16) for x in qkv(2, n=5, m=7, d=16, v=16)]
    wanted = attend(*given, score=score, impl="triton")
    for i, x in enumerate(given):
        far = list(given)
        far[i] = buffer.as_strided(x.shape, (2**31, 16, 1)).copy_(x)
        assert torch.equal(attend(*far, score=score, impl="triton"), wanted)


# Which calls are taken ----------------------------------------------------

X = qkv(2, n=4, m=4, d=3, v=3)


@interpreted
def test_without_the_interpreter_the_cpu_is_refused(monkeypatch):
    assert explain(*X, impl="triton").impl == "triton"
    monkeypatch.setenv("TRITON_INTERPRET", "0")
    with pytest.raises(ImplError, match="it runs on an NVIDIA GPU, q is on cpu"):
        attend(*X, impl="triton")
    with pytest.raises(ImplError, match="it runs on an NVIDIA GPU, q is on cpu"):
        explain(*X, impl="triton")


@interpreted
def test_the_interpreter_is_not_chosen_unless_it_is_named():
    for x in (X, qkv(2, n=300, m=300, d=16, v=16)):
        for score in (Dot(), Gaussian()):
            found = explain(*x, score=score)
            assert found.impl != "triton"


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
def test_it_is_chosen_on_a_gpu():
    x = (t.cuda() for t in X)
    assert explain(*x, score=Gaussian()).impl == "triton"


def test_float64_is_refused(device):
    x = (t.to(device).double() for t in X)
    with pytest.raises(ImplError, match=r"it computes in float32 and less, q is torch.float64"):
        attend(*x, impl="triton")


@pytest.mark.parametrize(("d", "v"), [(513, 3), (3, 513)])
def test_more_than_512_features_are_refused(d, v, device):
    x = tuple(t.to(device) for t in qkv(1, n=2, m=2, d=d, v=v))
    with pytest.raises(ImplError, match="it takes up to 512 features, got 513"):
        attend(*x, impl="triton")
    assert explain(*x, score=Laplacian()).impl != "triton"


def test_without_triton_the_remedy_is_named(monkeypatch, device):
    monkeypatch.setattr("regard.attention.choice.has", lambda name: name != "triton")
    x = tuple(t.to(device) for t in X)
    with pytest.raises(ImplError, match=r"triton is not installed; pip install 'regard\[gpu\]'"):
        attend(*x, impl="triton")


def test_a_named_implementation_is_never_swapped(triton, monkeypatch, device):
    ran = []
    for name in ("forward", "backward"):
        real = getattr(triton, name)
        monkeypatch.setattr(
            f"regard.attention.triton.{name}",
            lambda *args, real=real, name=name: ran.append(name) or real(*args),
        )
    q, k, v = (t.to(device).requires_grad_() for t in X)
    attend(q, k, v, impl="triton").sum().backward()
    assert ran == ["forward", "backward"]
    chosen = choose(q, k, v, score=Dot(), mask=None, dropout=0.0, impl="triton")
    assert (chosen.impl, chosen.reason) == ("triton", "asked for by name")


@pytest.mark.parametrize("impl", ["triton", "reference"])
def test_precision_is_exact_or_tf32(impl, device):
    x = tuple(t.to(device) for t in X)
    exact = attend(*x, impl=impl, precision="exact")
    torch.testing.assert_close(attend(*x, impl=impl, precision="tf32"), exact, rtol=0, atol=5e-3)
    message = "precision must be 'exact' or 'tf32', got 'bf16'"
    with pytest.raises(ValueRangeError, match=f"^{re.escape(message)}$"):
        attend(*x, impl=impl, precision="bf16")


def test_precision_reaches_the_kernels(triton, device):
    from regard.attention.call import make_call

    q, k, v = (t.to(device) for t in X)
    tiles = triton.dot.Tiles(16, 16, 4, 1)
    found = [
        triton.dot._constants(make_call(q, k, v, Dot().form(q, k), None, precision=p), tiles)
        for p in ("exact", "tf32")
    ]
    assert [x["PRECISION"] for x in found] == [triton.elementary.PRODUCTS, "tf32"]


def test_malformed_calls_are_told_before_any_kernel_runs(device):
    q, k, v = (t.to(device) for t in X)
    with pytest.raises(ShapeError):
        attend(q, k[:, :3], v, impl="triton")
    with pytest.raises(ShapeError):
        attend(q, k, v, mask=Lengths([1, 2, 3]), impl="triton")


@pytest.mark.parametrize("score", [Cosine(torch.tensor(0.3)), Dot(torch.tensor(0.5))], ids=repr)
def test_half_precision_is_widened_where_a_score_computes_first(score, device, small_tiles):
    case = a_case(score, "causal", 17, 33, device=device)
    for dtype in (torch.bfloat16, torch.float16):
        case.agree("triton", dtype)


def test_a_learned_number_shared_by_all_heads(device, small_tiles):
    q, k, v = qkv(2, 2, n=9, m=17, d=4, v=3, dtype=torch.float64)
    Case(q, k, v, Gaussian(learned(4).exp()), device=device).agree("triton", torch.float32)
