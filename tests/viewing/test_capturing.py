"""Recording what a model attends to."""

import threading

import pytest
import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

import regard
from regard.errors import KindError, ShapeError, StateError, ValueRangeError
from regard.layers import Block, EncoderBlock, MultiHeadAttention
from regard.viewing.capturing import capture
from regard.viewing.heads import heads_of


class Two(nn.Module):
    """A layer of regard's and a call of torch's, one after the other."""

    def __init__(self):
        super().__init__()
        self.first = MultiHeadAttention(8, 8, 8, 8, 2, 0.0, score="additive")
        self.second = nn.Linear(8, 8)

    def forward(self, x, lens=None):
        x = self.first(x, x, x, lens)
        q = self.second(x)[:, None]
        return scaled_dot_product_attention(q, x[:, None], x[:, None])


@pytest.fixture
def model():
    torch.manual_seed(0)
    return Two().eval()


def test_calls_of_both_kinds_by_name(model):
    x, lens = torch.randn(3, 5, 8), torch.tensor([5, 2, 4])
    with capture(model) as seen:
        model(x, lens)
    assert seen.names == ["first.attention", ""]
    assert len(seen) == 2
    torch.testing.assert_close(seen["first.attention"].weights(), model.first.attention_weights)
    assert seen[1].weights().shape == (3, 1, 5, 5)
    assert seen[-1] is seen[1]


def test_everything_that_can_be_looked_at_is_that_of_the_weights(model):
    x = torch.randn(2, 6, 8)
    with capture(model) as seen:
        model(x)
    call = seen["first.attention"]
    w = call.weights()
    torch.testing.assert_close(call.rectangle(slice(1, 4), slice(2, 5)), w[..., 1:4, 2:5])
    torch.testing.assert_close(call.overview(cells=6), w)
    torch.testing.assert_close(call.overview(cells=1, reduce="max")[..., 0, 0], w.amax((-1, -2)))
    torch.testing.assert_close(call.top(2).weights, w.topk(2).values)
    torch.testing.assert_close(call.entropy(), -(w * w.log()).sum(-1))
    torch.testing.assert_close(call.received(), w.sum(-2))


def test_the_model_answers_as_without_and_learns_as_without(model):
    x = torch.randn(2, 6, 8)
    plain = model(x)
    plain.sum().backward()
    wanted = [p.grad.clone() for p in model.parameters()]
    model.zero_grad()
    with capture(model) as seen:
        out = model(x)
    out.sum().backward()
    assert torch.equal(out, plain)
    assert all(torch.equal(p.grad, g) for p, g in zip(model.parameters(), wanted, strict=True))
    assert not seen[0].q.requires_grad
    assert not any(p.requires_grad for p in seen[0].score.tensors)


def test_fused_kernels_stay_and_memory_is_linear():
    torch.manual_seed(0)
    block = EncoderBlock(Block(width=8, num_heads=2, hidden=8)).eval()
    x = torch.randn(1, 20_000, 8)
    q = torch.randn(1, 2, 20_000, 4)
    mask = regard.Window(8, 8)
    assert regard.explain(q, q, q, mask=mask).impl == "cpu"
    with torch.no_grad(), capture(block) as seen:
        block(x, mask=mask)
    (call,) = seen
    assert call.q.numel() + call.k.numel() == 2 * 2 * 20_000 * 4
    near = call.rectangle(slice(9_000, 9_002), slice(8_990, 9_012))
    torch.testing.assert_close(near.sum(-1), torch.ones(1, 2, 2))


def test_some_layers_and_heads(model):
    x = torch.randn(2, 6, 8)
    with capture(model, layers=["first"]) as seen:
        model(x)
    assert seen.names == ["first.attention"]
    block = EncoderBlock(Block(width=8, num_heads=4, hidden=8)).eval()
    with capture(block) as whole, capture(block, heads=[2, 0]) as seen:
        block(x)
    torch.testing.assert_close(seen[0].weights(), whole[0].weights()[:, [2, 0]])


def test_after_an_error_nothing_is_left_behind(model):
    with pytest.raises(ShapeError), capture(model) as seen:
        model(torch.randn(2, 6, 9))
    x = torch.randn(2, 6, 8)
    with capture(model) as seen:
        with pytest.raises(ShapeError):
            model(torch.randn(2, 6, 9))
        model(x)
    assert seen.names == ["first.attention", ""]
    model(x)
    assert len(seen) == 2
    assert not model.first._forward_hooks
    assert not model.first._forward_pre_hooks


