"""Where to go on, in words."""

from pathlib import Path

from regard.tasks.engine.place import Place


def test_before_and_after_the_first_checkpoint():
    place = Place("translation", Path("my runs/x"))
    assert str(place) == "nothing was saved yet"
    place.saved = 0
    assert str(place) == (
        "the checkpoint of step 0 is whole, go on with: regard train translation "
        "--out 'my runs/x' --resume"
    )
