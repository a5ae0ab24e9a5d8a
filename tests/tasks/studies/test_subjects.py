"""How the trainings of a study are kept alike."""

import pytest

from regard.tasks.settings import read_settings
from regard.tasks.studies.subjects import COMPARED, SUBJECTS


@pytest.mark.parametrize("name", SUBJECTS)
def test_the_settings_are_those_of_the_task(name):
    subject = SUBJECTS[name]
    for encoder in COMPARED:
        changes = subject.changes({"width": 64, "dropout": None})
        settings = read_settings(subject.settings_class(), None, changes | {"encoder": encoder})
        assert (settings.width, settings.encoder) == (64, encoder)
        assert settings.steps == subject.usual["steps"]
        assert settings.validate_every * 10 == settings.steps
        assert settings.patience == 0


def test_what_is_told_counts_but_for_what_must_be():
    changes = SUBJECTS["speech"].changes({"steps": 7, "average": 3, "input": "text"})
    assert (changes["steps"], changes["average"], changes["input"]) == (7, 3, "sound")
    assert changes["validate_every"] == changes["warmup"] == 1
