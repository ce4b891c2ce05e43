"""Files are read as they were meant, or refused with one clear message."""

from __future__ import annotations

import gzip
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

from sfumato.errors import InputError, PolicyError, SfumatoError
from sfumato.table import ReadOptions, Schema, Table, read_arrow
from tests.makers import tells

SCHEMA = Schema(quasi=["age", "postcode"], sensitive=["diagnosis"])
CSV = "age,postcode,diagnosis\n34,01234,Flu\n35,12345,HIV\n"
ROWS = [
    {"age": 34, "postcode": "01234", "diagnosis": "Flu"},
    {"age": 35, "postcode": "12345", "diagnosis": "HIV"},
]


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def written(text: str | bytes, name: str = "t.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return written


def refused(path: Path, schema: Schema = SCHEMA, options: ReadOptions | None = None) -> SfumatoError:
    with pytest.raises(InputError) as problem:
        Table.read(path, schema, options=options)
    return problem.value


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_guessed(write: Any, delimiter: str) -> None:
    assert Table.read(write(CSV.replace(",", delimiter)), SCHEMA).to_arrow().to_pylist() == ROWS


def test_a_delimiter_inside_quotes_does_not_mislead_the_guess(write: Any) -> None:
    path = write('age;postcode;diagnosis\n34;"a,b,c,d";"x,y"\n35;"a,b,c,d";"x,y"\n')
    assert Table.read(path, SCHEMA).to_arrow().to_pylist()[0] == {"age": 34, "postcode": "a,b,c,d", "diagnosis": "x,y"}


def test_postcodes_with_leading_zeros_stay_text_and_other_digits_become_numbers(write: Any) -> None:
    table = Table.read(write(CSV), SCHEMA)
    assert table.kinds == {"age": "numeric", "postcode": "categorical", "diagnosis": "categorical"}
    late = "age,postcode,diagnosis\n" + "1,10000,a\n" * 300_000 + "1,01234,a\n"
    assert Table.read(write(late), SCHEMA).column("postcode").labels() == ("01234", "10000")


def test_a_declared_category_keeps_the_text_of_the_file(write: Any) -> None:
    schema = Schema(quasi=["age", "postcode"], sensitive=["diagnosis"], types={"age": "categorical"})
    path = write("age,postcode,diagnosis\n1.0,a,x\n1,b,x\n")
    assert Table.read(path, schema).column("age").labels() == ("1", "1.0")


def test_decimal_commas_and_encodings_are_read(write: Any) -> None:
    path = write("age;postcode;diagnosis\n1,5;Köln;a\n2,5;Ulm;b\n".encode("latin-1"))
    table = Table.read(path, SCHEMA, options=ReadOptions(decimal=",", encoding="latin-1"))
    assert table.column("age").values.to_pylist() == [1.5, 2.5]
    assert table.column("postcode").labels() == ("Köln", "Ulm")


def test_a_byte_order_mark_is_no_part_of_the_first_name(write: Any) -> None:
    assert Table.read(write(b"\xef\xbb\xbf" + CSV.encode()), SCHEMA).to_arrow().to_pylist() == ROWS


def test_compressed_text_parquet_and_arrow_give_the_same_table(tmp_path: Path, write: Any) -> None:
    write(gzip.compress(CSV.encode()), "t.csv.gz")
    write(CSV.replace(",", "\t"), "t.tsv")
    data = pa.table({name: [row[name] for row in ROWS] for name in ROWS[0]})
    pq.write_table(data, tmp_path / "t.parquet")
    feather.write_feather(data, str(tmp_path / "t.feather"))
    with pa.ipc.new_stream(str(tmp_path / "t.arrow"), data.schema) as stream:
        stream.write_table(data)
    found = [Table.read(tmp_path / f"t.{e}", SCHEMA) for e in ("csv.gz", "tsv", "parquet", "feather", "arrow")]
    assert [table.to_arrow().to_pylist() for table in found] == [ROWS] * 5
    assert len({table.fingerprint.digest for table in found}) == 1


def test_without_a_schema_every_column_comes_with_the_type_it_suggests(write: Any) -> None:
    data = read_arrow(write("a,b,c\n1,2024-01-01,x\n2,2024-01-02,y\n"))
    assert data.to_pylist() == [{"a": 1, "b": date(2024, 1, 1), "c": "x"}, {"a": 2, "b": date(2024, 1, 2), "c": "y"}]


def test_other_columns_are_not_read_and_may_hold_anything(write: Any) -> None:
    schema = Schema(quasi=["age"], sensitive=["diagnosis"], other=["note"])
    path = write('age,note,diagnosis\n1,"two\nlines",a\n2,"90+",b\n')
    assert Table.read(path, schema).to_arrow().to_pylist() == [{"age": 1, "diagnosis": "a"}, {"age": 2, "diagnosis": "b"}]


def test_quoted_line_breaks_are_read_wherever_they_fall(write: Any) -> None:
    rows = "".join(f'{i % 90},"line one of a long note {i}\nline two",a\n' for i in range(60_000))
    schema = Schema(quasi=["age"], sensitive=["diagnosis"], other=["note"])
    assert Table.read(write("age,note,diagnosis\n" + rows), schema).rows == 60_000


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("", "the file is empty", "header line"),
        ("  \n", "the file is empty", "header line"),
        ("age,postcode,diagnosis\n", "no rows", "one line per person"),
        ("age\n1\n2\n", "only one column", '";", "\\t", "|"'),
        ("age,age,postcode,diagnosis\n1,2,3,4\n", "is called 'age'", "rename"),
        (",age,postcode,diagnosis\n0,1,2,3\n", "column 1 has no name", "row numbers"),
        (CSV + "1,2\n", "row 4 has 2", "double quotes"),
        ("age,postcode,diagnosis,phone\n1,2,3,4\n", "'phone' has no role", 'other=["phone"]'),
        ("age,postcod,diagnosis\n1,2,3\n", "'postcode'", "did you mean 'postcod'"),
        (
            "age,postcode,diagnosis\n1,2,NA\n2,3,\n3,4,x\n",
            "'diagnosis': 2 of 3 values are missing",
            'missing={"diagnosis": "value"}',
        ),
        ("age,postcode,diagnosis\n1,2,a\n2,3,b\n90+,4,x\n", "look like '99+'", "declare"),
    ],
)
def test_a_bad_text_file_is_refused_with_one_message(write: Any, text: str, message: str, hint: str) -> None:
    problem = refused(write(text))
    assert message in problem.message
    assert hint in (problem.hint or "")


