"""Tables as people have them: without a header, with blanks, in archives, workbooks and files of statistics programs."""

from __future__ import annotations

import gzip
import io
import random
import sys
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.errors import InputError, PolicyError, SfumatoError
from sfumato.privacy import FPrivacy
from sfumato.scale.verb import publish_source
from sfumato.table import ReadOptions, Schema, Table, read_arrow, source
from sfumato.table.gaps import missing_suspects
from sfumato.table.read import column_names
from sfumato.table.source import SharedFile
from sfumato.table.textfile import HeaderlessError

AS_IT_CAME = "".join(f"{20 + i % 50}, {'Private' if i % 3 else '?'}, {'Male' if i % 2 else 'Female'}, <=50K\n" for i in range(60))
NAMES = ["age", "workclass", "sex", "income"]
CSV = "age,sex,ill\n" + "".join(f"{20 + i},{'fm'[i % 2]},ill {i % 3}\n" for i in range(12))


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


# --- columns of one name


def test_columns_of_one_name_are_numbered_where_the_policy_says_so(tmp_path: Path) -> None:
    file = written(tmp_path / "t.csv", '"x y",a,b,a,a_2,a\n1,2,3,4,5,6\n7,8,9,10,11,12\n')
    with pytest.raises(InputError, match="columns 2, 4, 6") as problem:
        read_arrow(file)
    assert "rename = true" in str(problem.value.hint)
    table = read_arrow(file, ReadOptions(rename=True))
    assert table.column_names == ["x y", "a", "b", "a_3", "a_2", "a_4"]
    assert table.to_pylist()[1] == {"x y": 7, "a": 8, "b": 9, "a_3": 10, "a_2": 11, "a_4": 12}
    with pytest.raises(PolicyError, match="rename"):
        ReadOptions(rename=True, header=False)


def test_columns_of_one_name_are_numbered_in_workbooks_and_by_engines_too(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    rows = [["age", "score", "score"], *([20 + i % 40, i % 3, i % 2] for i in range(200))]
    for row in rows:
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    file = written(tmp_path / "t.csv", "\n".join(",".join(map(str, row)) for row in rows) + "\n")
    options = ReadOptions(rename=True)
    assert read_arrow(tmp_path / "t.xlsx", options).column_names == ["age", "score", "score_2"]
    schema = Schema(quasi=["age"], sensitive=["score_2"], other=["score"], types={"score_2": "categorical"})
    made = publish_source(file, schema, FPrivacy(theta=8, offset="0.02", odds=8), tmp_path / "r", options=options, random=1)
    assert made.table.sensitive.histogram() == {"0": 100, "1": 100}


# --- no header


def test_a_file_without_a_header_is_noticed_and_read_with_names(tmp_path: Path) -> None:
    file = written(tmp_path / "adult.data", AS_IT_CAME)
    for read in (read_arrow, column_names):
        with pytest.raises(HeaderlessError, match="first line") as problem:
            read(file)
        assert "20" not in problem.value.message
        assert problem.value.width == 4
    table = read_arrow(file, ReadOptions(header=False, names=NAMES))
    assert table.column_names == NAMES
    assert table.num_rows == 60
    assert table["age"].to_pylist()[:2] == [20, 21]
    assert table["workclass"].to_pylist()[:2] == ["?", "Private"]
    assert read_arrow(file, ReadOptions(header=False)).column_names == ["column_1", "column_2", "column_3", "column_4"]


def test_a_policy_for_named_columns_says_what_a_headerless_file_needs(tmp_path: Path) -> None:
    file = written(tmp_path / "adult.data", AS_IT_CAME)
    schema = Schema(quasi=["age", "sex"], sensitive=["income"], other=["workclass"])
    with pytest.raises(HeaderlessError) as problem:
        Table.read(file, schema)
    assert "header = false" in (problem.value.hint or "")
    assert Table.read(file, schema, options=ReadOptions(header=False, names=NAMES)).rows == 60


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"names": ["a"]}, "has a header"),
        ({"header": False, "names": ["a", "a"]}, "different, non-empty"),
        ({"header": "no"}, "true or false"),
        ({"sheet": 1}, "name of a sheet"),
    ],
)
def test_options_that_contradict_each_other_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(PolicyError, match=message):
        ReadOptions(**options)


