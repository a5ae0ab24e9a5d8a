import argparse
import random
import time
from dataclasses import dataclass, field, fields, replace
from typing import Optional

import pytest

from regard.errors import FileError, KindError, ValueRangeError
from regard.tasks.settings import (
    FILE_LIMIT,
    add_flags,
    check,
    given,
    parse_settings,
    read_settings,
    to_toml,
)


def setting(default, meaning, **more):
    return field(default=default, metadata={"help": meaning, **more})


@dataclass(frozen=True, kw_only=True)
class Baking:
    shape: str = setting("round", "of the loaf", choices=("round", "long"))
    name: str = setting("", "what it is called")
    loaves: int = setting(2, "how many", low=1, high=100)
    salt: float = setting(0.02, "as a share of the flour: 2% is usual", low=0.0, high=1)
    rest: float = setting(1.0, "hours", low=0, group="time")
    age: int = setting(0, "of the dough", high=10, group="time")
    tilt: float = setting(0.0, "of the oven")
    steam: bool = setting(True, "in the oven")  # noqa: FBT003
    seeds: bool = setting(False, "on top")  # noqa: FBT003
    baker: str | None = setting(None, "who is at it")
    degrees: Optional[int] = setting(None, "if not as usual", low=50)  # noqa: UP045 - both are read


def read(tmp_path, text, **overrides):
    path = tmp_path / "x.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_settings(Baking, path, overrides)


def test_defaults_then_the_file_then_the_flags(tmp_path):
    assert read_settings(Baking, None, {}) == Baking()
    text = 'loaves = 5\nsalt = 0.5\nsteam = false\nbaker = "Li"\n'
    got = read(tmp_path, text, salt=0.25, seeds=True, degrees=None, baker=None)
    assert got == Baking(loaves=5, salt=0.25, steam=False, seeds=True, baker="Li")


def test_a_whole_number_may_stand_for_a_float(tmp_path):
    got = read(tmp_path, "salt = 1\nrest = 3\n")
    assert [(x, type(x)) for x in (got.salt, got.rest)] == [(1.0, float), (3.0, float)]
    assert type(read_settings(Baking, None, {"rest": 3}).rest) is float


REFUSED = {
    "loafs = 2": "line 1: there is no setting 'loafs'; did you mean loaves?",
    "\n\nzzz = 2": "line 3: there is no setting 'zzz'; there are shape, name, loaves, salt, rest,",
    "steam = false\n[zzz]\ndoor = 1": "line 2: there is no setting 'zzz'; there are",
    "[loaves]\nmany = 1": "line 1: loaves must be a whole number from 1 to 100, got a table",
    "loaves.many = 1": "line 1: loaves must be a whole number from 1 to 100, got a table",
    "salt = 0.1\nloaves = 2.0": "line 2: loaves must be a whole number from 1 to 100, got 2.0",
    "loaves = true": "line 1: loaves must be a whole number from 1 to 100, got true",
    "loaves = [1]": "line 1: loaves must be a whole number from 1 to 100, got a list",
    "loaves = 0": "line 1: loaves must be a whole number from 1 to 100, got 0",
    "loaves = 101": "line 1: loaves must be a whole number from 1 to 100, got 101",
    "salt = true": "line 1: salt must be a number from 0.0 to 1, got true",
    "salt = nan": "line 1: salt must be a number from 0.0 to 1, got nan",
    "salt = inf": "line 1: salt must be a number from 0.0 to 1, got inf",
    'salt = "0.1"': "line 1: salt must be a number from 0.0 to 1, got '0.1'",
    "rest = -1": "line 1: rest must be a number of at least 0, got -1",
    "age = 11": "line 1: age must be a whole number of at most 10, got 11",
    f"age = -{2**63}": "line 1: age must be a whole number of at most 10, got a number of 64 bits",
    "age = -0x" + "f" * 2000: "is no TOML: ",
    "rest = 0x" + "f" * 4000: "rest must be a number of at least 0, got a number of 16,000 bits",
    "tilt = nan": "line 1: tilt must be a number, got nan",
    "steam = 1": "line 1: steam must be true or false, got 1",
    'steam = "yes"': "line 1: steam must be true or false, got 'yes'",
    "name = 7": "line 1: name must be text, got 7",
    "name = 1979-05-27": "line 1: name must be text, got datetime.date(1979, 5, 27)",
    'shape = "square"': "line 1: shape must be one of round, long, got 'square'",
    'shape = ""': "line 1: shape must be one of round, long, got ''",
    f'shape = "{"x" * 900}"': f"shape must be one of round, long, got '{'x' * 56}...",
    "baker = 7": "line 1: baker must be text, got 7",
    "degrees = 10": "line 1: degrees must be a whole number of at least 50, got 10",
    "loaves = x\n": "is no TOML: Invalid value (at line 1, column 10); a setting is a line such as",
    "loaves = 2\nloaves = 2\n": "is no TOML: Cannot overwrite a value (at line 2",
    "loaves": "is no TOML: ",
    "\0": "is no TOML: ",
    "x = " + "[" * 4000: "is no TOML: ",
    "x = " + "9" * 4090: "there is no setting 'x'",
    "steam = false\n" + "a." * 3000 + "a = 1": "settings have at most 65,536 characters, 4,096 a",
}


