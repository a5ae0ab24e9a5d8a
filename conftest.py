"""What has to be said before a library is first imported, by a test or a docstring's example."""

from __future__ import annotations

import os
from pathlib import Path

import torch

# torch is there in any case; `make test-keras` names the other two
os.environ.setdefault("KERAS_BACKEND", "torch")
# else the settings in somebody's home would decide about dtypes
os.environ["KERAS_HOME"] = str(Path(__file__).parent / "build" / "keras")
# where there is no GPU, kernels for it run in Triton's interpreter
if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"
