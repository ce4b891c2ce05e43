"""The example of linked tables in the guide, and what is said there of estimates."""

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs/guide/choosing.md").read_text(encoding="utf-8")


def test_tables_from_one_completed_table_add_up_as_the_guide_shows():
    pytest.importorskip("pandas")
    (example,) = re.findall(r"^```python\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE)
    assert example.count("assert ") == 4
    names = {}
    exec(example, names)
    release = names["release"]
    exact = {key["diagnosis"]: one.value for key, one in release.count("SELECT diagnosis, COUNT(*) GROUP BY diagnosis")}
    assert exact == names["diagnoses"].to_dict()  # asked or counted: the same margin
    by_sex = release.count("SELECT sex, COUNT(*) GROUP BY sex")
    assert {key["sex"]: one.value for key, one in by_sex} == names["completed"].groupby("sex").size().to_dict()
