"""The layers are what they are called."""

import torch

from regard.layers.compared import ARCHITECTURES, Convolution, Recurrence, SelfAttention


def test_the_layers_are_what_their_names_say():
    x = torch.randn(2, 7, 4)
    conv = Convolution(4, 3)
    torch.testing.assert_close(conv(x), conv.conv(x.transpose(1, 2)).transpose(1, 2))
    recurrence = Recurrence(4)
    torch.testing.assert_close(recurrence(x), recurrence.rnn(x)[0])
    expected = torch.softmax(x @ x.mT / 2, -1) @ x
    torch.testing.assert_close(SelfAttention("reference")(x), expected)


def test_n_rounds_of_the_recurrence_are_the_layer():
    layer, x = Recurrence(4).double(), torch.randn(2, 7, 4, dtype=torch.float64)
    h = torch.zeros_like(x)
    for t in range(7):
        assert not torch.allclose(h[:, t], layer(x)[:, t])
        h = layer.round(x, h)
        torch.testing.assert_close(h[:, : t + 1], layer(x)[:, : t + 1])


def test_the_rows_are_in_the_order_of_the_table_and_not_swapped():
    rows = [(a.name, a.complexity, a.sequential, a.path) for a in ARCHITECTURES]
    assert rows == [
        ("CNN", "O(k n d^2)", "O(1)", "O(n/k)"),
        ("RNN", "O(n d^2)", "O(n)", "O(n)"),
        ("self-attention", "O(n^2 d)", "O(1)", "O(1)"),
    ]


# operations, steps, paths
