import copy
import io

import pytest
import torch

from regard import StateError, ValueRangeError
from regard.layers import AdditiveAttention, DotProductAttention, MultiHeadAttention, base
from tests.layers.textbook_data import additive_example


def layer():
    return AdditiveAttention(2, 20, 8, dropout=0.0)


def test_weights_cost_nothing_until_they_are_read(monkeypatch):
    attention = layer()
    calls = []
    real = base.weights
    monkeypatch.setattr(base, "weights", lambda *a, **k: calls.append(1) or real(*a, **k))
    attention(*additive_example())
    assert calls == []
    assert attention.attention_weights.shape == (2, 1, 10)
    assert calls == [1]


def test_nothing_of_size_n_times_m_is_kept():
    attention = DotProductAttention(0.0)
    x = torch.randn(1, 500, 2)
    attention(x, x, x)
    assert sum(t.numel() for t in attention.looked[:2]) == 2 * 500 * 2


def test_weights_are_those_of_the_call_even_after_a_step_of_training():
    torch.manual_seed(0)
    attention = layer()
    queries, _, values, lens = additive_example()
    keys = torch.randn(2, 10, 2)
    out = attention(queries, keys, values, lens)
    before = attention.attention_weights.clone()
    out.square().sum().backward()
    torch.optim.SGD(attention.parameters(), lr=1.0).step()
    assert torch.equal(attention.attention_weights, before)
    attention(queries, keys, values, lens)
    assert not torch.allclose(attention.attention_weights, before)


def test_a_parameter_looked_at_is_kept_as_it_was():
    memory = torch.nn.Parameter(torch.randn(1, 5, 4))
    attention = DotProductAttention(0.0)
    q = torch.randn(1, 2, 4)
    attention(q, memory, memory).sum().backward()
    before = attention.attention_weights
    torch.optim.SGD([memory], lr=10.0).step()
    assert torch.equal(attention.attention_weights, before)


def test_what_was_written_to_since_is_not_passed_off_as_the_calls():
    attention, lens = DotProductAttention(0.0), torch.tensor([2])
    q, k = torch.randn(1, 2, 4), torch.randn(1, 5, 4)
    attention(q, k, k, lens)
    before = attention.attention_weights
    lens.fill_(5)
    assert torch.equal(attention.attention_weights, before)
    k.zero_()
    with pytest.raises(StateError) as raised:
        _ = attention.attention_weights
    assert str(raised.value) == (
        "DotProductAttention: the queries or keys of the last call were written to since; read "
        "attention_weights before that"
    )


def test_autocast_makes_one_dtype_of_what_was_looked_at():
    attention = DotProductAttention(0.0)
    q, k = torch.randn(1, 2, 4, dtype=torch.bfloat16), torch.randn(1, 5, 4)
    with torch.autocast("cpu", torch.bfloat16):
        attention(q, k, k)
        inside = attention.attention_weights
    assert torch.equal(attention.attention_weights, inside)


def test_before_the_first_call_there_are_no_weights():
    with pytest.raises(StateError) as raised:
        _ = layer().attention_weights
    assert str(raised.value) == (
        "AdditiveAttention has not been called yet: it has no attention_weights"
    )


def test_a_layer_that_was_called_can_be_copied_and_saved():
    attention = layer()
    attention(*additive_example())
    twin = copy.deepcopy(attention)
    assert twin.looked is None
    assert attention.looked is not None
    torch.save(attention.state_dict(), io.BytesIO())


@pytest.mark.parametrize("make", [layer, lambda: MultiHeadAttention(4, 4, 4, 4, 2, 0.0)])
def test_compiled_without_a_graph_break(make):
    torch._dynamo.reset()
    attention = make().eval()
    if isinstance(attention, AdditiveAttention):
        args = additive_example()
    else:
        x = torch.randn(2, 5, 4)
        args = (x, x, x, torch.tensor([2, 5]))
    wanted = attention(*args)
    weights = attention.attention_weights
    attention.looked = None
    compiled = torch.compile(attention, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(*args), wanted)
    torch.testing.assert_close(attention.attention_weights, weights)


def test_dropout_acts_while_training_only():
    torch.manual_seed(0)
    attention = DotProductAttention(0.5)
    q, k, v = torch.zeros(1, 1, 2), torch.zeros(1, 4000, 2), torch.ones(1, 4000, 1)
    assert attention.eval()(q, k, v).item() == pytest.approx(1)
    found = attention.train()(q, k, v).item()
    assert found != 1
    assert found == pytest.approx(1, abs=0.1)
    torch.testing.assert_close(attention.attention_weights, torch.full((1, 1, 4000), 1 / 4000))


@pytest.mark.parametrize("dropout", [-0.1, 1.0, float("nan")])
def test_a_dropout_that_is_no_part_of_a_whole(dropout):
    with pytest.raises(ValueRangeError, match="dropout must be at least 0 and below 1"):
        DotProductAttention(dropout)
