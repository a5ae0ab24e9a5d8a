"""Attention over texts, spectrograms and images: what is in the figures, and what is refused."""

import numpy as np
import pytest

from regard.errors import ShapeError
from regard.viewing import overlay, save
from regard.viewing.overlay import draw_over_image, draw_over_sound, draw_over_text

pytest.importorskip("matplotlib")

LIKELY = {"seven": 0.9996, "one": 0.0003, "two": 0.0001, "a": 0.0, "b": 0.0, "c": 0.0}
rng = np.random.default_rng(0)


def sound(frames=10, spans=5, **kwargs):
    times = [(0.02 * i, 0.02 * (i + 1)) for i in range(spans)]
    weights = np.arange(spans) / max(sum(range(spans)), 1)
    return draw_over_sound(rng.random((frames, 8)), weights, times, LIKELY, **kwargs)


def words(ax):
    return [text.get_text() for text in ax.texts]


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_figures_are_written(tmp_path, ending):
    image = rng.integers(0, 256, (9, 14, 3)).astype(np.uint8)
    figures = [
        sound(title="a.wav: seven", bands=np.linspace(100, 4000, 8)),
        draw_over_image(image, rng.random((3, 4)), LIKELY, patch=4, title="x"),
        draw_over_text(["▁a", "b", "▁c"], [0.5, 0.5, 0.0], LIKELY, title="x"),
    ]
    for i, figure in enumerate(figures):
        path = tmp_path / f"{i}.{ending}"
        save(figure, path)
        assert path.stat().st_size > 1000


def test_the_likeliest_labels_have_bars():
    for figure in (sound(), draw_over_image(np.zeros((2, 2, 1)), [[1.0]], LIKELY, patch=2)):
        bars = next(ax for ax in figure.axes if "> 99.9 %" in words(ax))
        assert words(bars) == ["> 99.9 %", "< 0.1 %", "< 0.1 %", "0.0 %", "0.0 %"]
        names = [text.get_text() for text in bars.get_yticklabels()]
        assert names == ["seven", "one", "two", "a", "b"]


def test_a_curve_above_the_spectrogram():
    figure = sound()
    curve = next(ax for ax in figure.axes if ax.get_ylabel() == "attention, %")
    values, edges, _ = curve.patches[0].get_data()
    np.testing.assert_allclose(values, [0, 10, 20, 30, 40])
    np.testing.assert_allclose(edges, [0, 0.02, 0.04, 0.06, 0.08, 0.1])


def test_pitches_stand_where_their_bands_are():
    figure = sound(bands=[100, 200, 300, 400, 500, 600, 800, 1200])
    below = next(ax for ax in figure.axes if ax.get_ylabel() == "Hz")
    ticks = dict(
        zip((t.get_text() for t in below.get_yticklabels()), below.get_yticks(), strict=True)
    )
    assert ticks == {"250": 1.5, "500": 4.0, "1,000": 6.5}
    assert any(ax.get_ylabel() == "feature" for ax in sound().axes)


def test_a_long_sound_is_drawn_in_means(monkeypatch):
    monkeypatch.setattr(overlay, "COLUMNS", 4)
    weights = np.full(9, 1 / 9)
    times = [(float(i), i + 1.0) for i in range(9)]
    frames = np.repeat(np.arange(18.0)[:, None], 8, 1)
    figure = draw_over_sound(frames, weights, times, LIKELY)
    curve = next(ax for ax in figure.axes if ax.get_ylabel() == "attention, %")
    values, edges, _ = curve.patches[0].get_data()
    np.testing.assert_allclose(values, [100 / 3] * 3)
    np.testing.assert_allclose(edges, [0, 3, 6, 9])
    below = next(ax for ax in figure.axes if ax.get_ylabel() == "feature")
    np.testing.assert_allclose(below.images[0].get_array()[0], [2, 7, 12, 16])


def test_patches_that_reach_beyond_an_image_are_cut_off_where_it_ends():
    figure = draw_over_image(np.zeros((5, 7, 1)), rng.random((2, 2)), LIKELY, patch=4)
    over = figure.axes[1]
    assert over.images[1].get_extent() == [-0.5, 7.5, 7.5, -0.5]
    assert (over.get_xlim(), over.get_ylim()) == ((-0.5, 6.5), (4.5, -0.5))


def test_words_flow_in_lines_and_many_are_counted(monkeypatch):
    monkeypatch.setattr(overlay, "ACROSS", 10)
    monkeypatch.setattr(overlay, "LINES", 2)
    figure = draw_over_text(["▁one", "▁two", "s", "▁three", "▁four"], [0.2] * 5, {"x": 1.0})
    text = figure.axes[0]
    assert words(text) == ["one", "two", "s", "three", "four"]
    rows = [t.get_position()[1] for t in text.texts]
    assert rows[0] == rows[1] == rows[2] > rows[3] == rows[4]
    figure = draw_over_text(["▁word"] * 6, [0.2] * 6, {"x": 1.0})
    assert words(figure.axes[0]) == ["word"] * 4 + ["... and 2 more"]


def test_the_strongest_word_has_the_strongest_ground():
    figure = draw_over_text(["▁a", "▁b", "▁c"], [0.1, 0.6, 0.0], {"x": 1.0})
    grounds = [np.subtract(1, patch.get_facecolor()[:3]).sum() for patch in figure.axes[0].patches]
    assert grounds[1] > grounds[0] > grounds[2] == 0


def test_weights_of_nothing_and_no_numbers():
    sound(spans=1)
    draw_over_image(np.zeros((2, 2, 1)), [[np.nan]], LIKELY, patch=2)
    draw_over_text(["▁a"], [0.0], {"x": 1.0})


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: draw_over_text(["▁a"], [0.5, 0.5], LIKELY),
        lambda: draw_over_text([], [], LIKELY),
        lambda: draw_over_sound(np.zeros(3), [1.0], [(0, 1)], LIKELY),
        lambda: draw_over_sound(np.zeros((3, 2)), [0.5, 0.5], [(0, 1)], LIKELY),
        lambda: draw_over_image(np.zeros((4, 4)), [[1.0]], LIKELY, patch=4),
        lambda: draw_over_image(np.zeros((4, 4, 2)), [[1.0]], LIKELY, patch=4),
        lambda: draw_over_image(np.zeros((4, 4, 1)), [[1.0]], LIKELY, patch=2),
    ],
)
def test_refusals(wrong):
    with pytest.raises(ShapeError):
        wrong()
