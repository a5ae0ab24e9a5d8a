"""Fonts are found for what the usual one lacks, and missed in one sentence."""

import io
import warnings

import pytest

from regard.viewing import fonts
from regard.viewing.fonts import FAMILIES, Lettering, lettering

matplotlib = pytest.importorskip("matplotlib")
manager = pytest.importorskip("matplotlib.font_manager")
figures = pytest.importorskip("matplotlib.figure")
builder = pytest.importorskip("fontTools.fontBuilder")  # comes with matplotlib
pens = pytest.importorskip("fontTools.pens.ttGlyphPen")

REMEDY = (
    ", drawn as boxes here; install one that does, for Chinese Noto Sans CJK (Debian, Ubuntu: apt "
    "install fonts-noto-cjk; Fedora: dnf install google-noto-sans-cjk-fonts; others: "
    "https://fonts.google.com/noto)"
)


def make_font(path, name, letters):
    """A font file with these letters, each of them a full square."""
    pen = pens.TTGlyphPen(None)
    for point, draw in zip(
        [(0, 0), (0, 900), (900, 900), (900, 0)],
        [pen.moveTo, pen.lineTo, pen.lineTo, pen.lineTo],
        strict=True,
    ):
        draw(point)
    pen.closePath()
    square = pen.glyph()
    names = {ord(letter): f"letter{ord(letter):X}" for letter in letters}
    made = builder.FontBuilder(1000, isTTF=True)
    made.setupGlyphOrder([".notdef", *names.values()])
    made.setupCharacterMap(names)
    made.setupGlyf(dict.fromkeys([".notdef", *names.values()], square))
    made.setupHorizontalMetrics(dict.fromkeys([".notdef", *names.values()], (1000, 0)))
    made.setupHorizontalHeader(ascent=900, descent=-100)
    made.setupNameTable({"familyName": name, "styleName": "Regular"})
    made.setupOS2()
    made.setupPost()
    made.save(path)
    return str(path)


@pytest.fixture
def install(monkeypatch, tmp_path):
    """A machine with the fonts of matplotlib, and those installed here."""
    own = [e for e in manager.fontManager.ttflist if e.name.startswith(("DejaVu", "Last Resort"))]
    monkeypatch.setattr(manager.fontManager, "ttflist", own)
    new = []
    monkeypatch.setattr(manager, "findSystemFonts", lambda: list(new))

    def add(name, letters, *, listed=True):
        path = make_font(tmp_path / f"{name}.ttf", name, letters)
        if listed:
            manager.fontManager.addfont(path)
        else:
            new.append(path)

    return add


@pytest.fixture
def first(monkeypatch):
    """Family names no machine has, as if they were those made for Chinese."""
    monkeypatch.setattr(fonts, "FAMILIES", ("Regard First", "Regard Second"))


def test_usual_letters_need_nothing(install):
    # Greek, Cyrillic, mathematics and ends of lines are all in DejaVu Sans
    found = lettering(["Keys", "Größe", "αβγ", "ключи", "$x^2$ ≤ 3", "two\nlines\t", None, 7, ""])
    assert (found.families, found.missing, found.style) == ((), frozenset(), {})


def test_a_font_that_has_them_is_added_to_the_usual_one(install, first):
    install("Regard First", "查询")
    found = lettering(["查询 Queries"])
    assert found.style == {"family": ["sans-serif", "Regard First"]}
    assert found.text("查询 Queries") == "查询 Queries"


def test_the_first_family_that_has_them_wins(install, first):
    install("Regard Second", "查询键")
    install("Regard Zero", "查询键")
    install("Regard First", "查询")
    assert lettering(["查询"]).families == ("sans-serif", "Regard First")
    assert lettering(["键"]).families == ("sans-serif", "Regard Second")
    assert lettering(["查询键"]).families == ("sans-serif", "Regard First", "Regard Second")


def test_any_other_font_is_better_than_none(install, first):
    install("Regard Zero", "查询")
    assert lettering(["查询"]).families == ("sans-serif", "Regard Zero")


def test_a_font_installed_since_matplotlib_looked_is_found(install, first):
    install("Regard First", "查询", listed=False)
    assert lettering(["查询"]).families == ("sans-serif", "Regard First")


def test_a_broken_file_is_passed_over(install, first, tmp_path, monkeypatch):
    broken = tmp_path / "broken.ttf"
    broken.write_bytes(b"no font")
    monkeypatch.setattr(manager, "findSystemFonts", lambda: [str(broken)])
    with pytest.warns(UserWarning, match="no installed font has 查"):
        lettering(["查"])


def test_a_font_someone_has_chosen_is_left_alone(install, first):
    install("Regard First", "查询")
    install("Regard Zero", "查询")
    with matplotlib.rc_context({"font.family": ["Regard Zero"]}):
        assert lettering(["查询"]).families == ()


def test_without_a_font_one_warning_says_what_to_install(install):
    with pytest.warns(UserWarning) as caught:  # noqa: PT030 - the whole text is below
        found = lettering(["查询", "键", "查 Keys"])
    assert [str(w.message) for w in caught] == ["no installed font has 查询键" + REMEDY]
    assert found.families == ()
    assert found.text("查询 Keys") == "□□ Keys"


def test_many_letters_are_not_all_named(install):
    with pytest.warns(UserWarning, match=r"has 一丁丂七丄丅丆万\.\.\., drawn"):
        lettering(["".join(map(chr, range(0x4E00, 0x4E20)))])


def test_some_letters_may_be_found_and_others_not(install, first):
    install("Regard First", "查")
    with pytest.warns(UserWarning, match="no installed font has 询, drawn"):
        found = lettering(["查询"])
    assert found.text("查询") == "查□"
    assert found.families == ("sans-serif", "Regard First")


def test_none_is_no_text():
    assert Lettering().text(None) == ""


def draw(text, found):
    figure = figures.Figure()
    figure.text(0.1, 0.5, found.text(text), **found.style)
    figure.savefig(file := io.BytesIO(), format="png")
    return file.getvalue()


def test_what_is_found_is_drawn_without_complaint(install, first):
    install("Regard First", "查询")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # as matplotlib's, of a missing glyph
        drawn = draw("查询", lettering(["查询"]))
    with pytest.warns(UserWarning, match="missing from font"):  # and this is how it would complain
        draw("查询", Lettering())
    boxes = Lettering(missing=frozenset("查询"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert draw("查询", boxes) != drawn


def test_nothing_global_changes(install, first):
    install("Regard First", "查询")
    before = dict(matplotlib.rcParams)
    lettering(["查询"])
    assert dict(matplotlib.rcParams) == before


def test_a_real_font():
    installed = {entry.name for entry in manager.fontManager.ttflist} & set(FAMILIES)
    if not installed:
        pytest.skip("no font for Chinese is installed, as fonts-noto-cjk")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = lettering(["注意力权重 查询与键"])
        assert found.families[1] in installed
        assert not found.missing
        draw("注意力权重 查询与键", found)
