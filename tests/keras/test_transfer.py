import numpy as np
import pytest
import torch

from regard import layers
from regard.errors import KindError, ShapeError
from regard.keras import AdditiveAttention, MultiHeadAttention, NWKernelRegression
from tests.keras.cases import array, inputs, near

MAKERS = {
    "additive": (
        lambda: AdditiveAttention(3, 6, 8, 0.0),
        lambda: layers.AdditiveAttention(3, 6, 8, 0.0),
    ),
    "multihead": (
        lambda: MultiHeadAttention(3, 6, 2, 8, 2, 0.0),
        lambda: layers.MultiHeadAttention(3, 6, 2, 8, 2, 0.0),
    ),
    "multihead with bias": (
        lambda: MultiHeadAttention(3, 6, 2, 8, 2, 0.0, bias=True),
        lambda: layers.MultiHeadAttention(3, 6, 2, 8, 2, 0.0, bias=True),
    ),
    "regression": (NWKernelRegression, layers.NWKernelRegression),
}


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("called", [False, True])
def test_there_and_back_without_a_changed_bit(name, called):
    make, make_torch = MAKERS[name]
    mine, other = make(), make_torch()
    if called:
        x = np.zeros(4, np.float32)
        mine(*((x, x, x) if name == "regression" else inputs((6, 3, 2))))
    mine.load_torch_state(other.state_dict())
    back = mine.torch_state()
    assert set(back) == set(other.state_dict())
    for key, x in other.state_dict().items():
        assert torch.equal(torch.tensor(back[key]), x), key
    fresh = make_torch()
    fresh.load_state_dict({key: torch.tensor(x) for key, x in back.items()})
    assert torch.equal(next(fresh.parameters()), next(other.parameters()))


def test_what_was_made_here_runs_there():
    mine, arrays = AdditiveAttention(3, 6, 8, 0.0), inputs((6, 3, 2))
    out = mine(*arrays)
    other = layers.AdditiveAttention(3, 6, 8, 0.0)
    other.load_state_dict({key: torch.tensor(x) for key, x in mine.torch_state().items()})
    near(array(out), other(*(torch.tensor(x) for x in arrays)))


def good():
    return {
        "W_k.weight": np.ones((8, 3)),
        "W_q.weight": np.ones((8, 6)),
        "w_v.weight": np.ones((1, 8)),
    }


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (
            {"W_o.weight": np.ones((8, 8))},
            KindError,
            "AdditiveAttention: the state must have the names ['W_k.weight', 'W_q.weight', "
            "'w_v.weight'], got ['W_k.weight', 'W_o.weight', 'W_q.weight', 'w_v.weight']; "
            "is it of a AdditiveAttention with the same arguments?",
        ),
        (
            {"W_q.weight": np.ones((6, 8))},
            ShapeError,
            "AdditiveAttention: W_q.weight must have the shape [8, 6], got [6, 8]",
        ),
        (
            {"W_q.weight": np.ones((8, 6), int)},
            KindError,
            "AdditiveAttention: W_q.weight must hold numbers with a point, got int64",
        ),
    ],
)
def test_what_does_not_fit_is_refused_whole(change, error, message):
    layer = AdditiveAttention(3, 6, 8, 0.0)
    before = {key: x.tolist() for key, x in layer.torch_state().items()}
    with pytest.raises(error) as raised:
        layer.load_torch_state({**good(), **change})
    assert str(raised.value) == message
    assert {key: x.tolist() for key, x in layer.torch_state().items()} == before


def test_a_tensor_numpy_cannot_read_is_told_how_to_be_read():
    layer = AdditiveAttention(3, 6, 8, 0.0)
    with pytest.raises(KindError) as raised:
        layer.load_torch_state({**good(), "W_q.weight": torch.ones(8, 6, requires_grad=True)})
    assert str(raised.value).startswith(
        "AdditiveAttention: W_q.weight must be an array, got Tensor"
    )
    assert str(raised.value).endswith("of a tensor take .detach().cpu().float()")