def test_names_must_be_as_many_as_columns(tmp_path: Path) -> None:
    file = written(tmp_path / "t.data", AS_IT_CAME)
    with pytest.raises(InputError, match=r"4 columns.* names has 3"):
        read_arrow(file, ReadOptions(header=False, names=NAMES[:3]))


# --- blanks, and what may mean "missing"


def test_blanks_around_values_and_names_are_stripped_also_before_a_missing_value_or_a_quote(tmp_path: Path) -> None:
    file = written(tmp_path / "t.csv", 'age, sex , town\n34, f , "New ""York"""\n 35,m, NA\n36 , f,Rome\n')
    table = read_arrow(file)
    assert table.column_names == ["age", "sex", "town"]
    assert table["age"].to_pylist() == [34, 35, 36]
    assert table["sex"].to_pylist() == ["f", "m", "f"]
    assert table["town"].to_pylist() == ['New "York"', None, "Rome"]


def test_signs_and_far_numbers_are_suspected_as_missing_and_nothing_is_done_about_them() -> None:
    table = pa.table(
        {
            "job": ["clerk", "?", "?", "cook", "-", "clerk"],
            "age": [34, 35, 999, 41, 52, 999],
            "kids": [0, 1, 2, -1, 3, 0],
            "town": ["Rome", "Paris", "Rome", ".", "Oslo", "Rome"],
            "plain": ["a", "b", "c", "a", "b", "c"],
            "score": [1, 2, 3, 4, 5, 6],
        }
    )
    found = [(one.column, one.value, one.rows) for one in missing_suspects(table)]
    assert found == [("job", "?", 2), ("job", "-", 1), ("age", "999", 2), ("kids", "-1", 1), ("town", ".", 1)]
    assert missing_suspects(pa.table({"year": [1999, 2000, 2001], "percent": [97, 98, 99], "only": ["?", "?", "?"]})) == []


def test_what_the_policy_lists_as_null_is_missing(tmp_path: Path) -> None:
    file = written(tmp_path / "t.data", AS_IT_CAME)
    options = ReadOptions(header=False, names=NAMES, null=["?"])
    assert read_arrow(file, options)["workclass"].null_count == 20


# --- endings, archives, standard input


@pytest.mark.parametrize("ending", [".csv", ".data", ".txt", ".tsv"])
def test_text_has_several_endings(ending: str, tmp_path: Path) -> None:
    text = CSV.replace(",", "\t") if ending == ".tsv" else CSV
    assert read_arrow(written(tmp_path / f"t{ending}", text)).num_rows == 12
    with gzip.open(tmp_path / f"t{ending}.gz", "wt") as packed:
        packed.write(text)
    assert read_arrow(tmp_path / f"t{ending}.gz").num_rows == 12


