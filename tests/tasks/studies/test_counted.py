"""How much there is to learn from."""

from regard.tasks.studies.counted import examples_in


def test_without_what_is_held_out(tmp_path):
    rows = "".join(f"{'ab'[i % 2]}\ttext number {i}\n" for i in range(100))
    (tmp_path / "texts.tsv").write_text(rows)
    asked = {"task": "classification", "class": "ClassificationSettings", "config": None}
    asked |= {"data": [str(tmp_path / "texts.tsv")], "valid": None, "settings": {"input": "text"}}
    assert examples_in(asked) == 90
    assert examples_in(asked | {"valid": str(tmp_path / "texts.tsv")}) == 100