def test_what_cannot_be_captured_is_said(model):
    with pytest.raises(KindError, match=r"takes a torch\.nn\.Module, got list"), capture([]):
        pass
    wrong = pytest.raises(ValueRangeError, match="names of modules of the model, got 'third'")
    with wrong, capture(model, layers=["third"]):
        pass
    with capture(model) as seen:
        pass
    with pytest.raises(StateError, match="no call of 'x' was captured; there are nothing was"):
        seen["x"]
    wrong = pytest.raises(KindError, match=r"several names, got one string; write \['first'\]")
    with wrong, capture(model, layers="first"):
        pass
    wrong = pytest.raises(KindError, match=r"heads must be several numbers, got 5; write \[5\]")
    with wrong, capture(model, heads=5):
        pass
    for heads in ([], [-1], [True], [0.5]):
        wrong = pytest.raises(ValueRangeError, match="heads must be numbers of heads, from 0 on")
        with wrong, capture(model, heads=heads):
            pass


def test_heads_that_are_not_there_are_said_to_be_missing(model):
    wrong = pytest.raises(
        ValueRangeError, match=r"first\.attention has heads from 0 to 1, wanted 2"
    )
    with wrong, capture(model, heads=[0, 2]):
        model(torch.randn(2, 6, 8))


def test_a_model_that_shows_nothing_is_said_to_do_so(model):
    wrong = pytest.raises(StateError, match=r"'second' attended; these did: 'first\.attention', ''")
    with wrong, capture(model, layers=["second"]):
        model(torch.randn(2, 6, 8))
    wrong = pytest.raises(StateError, match="the model ran, but no attention was seen")
    net = nn.Linear(2, 2)
    with wrong, capture(net):
        net(torch.randn(2))
    with pytest.raises(KeyError), capture(net):  # the first error is the one to see
        net(torch.randn(2))
        raise KeyError


def encoder(layers=2):
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(16, 4, 16, batch_first=True)
    return nn.TransformerEncoder(layer, layers).eval()


def written_out(layer, x, memory, hidden):
    """The weights of one of torch's layers, as it gives them itself."""
    return layer(
        x, memory, memory, attn_mask=hidden, need_weights=True, average_attn_weights=False
    )[1]


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")  # torch's own, outside
@pytest.mark.parametrize("grad", [False, True])
def test_an_encoder_that_would_run_in_one_piece(grad):
    net, x = encoder(), torch.randn(2, 5, 16)
    padding = torch.arange(5) >= torch.tensor([5, 3])[:, None]
    assert torch.backends.mha.get_fastpath_enabled()
    with torch.set_grad_enabled(grad):
        plain = net(x, src_key_padding_mask=padding)
        with capture(net) as seen:
            assert not torch.backends.mha.get_fastpath_enabled()
            out = net(x, src_key_padding_mask=padding)
    assert torch.backends.mha.get_fastpath_enabled()
    assert seen.names == ["layers.0.self_attn", "layers.1.self_attn"]
    torch.testing.assert_close(out[~padding], plain[~padding])
    wanted = written_out(net.layers[0].self_attn, x, x, padding.repeat_interleave(4, 0)[:, None]
                         .expand(8, 5, 5))  # fmt: skip
    torch.testing.assert_close(seen[0].weights(), wanted)


def test_the_way_in_one_piece_stays_off_if_it_was_off():
    torch.backends.mha.set_fastpath_enabled(value=False)
    try:
        with capture(nn.Linear(1, 1)):
            pass
        assert not torch.backends.mha.get_fastpath_enabled()
    finally:
        torch.backends.mha.set_fastpath_enabled(value=True)


def test_a_decoder_looks_at_itself_and_across():
    torch.manual_seed(0)
    net = nn.TransformerDecoder(nn.TransformerDecoderLayer(16, 4, 16, batch_first=True), 1).eval()
    x, memory = torch.randn(2, 5, 16), torch.randn(2, 7, 16)
    hidden = nn.Transformer.generate_square_subsequent_mask(5)
    with torch.no_grad(), capture(net) as seen:
        net(x, memory, tgt_mask=hidden, tgt_is_causal=True)
    own, across = seen
    assert (own.name, across.name) == ("layers.0.self_attn", "layers.0.multihead_attn")
    assert isinstance(own.mask, regard.Causal)
    torch.testing.assert_close(own.weights(), written_out(net.layers[0].self_attn, x, x, hidden))
    assert across.weights().shape == (2, 4, 5, 7)
    assert [head.shape for head in heads_of(seen)] == ["causal"] * 4 + ["cross"] * 4


def test_a_compiled_model_runs_uncompiled_inside(model):
    x = torch.randn(2, 6, 8)
    compiled = torch.compile(model, backend="eager")
    for _ in range(2):  # before and after it was compiled
        with capture(compiled) as seen:
            out = compiled(x)
        assert seen.names == ["_orig_mod.first.attention", "_orig_mod"]
        torch.testing.assert_close(out, model(x))
        compiled(x)
    model.compile(backend="eager")
    with capture(model) as seen:
        model(x)
    assert seen.names == ["first.attention", ""]
    torch._dynamo.reset()


