"""Every kernel as it is compiled for GPUs that are not here: ``make compile-gpu``.

Calls of many widths are made with launches that launch nothing: what a kernel would have been given
is written down. Another process, without Triton's interpreter, compiles it for each architecture
and holds the shared memory it takes against what such a GPU has. It also looks for what Triton gets
wrong: tiles copied over others that a product is still reading.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import re
import subprocess
import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from inspect import signature
from pathlib import Path
from types import ModuleType
from unittest import mock

# bytes of shared memory that a block of threads may have, by compute capability
ROOM = {80: 166_912, 89: 101_376, 90: 232_448}
WIDTHS = (1, 2, 16, 33, 64, 128, 200, 256, 512)
LITTLE = {89}  # whose tiles are smaller
HOPPER = 90
TYPES = {
    **{f"torch.{name}": name for name in ("int8", "uint8", "int16", "int32", "int64", "bool")},
    "torch.float32": "fp32", "torch.float64": "fp64", "torch.bfloat16": "bf16",
    "torch.float16": "fp16",
}  # fmt: skip


# What is launched ------------------------------------------------------------------------------


def type_of(value) -> str:
    """As the compiler calls it; 1 and None are compiled in."""
    if hasattr(value, "dtype"):
        name = TYPES[str(value.dtype)]
        return "*" + name.replace("uint", "u").replace("int", "i").replace("bool", "i1")
    if value is None or (value == 1 and not isinstance(value, float)):
        return "constexpr"
    return "fp32" if isinstance(value, float) else "i32"


def described(kernel, args, options) -> dict:
    """One launch in words."""
    named = {name: x for name, x in options.items() if name in kernel.arg_names}
    given = dict(zip(kernel.arg_names, args)) | named  # noqa: B905 - the rest is named
    fixed = {
        name: getattr(given[name], "value", given[name])
        for name, about in signature(kernel.fn).parameters.items()
        if "constexpr" in str(about.annotation) or type_of(given[name]) == "constexpr"
    }
    return {
        "module": kernel.fn.__module__,
        "file": kernel.fn.__code__.co_filename,
        "name": kernel.fn.__name__,
        "types": {name: type_of(x) for name, x in given.items() if name not in fixed},
        "fixed": fixed,
        "even": [x for x, y in given.items() if x not in fixed and type(y) is int and y % 16 == 0],
        "options": {name: x for name, x in options.items() if name not in named},
    }


def calls(widths) -> None:
    """Every kernel of attention and of looks, at sizes on both sides of what decides tiles."""
    import torch

    from regard import Additive, Boxcar, Causal, Dot, Gaussian, ImplError, NotSelf, attend
    from regard.attention.rows import Rows

    def learning(n, m, d, dtype):
        sizes = ((n, d), (m, d), (m, d))
        return [torch.zeros(1, *size, dtype=dtype, requires_grad=True) for size in sizes]

    for score, d in itertools.product((Boxcar(1.0), Gaussian(1.0)), widths):
        q, k, _ = learning(20, 20, 8, torch.float32)  # few pairs, with values of any width
        v = torch.zeros(1, 20, d, requires_grad=True)
        try:
            out = attend(q, k, v, score=score, impl="triton")
        except ImplError:  # a GPU that refuses such a width
            continue
        torch.autograd.grad(out.sum(), (q, k, v))
    for d in widths:
        for dtype in (torch.float32, torch.bfloat16):
            for n, mask in ((3, None), (20, None), (64, NotSelf()), (1030, Causal()), (3000, None)):
                for score in (Dot(), Additive(torch.ones(d)), Gaussian(1.0)):
                    q, k, v = learning(n, n, d, dtype)
                    try:
                        out = attend(q, k, v, score=score, mask=mask, impl="triton", dropout=0.1)
                    except ImplError:
                        continue
                    torch.autograd.grad(out.sum(), (q, k, v))
            if d == 64 and dtype == torch.bfloat16:
                for n, mask in itertools.product((1030, 3072), (None, Causal())):
                    q, k, v = learning(n, n, d, dtype)
                    torch.autograd.grad(attend(q, k, v, mask=mask, impl="triton").sum(), (q, k, v))
            q, k, _ = learning(4096, 4096, d, dtype)
            look = Rows(q.detach(), k.detach(), Dot(), None).look
            if look is not None:
                look.weights(slice(0, 300), slice(0, 300))
                look.entropy()
                look.received()
                look.overview(16, 16, "mass")


def recorded(arch: int, widths=WIDTHS) -> list[dict]:
    """What calls launch on such a GPU, each kind of launch once."""
    from triton.runtime import jit

    from regard.attention import choice, gpu, rows
    from regard.attention.triton import operands

    found = {}

    def launched(kernel, _):
        def note(*args, **options):
            launch = described(kernel, args, options)
            found[json.dumps({**launch, "file": ""}, sort_keys=True, default=str)] = launch

        return note

    with (
        mock.patch.object(jit.KernelInterface, "__getitem__", launched),
        mock.patch.object(gpu, "is_little", return_value=arch in LITTLE),
        mock.patch.object(choice, "is_little", return_value=arch in LITTLE),
        mock.patch.object(choice, "_not_on_a_gpu", return_value=""),
        mock.patch.object(rows, "why_not_triton", lambda *x: choice.why_not_triton(*x, named=True)),
        mock.patch.object(operands, "has_matrix_units", return_value=arch == HOPPER),
    ):
        calls(widths)
    return list(found.values())


# What is compiled ------------------------------------------------------------------------------


def module_of(launch: dict) -> ModuleType:
    """Where a kernel is; one written for a formula is a file in the cache."""
    name = launch["module"]
    if name not in sys.modules and not name.startswith("regard."):
        spec = spec_from_file_location(name, launch["file"])
        module = sys.modules[name] = module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules.get(name) or import_module(name)


def copied_over(text: str) -> list[str]:
    """Tiles of a ring that are read by threads as well as by a product of Hopper's.

    Triton (3.6 and 3.9) then lets the product go on into the next turn of the loop, and has no room
    in the ring for a tile that is in use so long: the next copy writes over it.
    """
    ring = set(re.findall(r"(%\w+) = ttg\.memdesc_index", text))
    turned = dict(re.findall(r"(%\w+) = ttg\.memdesc_trans (%\w+)", text))
    read = re.findall(r"ttg\.local_load (%\w+)", text)
    used = sum(re.findall(r"ttng\.warp_group_dot (%\w+), (%\w+)", text), ())
    read, used = ({turned.get(name, name) for name in names} for names in (read, used))
    return sorted(ring & read & used)


def complaint(launch: dict, arch: int) -> str:
    """Why a kernel could not run there; empty if it could."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    kernel = getattr(module_of(launch), launch["name"])
    source = ASTSource
    if launch["module"].endswith(("fours", "pipelined")):
        from triton.experimental.gluon._runtime import GluonASTSource as source  # noqa: N813
    names, types = kernel.arg_names, launch["types"]
    try:
        made = triton.compile(
            source(
                kernel,
                {name: types.get(name, "constexpr") for name in names},
                constexprs={(names.index(name),): x for name, x in launch["fixed"].items()},
                attrs={
                    (i,): [["tt.divisibility", 16]]
                    for i, name in enumerate(names)
                    if types.get(name, "").startswith("*")
                    or (name in launch["even"] and not kernel.params[i].do_not_specialize)
                },
            ),
            target=GPUTarget("cuda", arch, 32),
            options=launch["options"],
        )
    except Exception as why:  # noqa: BLE001 - whatever the compiler raises is told
        lines = [line for line in str(why).splitlines() if "fatal" in line or "error" in line]
        return f"does not compile: {(lines or [str(why)])[0][:200]}"
    if tiles := copied_over(made.asm["ttgir"]):
        return f"may copy over tiles that are being multiplied: {', '.join(tiles)}"
    taken = made.metadata.shared
    return f"takes {taken:,} bytes of {ROOM[arch]:,}" if taken > ROOM[arch] else ""


