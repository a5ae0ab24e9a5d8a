"""One line to look at whatever there is."""

import numpy as np
import pytest
import torch

import regard
from regard.errors import KindError, RegardError, ShapeError, StateError, ValueRangeError
from regard.viewing import look
from regard.viewing.backdrop import over_image
from regard.viewing.capturing import Captures, capture
from regard.viewing.view import View

W = torch.tensor([[0.75, 0.25], [0.5, 0.5]])


def names(view):
    layers = view.document().header["layers"]
    return [(x["model"], x["name"]) for x in layers]


def test_it_is_at_the_root():
    assert regard.look is look
    assert isinstance(look(W), View)


def test_captures_and_one_call():
    net = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()
    with capture(net) as seen:
        net(torch.randn(3, 5, 8))
    view = look(seen, list("abcde"), entry=2)
    assert names(view) == [("", "self_attn")]
    assert len(view.heads) == 2
    got = view.heads[1].tile(slice(None), slice(None)).values
    torch.testing.assert_close(got, seen[0].weights()[2, 1])
    assert len(look(seen[0]).heads) == 2


def test_weights_as_tensors_arrays_and_lists_of_layers():
    assert names(look(W.expand(2, 3, 2, 2))) == [("", "0"), ("", "1")]
    assert look(W.numpy()).heads[0].tile(slice(None), slice(None)).values.tolist() == W.tolist()
    batch = torch.stack([W, W.T])[:, None]  # [b, heads, n, m]
    for both in ((batch, batch), [batch, batch]):
        view = look(both, entry=1)
        assert names(view) == [("", "0"), ("", "1")]
        assert view.heads[1].tile(slice(None), slice(None)).values.tolist() == W.T.tolist()
    assert names(look([None, W[None]])) == [("", "1")]
    with pytest.raises(ValueRangeError, match="entry must be one of the 2 entries"):
        look([batch], entry=2)


def test_models_are_compared_by_name():
    view = look({"A": W, "B": W.expand(2, 2, 2)}, ["x", "y"])
    assert names(view) == [("A", ""), ("B", "")]
    assert [x["row_tokens"] for x in view.document().header["maps"]] == [0, 0, 0]


def test_a_picture_may_stand_behind_the_keys():
    behind = over_image(np.zeros((4, 4, 1)), 4, offset=1)
    assert look(W, backdrop=behind).document().header["backdrop"] == behind


def test_data_and_a_regression_make_a_kernel_page():
    x, y = np.linspace(0, 1, 20), np.zeros(20)
    header = look((x, y), kernel="tricube", width=0.25).document().header
    assert (header["kind"], header["kernel"]["kernel"]) == ("kernel", "tricube")
    assert header["kernel"]["width"] == 0.25
    assert look((x.tolist(), y.tolist())).document().header["kernel"]["width"] > 0
    regression = pytest.importorskip("regard.regression")
    view = look(regression.NadarayaWatson(bandwidth=0.5).fit(x[:, None], y), title="T")
    header = view.document().header
    assert (header["kind"], header["title"], header["kernel"]["width"]) == ("kernel", "T", 0.5)
    with pytest.raises(StateError, match="not fitted yet"):
        look(regression.NadarayaWatson())


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: look(Captures()), StateError, "nothing to look at.*inside `with regard.capture"),
        (lambda: look(torch.nn.Linear(2, 2)), KindError, "with regard.capture.*got Linear"),
        (lambda: look(W - 1), ValueRangeError, "not be below 0; are these scores?"),
        (lambda: look([W[None], -W[None]]), ValueRangeError, "not be below 0; are these scores?"),
        (lambda: look({}), StateError, "there is nothing to look at"),
        (lambda: look(torch.rand(0, 3)), ShapeError, "got n=0 queries and m=3 keys"),
        (lambda: look("x"), KindError, "got str"),
        (lambda: look(W, limit=0), ValueRangeError, "limit must be a number of bytes"),
        (lambda: look(W, language="fr"), ValueRangeError, "language must be 'en', 'zh' or None"),
        (lambda: look(W, title=3), KindError, "title must be a str, got int"),
        (lambda: look(W, kernel="gaussian"), KindError, "kernel and width belong to data"),
        (lambda: look(([1.0], [2.0]), ["a"]), KindError, "tokens belong to attention weights"),
        (lambda: look([torch.rand(1, 1, 1, 2, 2)]), ShapeError, "weights of a layer must be"),
    ],
)
def test_message(call, error, message):
    with pytest.raises(error, match=message) as raised:
        call()
    assert isinstance(raised.value, RegardError)
