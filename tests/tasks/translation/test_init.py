"""The public names of translation, and that naming the package costs nothing."""

import subprocess
import sys

import pytest

from regard.tasks import translation


def test_the_names_are_there():
    assert dir(translation) == translation.__all__ == sorted(translation.__all__)
    for name in translation.__all__:
        assert getattr(translation, name).__name__ == name
    with pytest.raises(AttributeError, match="has no attribute 'translate'"):
        translation.translate  # noqa: B018


def test_importing_it_imports_no_torch():
    code = "import sys, regard.tasks.translation.settings; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