def check(launches: list[dict], arch: int) -> int:
    """Compile them, say what is wrong with which; how many are wrong."""
    wrong = 0
    for number, launch in enumerate(launches):
        if sys.stderr.isatty():
            sys.stderr.write(f"\rsm_{arch}: {number} of {len(launches)}, {wrong} wrong")
        if why := complaint(launch, arch):
            wrong += 1
            sizes = {x: y for x, y in launch["fixed"].items() if x.isupper()}
            print(f"sm_{arch} {launch['name']} {sizes} {why}", flush=True)  # noqa: T201
    said = f"sm_{arch}: {len(launches)} kernels compiled, {wrong} of them could not run"
    print(said, flush=True)  # noqa: T201
    return wrong


def main(arguments=None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--arch", type=int, choices=ROOM, action="append", help="one of them")
    parser.add_argument("--most", type=int, help="a sample of so many kernels for each")
    parser.add_argument("--compile", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args(arguments)
    if asked.compile:  # in the other process
        return check(json.loads(asked.compile.read_text(encoding="utf-8")), asked.arch[0]) > 0
    failed = 0
    for arch in asked.arch or ROOM:
        launches = recorded(arch)
        random.Random(0).shuffle(launches)
        file = Path("build") / f"launches-{arch}.json"
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(launches[: asked.most]), encoding="utf-8")
        env = {name: x for name, x in os.environ.items() if name != "TRITON_INTERPRET"}
        command = [sys.executable, "-W", "ignore", "-m", "tests.compiled"]
        done = subprocess.run(
            [*command, "--arch", str(arch), "--compile", file], env=env, check=False
        )
        failed |= done.returncode
    return failed


if __name__ == "__main__":
    if "--compile" not in sys.argv:
        os.environ["TRITON_INTERPRET"] = "1"
    sys.exit(main())
