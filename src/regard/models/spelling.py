"""What a word's characters say of it: for words seldom or never seen."""

from __future__ import annotations

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional

from regard.layers.base import check_size

__all__ = ["Affixes", "Spelling"]

_PRIME = 1_000_003


class Spelling(nn.Module):
    """Convolutions over the characters of a word, the strongest answer of each kept.

    Padding and unknown are the characters 0 and 1; a word of padding alone gives zeros.

    Args:
        characters: how many there are.
        embedding: the width of a character's vector.
        width: of what comes out.
        spans: how many characters a filter sees; the width is shared out among them.

    >>> import torch
    >>> from regard.models.spelling import Spelling
    >>> Spelling(characters=50, embedding=8, width=10)(torch.randint(50, (2, 3, 7))).shape
    torch.Size([2, 3, 10])

    """

    def __init__(
        self, characters: int, embedding: int, width: int, spans: tuple[int, ...] = (2, 3, 4)
    ) -> None:
        super().__init__()
        for name, size in (("characters", characters), ("embedding", embedding), ("width", width)):
            check_size("Spelling", name, size)
        self.embedding = nn.Embedding(characters, embedding)
        shares = [width // len(spans) + (i < width % len(spans)) for i in range(len(spans))]
        self.filters = nn.ModuleList(
            nn.Linear(span * embedding, share) for span, share in zip(spans, shares, strict=True)
        )
        self.width, self.spans = width, spans

    def forward(self, spellings: Int[Tensor, "b n c"]) -> Float[Tensor, "b n d"]:
        """One vector a word."""
        b, n, c = spellings.shape
        flat = spellings.flatten(0, 1)
        written = flat != 0
        x = self.embedding(flat).masked_fill(~written.unsqueeze(-1), 0)
        # each character as the last one of a filter's span, and the end of the word as well
        most = max(self.spans)
        x = functional.pad(x, (0, 0, most - 1, 1))
        ends = functional.pad(written, (1, 0), value=True) & written.any(-1, keepdim=True)
        found = []
        for span, of in zip(self.spans, self.filters, strict=True):
            seen = [x[:, most - span + i : most - span + i + c + 1] for i in range(span)]
            answers = of(torch.cat(seen, -1)).relu()
            found.append(answers.masked_fill(~ends.unsqueeze(-1), 0).amax(1))
        return torch.cat(found, -1).view(b, n, self.width)


class Affixes(nn.Module):
    """The first and the last characters of a word, each such piece with a vector of its own.

    Pieces are numbered by a hash, so that none needs to be listed; a few share a vector.

    Args:
        buckets: how many vectors there are.
        width: of what comes out: the pieces' vectors, added up and of the size of one.
        longest: pieces have 1 to as many characters.

    """

    def __init__(self, buckets: int, width: int, longest: int = 4) -> None:
        super().__init__()
        self.table = nn.Embedding(check_size("Affixes", "buckets", buckets), width)
        self.longest = check_size("Affixes", "longest", longest)

    def forward(self, spellings: Int[Tensor, "b n c"]) -> Float[Tensor, "b n d"]:
        """One vector a word."""
        found: Tensor = self.table(self.pieces(spellings))
        return found.sum(-2) / math.sqrt(2 * self.longest)

    def pieces(self, spellings: Int[Tensor, "b n c"]) -> Int[Tensor, "b n pieces"]:
        """The numbers of a word's pieces; one that is longer than the word counts as the word."""
        c = spellings.shape[-1]
        length = (spellings != 0).sum(-1, keepdim=True)
        found = []
        for side in (0, 1):
            code = torch.full_like(length, side + 1)
            for i in range(self.longest):
                at = (i if side == 0 else length - 1 - i) + torch.zeros_like(length)
                there = (at >= 0) & (at < length)
                character = spellings.gather(-1, at.clamp(0, max(c - 1, 0))) if c else code * 0
                code = torch.where(there, (code * _PRIME + character) % (2**31 - 1), code)
                found.append((code * 2654435761 % (2**31 - 1)) % self.table.num_embeddings)
        return torch.cat(found, -1)
