"""A translator small enough for a test: random weights, and words from ten lines."""

from functools import lru_cache

import torch

from regard.tasks.run import Run
from regard.tasks.settings import to_toml
from regard.tasks.translation.settings import TranslationSettings, model_of
from regard.tasks.vocabulary import Vocabulary

PAIRS = [
    ("你好。", "Hello."),
    ("你想看书吗？", "Do you want to read?"),  # noqa: RUF001
    ("介绍一下西安。", "Tell me about Xi'an."),
    ("我要睡了。晚安。", "I am going to bed. Good night."),
    ("他说他不知道。", "He said he did not know."),
    ("我昨天去了图书馆。", "I went to the library yesterday."),
    ("这本书很有意思。", "This book is interesting."),
    ("今天天气很好。", "The weather is good today."),
    ("你叫什么名字？", "What is your name?"),  # noqa: RUF001
    ("谢谢你。", "Thank you."),
]


@lru_cache
def vocabulary(side):
    lines = [pair[i] for pair in PAIRS for i in range(2) if side in {i, 2}]
    return Vocabulary.learn(lines, 320)


def tiny_run(folder, model="transformer", *, shared=False, seed=0, **settings):
    """A run in this folder, as a training leaves it."""
    settings = TranslationSettings(
        model=model, width=16, hidden=24, heads=2, encoder_layers=1, decoder_layers=2 - (
            model == "bahdanau"), shared_vocab=shared, **settings,
    )  # fmt: skip
    sides = {"source": vocabulary(2)} if shared else {
        "source": vocabulary(0), "target": vocabulary(1)
    }  # fmt: skip
    source, target = sides["source"], sides.get("target", sides["source"])
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        net = model_of(settings, len(source), len(target))
    names = {id(x): name for name, x in reversed(net.state_dict(keep_vars=True).items())}
    kept = net.state_dict()
    with Run.create(folder, to_toml(settings), {k: v.model for k, v in sides.items()}) as run:
        run.save_weights({name: kept[name] for name in names.values()}, {"kind": "translation"})
    return folder
