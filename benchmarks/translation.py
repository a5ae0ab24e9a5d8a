"""Training a translator, ours beside its peers, on the same batches: ``-m benchmarks.translation``.

Peers start from our weights. Before anything is timed, losses and gradients agree in float32, and
steps on one batch go the same way, in the precision that is timed. Then every shape is run once,
and whole passes over the batches are timed in turns. Rows go to
benchmarks/data/translation-DEVICE.jsonl, and ``python -m benchmarks.report`` puts them into
REPORT.md. On a CPU the full size takes most of an hour; ``--tokens 512 --steps 6`` does not.
"""

from __future__ import annotations

import argparse
import gc
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from benchmarks.bars import Bar, Faster, speedups
from benchmarks.environment import describe, use_cores
from benchmarks.gate import WrongAnswerError
from benchmarks.measure import Pace, race
from benchmarks.memory import forget_peak, resident_peak
from benchmarks.records import DATA, Row, append, quantiles
from benchmarks.sentences import sentences, shape_of
from benchmarks.translation_peers import PlainStepper, TextbookTranslator, TorchTransformer
from regard.tasks.engine.stepping import Stepper, precision_of
from regard.tasks.translation.batches import Batch
from regard.tasks.translation.losses import Losses
from regard.tasks.translation.settings import TranslationSettings, model_of
from regard.tasks.vocabulary import PAD

__all__ = ["CASES", "FULL_SIZE", "Runner", "TranslationCase", "agree", "main", "rows"]

FULL_SIZE = 8192  # tokens a batch: bars are for this
LR = 3e-4
REPEATS = 8  # steps on one batch, before the timing
SPARED = 2  # sentences whose tokens may have other gradients: see ``agree``
NEAR = 1e-4  # how far our gradients may be from the truth, where the peer's are nearer still
FAR_OFF = 5e-3  # how far a peer's may be: more is another model, not another rounding
APART = 0.05  # how far losses of such steps may be from each other: dropout draws differently


@dataclass(frozen=True)
class TranslationCase:
    """A model, and the peers that do the same with the same weights."""

    name: str
    title: str
    settings: TranslationSettings
    peer: Callable[[Any], TorchTransformer | TextbookTranslator]  # from the model's config
    peers: dict[str, str]  # precisions by name
    bars: tuple[Bar, ...]  # on a GPU


CASES = (
    TranslationCase(
        "translation-transformer",
        "Transformer, 5 + 5 layers, width 384, 6 heads, hidden 1,536",
        TranslationSettings(
            width=384, heads=6, hidden=1536, encoder_layers=5, decoder_layers=5, dropout=0.1
        ),
        TorchTransformer,
        {"torch.nn.Transformer": "auto"},
        (Faster("torch.nn.Transformer", 3),),
    ),
    TranslationCase(
        "translation-bahdanau",
        "Bahdanau, embedding 256, hidden 512",
        TranslationSettings(model="bahdanau", width=256, hidden=512, dropout=0.1),
        TextbookTranslator,
        {"textbook": "auto", "textbook in float32": "float32"},
        (Faster("textbook", 5), Faster("textbook in float32", 5)),
    ),
)


@dataclass(frozen=True)
class Runner:
    """Something that learns, in two depths: its loss alone, and whole steps."""

    model: nn.Module
    loss: Callable[[Batch], Tensor]  # summed, in the weights' own precision
    step: Callable[[Batch, int], Tensor]  # the same after moving the weights, with a seed


def _ours(case: TranslationCase, device: torch.device) -> Runner:
    torch.manual_seed(0)
    settings = case.settings
    model = model_of(settings, settings.vocab_size, settings.vocab_size).to(device)
    losses = Losses(model, settings.label_smoothing)
    stepper = Stepper(losses, settings, device)

    def loss(batch: Batch) -> Tensor:
        parts = batch.parts
        return losses(*(x.to(device) for x in parts))

    return Runner(
        model, loss, lambda batch, seed: stepper.step([batch], LR, batch.tokens, seed=seed)
    )


def _peer(case: TranslationCase, precision: str, ours: Runner, device: torch.device) -> Runner:
    settings = replace(case.settings, precision=precision)
    model = case.peer(ours.model.config).to(device)
    model.copy_from(ours.model)
    plain = PlainStepper(
        model,
        lr=LR,
        smoothing=settings.label_smoothing,
        clip=settings.clip,
        decay=settings.weight_decay,
        dtype=precision_of(settings, device),
    )
    return Runner(model, plain.loss, lambda batch, _: plain.step(batch))