def test_called_twice_and_nested(model):
    x = torch.randn(2, 6, 8)
    with capture(model) as outer:
        model(x)
        with capture(model.first) as inner:
            model(2 * x)
        model(x)
    assert len(outer) == 6
    assert inner.names == ["attention", ""]
    assert torch.equal(outer[2].q, inner[0].q)
    assert not torch.equal(outer[0].q, outer[2].q)
    assert torch.equal(outer["first.attention"].q, outer[0].q)


def test_what_is_captured_stays_as_it_was():
    class Cached(nn.Module):
        def __init__(self):
            super().__init__()
            self.keys = torch.randn(1, 2, 8, 4)

        def forward(self, q):
            out = scaled_dot_product_attention(q, self.keys, self.keys)
            q.zero_()
            self.keys.zero_()
            return out

    net, q = Cached(), torch.randn(1, 2, 3, 4)
    wanted = torch.softmax(q @ net.keys.mT / 2, -1)
    with capture(net) as seen:
        net(q)
    torch.testing.assert_close(seen[0].weights(), wanted)


def test_one_call_is_one_whatever_runs_it():
    class Plain(nn.Module):
        def forward(self, q):
            return regard.attend(q, q, q)

    q = torch.randn(1, 2, 600, 32)
    net = Plain()
    assert regard.explain(q, q, q).impl == "native"  # torch's own attention, inside regard's
    with capture(net) as seen:
        net(q)
    assert len(seen) == 1


def test_inference_mode():
    net, x = encoder(1), torch.randn(2, 5, 16)
    padding = torch.arange(5) >= torch.tensor([5, 3])[:, None]
    with torch.inference_mode(), capture(net) as seen:
        net(x.clone(), src_key_padding_mask=padding.clone())
        net(x.clone(), mask=torch.zeros(5, 5).masked_fill(torch.ones(5, 5).triu(1) > 0, -torch.inf))
    torch.testing.assert_close(seen[0].weights().sum(-1), torch.ones(2, 4, 5))
    assert not seen[0].weights()[1, ..., 3:].any()
    assert isinstance(seen[1].mask, regard.Causal)
    assert heads_of(seen)[0].tile(slice(0, 5), slice(0, 5), 2).values.shape == (2, 2)


def test_modules_in_a_wrapper(model):
    wrapped = nn.DataParallel(model)  # without a GPU it calls the model as it is
    with capture(wrapped) as seen:
        wrapped(torch.randn(2, 6, 8))
    assert seen.names == ["module.first.attention", "module"]
    wrapped.device_ids = [0, 1]
    wrong = pytest.raises(StateError, match=r"on 2 devices at once, .* capture its \.module")
    with wrong, capture(wrapped):
        pass


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision(dtype):
    net, x = encoder(1).to(dtype), torch.randn(2, 5, 16, dtype=dtype)
    with torch.no_grad(), capture(net) as seen:
        net(x)
    assert seen[0].q.dtype == dtype
    wanted = written_out(net.layers[0].self_attn, x, x, None)
    torch.testing.assert_close(seen[0].weights(), wanted, rtol=0.02, atol=0.01)
    net, x = encoder(1), torch.randn(2, 5, 16)
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16), capture(net) as seen:
        net(x)
    assert seen[0].q.dtype == torch.bfloat16


def test_chosen_heads_keep_their_own_parameters_and_masks():
    class Slopes(nn.Module):
        def forward(self, q):
            score = regard.Dot() + regard.Slope(torch.tensor([1.0, 0.5, 0.1]))
            seen = torch.rand(3, 5, 5, generator=torch.Generator().manual_seed(0)) > 0.4
            return regard.attend(q, q, q, score=score, mask=regard.Dense(seen))

    q = torch.randn(2, 3, 5, 4)
    with capture(Slopes()) as whole, capture(Slopes(), heads=[2, 0, 1]) as some:
        Slopes()(q)
    torch.testing.assert_close(some[0].weights(), whole[0].weights()[:, [2, 0, 1]])


def test_other_threads_do_not_confuse_the_names():
    entered, attended = threading.Event(), threading.Event()

    class Waiting(nn.Module):
        def forward(self, q):
            entered.set()
            attended.wait(10)
            return scaled_dot_product_attention(q, q, q)

    class Attending(nn.Module):
        def forward(self, q):
            other.start()
            entered.wait(10)
            return scaled_dot_product_attention(q, q, q)

    net, q = nn.ModuleDict({"a": Attending(), "b": Waiting()}), torch.randn(1, 2, 3, 4)
    other = threading.Thread(target=net["b"], args=(q,))
    with capture(net) as seen:
        net["a"](q)
        attended.set()
        other.join()
    assert seen.names == ["a"]  # and nothing of another thread
    assert len(seen) == 1
