"""The graphs of the tiny translators: torch takes seconds to make them, so each is made once."""

from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from regard.tasks.translation.exported import export
from regard.tasks.translation.translator import Translator
from regard.tasks.vocabulary import EOS
from tests.tasks.translation.tiny import tiny_run


@lru_cache
def exported(kind):
    """A translator and its graphs."""
    with TemporaryDirectory() as folder:
        translator = Translator.load(tiny_run(Path(folder) / "run", kind, seed=3))
    with torch.no_grad():
        translator.model.out.weight[EOS] *= 4  # or random weights would never end
    return translator, export(translator.model)