def agree(case: str, who: str, ours: Runner, peer: Runner, exact: Runner, batch: Batch) -> None:
    """Raise unless loss and gradients are the same without dropout, to float32's rounding.

    The truth is the peer in float64, ``exact``. How far float32 strays from it is for the peer to
    show, whose products a GPU may round as it likes; ours may stray twice as far, as everywhere.

    Gradients are compared token by token, and a few tokens may be off: of some million numbers
    before a ReLU one lies so near 0 that rounding decides its sign, and with it the slope of all
    that its sentence's tokens get. What is wrong is wrong for more than one sentence.
    """
    few = replace(  # the last rows: where there are empty ones, they are there
        batch, **{name: x[-32:] for name, x in vars(batch).items() if isinstance(x, Tensor)}
    )
    # cuDNN's recurrences would round to ten bits, and have no gradients without dropout
    with torch.backends.cudnn.flags(enabled=False):
        (mine, my_pull), (theirs, their_pull), (true, true_pull) = (
            _pull(runner, few) for runner in (ours, peer, exact)
        )
    for loss in (mine, theirs):
        if not abs(loss - true) <= 1e-4 * abs(true):
            msg = f"{case}, {who}: a loss of {theirs:.6g} beside {mine:.6g} with the same weights"
            raise WrongAnswerError(msg)
    spared = SPARED * few.source.shape[1]
    off, their_off = (_off(pull, true_pull, spared) for pull in (my_pull, their_pull))
    if not (their_off <= FAR_OFF and off <= max(2 * their_off, NEAR)):
        msg = (
            f"{case}, {who}: gradients are off by {their_off:.1e}, and ours by {off:.1e}, with the "
            f"same weights"
        )
        raise WrongAnswerError(msg)