@pytest.mark.parametrize("text", REFUSED, ids=range(len(REFUSED)))
def test_a_file_is_refused_in_words(tmp_path, text):
    with pytest.raises(FileError) as caught:
        read(tmp_path, text)
    words = str(caught.value)
    assert words.startswith(f"{tmp_path / 'x.toml'}")
    assert REFUSED[text] in words
    assert len(words) < 400


def test_a_file_that_is_no_text(tmp_path):
    with pytest.raises(FileError, match=r"x\.toml, line 2: is not UTF-8; save it as UTF-8 text"):
        read(tmp_path, b"loaves = 2\nname = '\xe9'\n")
    assert read(tmp_path, b"\xef\xbb\xbfloaves = 3\n") == Baking(loaves=3)  # as some editors begin


def test_a_file_that_is_far_too_large(tmp_path):
    path = tmp_path / "x.toml"
    with path.open("wb") as file:
        file.truncate(100 << 20)
    with pytest.raises(FileError, match="has 104,857,600 bytes, and such a file has at most"):
        read_settings(Baking, path, {})
    with pytest.raises(FileError, match="settings have at most"):
        parse_settings(Baking, "\n" * (FILE_LIMIT + 1), "here")
    with pytest.raises(FileNotFoundError):
        read_settings(Baking, tmp_path / "none", {})


def test_the_slowest_file_takes_a_moment(tmp_path):
    line = "a" + ".a" * 2040 + " = 1\n"
    text = "".join(line.replace("a", letter, 1) for letter in "bcdefghijklmnop")
    start = time.process_time()
    with pytest.raises(FileError):
        read(tmp_path, text)
    assert time.process_time() - start < 5


def test_overrides_are_refused_in_the_same_words():
    words = "--loaves must be a whole number from 1 to 100, got 0"
    with pytest.raises(ValueRangeError, match=words):
        read_settings(Baking, None, {"loaves": 0})
    with pytest.raises(KindError, match="Baking has no setting 'loave'; did you mean loaves"):
        read_settings(Baking, None, {"loave": 1})


def test_check_names_the_field():
    check(Baking())
    with pytest.raises(ValueRangeError, match=r"^salt must be a number from 0\.0 to 1, got 2$"):
        check(Baking(salt=2))
    with pytest.raises(ValueRangeError, match=r"^loaves must be a whole number"):
        check(Baking(loaves=True))
    with pytest.raises(ValueRangeError, match=r"^steam must be true or false, got 1$"):
        check(Baking(steam=1))
    with pytest.raises(ValueRangeError, match=r"^name must be text, got '\\udc80'$"):
        check(Baking(name="\udc80"))
    with pytest.raises(ValueRangeError, match=r"^name must be text, got None$"):
        check(Baking(name=None))
    with pytest.raises(ValueRangeError, match=r"^salt must be"):
        to_toml(Baking(salt=2))


WRITTEN = """\
# of the loaf; one of round, long
shape = "long"
# what it is called
name = ""
# how many; a whole number from 1 to 100
loaves = 2
# as a share of the flour: 2% is usual; a number from 0.0 to 1
salt = 1.0
# hours; a number of at least 0
rest = 1e-05
# of the dough; a whole number of at most 10
age = 0
# of the oven; a number
tilt = 0.0
# in the oven
steam = true
# on top
seeds = false
# who is at it
# baker is not set
# if not as usual; a whole number of at least 50
degrees = 60
"""


