from tests import battery
from tests.battery import Spec

# One seed for everyone: a failure here is a failure on every machine. `make battery` draws its own.
SEED = 20261115


def test_five_hundred_random_cases_keep_the_contract():
    assert battery.run(500, SEED) == []


def test_a_case_is_printed_as_the_line_that_makes_it_again():
    spec = Spec(n=3, score="gaussian", mask="causal", seed=5)
    assert str(spec) == "Spec(n=3, score='gaussian', mask='causal', seed=5)"
    assert eval(str(spec)) == spec


def test_a_failure_is_found_and_shrunk(monkeypatch):
    # an implementation that goes wrong with more than 3 keys and a causal mask
    def fragile(spec):
        assert spec.m <= 3 or spec.mask != "causal", "too many"
        return 0.0

    monkeypatch.setattr(battery, "check", fragile)
    shrunk = battery.shrink(Spec(batch=5, n=80, m=77, d=9, score="cauchy", mask="causal", seed=3))
    assert shrunk == Spec(m=4, mask="causal")