def _off(pull: Tensor, true: Tensor, spared: int) -> float:
    """How far the gradients of tokens are from the truth at most, but for so many of them."""
    here = (true != 0).any(1) | (pull != 0).any(1)
    size = true[here].abs().amax(1)
    far = (pull - true)[here].abs().amax(1) / size.clamp_min(size.median())
    if not bool(far.isfinite().all()):
        return math.inf
    return far.sort().values[: max(len(far) - spared, len(far) // 2)].max().item()


def _pull(runner: Runner, batch: Batch) -> tuple[float, Tensor]:
    """The loss, and its gradient to the embedding: everything else lies on the way to it."""
    runner.model.eval()
    loss = runner.loss(batch)
    pull = torch.autograd.grad(loss, runner.model.source_embedding.weight)[0]
    runner.model.train()
    return loss.item(), pull.double()


def _descent(case: str, who: str, runner: Runner, batch: Batch) -> list[float]:
    """Losses a token of steps on one batch; raises unless they fall."""
    losses = [runner.step(batch, seed).item() / batch.tokens for seed in range(REPEATS)]
    _finite(case, who, sum(losses))
    if not losses[-1] < losses[0]:
        said = ", ".join(f"{x:.4g}" for x in losses)
        msg = f"{case}, {who}: the losses of steps on one batch do not fall: {said}"
        raise WrongAnswerError(msg)
    return losses


def _finite(case: str, who: str, loss: float) -> None:
    if not math.isfinite(loss):
        msg = f"{case}, {who}: a loss of {loss}"
        raise WrongAnswerError(msg)


def _same_way(case: str, who: str, ours: Sequence[float], theirs: Sequence[float]) -> None:
    off = max(abs(a / b - 1) for a, b in zip(ours, theirs, strict=True))
    if not off <= APART:
        msg = f"{case}, {who}: losses of the same steps are apart by {off:.1%} at most"
        raise WrongAnswerError(msg)


def _held(device: torch.device) -> float:
    """MiB in use, before something is run."""
    gc.collect()
    if device.type == "cpu":
        forget_peak()
        return resident_peak()
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    return torch.cuda.memory_reserved() / 2**20


def _taken(device: torch.device) -> float:
    """MiB taken from the machine since; what CUDA graphs keep for their replays counts."""
    return resident_peak() if device.type == "cpu" else torch.cuda.memory_reserved() / 2**20


def _pass(runner: Runner, batches: Sequence[Batch], device: torch.device) -> Callable[[], None]:
    def call() -> None:
        for seed, batch in enumerate(batches):
            runner.step(batch, seed)
        if device.type == "cuda":
            torch.cuda.synchronize()

    return call


@contextmanager
def _refusing(who: str, refused: dict[str, str]) -> Iterator[None]:
    """A peer that cannot run here is a reason, not the end; a wrong answer is."""
    try:
        yield
    except RuntimeError as why:
        if who == "ours" or isinstance(why, WrongAnswerError):
            raise
        refused[who] = f"{type(why).__name__}: {str(why).partition(chr(10))[0]}"


def rows(
    case: TranslationCase,
    batches: Sequence[Batch],
    device: torch.device,
    pace: Pace,
    **about: Any,  # noqa: ANN401 - columns of a row
) -> list[Row]:
    """Check, then time: a row for each provider, ours first."""
    in_full = precision_of(case.settings, device) is torch.float32
    peers = {name: x for name, x in case.peers.items() if x == "auto" or not in_full}
    runners, refused = {"ours": _ours(case, device)}, dict[str, str]()
    for name, precision in peers.items():
        with _refusing(name, refused):
            peer = _peer(case, precision, runners["ours"], device)
            exact = _peer(case, "float32", runners["ours"], device)
            exact.model.double()
            agree(case.name, name, runners["ours"], peer, exact, batches[0])
            del exact
            runners[name] = peer
    every = list({shape_of(batch): batch for batch in batches}.values())
    calls, memory, way = {}, {}, list[float]()
    for name, runner in runners.items():
        with _refusing(name, refused):
            before = _held(device)
            steps = _descent(case.name, name, runner, batches[0])
            way = way or steps
            _same_way(case.name, name, way, steps)
            _pass(runner, every, device)()
            memory[name] = _taken(device) - before
            calls[name] = _pass(runner, batches, device)
    times = race(calls, pace)
    for name in calls:  # a gradient that is not finite would have been a cheap step
        _finite(case.name, name, runners[name].step(batches[0], 0).item())
    counted = {
        "source_tokens": sum(int((batch.source != PAD).sum()) for batch in batches),
        "target_tokens": sum(batch.tokens for batch in batches),
        "shapes": len(every),
    }
    about = {"case": case.name, "direction": "training", **about}
    measured = [
        Row(
            "training",
            provider=name,
            peak_mib=memory[name],
            extra=counted,
            **found.columns(),
            **about,
        )
        for name, found in times.items()
    ]
    return measured + [
        Row("refused", provider=name, note=why, **about) for name, why in refused.items()
    ]


def _printed(row: Row, ours: Row) -> str:
    if row.kind == "refused":
        return f"{row.case:24} {row.provider:22} {row.note}"
    target, source = (row.extra[f"{side}_tokens"] / row.ms * 1e3 for side in ("target", "source"))
    ratio = quantiles(speedups(ours, row))[1]
    return (
        f"{row.case:24} {row.provider:22} {target:14,.0f} {source + target:14,.0f} "
        f"{row.ms / row.shape['steps']:10.2f} {ratio:10.2f} {row.peak_mib:8,.0f}"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    names = [case.name for case in CASES]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--device", choices=("cpu", "cuda"), help="default: cuda where there is one"
    )
    parser.add_argument("--tokens", type=int, default=FULL_SIZE, help="a batch (default: 8192)")
    parser.add_argument("--steps", type=int, default=30, help="a pass (default: 30)")
    parser.add_argument("--seconds", type=float, default=8, help="of a case's timing (default: 8)")
    parser.add_argument("--only", metavar="NAME", action="append", choices=names, help="one case")
    parser.add_argument("--cores", type=int, default=2, help="of a CPU (default: 2)")
    parser.add_argument("--out", type=Path, help="where rows are added")
    asked = parser.parse_args(arguments)
    name = asked.device or ("cuda" if torch.cuda.is_available() else "cpu")
    if name == "cpu":
        use_cores(asked.cores)
    out = asked.out or DATA.with_name(f"translation-{name}.jsonl")
    about, pace = describe(), Pace(asked.seconds, least=3, most=7)
    print(f"{'case':24} {'provider':22} {'target/s':>14} {'both/s':>14}", end=" ")
    print(f"{'ms a step':>10} {'over ours':>10} {'MiB':>8}", flush=True)
    for case in CASES:
        if asked.only and case.name not in asked.only:
            continue
        batches = sentences(asked.tokens, asked.steps, case.settings.vocab_size)
        size = {"tokens": asked.tokens, "steps": len(batches)}
        found = rows(case, batches, torch.device(name), pace, shape=size, **about)
        append(out, found)
        for row in found:
            print(_printed(row, found[0]), flush=True)


if __name__ == "__main__":
    main()
