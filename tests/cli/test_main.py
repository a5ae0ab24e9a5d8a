"""The entry point: the verbs it lists, what it says to wrong words, and how it leaves."""

import subprocess
import sys
import warnings
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import regard
from regard.cli.main import VERBS, main
from regard.errors import RegardError, ShapeError

HEAVY = "{'torch', 'numpy', 'numba', 'matplotlib', 'rich', 'pyarrow', 'scipy', 'sklearn'}"


KNOWN = ", ".join(VERBS)


@pytest.mark.parametrize("words", [["--help"], ["-h"], []], ids=str)
def test_help_lists_the_verbs(words, capsys):
    assert main(words) == 0
    said = capsys.readouterr()
    assert said.err == ""
    lines = [line.split(maxsplit=1) for line in said.out.splitlines()]
    for verb, summary in VERBS.items():
        assert [verb, summary] in lines


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"regard {regard.__version__}\n"


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_has_arguments_run_and_help(verb, capsys):
    module = import_module(f"regard.cli.{verb}")
    assert callable(module.arguments)
    assert callable(module.run)
    assert main([verb, "--help"]) == 0
    assert capsys.readouterr().out.startswith(f"usage: regard {verb} [-h]")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["dmeo"], f"there is no verb 'dmeo', only {KNOWN}; see 'regard --help'"),
        ([""], f"there is no verb '', only {KNOWN}; see 'regard --help'"),
        (["--loud", "demo"], "unrecognized arguments: --loud; see 'regard --help'"),
        (["demo", "--loud"], "unrecognized arguments: --loud; see 'regard demo --help'"),
        (
            ["demo", "--fig", "a.png"],
            "unrecognized arguments: --fig a.png; see 'regard demo --help'",
        ),
        (
            ["demo", "--figure"],
            "argument --figure: expected one argument; see 'regard demo --help'",
        ),
    ],
    ids=str,
)
def test_wrong_words_are_answered_in_one_line(words, message, capsys):
    assert main(words) == 2
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", f"regard: {message}\n")


def _raising(error):
    def run(args):
        raise error

    return run


@pytest.fixture
def verb(monkeypatch):
    """Gives a function that makes ``regard fake`` do what it is told."""

    def make(run):
        module = ModuleType("regard.cli.fake")
        module.arguments = lambda parser: parser.add_argument("--number", type=int, default=1)
        module.run = run
        monkeypatch.setitem(VERBS, "fake", "not a verb")
        monkeypatch.setitem(sys.modules, "regard.cli.fake", module)

    return make


def test_a_verb_is_one_line_of_the_table(verb, capsys):
    verb(lambda args: args.number)
    assert main(["fake", "--number", "7"]) == 7
    assert main(["--help"]) == 0
    assert "\n  fake       not a verb\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (RegardError("this is so"), 2, "regard: this is so\n"),
        (ShapeError("over two\n  lines"), 2, "regard: over two lines\n"),
        (FileNotFoundError(2, "No such file", "a/b.txt"), 2, "regard: a/b.txt: No such file\n"),
        (OSError("the disk is full"), 2, "regard: the disk is full\n"),
        (OSError(28, "No space left on device"), 2, "regard: No space left on device\n"),
        (
            FileNotFoundError(2, "No such file", "a\n\x1b[2J"),
            2,
            "regard: a\\n\\x1b[2J: No such file\n",
        ),
        (RegardError("no\x1b[2J\udcff"), 2, "regard: no\\x1b[2J\\udcff\n"),
        (KeyboardInterrupt(), 130, ""),
    ],
    ids=lambda x: type(x).__name__,
)
def test_an_error_is_one_line_and_an_exit_code(verb, error, code, message, capsys):
    verb(_raising(error))
    assert main(["fake"]) == code
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", message)


@pytest.mark.filterwarnings("default")
def test_a_warning_is_one_line_without_its_place_in_the_code(verb, capsys):
    def run(args):
        warnings.warn("take\n  care", UserWarning, stacklevel=1)
        return 0

    verb(run)
    # pytest puts a function of its own there
    usual = warnings.showwarning
    assert main(["fake"]) == 0
    assert capsys.readouterr().err == "regard: warning: take care\n"
    assert warnings.showwarning is usual


def test_a_fault_of_ours_is_not_hidden(verb):
    verb(_raising(ZeroDivisionError("ours")))
    with pytest.raises(ZeroDivisionError):
        main(["fake"])


def test_the_words_of_the_command_line_are_the_default(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["regard", "--version"])
    assert main() == 0
    assert capsys.readouterr().out.startswith("regard ")


@pytest.mark.parametrize("word", ["-你好", "-hello", "--lang"])
def test_a_text_that_looks_like_a_flag_is_told_how_to_be_one(word, capsys):
    assert main(["translate", word]) == 2
    said = capsys.readouterr().err
    hint = "; a TEXT that begins with - goes after --; see 'regard translate --help'\n"
    assert said.endswith(hint)
    assert main(["fit", "a.csv", "--lang"]) == 2  # which takes no texts
    assert "goes after" not in capsys.readouterr().err


def _python(*words, **options):
    return subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, check=False, **options
    )


def test_python_m_regard():
    done = _python("-m", "regard", "dmeo")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"regard: there is no verb 'dmeo', only {KNOWN}; see 'regard --help'\n"


def test_a_path_nobody_can_print_is_printed():
    code = (
        "import sys; from regard.cli import main; main.main(['--version']); print('\\udcff\\xe9')"
    )
    done = _python("-c", code, env={"PYTHONIOENCODING": "ascii", "PYTHONPATH": ":".join(sys.path)})
    assert done.stdout.splitlines()[1] == "\\udcff\\xe9"


@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        ["--version"],
        ["nope"],
        ["demo", "--help"],
        ["compare", "--help"],
        ["fit", "--help"],
        ["fit", "data.csv", "--x", "a"],
    ],
    ids=str,
)
def test_nothing_heavy_is_imported_before_a_verb_runs(words):
    # under an empty root package: what the command line itself imports, and not regard/__init__
    code = f"""
import sys, types
root = types.ModuleType("regard")
root.__path__ = [{str(Path(regard.__file__).parent)!r}]
sys.modules["regard"] = root
from regard.cli.main import main
main({words!r})
sys.exit("imported: " + str({HEAVY} & set(sys.modules)))
"""
    done = _python("-c", code)
    assert done.stderr.splitlines()[-1] == "imported: set()"


def test_help_is_instant():
    done = _python("-X", "importtime", "-m", "regard", "--help")
    assert done.returncode == 0
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "regard.cli.main" in imported
    assert "torch" not in imported
