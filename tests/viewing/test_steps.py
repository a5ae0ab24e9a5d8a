"""A generation, step by step, is one map: that of the whole text read at once."""

import pytest
import torch
from transformers import BartConfig, BartForConditionalGeneration, GPT2Config, GPT2LMHeadModel

import regard
from regard import Causal, Dense, Distances, Dot, Gaussian, NotSelf
from regard.viewing.captured import Captured, Captures
from regard.viewing.steps import joined

B, H, D = 2, 3, 4


def captures(*calls):
    found = Captures()
    for call in calls:
        found.add(call)
    return found


def step(q, k, score=None, mask=None, name="layer", heads=None):
    return Captured(name, q, k, score or Dot(), mask, heads)


@pytest.fixture
def whole():
    """The first three tokens at once, then one by one, two at once, and one: seven in all."""
    torch.manual_seed(0)
    q, k = torch.randn(B, H, 7, D), torch.randn(B, H, 7, D)
    cuts = [(0, 3), (3, 4), (4, 6), (6, 7)]
    masks = [Causal(), None, Causal(offset=4), None]
    steps = [
        step(q[..., a:b, :], k[..., :b, :].clone(), mask=m)
        for (a, b), m in zip(cuts, masks, strict=True)
    ]
    return q, k, steps


def test_steps_with_a_cache(whole):
    q, k, steps = whole
    (one,) = joined(captures(*steps))
    assert one.name == "layer"
    torch.testing.assert_close(one.weights(), regard.weights(q, k, mask=Causal()))


def test_other_layers_in_between(whole):
    q, k, steps = whole
    others = [step(x.q, x.k, mask=x.mask, name="other") for x in steps]
    found = joined(captures(*(x for pair in zip(steps, others, strict=True) for x in pair)))
    assert found.names == ["layer", "other"]
    assert len(found) == 2
    for call in found:
        torch.testing.assert_close(call.weights(), regard.weights(q, k, mask=Causal()))


def test_two_generations_are_two(whole):
    _, _, steps = whole
    assert [call.q.shape[-2] for call in joined(captures(*steps, *steps))] == [7, 7]


def test_a_source_looked_at_again_and_again():
    torch.manual_seed(0)
    q, k = torch.randn(B, H, 4, D), torch.randn(B, H, 5, D)
    (one,) = joined(captures(*(step(q[..., i : i + 1, :], k) for i in range(4))))
    torch.testing.assert_close(one.weights(), regard.weights(q, k))


def test_a_model_run_twice_is_not_a_generation():
    torch.manual_seed(0)
    q, k = torch.randn(B, H, 4, D), torch.randn(B, H, 4, D)
    assert len(joined(captures(step(q, k), step(q, k)))) == 2
    one = q[..., :1, :]  # pooling, by one query that was learned
    assert len(joined(captures(step(one, k), step(one, k)))) == 2
    assert len(joined(captures(step(one, one), step(k[..., :1, :], one)))) == 2


@pytest.mark.parametrize(
    "change",
    [
        {"k": True},
        {"score": Dot(0.3)},
        {"score": Gaussian()},
        {"score": Dot() + Distances(torch.tensor([0.1, 0.2, 0.3]), offset=1)},
        {"mask": NotSelf()},
        {"mask": Dense(torch.tensor([[True, False, True, True]]))},
        {"heads": (0, 1, 2)},
    ],
    ids=["a search", "scale", "score", "bias", "not self", "gaps", "heads"],
)
def test_what_is_no_step_of_the_same(whole, change):
    _, k, (first, second, *_) = whole
    if "k" in change:
        k = k.flip(0)[..., :4, :].clone()
        change = {}
    else:
        k = second.k
    assert len(joined(captures(first, step(second.q, second.k)))) == 1
    assert len(joined(captures(first, step(second.q, k, **change)))) == 2


def test_keys_that_no_query_brought(whole):
    q, k, (first, *_) = whole
    assert len(joined(captures(first, step(q[..., 3:4, :], k[..., :5, :])))) == 2


def test_with_a_bias_from_the_start_nothing_is_joined(whole):
    _, _, (first, second, *_) = whole
    score = Dot() + Distances(torch.tensor([0.1, 0.2, 0.3]), offset=1)
    both = (step(x.q, x.k, score, x.mask) for x in (first, second))
    assert len(joined(captures(*both))) == 2


@pytest.mark.parametrize("kernel", ["sdpa", "eager"])
def test_what_a_language_model_writes(kernel):
    torch.manual_seed(0)
    config = GPT2Config(
        n_layer=2, n_head=2, n_embd=16, vocab_size=40, n_positions=32, attn_implementation=kernel
    )
    model = GPT2LMHeadModel(config).eval()
    ids = torch.tensor([[3, 5, 7]])
    asked = {"max_new_tokens": 5, "min_new_tokens": 5, "do_sample": False, "pad_token_id": 0}
    with torch.no_grad(), regard.capture(model) as seen:
        written = model.generate(ids, attention_mask=torch.ones_like(ids), **asked)
    read = written[:, :-1]  # what came last was not read any more
    with torch.no_grad(), regard.capture(model) as at_once:
        model(read)
    view = regard.look(seen, [str(i) for i in read[0].tolist()])
    assert [(head.n, head.m) for head in view.heads] == [(7, 7)] * 4
    for head, wanted in zip(view.heads, regard.look(at_once).heads, strict=True):
        everything = slice(0, 7), slice(0, 7)
        torch.testing.assert_close(
            head.tile(*everything).values, wanted.tile(*everything).values, rtol=1e-4, atol=1e-6
        )
    assert {head.shape for head in view.heads} == {"causal"}


def test_texts_of_several_lengths_that_are_written_on():
    torch.manual_seed(0)
    config = GPT2Config(n_layer=1, n_head=2, n_embd=16, vocab_size=40, n_positions=32)
    model = GPT2LMHeadModel(config).eval()
    ids = torch.tensor([[0, 0, 3], [5, 6, 7]])
    padding = torch.tensor([[0, 0, 1], [1, 1, 1]])
    asked = {"max_new_tokens": 4, "min_new_tokens": 4, "do_sample": False, "pad_token_id": 0}
    with torch.no_grad(), regard.capture(model) as seen:
        model.generate(ids, attention_mask=padding, **asked)
    (one,) = joined(seen)
    weights = one.weights()
    assert weights.shape == (2, 2, 6, 6)
    assert (weights[0, :, 2:, :2] == 0).all()
    assert (weights[1, :, 2:, :2] > 0).all()
    torch.testing.assert_close(weights[:, :, 2:].sum(-1), torch.ones(2, 2, 4))


def test_what_a_translator_writes():
    torch.manual_seed(0)
    config = BartConfig(
        vocab_size=40,
        d_model=16,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=16,
        decoder_ffn_dim=16,
        max_position_embeddings=32,
        forced_eos_token_id=None,
    )
    model = BartForConditionalGeneration(config).eval()
    ids = torch.tensor([[3, 5, 7, 9, 2]])
    asked = {"max_new_tokens": 4, "min_new_tokens": 4, "do_sample": False, "num_beams": 1}
    with torch.no_grad(), regard.capture(model) as seen:
        model.generate(ids, attention_mask=torch.ones_like(ids), **asked)
    sizes = {
        (call.q.shape[-2], call.k.shape[-2])
        for call in joined(seen)
        if "decoder" in call.name and "encoder_attn" in call.name
    }
    assert sizes == {(4, 5)}
    own = {
        call.k.shape[-2]
        for call in joined(seen)
        if call.name.endswith("decoder.layers.0.self_attn")
    }
    assert own == {4}
