import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sfumato import LDiversity, Release, Schema, Table, publish
from sfumato.errors import PolicyError

ROWS = {"age": [20, 30, 40, 50], "sex": ["f", "m", "f", None], "value": list("abab")}


@pytest.mark.parametrize(
    ("make", "kind"),
    [(pd.DataFrame, pd.DataFrame), (pl.DataFrame, pl.DataFrame), (pa.table, pa.Table)],
    ids=["pandas", "polars", "pyarrow"],
)
def test_results_come_back_in_the_callers_own_kind_of_frame(make, kind):
    release = publish(Table.from_frame(make(ROWS), Schema(quasi=["age", "sex"], sensitive=["value"])), LDiversity(2), random=1)
    frames = release.frames()
    assert all(isinstance(frame, kind) for frame in frames.values())
    assert sorted(frames["qit"]["age"].to_pylist() if kind is pa.Table else list(frames["qit"]["age"])) == [20, 30, 40, 50]
    grouped = release.count("age > 0 GROUP BY sex").frame()
    assert isinstance(grouped, kind)
    assert sum(grouped["count"].to_pylist() if kind is pa.Table else list(grouped["count"])) == pytest.approx(4)


def test_a_recipient_chooses_the_kind_of_frame(tmp_path):
    table = Table.from_frame(pd.DataFrame(ROWS), Schema(quasi=["age", "sex"], sensitive=["value"]))
    publish(table, LDiversity(2), random=1).save(tmp_path / "release")
    loaded = Release.load(tmp_path / "release")
    assert isinstance(loaded.frames()["st"], pa.Table)
    assert isinstance(loaded.frames("polars")["st"], pl.DataFrame)
    with pytest.raises(PolicyError, match=r"(?s)frame 'pands'.*mean 'pandas'"):
        loaded.frames("pands")