def test_the_file_explains_itself():
    assert to_toml(Baking(shape="long", salt=1, rest=1e-5, degrees=60)) == WRITTEN


def odd_strings():
    yield from ("", "'", '"', '"""', "\\", "\\u0041", "# no comment", "a = 1", "\r\n", "\x7f\x80")
    yield from ("\u2028\u0085\ufeff", "😀你好", "\0\1\b\f\t\x1f", "{}[]", " x ", "\ufffd\uffff")
    dice = random.Random(0)
    for _ in range(300):
        points = [dice.choice((dice.randrange(256), dice.randrange(0x110000))) for _ in range(9)]
        yield "".join(chr(p) for p in points if not 0xD800 <= p < 0xE000)


def test_what_is_written_is_read_again(tmp_path):
    dice = random.Random(1)
    for i, text in enumerate(odd_strings()):
        settings = Baking(
            name=text,
            baker=text if i % 2 else None,
            rest=dice.choice((dice.random(), 10.0 ** dice.randrange(-320, 308), float("inf"))),
            age=-dice.randrange(2**63),
            seeds=bool(i % 3),
        )
        written = to_toml(settings)
        assert read(tmp_path, written) == settings
        assert parse_settings(Baking, written, "here") == settings


def parsed(*words, skip=()):
    parser = argparse.ArgumentParser(exit_on_error=False)
    add_flags(parser, Baking, skip=skip)
    return parser.parse_args(words)


def test_flags_set_what_they_name():
    args = parsed(
        "--shape", "long", "--loaves", "7", "--salt", "1", "--no-steam", "--seeds", "--baker", "Li"
    )
    got = given(args, Baking)
    assert got == {
        "shape": "long", "loaves": 7, "salt": 1.0, "steam": False, "seeds": True, "baker": "Li",
    }  # fmt: skip
    assert type(got["salt"]) is float
    assert read_settings(Baking, None, got) == replace(Baking(), **got)


def test_what_is_not_given_is_not_set():
    args = parsed()
    assert set(vars(args)) == {f.name for f in fields(Baking)}
    assert given(args, Baking) == {}
    assert given(parsed("--age", "1", skip=("loaves", "shape")), Baking) == {"age": 1}
    assert "loaves" not in vars(parsed(skip=("loaves",)))


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--loaves", "0"), "argument --loaves: must be a whole number from 1 to 100, got 0"),
        (("--loaves", "x"), "argument --loaves: must be a whole number from 1 to 100, got 'x'"),
        (("--loaves", "1.5"), "argument --loaves: must be a whole number from 1 to 100, got '1.5'"),
        (("--salt", "nan"), "argument --salt: must be a number from 0.0 to 1, got nan"),
        (("--shape", "x"), "argument --shape: must be one of round, long, got 'x'"),
        (("--name", "\udc80"), r"argument --name: must be text, got '\udc80'"),
    ],
)
def test_a_flag_is_refused_in_the_same_words(words, complaint):
    with pytest.raises(argparse.ArgumentError) as caught:
        parsed(*words)
    assert str(caught.value) == complaint


def test_help_has_a_line_for_each(capsys):
    with pytest.raises(SystemExit):
        parsed("--help")
    text = " ".join(capsys.readouterr().out.split())
    for words in (
        "settings: --shape NAME of the loaf (round, long) (default round)",
        "--name NAME what it is called --loaves N how many (default 2)",
        "--salt X as a share of the flour: 2% is usual (default 0.02)",
        "--steam, --no-steam in the oven (default yes)",
        "--seeds, --no-seeds on top (default no)",
        "--degrees N if not as usual",
        "time: --rest X hours (default 1.0) --age N of the dough (default 0)",
    ):
        assert words in text, words


@dataclass(frozen=True)
class Wrong:
    many: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class NotNone:
    maybe: int | None = 3  # None could not be written


@pytest.mark.parametrize("cls", [Wrong, NotNone])
def test_fields_that_no_file_could_hold_are_refused(cls):
    with pytest.raises(KindError, match=f"{cls.__name__}.* must be an int, a float, a bool or a"):
        to_toml(cls())


def test_the_settings_of_translation_are_such(tmp_path):
    from regard.tasks.translation.settings import TranslationSettings

    check(TranslationSettings())
    path = tmp_path / "x.toml"
    path.write_text(to_toml(TranslationSettings()), encoding="utf-8")
    assert read_settings(TranslationSettings, path, {}) == TranslationSettings()
