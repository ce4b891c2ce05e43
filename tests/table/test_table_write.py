"""A table is written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.errors import OutputError
from sfumato.table import read_arrow, write_table
from sfumato.table.generators import hospital

DATA = hospital(300)


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow", "feather"])
def test_what_is_written_is_read_back(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"t.{ending}"
    coded = DATA.set_column(5, "ward", DATA["ward"].dictionary_encode())
    write_table(coded, path)
    assert read_arrow(path).to_pydict() == DATA.to_pydict()
    assert os.listdir(tmp_path) == [path.name]


def test_pandas_metadata_is_not_written(tmp_path: Path) -> None:
    write_table(DATA.replace_schema_metadata({"pandas": "index"}), tmp_path / "t.parquet")
    assert pq.read_schema(tmp_path / "t.parquet").metadata is None


def test_a_failed_write_leaves_the_old_file_and_no_draft(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.parquet"
    write_table(DATA, path)
    before = path.read_bytes()

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_table(DATA.slice(0, 5), path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == [path.name]


def test_places_that_cannot_be_written_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = pa.table({"a": [1]})
    with pytest.raises(OutputError, match="does not exist"):
        write_table(table, tmp_path / "no" / "t.csv")
    with pytest.raises(OutputError, match=r"unknown file ending '.xlsx'"):
        write_table(table, tmp_path / "t.xlsx")
    (tmp_path / "dir.csv").mkdir()
    with pytest.raises(OutputError, match="this is a directory"):
        write_table(table, tmp_path / "dir.csv")

    def forbidden(*_: object, **__: object) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "open", forbidden)
    with pytest.raises(OutputError, match="no permission"):
        write_table(table, tmp_path / "t.csv")
