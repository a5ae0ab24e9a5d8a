"""The public names of ``regard.tasks.tagging``."""

import subprocess
import sys

import pytest

from regard.tasks import tagging


def test_the_names_are_there():
    assert dir(tagging) == tagging.__all__
    for name in tagging.__all__:
        assert getattr(tagging, name).__name__ == name


def test_a_name_that_is_not():
    with pytest.raises(AttributeError, match="has no attribute 'Taggger'"):
        _ = tagging.Taggger


def test_torch_is_imported_when_it_is_needed():
    code = "import sys, regard.tasks.tagging; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