def test_bytes_that_are_not_utf8_are_refused_wherever_they_stand(write: Any) -> None:
    for text in (b"age,postcode,diagnosis\n1,K\xf6ln,a\n", CSV.encode() * 1 + b"1,2,3\n" * 100_000 + b"1,K\xf6ln,a\n"):
        problem = refused(write(text))
        assert "not valid utf-8" in problem.message
        assert tells(problem.hint, '[input] encoding = "cp1252"')


@pytest.mark.parametrize(("encoding", "told"), [("utf-16", "UTF-16"), ("utf-32", "UTF-32")])
def test_a_wide_encoding_is_known_by_its_first_bytes(write: Any, encoding: str, told: str) -> None:
    path = write(CSV.encode(encoding))
    for read_as in ("utf-8", "latin-1"):
        problem = refused(path, options=ReadOptions(encoding=read_as))
        assert f"the file is {told} text" in problem.message
        assert problem.hint == f'set [input] encoding = "{encoding}"'
    assert Table.read(path, SCHEMA, options=ReadOptions(encoding=encoding)).to_arrow().to_pylist() == ROWS


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "idna", "undefined"])
def test_a_file_that_is_not_in_the_encoding_given_is_refused(write: Any, encoding: str) -> None:
    problem = refused(write(CSV.replace("Flu", "Flü")), options=ReadOptions(encoding=encoding))
    assert f"not valid {encoding}" in problem.message
    assert 'encoding = "utf-8"' in (problem.hint or "")


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_a_wrong_delimiter_is_named_and_not_advised_again(write: Any, delimiter: str) -> None:
    shown = {"\t": "tab"}.get(delimiter, repr(delimiter))
    problem = refused(write("age:postcode:diagnosis\n1:2:3\n"), options=ReadOptions(delimiter=delimiter))
    assert f"with the delimiter {shown}" in problem.message
    advised = (problem.hint or "").rpartition("find them: ")[2].split(", ")
    assert sorted(advised) == sorted({'","', '";"', '"\\t"', '"|"'} - {'"' + delimiter.replace("\t", "\\t") + '"'})


