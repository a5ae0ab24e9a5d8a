"""Every mask: its shortcut against its rule, its rule against a rule written out."""

import pytest
import torch

from regard.masks import Causal, Dense, Documents, Lengths, NotSelf, Window

SIZES = [(0, 0), (1, 1), (7, 9), (9, 7), (6, 6), (1, 5), (5, 0)]
HERE = torch.device("cpu")
MASKS = {
    "lengths": lambda n, m: Lengths([0, m, m // 2]),
    "lengths-2d": lambda n, m: Lengths((torch.arange(3 * n).view(3, n) * 5) % (m + 1)),
    "causal": lambda n, m: Causal(),
    "causal-3": lambda n, m: Causal(3),
    "causal-minus": lambda n, m: Causal(-4),
    "window": lambda n, m: Window(2, 1),
    "window-left": lambda n, m: Window(left=0),
    "window-right": lambda n, m: Window(right=3, offset=-2),
    "window-none": lambda n, m: Window(),
    "not-self": lambda n, m: NotSelf(),
    "dense": lambda n, m: Dense((torch.arange(n)[:, None] + torch.arange(m)) % 3 == 0),
    "documents": lambda n, m: Documents(torch.arange(n) // 4) if n == m else Causal(),
    "documents-2d": lambda n, m: (
        Documents(torch.arange(n).expand(3, n) // 2) if n == m else Causal()
    ),
    "and": lambda n, m: Lengths([m, 1 if m else 0, m // 2]) & Causal(1) & Window(3) & NotSelf(),
    "and-dense": lambda n, m: Dense(torch.ones(n, m, dtype=torch.bool)) & Dense(
        torch.arange(m).expand(n, m) % 2 == 0
    ),
}  # fmt: skip


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("name", MASKS)
def test_spans_are_the_rule(name, size):
    n, m = size
    batch = torch.Size((3, 2))
    mask = MASKS[name](n, m)
    mask.check(batch, n, m, HERE)
    rule = mask.allows(batch, n, m, HERE).expand(*batch, n, m)
    got = mask.spans(batch, n, m, HERE).allowed(torch.arange(n), torch.arange(m))
    assert torch.equal(got.expand(*batch, n, m), rule)


@pytest.mark.parametrize("name", [name for name in MASKS if "dense" not in name])
def test_spans_take_two_integers_a_query(name):
    n = 40
    spans = MASKS[name](n, n).spans(torch.Size((3, 2)), n, n, HERE)
    assert spans.dense is None
    assert spans.lo.numel() <= 3 * n
    assert spans.hi.numel() <= 3 * n


def test_what_both_let_see():
    both = (Causal() & Window(left=1)).dense(4, 4)
    assert torch.equal(both, Causal().dense(4, 4) & Window(left=1).dense(4, 4))


def test_masks_of_the_same_numbers_are_equal():
    assert Window(1, 2) & Causal() == Window(1, 2) & Causal()
    assert Window(1, 2) != Window(2, 1)
    assert len({Causal(), Causal(), Causal(1), NotSelf(), NotSelf()}) == 3
    assert Lengths([1]) != Lengths([1])  # its tensor may change
