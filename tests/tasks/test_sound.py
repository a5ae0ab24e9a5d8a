"""Sets of sounds: labels from folders, from names, from a list."""

from pathlib import Path

import numpy as np
import pytest

from regard.errors import FileError
from regard.tasks.sound import SoundFile, read_sounds, read_wav
from tests.tasks.made import wav
from tests.tasks.mutated import fuzz

WANTED = (
    "wanted are WAV files in folders named after their labels, or named LABEL_anything.wav, or a "
    "list with a file, a tab and its label in each row"
)


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(name, content=None):
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(wav() if content is None else content)
    return path


def found(sounds):
    return [(str(item.path), item.label) for item in sounds]


def test_labels_are_folders():
    for name in ("d/two/b.wav", "d/two/deep/a.WAV", "d/one/c.wave", "d/.hidden/x.wav"):
        put(name)
    sounds = read_sounds(Path("d"))
    assert found(sounds) == [
        ("d/one/c.wave", "one"),
        ("d/two/b.wav", "two"),
        ("d/two/deep/a.WAV", "two"),
    ]
    assert sounds.labels == ["one", "two", "two"]
    assert sounds.items[0] == SoundFile(Path("d/one/c.wave"), "one", 8, 8000)
    assert sounds.report() == ["d: 3 sounds, 0 seconds, 2 labels"]


def test_labels_are_names():
    put("d/7_theo_3.wav", wav(bytes(32_000)))
    put("d/10_x.wav")
    put("d/nolabel.wav")
    put("d/_x.wav")
    put("d/README.md")
    put("d/notes/why.txt")
    sounds = read_sounds(Path("d"))
    assert found(sounds) == [("d/10_x.wav", "10"), ("d/7_theo_3.wav", "7")]
    assert sounds.report() == [
        "d: 2 sounds of 4 files, 2 seconds, 2 labels",
        "d: 2 files without a label in the name (_x.wav, nolabel.wav)",
        "d: 2 files not named .wav (README.md, notes/why.txt)",
    ]


def test_labels_are_in_a_list():
    put("d/a.wav")
    put("b.wav")
    put("list.tsv", b"d/a.wav\tone\tmore\r\n../none.wav\ttwo\n")
    absolute = str(Path("b.wav").resolve())
    put("d/list.tsv", f"a.wav\tone\n../b.wav\ttwo\n{absolute}\tthree\na.wav\tone\nx\n".encode())
    assert found(read_sounds(Path("list.tsv"))) == [("d/a.wav", "one")]
    sounds = read_sounds(Path("d/list.tsv"))
    assert found(sounds) == [("d/a.wav", "one"), ("d/../b.wav", "two"), (absolute, "three")]
    assert sounds.report() == [
        "d/list.tsv: 3 sounds of 5 files, 0 seconds, 3 labels",
        "d/list.tsv: 1 file in rows without a tab (line 5)",
        "d/list.tsv: 1 file in rows equal to an earlier one (line 4)",
    ]


def test_files_without_sound_are_left_out_with_their_reasons():
    put("d/a/1.wav")
    put("d/a/2.wav", b"")
    put("d/b/3.wav", wav(np.array([np.nan], "<f4").tobytes(), bits=32, code=3))
    put("d/b/4.wav")
    put("d/b/5.wav")
    Path("d/b/6.wav").symlink_to("nowhere")
    sounds = read_sounds(Path("d"))
    assert [name for name, _ in found(sounds)] == ["d/a/1.wav", "d/b/4.wav", "d/b/5.wav"]
    assert sounds.report()[1:] == [
        "d: 3 files that cannot be read (a/2.wav, b/3.wav, b/6.wav)",
        "d/a/2.wav: wanted a WAV file, this is an empty file; convert it, ffmpeg -i IN -c:a "
        "pcm_s16le OUT.wav",
        "d/b/3.wav: 1 of 1 samples are no numbers, or too large for any; record it again, or "
        "leave it out",
        "d/b/6.wav: No such file or directory",
    ]


def test_what_is_refused():
    put("list.tsv", b"x.wav\tone\n")
    put("one.wav")
    put("texts/a.txt")
    Path("empty").mkdir()
    for path, message in (
        ("empty", f"empty: no file is there: no sound is left; {WANTED}"),
        ("one.wav", f"one.wav: is one file; {WANTED}"),
        ("texts", f"texts: 1 file not named .wav: no sound is left; {WANTED}"),
        (
            "list.tsv",
            "list.tsv: 1 file that cannot be read: no sound is left "
            f"(the first: x.wav: No such file or directory); {WANTED}",
        ),
    ):
        with pytest.raises(FileError) as raised:
            read_sounds(Path(path))
        assert str(raised.value) == message
    with pytest.raises(FileNotFoundError):
        read_sounds(Path("none"))


def test_one_sound_is_read_from_here_too():
    assert read_wav(put("a.wav")).samples.tolist() == [0.0] * 8


def test_a_changed_list_never_raises_anything_else():
    put("a.wav")
    put("b.wav")
    valid = [b"a.wav\tone\nb.wav\ttwo\n" * 3]
    good, refused = fuzz(lambda p: read_sounds(p).report(), Path("f"), valid, count=150)
    assert good > 50
    assert refused > 10
