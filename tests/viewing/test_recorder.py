"""Which calls and heads are taken down, and under which name."""

import pytest
import torch

from regard import Dot, StateError, ValueRangeError
from regard.testing import qkv
from regard.viewing.recorder import Recorder

Q, K, _ = qkv(2, 3, n=5, m=7, d=4, v=1)


def test_layers_by_name_and_what_is_in_them():
    recorder = Recorder(["a.b"], None)
    for name, wanted in (("a", False), ("a.b", True), ("a.b.c", True), ("a.bc", False)):
        recorder.enter("")
        recorder.enter(name)
        assert recorder.where() == name
        assert recorder.wanted() == wanted
        recorder.note_wanted(Q, K, Dot(), None)
        recorder.leave()
        assert recorder.where() == ""
        recorder.leave()
    assert recorder.found.names == ["a.b", "a.b.c"]
    recorder.check_found()


def test_what_was_passed_over_is_named():
    recorder = Recorder(["a", "b"], None)
    recorder.check_found()  # nothing ran
    recorder.enter("c")
    recorder.note_wanted(Q, K, Dot(), None)
    with pytest.raises(StateError, match="none of the layers 'a', 'b' attended; these did: 'c'"):
        recorder.check_found()


def test_heads_are_copied_and_numbered():
    recorder = Recorder(None, (2, 0))
    q = Q.clone()
    recorder.note(q, K, Dot(), None)
    q.zero_()
    (call,) = recorder.found
    assert torch.equal(call.q, Q[:, [2, 0]])
    assert torch.equal(call.k, K[:, [2, 0]])
    assert call.heads == (2, 0)
    with pytest.raises(ValueRangeError, match="a call has heads from 0 to 1, wanted 2"):
        recorder.note(Q[:, :2], K[:, :2], Dot(), None)


def test_a_batch_without_heads_is_of_one_head():
    recorder = Recorder(None, (0,))
    recorder.note(Q[:, 0], K[:, 0], Dot(), None)
    assert recorder.found[0].q.shape == (2, 5, 4)
    with pytest.raises(ValueRangeError, match="a call has heads from 0 to 0, wanted 1"):
        Recorder(None, (1,)).note(Q[:, 0], K[:, 0], Dot(), None)
