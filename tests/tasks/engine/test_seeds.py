"""Seeds made of other numbers."""

from regard.tasks.engine.seeds import drawn_from


def test_seeds_of_torch_are_large_and_signed():
    found = [drawn_from(1, step) for step in range(1000)]
    assert len(set(found)) == 1000
    assert 0 <= min(found) <= max(found) < 2**63
    assert max(found) > 2**62
