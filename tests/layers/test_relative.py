import torch

from regard.layers import ALiBi, MultiHeadAttention, RelativeBias


def test_slopes_fall_from_head_to_head():
    slopes = ALiBi(8).slopes
    assert slopes.tolist() == [2.0**-i for i in range(1, 9)]
    assert ALiBi(8).state_dict() == {}


def test_alibi_prefers_what_is_near():
    torch.manual_seed(0)
    attention = MultiHeadAttention(4, 4, 4, 4, 2, 0.0, positions=ALiBi(2))
    x = torch.ones(1, 6, 4)
    attention(x, x, x)
    weights = attention.attention_weights[0]
    assert (weights[:, 0].diff() < 0).all()  # equal keys: only distance counts
    ratio = (weights[:, 0, 1] / weights[:, 0, 0]).log()
    torch.testing.assert_close(ratio, -ALiBi(2).slopes.float(), atol=1e-6, rtol=0)


def test_a_learned_bias_learns_to_look_at_the_neighbour(one_thread):
    torch.manual_seed(0)
    bias = RelativeBias(1, max_distance=2)
    attention = MultiHeadAttention(8, 8, 8, 8, 1, 0.0, positions=bias)
    trainer = torch.optim.Adam([bias.table], lr=0.02)
    for _ in range(60):
        x = torch.randn(4, 12, 8)
        wanted = attention.W_o(attention.W_v(x.roll(1, 1)))
        loss = (attention(x, x, x) - wanted)[:, 1:].square().mean()
        trainer.zero_grad()
        loss.backward()
        trainer.step()
    attention(x, x, x)
    assert attention.attention_weights[0, 0].diagonal(-1).min() > 0.8
