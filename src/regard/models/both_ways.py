"""A GRU that reads a sequence from both ends."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

__all__ = ["BothWays"]


class BothWays(nn.Module):
    """Two GRUs, one from the front and one from the back; what they say stands side by side.

    Each sequence is turned around inside its own length, so that both come to the padding last
    and nothing real has seen it. Packed sequences would do the same, but want the lengths on the
    CPU: a GPU would stand still for them in each step.

    Args:
        width: of what is read.
        hidden: of a state, in each direction; 2 * hidden features come out.

    """

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.forwards = nn.GRU(width, hidden, batch_first=True)
        self.backwards = nn.GRU(width, hidden, batch_first=True)

    def forward(
        self, x: Float[Tensor, "b n d"], lens: Int[Tensor, " b"]
    ) -> Float[Tensor, "b n 2*hidden"]:
        """What each vector is, after those before it and before those after it."""
        b, n = x.shape[:2]
        here = torch.arange(n, device=x.device).expand(b, n)
        lens = lens.unsqueeze(1)
        turned = torch.where(here < lens, lens - 1 - here, here).unsqueeze(-1)
        ahead = self.forwards(x)[0]
        back = self.backwards(x.gather(1, turned.expand(-1, -1, x.shape[-1])))[0]
        return torch.cat((ahead, back.gather(1, turned.expand(-1, -1, back.shape[-1]))), -1)
