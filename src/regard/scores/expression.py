"""An elementwise score as a formula: written once, evaluated, differentiated and compiled.

A score that sums one function over the features is given as Python, ``lambda q, k: -abs(q - k)``.
Called with symbols instead of numbers it leaves its formula behind, and from the formula come

* its text, ``-abs((q - k))``, which is all that travels inside the operator (no pickled code),
* its value on tensors (the definition),
* its derivatives, so that nobody writes a gradient by hand,
* the source of the inner loop of a kernel.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor

from regard.errors import KindError, ValueRangeError

__all__ = [
    "NAMES",
    "Formula",
    "absolute",
    "cos",
    "derivative",
    "evaluate",
    "exp",
    "log",
    "maximum",
    "minimum",
    "parse",
    "sign",
    "sin",
    "source",
    "sqrt",
    "symbols",
    "tanh",
    "trace",
    "where",
]

NAMES = ("q", "k", "p0", "p1")  # a feature of the query, of the key, and two of its parameters

_INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/", "lt": "<", "le": "<="}
_CALLS = ("exp", "log", "tanh", "sqrt", "sin", "cos", "abs", "sign")
_PAIRS = ("maximum", "minimum")


@dataclass(frozen=True)
class Formula:
    """A node of a formula: an operation and what it acts on."""

    op: str
    args: tuple[Formula, ...] = ()
    name: str = ""  # of a variable
    value: float = 0.0  # of a constant

    def __add__(self, other: Formula | float) -> Formula:
        return _node("add", self, other)

    def __radd__(self, other: float) -> Formula:
        return _node("add", other, self)

    def __sub__(self, other: Formula | float) -> Formula:
        return _node("sub", self, other)

    def __rsub__(self, other: float) -> Formula:
        return _node("sub", other, self)

    def __mul__(self, other: Formula | float) -> Formula:
        return _node("mul", self, other)

    def __rmul__(self, other: float) -> Formula:
        return _node("mul", other, self)

    def __truediv__(self, other: Formula | float) -> Formula:
        return _node("div", self, other)

    def __rtruediv__(self, other: float) -> Formula:
        return _node("div", other, self)

    def __pow__(self, power: float) -> Formula:
        if not isinstance(power, (int, float)):
            msg = f"a formula can be raised to a number only, got {type(power).__name__}"
            raise KindError(msg)
        return Formula("pow", (self, _lift(power)))

    def __neg__(self) -> Formula:
        return _node("sub", 0.0, self)

    def __abs__(self) -> Formula:
        return Formula("abs", (self,))

    def __lt__(self, other: Formula | float) -> Formula:
        return _node("lt", self, other)

    def __le__(self, other: Formula | float) -> Formula:
        return _node("le", self, other)

    def __gt__(self, other: Formula | float) -> Formula:
        return _node("lt", other, self)

    def __ge__(self, other: Formula | float) -> Formula:
        return _node("le", other, self)

    def __bool__(self) -> bool:
        msg = "a formula has no truth value: use where(condition, a, b) instead of if, and, or"
        raise KindError(msg)

    def __str__(self) -> str:
        """The text of the formula: ``parse`` reads it back."""
        match self.op:
            case "var":
                return self.name
            case "const":
                return repr(self.value) if self.value >= 0 else f"({self.value!r})"
            case "pow":
                return f"({self.args[0]} ** {self.args[1]})"
            case op if op in _INFIX:
                return f"({self.args[0]} {_INFIX[op]} {self.args[1]})"
            case op:
                return f"{op}({', '.join(str(arg) for arg in self.args)})"


def _lift(x: Formula | float) -> Formula:
    if isinstance(x, Formula):
        return x
    if isinstance(x, (int, float)):
        return Formula("const", value=float(x))
    msg = f"a formula holds numbers and formulas, got {type(x).__name__}"
    raise KindError(msg)


def _is(x: Formula, value: float) -> bool:
    return x.op == "const" and x.value == value


def _node(op: str, a: Formula | float, b: Formula | float) -> Formula:
    """One operation, with what is trivially so left out: derivatives are full of it."""
    a, b = _lift(a), _lift(b)
    if op == "add":
        if _is(a, 0):
            return b
        if _is(b, 0):
            return a
    if op == "sub" and _is(b, 0):
        return a
    if op == "mul":
        if _is(a, 0) or _is(b, 0):
            return _lift(0.0)
        if _is(a, 1):
            return b
        if _is(b, 1):
            return a
    if op == "div" and _is(a, 0):
        return a
    return Formula(op, (a, b))


def _call(op: str) -> Callable[[Formula | float], Formula]:
    def call(x: Formula | float) -> Formula:
        return Formula(op, (_lift(x),))

    call.__name__ = op
    call.__doc__ = f"``{op}`` of a formula."
    return call


exp, log, tanh, sqrt, sin, cos, absolute, sign = (_call(op) for op in _CALLS)


def maximum(a: Formula | float, b: Formula | float) -> Formula:
    """The larger of two formulas."""
    return Formula("maximum", (_lift(a), _lift(b)))


def minimum(a: Formula | float, b: Formula | float) -> Formula:
    """The smaller of two formulas."""
    return Formula("minimum", (_lift(a), _lift(b)))


def where(condition: Formula, a: Formula | float, b: Formula | float) -> Formula:
    """``a`` where the condition holds, ``b`` elsewhere."""
    return Formula("where", (condition, _lift(a), _lift(b)))


def symbols() -> tuple[Formula, ...]:
    """The four variables a formula is made of: q, k, p0, p1."""
    return tuple(Formula("var", name=name) for name in NAMES)


def trace(function: Callable[..., Formula | float], parameters: int) -> Formula:
    """Call ``function(q, k, *parameters)`` with symbols and keep the formula it leaves.

    >>> str(trace(lambda q, k: -abs(q - k), 0))
    '(0.0 - abs((q - k)))'
    """
    try:
        return _lift(function(*symbols()[: 2 + parameters]))
    except KindError:
        raise
    except TypeError as cause:
        msg = (
            f"phi must be a function of q, k and {parameters} parameter(s), made of + - * / ** abs "
            f"and the functions of regard.scores.expression: {cause}"
        )
        raise KindError(msg) from cause


@lru_cache(maxsize=256)
def parse(text: str) -> Formula:
    """Read a formula back from its text, accepting nothing else.

    >>> parse("(p0 * (q - k))") == parse("p0*(q-k)")
    True
    """
    try:
        return _read(ast.parse(text, mode="eval").body)
    except (SyntaxError, ValueError, KeyError) as cause:
        msg = f"not a formula in {', '.join(NAMES)}: {text!r} ({cause})"
        raise ValueRangeError(msg) from cause


_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
    ast.Pow: "pow",
    ast.Lt: "lt",
    ast.LtE: "le",
}


def _read(tree: ast.expr) -> Formula:
    match tree:
        case ast.Constant(value=int() | float() as value):
            return _lift(float(value))
        case ast.Name(id="inf"):
            return _lift(math.inf)
        case ast.Name(id=name) if name in NAMES:
            return Formula("var", name=name)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return _lift(-float(value))
        case ast.UnaryOp(op=ast.USub(), operand=ast.Name(id="inf")):
            return _lift(-math.inf)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_read(operand)
        case ast.BinOp(left=left, op=op, right=right):
            return Formula(_OPERATORS[type(op)], (_read(left), _read(right)))
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return Formula(_OPERATORS[type(op)], (_read(left), _read(right)))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
            arity = 1 if name in _CALLS else 2 if name in _PAIRS else 3 if name == "where" else -1
            if len(args) == arity:
                return Formula(name, tuple(_read(arg) for arg in args))
    msg = f"{ast.unparse(tree)!r} has no place in a formula"
    raise ValueError(msg)


def evaluate(formula: Formula, values: Mapping[str, Tensor]) -> Tensor:
    """The formula on tensors: its definition."""
    like = next(iter(values.values()))

    def of(f: Formula) -> Tensor:
        match f.op:
            case "var":
                return values[f.name]
            case "const":
                return torch.as_tensor(f.value, dtype=like.dtype, device=like.device)
            case "pow":
                return of(f.args[0]) ** f.args[1].value
            case "lt":
                return of(f.args[0]) < of(f.args[1])
            case "le":
                return of(f.args[0]) <= of(f.args[1])
            case op:
                function: Callable[..., Tensor] = getattr(torch, op)
                return function(*(of(arg) for arg in f.args))

    return of(formula)


def derivative(f: Formula, by: str) -> Formula:
    """The formula of the partial derivative.

    >>> q, k, *_ = symbols()
    >>> str(derivative((q - k) * (q - k), "k"))
    '(((0.0 - 1.0) * (q - k)) + ((q - k) * (0.0 - 1.0)))'
    """
    if f.op == "var":
        return _lift(1.0 if f.name == by else 0.0)
    if f.op in ("const", "sign", "lt", "le"):
        return _lift(0.0)
    if f.op == "where":
        condition, a, b = f.args
        return _choose(condition, derivative(a, by), derivative(b, by))
    a = f.args[0]
    da = derivative(a, by)
    if len(f.args) == 1:
        return _chain(f, a) * da if not _is(da, 0) else da
    b = f.args[1]
    db = derivative(b, by)
    match f.op:
        case "add":
            return da + db
        case "sub":
            return da - db
        case "mul":
            return da * b + a * db
        case "div":
            return da / b - a * db / (b * b)
        case "pow":
            return _lift(b.value) * a ** (b.value - 1) * da if b.value != 1 else da
        case "maximum":
            return _choose(b < a, da, db)
        case _:  # minimum
            return _choose(a < b, da, db)


def _chain(f: Formula, x: Formula) -> Formula:
    """The outer derivative of a function of one argument, f = function(x)."""
    match f.op:
        case "exp":
            return f
        case "log":
            return 1.0 / x
        case "tanh":
            return 1.0 - f * f
        case "sqrt":
            return 0.5 / f
        case "sin":
            return cos(x)
        case "cos":
            return -sin(x)
        case _:  # abs
            return sign(x)


def _choose(condition: Formula, a: Formula, b: Formula) -> Formula:
    return a if a == b else where(condition, a, b)


_MOST_FACTORS = 4  # powers up to this one are written out as products


def source(f: Formula) -> str:
    """The formula as the source of an expression over numbers of the type ``REAL``."""
    match f.op:
        case "var":
            return f.name
        case "const":
            if math.isinf(f.value):
                return "INF" if f.value > 0 else "(-INF)"
            return f"REAL({f.value!r})"
        case "pow":
            base, power = source(f.args[0]), f.args[1].value
            if power in range(1, _MOST_FACTORS + 1):
                return f"({' * '.join([base] * int(power))})"
            return f"power({base}, REAL({power!r}))"
        case "where":
            return f"select({', '.join(source(arg) for arg in f.args)})"
        case op if op in _INFIX:
            return f"({source(f.args[0])} {_INFIX[op]} {source(f.args[1])})"
        case op:
            return f"{op}({', '.join(source(arg) for arg in f.args)})"
