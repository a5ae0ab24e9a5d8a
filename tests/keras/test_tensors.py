import numpy as np
import pytest
from keras import ops

from regard.keras.tensors import holds_numbers, name_of, numbers, widened
from tests.keras.cases import BACKEND


def inside(look):
    """What ``look`` sees of a tensor inside a graph."""
    seen = []
    if BACKEND == "tensorflow":
        import tensorflow as tf

        tf.function(lambda x: seen.append(look(x + 1)))(tf.zeros(2))
    elif BACKEND == "jax":
        import jax

        jax.eval_shape(lambda x: seen.append(look(x + 1)), np.zeros(2))
    else:
        import torch

        seen.append(look(torch.zeros(2, device="meta") + 1))
    return seen


def test_numbers_are_there_outside_of_graphs_only():
    assert inside(holds_numbers) == [False]
    assert inside(numbers) == [None]
    x = ops.convert_to_tensor(np.array([1, 2], np.int32))
    assert holds_numbers(x)
    assert numbers(x).tolist() == [1, 2]


@pytest.mark.skipif(BACKEND != "jax", reason="a derivative of JAX is a graph too")
def test_inside_a_derivative_there_is_a_stand_in():
    import jax

    seen = []
    jax.grad(lambda x: (seen.append(holds_numbers(x)), x)[1])(1.0)
    assert seen == [False]


@pytest.mark.skipif(BACKEND != "torch", reason="torch's compiler")
def test_inside_torch_compile_there_is_a_stand_in():
    import torch

    @torch.compile(backend="eager", fullgraph=True)
    def look(x):
        return x + 1 if holds_numbers(x) else x - 1

    assert look(torch.zeros(1)).item() == -1


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_widened(dtype):
    x = ops.zeros(2, dtype)
    assert name_of(x.dtype) == dtype
    assert name_of(widened(x).dtype) == "float32"
