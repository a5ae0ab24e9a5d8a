"""The package gives its names when they are asked for."""

import subprocess
import sys

import pytest

from regard.tasks import classification


def test_names():
    assert dir(classification) == classification.__all__
    for name in classification.__all__:
        assert getattr(classification, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = classification.nothing


def test_settings_come_without_torch():
    code = "import sys, regard.tasks.classification.settings; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
