"""The softmax of the notes: over the keys that are there."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

from regard.keras.checks import check_width, lengths_of
from regard.keras.found import ops
from regard.keras.tensors import Tensor, name_of, widened

__all__ = ["masked_softmax", "softmax"]


def masked_softmax(
    X: Float[Tensor, "b n m"],
    valid_lens: Int[Tensor, " b"] | Int[Tensor, "b n"] | None = None,
) -> Float[Tensor, "b n m"]:
    """Softmax over the last axis, of the first ``valid_lens`` entries only.

    A row of length 0 is all zeros.

    Args:
        X: scores [b, n, m].
        valid_lens: [b], one length a sequence, [b, n], one a query, or None.

    Raises:
        ShapeError: X or valid_lens has the wrong axes.
        KindError: valid_lens does not hold integers.
        ValueRangeError: a length is negative or above m; where it can be seen.

    >>> import numpy as np
    >>> from keras import ops
    >>> from regard.keras import masked_softmax
    >>> ops.convert_to_numpy(masked_softmax(np.zeros((2, 1, 4)), np.array([2, 0]))).tolist()
    [[[0.5, 0.5, 0.0, 0.0]], [[0.0, 0.0, 0.0, 0.0]]]

    """
    X = ops.convert_to_tensor(X)
    shape = tuple(X.shape)
    check_width("masked_softmax", "X", shape, "b n m", None)
    return softmax(X, lengths_of("masked_softmax", valid_lens, *shape))


def softmax(
    scores: Float[Tensor, "b n m"], lengths: Int[Tensor, "b n"] | Int[Tensor, "b 1"] | None
) -> Float[Tensor, "b n m"]:
    """Softmax over the keys that are there; a score of -inf is a key that is not.

    Half precision is computed in float32 and rounded once.
    """
    if 0 in tuple(scores.shape):  # the largest of no numbers is not defined
        return scores
    s = widened(scores)
    limits = np.finfo(name_of(s.dtype))
    here = ops.not_equal(s, -np.inf)
    if lengths is not None:
        place = ops.arange(ops.shape(s)[-1], dtype="int32")
        here = ops.logical_and(here, place < ops.expand_dims(lengths, -1))
    s = ops.where(s > limits.max, limits.max, s)  # a score that overflowed still has to compare
    low = float(limits.min)
    top = ops.max(ops.where(here, s, low), axis=-1, keepdims=True)
    # the inner choice keeps garbage out of the gradient of exp, the outer one out of the sum
    e = ops.where(here, ops.exp(ops.where(here, s - ops.stop_gradient(top), 0.0)), 0.0)
    total = ops.sum(e, axis=-1, keepdims=True)
    return ops.cast(e / ops.where(total == 0, 1.0, total), scores.dtype)
