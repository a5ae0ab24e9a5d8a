"""Pages to open: small ones with tokens, and a large one."""

from __future__ import annotations

import torch

TEXT = "[CLS] the quick brown fox jumps over the lazy dog while 注意力 看见 了 一切 . [SEP]"
WORDS = TEXT.split()


def layers(heads=4, count=3, seed=3):
    """Weights of a made-up model, [heads, n, n] a layer; some heads look near, some far."""
    n = len(WORDS)
    random = torch.Generator().manual_seed(seed)
    apart = (torch.arange(n)[:, None] - torch.arange(n)).abs()
    found = []
    for layer in range(count):
        scores = torch.randn(heads, n, n, generator=random) * 1.4
        scores -= apart * torch.arange(heads)[:, None, None] * 0.5 / (1 + layer)
        scores[0, :, 0] += 3
        found.append(scores.softmax(-1))
    return found


HOSTILE = [
    "<script>window.hacked=1</script>",
    "<img src=x onerror=window.hacked=1>",
    "</script><script>window.hacked=1</script>",
    "</style><img src=x onerror=window.hacked=1>",
    "<!--<script>window.hacked=1//",
    "'\"><svg onload=window.hacked=1>",
    "${window.hacked=1}",
    "{{window.hacked=1}}",
    "javascript:window.hacked=1",
    "&lt;img src=x onerror=window.hacked=1&gt;",
    "<iframe srcdoc='<script>parent.hacked=1</script>'></iframe>",
    "]]><a href=javascript:window.hacked=1>",
    "\\u003cscript\\u003ewindow.hacked=1",
    "</textarea></title><math><mi xlink:href=javascript:window.hacked=1>",
    "<a style='background:url(https://example.org/x)' onmouseover=window.hacked=1>",
]
