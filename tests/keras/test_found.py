"""What is missing is named, with the remedy; what is not needed is not imported."""

import os
import subprocess
import sys

import pytest

from tests.keras.cases import BACKEND
from tests.test_init import BLOCKED


def python(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={**os.environ, **environment},
    )


TELL = """
from regard.errors import MissingError
try:
    import regard.keras
except MissingError as error:
    print(error)
"""


def test_without_keras_the_remedy_is_told():
    code = "import sys; sys.modules['keras'] = None\n" + TELL
    assert python(code).stdout.strip() == (
        "regard.keras needs keras, which is not installed; pip install 'regard[keras]'"
    )


def test_without_what_keras_runs_on_the_remedy_is_told():
    code = BLOCKED.format(blocked=["tensorflow"]) + TELL
    assert python(code, KERAS_BACKEND="tensorflow").stdout.strip() == (
        "Keras is installed, but not what it should run on: tensorflow (tensorflow); install that, "
        "or set KERAS_BACKEND=torch in the environment: torch comes with regard"
    )


def test_regard_alone_does_not_import_keras():
    found = python(
        "import sys, regard; regard.attend, regard.Gaussian, regard.overview; "
        "print('keras' in sys.modules)"
    )
    assert found.stdout.strip() == "False", found.stderr


@pytest.mark.skipif(BACKEND == "torch", reason="torch is what runs")
def test_the_layers_run_where_there_is_no_torch_and_no_numba():
    code = (
        BLOCKED.format(blocked=["torch", "numba"])
        + """
import numpy as np
from regard.keras import MultiHeadAttention
x = np.ones((2, 3, 4))
print(tuple(MultiHeadAttention(4, 4, 4, 8, 2, 0.1)(x, x, x, np.array([1, 0])).shape))
"""
    )
    found = python(code)
    assert found.stdout.strip() == "(2, 3, 8)", found.stderr