def test_missing_files_directories_and_unknown_endings_are_refused(tmp_path: Path, write: Any) -> None:
    write(CSV, "patients.csv")
    problem = refused(tmp_path / "patient.csv")
    assert "no such file" in problem.message
    assert problem.hint == "did you mean 'patients.csv'?"
    assert "directory" in refused(tmp_path).message
    assert tells(refused(Path(".")).message, "directory")
    assert "unknown file ending '.docx'" in refused(write("x", "t.docx")).message
    assert "this is a database" in refused(write("x", "t.sqlite")).message


@pytest.mark.parametrize("ending", ["parquet", "arrow", "feather"])
def test_damaged_binary_files_are_refused(write: Any, ending: str) -> None:
    assert "damaged" in refused(write(b"PAR1 this is not such a file", f"t.{ending}")).message


def test_a_parquet_file_without_rows_is_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"age": [], "postcode": [], "diagnosis": []}), tmp_path / "t.parquet")
    assert "no rows" in refused(tmp_path / "t.parquet").message


def test_a_file_without_permission_is_refused(write: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*_: object, **__: object) -> None:
        raise PermissionError

    monkeypatch.setattr(pa, "input_stream", forbidden)
    assert "no permission" in refused(write(CSV)).message
    monkeypatch.setattr(pq, "ParquetFile", forbidden)
    assert "no permission" in refused(write(b"PAR1", "t.parquet")).message


def test_how_unreadable_values_look_is_shown_for_quasi_columns_only(write: Any) -> None:
    text = "age,postcode,diagnosis\n1,a,5\n2,b,secret\nOld 7,c,7\n"
    quasi = refused(write(text), Schema(quasi=["age", "postcode"], sensitive=["diagnosis"], types={"age": "numeric"}))
    assert tells(quasi.message, "1 of 3", "'Xxx 9'")
    assert "Old" not in str(quasi)
    types: dict[str, Any] = {"diagnosis": "numeric", "age": "categorical"}
    sensitive = refused(write(text), Schema(quasi=["age", "postcode"], sensitive=["diagnosis"], types=types))
    assert tells(sensitive.message, "'diagnosis'", "numeric", "1 of 3")
    assert "secret" not in str(sensitive)


@pytest.mark.parametrize(("number", "told"), [("1,234", True), ("1'234.5", True), ("12 345", True), ("12 people", False)])
def test_thousands_separators_are_named_as_the_reason(write: Any, number: str, told: bool) -> None:
    schema = Schema(quasi=["pay"], sensitive=["diagnosis"], types={"pay": "numeric"})
    problem = refused(write(f'pay,diagnosis\n"{number}",a\n7,b\n'), schema)
    assert ("thousands separators" in (problem.hint or "")) == told


def test_dotted_dates_are_guessed_when_the_whole_column_is_of_them(write: Any) -> None:
    schema = Schema(quasi=["born"], sensitive=["x"])
    table = Table.read(write("born,x\n31.12.2024,a\n01.02.1950,b\n"), schema)
    assert table.column("born").values.to_pylist() == [date(1950, 2, 1), date(2024, 12, 31)]


def test_declared_day_first_dates_are_read_and_bad_ones_counted(write: Any) -> None:
    schema = Schema(quasi=["born"], sensitive=["x"], types={"born": "date"})
    table = Table.read(write("born,x\n31.12.2024,a\n01.02.1950,b\n"), schema)
    assert table.column("born").values.to_pylist() == [date(1950, 2, 1), date(2024, 12, 31)]
    assert "2 of 3 values" in refused(write("born,x\n31.02.2024,a\nsoon,b\n1.1.2000,c\n"), schema).message
    assert "month first" in refused(write("born,x\n03/04/2024,a\n"), schema).message


@pytest.mark.parametrize(
    "options",
    [
        {"delimiter": ",,"},
        {"decimal": "'"},
        {"delimiter": ",", "decimal": ","},
        {"null": "NA"},
        {"encoding": "utf-99"},
        {"encoding": "hex"},
        {"encoding": "rot13"},
        {"encoding": "zip"},
        {"encoding": "a\0b"},
    ],
)
def test_reading_options_that_make_no_sense_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(PolicyError):
        ReadOptions(**options)
