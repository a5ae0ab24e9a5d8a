from importlib.metadata import version

import regard
from regard.version import __version__


def test_the_package_and_its_metadata_agree():
    assert regard.__version__ == __version__ == version("regard")
