"""The command line, ``regard <verb>``: one file a verb, listed in ``regard.cli.main``."""

__all__: list[str] = []
