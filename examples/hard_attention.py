"""Three ways to train attention on one task: soft, straight-through, score function.

Each of 12 keys carries 4 bits. The query is one of the keys, turned by a rotation nobody knows, and
the answer is that key's bits. A matrix on the query has to learn to undo the rotation.

    python examples/hard_attention.py

prints how many answers in a hundred are right, all 4 bits of them, as training goes on. In eval
mode hard attention takes the likeliest key, so it can be right before soft attention has become
sharp. The score function learns from the losses alone; its gradient is noisier, and it starts
slower than straight-through.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from regard.layers import DotProductAttention
from regard.layers.hard import HardAttention

KINDS = ("soft", "straight-through", "score-function")
KEYS, BITS, WIDTH = 12, 4, 8


class Task:
    """Examples of the task, the same for the same seed."""

    def __init__(self, seed: int = 0) -> None:
        """Choose the rotation."""
        self.generator = torch.Generator().manual_seed(seed)
        self.rotation = torch.linalg.qr(self._normal(WIDTH, WIDTH)).Q

    def _normal(self, *shape: int) -> Tensor:
        return torch.randn(*shape, generator=self.generator)

    def batch(self, size: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Queries [b, 1, d], keys [b, m, d], values [b, m, bits] of -1 and 1, answers [b, bits]."""
        keys = WIDTH**0.5 * nn.functional.normalize(self._normal(size, KEYS, WIDTH), dim=-1)
        values = self._normal(size, KEYS, BITS).sign()
        wanted = torch.randint(KEYS, (size,), generator=self.generator)
        every = torch.arange(size)
        queries = keys[every, wanted] @ self.rotation
        return queries[:, None], keys, values, values[every, wanted]


def learn(kind: str, steps: int = 125, every: int = 25, seed: int = 0) -> list[float]:
    """Train, and give the part of right answers before it and after each ``every`` steps."""
    torch.manual_seed(seed)
    task = Task(seed)
    turn = nn.Linear(WIDTH, WIDTH, bias=False)
    soft = kind == "soft"
    attention = DotProductAttention(0.0) if soft else HardAttention(WIDTH, estimator=kind)
    optimiser = torch.optim.Adam(turn.parameters(), lr=0.01)
    test = task.batch(1000)
    curve = [_right(attention, turn, test)]
    for step in range(1, steps + 1):
        queries, keys, values, answers = task.batch(64)
        out = attention(turn(queries), keys, values)[:, 0]
        loss = (out - answers).square().mean(-1)  # [b]
        total = loss.mean()
        if kind == "score-function":
            total = total + attention.surrogate(loss)
        optimiser.zero_grad()
        total.backward()
        optimiser.step()
        if step % every == 0:
            curve.append(_right(attention, turn, test))
    return curve


@torch.no_grad()
def _right(attention: nn.Module, turn: nn.Module, test: tuple[Tensor, ...]) -> float:
    queries, keys, values, answers = test
    out = attention.eval()(turn(queries), keys, values)[:, 0]
    attention.train()
    return float((out.sign() == answers).all(-1).double().mean())


def main() -> None:
    """Print the three curves side by side."""
    curves = [learn(kind) for kind in KINDS]
    print("step" + "".join(f"{kind:>18}" for kind in KINDS))
    for row, rights in enumerate(zip(*curves, strict=True)):
        print(f"{25 * row:4}" + "".join(f"{100 * right:17.1f}%" for right in rights))


if __name__ == "__main__":
    main()