def archive(path: Path, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in members.items():
            packed.writestr(name.replace("__", "/").replace("_", "."), content)
    return path


def test_the_one_table_in_an_archive_is_read(tmp_path: Path) -> None:
    file = archive(tmp_path / "t.zip", data__t_csv=CSV.encode())
    assert read_arrow(file).equals(read_arrow(written(tmp_path / "t.csv", CSV)))
    assert Table.read(file, Schema(quasi=["age", "sex"], sensitive=["ill"])).kinds["age"] == "numeric"


def test_archives_of_several_files_of_none_and_of_other_things_are_refused(tmp_path: Path) -> None:
    for members, message in (
        ({"a_csv": b"a,b\n1,2\n", "b_csv": b""}, "holds 2 files"),
        ({}, "holds 0 files"),
        ({"t_zip": b"PK"}, "no text"),
        ({"t_exe": b"MZ"}, "no text"),
    ):
        with pytest.raises(InputError, match=message):
            read_arrow(archive(tmp_path / "t.zip", **members))


def test_an_archive_that_would_unpack_to_far_more_than_it_is_is_not_opened(tmp_path: Path) -> None:
    file = archive(tmp_path / "bomb.zip", t_csv=b"a,b\n" + b"0,0\n" * (20 << 20))
    assert file.stat().st_size < 1 << 18
    with pytest.raises(InputError, match="300 times as large"):
        read_arrow(file)


def test_damaged_archives_are_refused_in_a_sentence(tmp_path: Path) -> None:
    rows = "".join(f"{i},secret{i * 7919 % 10007},x\n" for i in range(400))
    whole = archive(tmp_path / "t.zip", t_csv=b"age,name,ill\n" + rows.encode()).read_bytes()
    for seed in range(60):
        coins, damaged = random.Random(seed), bytearray(whole)
        for _ in range(3):
            damaged[coins.randrange(len(whole))] ^= 1 << coins.randrange(8)
        (tmp_path / "t.zip").write_bytes(damaged[: coins.choice([len(whole), len(whole) // 2])])
        told = ""
        try:
            read_arrow(tmp_path / "t.zip")
        except SfumatoError as problem:
            told = str(problem)
        assert "secret" not in told


@pytest.fixture
def standard_input(monkeypatch: pytest.MonkeyPatch) -> Any:
    def given(content: bytes) -> None:
        source._read_standard_input.cache_clear()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    yield given
    source._read_standard_input.cache_clear()


def test_a_table_comes_from_standard_input_as_text_compressed_or_parquet(standard_input: Any, tmp_path: Path) -> None:
    expected = read_arrow(written(tmp_path / "t.csv", CSV))
    sink = io.BytesIO()
    pq.write_table(expected, sink)
    for content in (CSV.encode(), gzip.compress(CSV.encode()), sink.getvalue()):
        standard_input(content)
        assert read_arrow("-").to_pydict() == expected.to_pydict()
        assert Table.read("-", Schema(quasi=["age", "sex"], sensitive=["ill"])).rows == 12  # a second time too
    standard_input(b"")
    with pytest.raises(InputError, match="nothing came"):
        read_arrow("-")


# --- workbooks and labelled files


def workbook(path: Path, *sheets: list[list[Any]]) -> Path:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for place, rows in enumerate(sheets, 1):
        sheet = book.create_sheet(f"s{place}")
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def test_a_sheet_of_a_workbook_is_read_with_its_types(tmp_path: Path) -> None:
    pytest.importorskip("python_calamine")
    from datetime import date

    rows = [
        ["age", "born", "ill", "mixed"],
        [34, date(1990, 1, 2), "flu", 1],
        [35.0, date(1989, 5, 6), "gout", "x"],
        [36, None, "flu", None],
    ]
    file = workbook(tmp_path / "t.xlsx", rows, [["other", "sheet"], [1, 2]])
    table = read_arrow(file)
    assert table["age"].to_pylist() == [34, 35, 36]
    assert [str(one)[:10] for one in table["born"].to_pylist()] == ["1990-01-02", "1989-05-06", "None"]
    assert table["mixed"].to_pylist() == ["1", "x", None]
    assert read_arrow(file, ReadOptions(sheet="s2")).column_names == ["other", "sheet"]
    with pytest.raises(InputError, match="no sheet 's9'"):
        read_arrow(file, ReadOptions(sheet="s9"))
    assert Table.read(file, Schema(quasi=["age"], sensitive=["ill"], other=["born", "mixed"])).rows == 3


def test_workbooks_without_names_damaged_and_blown_up_ones_are_refused(tmp_path: Path) -> None:
    pytest.importorskip("python_calamine")
    with pytest.raises(HeaderlessError):
        read_arrow(workbook(tmp_path / "t.xlsx", [[34, "f"], [35, "m"], [36, "f"]]))
    whole = (tmp_path / "t.xlsx").read_bytes()
    (tmp_path / "half.xlsx").write_bytes(whole[: len(whole) // 2])
    written(tmp_path / "text.xls", CSV)
    archive(tmp_path / "bomb.xlsx", t_xml=b"0" * (80 << 20))
    for name, message in (("half.xlsx", "damaged"), ("text.xls", "damaged"), ("bomb.xlsx", "300 times")):
        with pytest.raises(InputError, match=message):
            read_arrow(tmp_path / name)


@pytest.mark.parametrize("ending", [".dta", ".sav", ".zsav"])
def test_values_with_labels_come_as_labels_and_others_as_they_are(ending: str, tmp_path: Path) -> None:
    pyreadstat, pandas = pytest.importorskip("pyreadstat"), pytest.importorskip("pandas")
    frame = pandas.DataFrame({"age": [34, 35, 99], "sex": [1, 2, 1], "ill": ["flu", "gout", "flu"]})
    labels = {"sex": {1: "female", 2: "male", 3: "other"}, "age": {99: "not known"}}
    write = pyreadstat.write_dta if ending == ".dta" else pyreadstat.write_sav
    write(frame, str(tmp_path / f"t{ending}"), variable_value_labels=labels, **({"compress": True} if ending == ".zsav" else {}))
    table = read_arrow(tmp_path / f"t{ending}")
    assert table["sex"].to_pylist() == ["female", "male", "female"]
    assert table["age"].to_pylist() == [34, 35, 99]
    assert Table.read(tmp_path / f"t{ending}", Schema(quasi=["age", "sex"], sensitive=["ill"])).rows == 3


def test_a_value_without_a_label_does_not_decide_how_declared_secrets_of_others_are_read(tmp_path: Path) -> None:
    pyreadstat, pandas = pytest.importorskip("pyreadstat"), pytest.importorskip("pandas")
    schema = Schema(quasi=["age"], sensitive=["ill"], closed={"values": ["flu", "gout", "x"], "otherwise": "x"})
    for last in (2, 9):
        frame = pandas.DataFrame({"age": range(4), "ill": [1, 2, 1, last]})
        pyreadstat.write_sav(frame, str(tmp_path / "t.sav"), variable_value_labels={"ill": {1: "flu", 2: "gout"}})
        for place in (tmp_path / "t.sav", SharedFile(tmp_path / "t.sav")):
            table = Table.read(place, schema)
            found = [table.sensitive.domain.labels[code] for code in table.sensitive.codes]
            assert found == ["flu", "gout", "flu", "gout" if last == 2 else "x"]


def test_a_file_of_another_kind_than_its_ending_says_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("pyreadstat")
    for ending in (".dta", ".sav", ".sas7bdat", ".xpt", ".por"):
        with pytest.raises(InputError, match="damaged"):
            read_arrow(written(tmp_path / f"t{ending}", CSV))


def test_a_damaged_file_never_ends_the_process(tmp_path: Path) -> None:
    """The library ends its own process on some of these."""
    pyreadstat, pandas = pytest.importorskip("pyreadstat"), pytest.importorskip("pandas")
    frame = pandas.DataFrame({"age": range(40), "sex": [1, 2] * 20, "ill": ["flu", "secret"] * 20})
    pyreadstat.write_sav(frame, str(tmp_path / "t.sav"), variable_value_labels={"sex": {1: "f", 2: "m"}})
    whole = (tmp_path / "t.sav").read_bytes()
    for seed in range(6):
        coins, damaged = random.Random(seed), bytearray(whole)
        for _ in range(40):
            damaged[coins.randrange(len(whole))] ^= 1 << coins.randrange(8)
        (tmp_path / "t.sav").write_bytes(damaged)
        told = ""
        try:
            read_arrow(tmp_path / "t.sav")
        except SfumatoError as problem:
            told = str(problem)
        assert "secret" not in told


def test_a_library_that_is_not_installed_is_named_with_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    for ending, extra in ((".xlsx", "excel"), (".dta", "stats")):
        with pytest.raises(InputError, match="not installed") as problem:
            read_arrow(written(tmp_path / f"t{ending}", CSV))
        assert f"sfumato[{extra}]" in (problem.value.hint or "")
