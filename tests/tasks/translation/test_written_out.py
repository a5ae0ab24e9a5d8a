"""The models in plain operations give what the models give."""

import pytest
import torch

from regard import ValueRangeError
from regard.models import Bahdanau, BahdanauConfig, Transformer, TransformerConfig
from regard.tasks.translation.written_out import _embedded, written_out

KINDS = [
    *({"positions": p} for p in ("sinusoidal", "learned", "rotary", "none")),
    {"norm": "post", "tied": False},
    {"num_kv_heads": 1, "shared": True},
    {"embedding": 8},
    {"embedding": 8, "tied": False, "decoder_layers": 2, "encoder_layers": 2},
    {"embedding": 8, "bidirectional": False},
]


def network(**options):
    torch.manual_seed(0)
    if "embedding" in options:
        net = Bahdanau(BahdanauConfig(20, 20, hidden=12, **options))
    else:
        plain = {"width": 16, "num_heads": 4, "encoder_layers": 2, "decoder_layers": 2}
        net = Transformer(TransformerConfig(20, 20, **(plain | options)))
    for p in net.parameters():
        p.data += 0.1 * torch.randn_like(p)
    return net.eval()


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_it_gives_the_same_scores(kind):
    net = network(**kind)
    parts = written_out(net)
    source, lens = torch.randint(20, (4, 7)), torch.tensor([7, 1, 4, 0])
    state = dict(zip(parts.axes, parts.encoder(source, lens), strict=True))
    theirs = net.start(source, lens)
    for _ in range(5):
        tokens = torch.randint(20, (4,))
        wanted, theirs = net.step(tokens, theirs)
        scores, *after = parts.decoder(tokens, lens, *state.values())
        torch.testing.assert_close(scores, wanted, rtol=1e-5, atol=1e-5)
        state.update(zip(parts.changing, after, strict=True))
    assert tuple(parts.axes)[-len(parts.changing) :] == parts.changing


@pytest.mark.parametrize("width", [16, 15])
def test_sinusoids_do_not_end_where_a_table_would(width):
    net = network(width=width, num_heads=1, encoder_layers=1, decoder_layers=1)
    source, lens = torch.randint(20, (1, 1100)), torch.tensor([1100])
    keys, *_ = written_out(net).encoder(source, lens)
    wanted = net.start(source, lens).caches[0].source_k
    torch.testing.assert_close(keys[0], wanted, rtol=1e-5, atol=1e-5)
    for offset in (0, 999, 1000, 5000):
        args = source[:, :3], net.target_embedding, offset
        assert torch.equal(_embedded(net, args[1], args[0], offset), net._embed("target", *args))


@pytest.mark.parametrize("kind", KINDS[:1] + KINDS[-1:], ids=str)
def test_the_axes_are_those_it_has(kind):
    parts = written_out(network(**kind))
    source, lens = torch.randint(20, (4, 7)), torch.tensor([7, 1, 4, 2])
    state = dict(zip(parts.axes, parts.encoder(source, lens), strict=True))
    lengths = {"b": 4, "m": 7, "t": 0}
    for name, axes in parts.axes.items():
        for axis, letter in axes.items():
            assert state[name].shape[axis] == lengths[letter], (name, axis)


@pytest.mark.parametrize(
    ("options", "got"),
    [
        ({"positions": "alibi"}, "'dot' and 'alibi'"),
        ({"score": "gaussian"}, "'gaussian' and 'sinusoidal'"),
    ],
)
def test_what_cannot_be_written_out_is_refused(options, got):
    with pytest.raises(ValueRangeError) as raised:
        written_out(network(**options))
    assert str(raised.value) == (
        "only a Transformer with score='dot' and positions 'sinusoidal', 'learned', 'rotary' or "
        f"'none' can be exported, this has {got}"
    )
