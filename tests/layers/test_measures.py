"""What is compared is measured rightly: on layers and graphs whose answer is known by hand."""

import math

import pytest
import torch
from torch import nn

from regard.layers import measures
from regard.layers.compared import Convolution, Layer, Recurrence, SelfAttention
from regard.layers.measures import longest_path, operations, seconds, sequential_steps

CPU = torch.device("cpu")


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Thousands of small calls: with more threads, on a busy machine, each waits for the others."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


class Chain(Layer):
    """As many sines as asked for, beside a way around them."""

    def __init__(self, length):
        super().__init__()
        self.length = length

    def forward(self, x):
        y = x
        for _ in range(self.length):
            y = y.sin()
        return x + y


@pytest.mark.parametrize(("n", "d", "k"), [(6, 4, 3), (9, 5, 7)])
def test_operations(n, d, k):
    x = torch.zeros(1, n, d)
    assert operations(Convolution(d, k), x) == 2 * k * n * d * d
    assert operations(Recurrence(d), x) == 4 * n * d * d  # W x and U h
    assert operations(SelfAttention("reference"), x) == 4 * n * n * d  # q k and w v


@pytest.mark.parametrize("length", [1, 2, 5, 5000])  # the last is deeper than python's stack
def test_sequential_steps_are_the_longest_way_through_the_graph(length):
    # the sines, the sum, and the leaf the gradient is kept at
    assert sequential_steps(Chain(length), torch.zeros(1, 2, 2)) == length + 2


def test_only_the_recurrence_waits_for_each_position():
    def steps(layer):
        return [sequential_steps(layer, torch.zeros(1, n, 4)) for n in (10, 20, 40)]

    for layer in (Convolution(4, 3), SelfAttention("reference")):
        assert len(set(steps(layer))) == 1
    few, more, most = steps(Recurrence(4))
    assert most - more == 2 * (more - few)
    assert more - few >= 10


@pytest.mark.parametrize(
    ("n", "k"), [(2, 3), (9, 3), (10, 5), (16, 5), (17, 5), (20, 7), (40, 33), (700, 3)]
)
def test_a_path_through_convolutions(n, k):
    # 700: positive weights of such a stack, multiplied out, leave the range of float64
    assert longest_path(Convolution(2, k), n) == math.ceil((n - 1) / ((k - 1) / 2))


@pytest.mark.parametrize("n", [1, 2, 9, 50])
def test_a_path_through_the_others(n):
    assert longest_path(Recurrence(2), n) == n
    assert longest_path(SelfAttention("reference"), n) == 1


@pytest.mark.parametrize(
    "layer", [Convolution(2, 3), Convolution(2, 5), Recurrence(2), SelfAttention("reference")]
)
def test_no_pair_has_a_longer_path_than_the_ends(layer):
    assert longest_path(layer, 13, ends=range(13)) == longest_path(layer, 13)


def test_a_path_is_found_from_gradients():
    layer = Convolution(2, 3)
    layer.conv = nn.Conv1d(2, 2, 3, padding=4, dilation=4)  # reaches four positions away
    assert longest_path(layer, 9) == 2
    layer.conv = nn.Conv1d(2, 2, 1)  # reaches none: each position feels itself alone
    assert longest_path(layer, 9) == 1


def test_weights_that_cancel_do_not_hide_a_path():
    layer = Convolution(2, 3)
    with torch.no_grad():
        layer.conv.weight[0], layer.conv.weight[1] = 1.0, -1.0
    assert longest_path(layer, 9) == 8


# curves


def test_seconds_are_the_least_and_every_round_has_every_call(monkeypatch):
    now, order = [0.0], []

    def call(name, costs):
        def run():
            order.append(name)
            now[0] += costs.pop(0)

        return run

    monkeypatch.setattr(measures, "perf_counter", lambda: now[0])
    slow, quick = call("a", [1, 9, 5, 3, 4]), call("b", [9, 1, 2, 8, 7])
    assert seconds([slow, quick], repeats=3, device=CPU) == (3, 2)
    assert order == ["a", "b"] * 5  # to warm up, to see how long it takes, three rounds


def test_short_calls_are_timed_many_at_a_time(monkeypatch):
    now, calls = [0.0], [0]

    def run():
        calls[0] += 1
        now[0] += 0.001

    monkeypatch.setattr(measures, "perf_counter", lambda: now[0])
    assert seconds([run], repeats=2, device=CPU)[0] == pytest.approx(0.001)
    assert calls[0] == 2 + 2 * 10


# all of it
