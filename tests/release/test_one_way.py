"""A release can be written down in one way: whatever else could carry everybody's sensitive value is refused, and found."""

import hashlib
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.release.manifest import spelled
from tests.makers import tells
from tests.release._forge import file_kind, forge, read_manifest, read_tables, refusal, with_rows
from tests.release._one_way import FORMATS, FORMS, SECRET, assert_refused, everywhere, honest, saved, table_of

GROUP = {"buckets": "group", "ranges": "group", "columns": "group", "views": "group", "randomized": "part"}
grouped = pytest.mark.parametrize(("form", "format"), [(form, format) for form in GROUP for format in FORMATS])


def honest_hash(directory, name):
    """Let the manifest give the hash that a changed file has."""
    (path,) = Path(directory).glob(f"{name}.*")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    forge(directory, lambda document: document["tables"][name]["files"][0].update(sha256=digest))


def turned(table):
    """Return the rows in another order."""
    return table.take(list(range(table.num_rows))[::-1])


@everywhere
def test_rows_stand_in_one_order_in_every_table(tmp_path, form, format):
    for name in honest(form).tables():
        directory = saved(tmp_path / name, form, format)
        forge(directory, tables=lambda tables, name=name: {**tables, name: turned(tables[name])}, order="as given")
        assert_refused(directory, form)
        assert tells(refusal(directory, table_of(form)), f"'{name}'", "canonical order")


def renumbered(tables, form, number):
    """Return the tables with other numbers of groups, the same in all of them, and rows sorted by group as before."""
    key = GROUP[form]
    return {
        name: with_rows(table, sorted(({**row, key: number(row[key])} for row in table.to_pylist()), key=lambda row: row[key]))
        for name, table in tables.items()
    }


@grouped
def test_groups_have_one_number(tmp_path, form, format):
    directory = saved(tmp_path, form, format)
    groups = max(max(table[GROUP[form]].to_pylist()) for table in read_tables(directory).values())

    def parts_too(document):
        parts = document["parameters"].get("parts", [])
        parts.sort(key=lambda part: -part["part"])
        for number, part in enumerate(parts, 1):
            part["part"] = number

    forge(directory, parts_too, lambda tables: renumbered(tables, form, lambda g: groups + 1 - g), order="as given")
    assert_refused(directory, form)
    assert "canonical order" in refusal(directory, table_of(form))


@grouped
def test_numbers_of_groups_have_no_gaps(tmp_path, form, format):
    directory = saved(tmp_path, form, format)
    forge(directory, tables=lambda tables: renumbered(tables, form, lambda g: g + (g > 1)), order="as given")
    assert_refused(directory, form)


def by_pyarrow(path, table, **options):
    pq.write_table(table, path, **options)


WRITERS = {
    "as pyarrow writes": {},
    "without statistics": {"write_statistics": False, "store_schema": False},
    "compressed": {"compression": "zstd", "store_schema": False},
    "uncompressed": {"compression": "none", "store_schema": False},
    "without a dictionary": {"use_dictionary": False, "compression": "none", "store_schema": False},
    "in other pages": {"data_page_version": "2.0", "store_schema": False},
    "in small row groups": {"row_group_size": 2, "store_schema": False},
}


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("form", FORMS)
def test_a_table_has_one_parquet_file_whoever_writes_it(tmp_path, form, writer):
    directory = saved(tmp_path, form, "parquet")
    for name, table in read_tables(directory).items():
        path = directory / f"{name}.parquet"
        before = path.read_bytes()
        by_pyarrow(path, table, **WRITERS[writer])
        assert path.read_bytes() != before
        honest_hash(directory, name)
        assert_refused(directory, form)
        path.write_bytes(before)
        honest_hash(directory, name)
        assert sf.audit(directory, table_of(form)).holds is True


def footer(data):
    """Return where the footer of a Parquet file starts."""
    return len(data) - 8 - int.from_bytes(data[-8:-4], "little")


BYTES = {
    "before the footer": lambda data: data[: footer(data)] + SECRET.encode() + data[footer(data) :],
    "behind the first four": lambda data: data[:4] + SECRET.encode() + data[4:],
    "behind the footer": lambda data: data[:-8] + SECRET.encode() + data[-8:],
    "in the footer, counted": lambda data: (
        data[:-8] + SECRET.encode() + (len(data) - 8 - footer(data) + len(SECRET.encode())).to_bytes(4, "little") + data[-4:]
    ),
    "at the end": lambda data: data + SECRET.encode(),
    "in the name of the program": lambda data: data.replace(b"sfumato", b"flucold"),
}


@pytest.mark.parametrize("place", BYTES)
@pytest.mark.parametrize("form", FORMS)
def test_every_byte_of_a_parquet_file_is_accounted_for(tmp_path, form, place):
    directory = saved(tmp_path, form, "parquet")
    name = next(iter(honest(form).tables()))
    path = directory / f"{name}.parquet"
    data = path.read_bytes()
    if BYTES[place](data) == data:  # it names no program
        assert b"sfumato" not in data
        return
    path.write_bytes(BYTES[place](data))
    honest_hash(directory, name)
    assert_refused(directory, form)


def columns_reordered(text):
    return "".join(",".join([*line.split(",")[1:], line.split(",")[0]]) + "\n" for line in text.splitlines())


DIALECTS = {
    "nothing in quotes": lambda text: text.replace('"', ""),
    "numbers in quotes": lambda text: re.sub(r"(?m)(^|,)(\d+)(?=,|$)", r'\1"\2"', text),
    "carriage returns": lambda text: text.replace("\n", "\r\n"),
    "one carriage return": lambda text: text.replace("\n", "\r\n", 1),
    "a byte order mark": lambda text: "\ufeff" + text,
    "blanks at the end": lambda text: text + " ",
    "an empty line": lambda text: text + "\n",
    "an empty line inside": lambda text: text.replace("\n", "\n\n", 1),
    "no line feed at the end": lambda text: text[:-1],
    "a blank before a number": lambda text: re.sub(r"(?m)(^|,)(\d+)(?=,|$)", r"\1 \2", text, count=1),
    "a zero before a number": lambda text: re.sub(r"(?m)(^|,)(\d+)(?=,|$)", r"\g<1>0\2", text, count=1),
    "a sign before a number": lambda text: re.sub(r"(?m)(^|,)(\d+)(?=,|$)", r"\1+\2", text, count=1),
    "semicolons": lambda text: text.replace(",", ";"),
    "other columns first": columns_reordered,
    "a remark": lambda text: text + f"# {SECRET}\n",
    "a column more": lambda text: "".join(f"{line},{SECRET.replace('; ', ' ')}\n" for line in text.splitlines()),
}


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("form", FORMS)
def test_a_table_has_one_csv_file_in_one_dialect(tmp_path, form, dialect):
    directory = saved(tmp_path, form, "csv")
    name = next(iter(honest(form).tables()))
    path = directory / f"{name}.csv"
    text = path.read_bytes().decode()
    other = DIALECTS[dialect](text)
    assert other != text
    path.write_bytes(other.encode())
    honest_hash(directory, name)
    assert_refused(directory, form)


@everywhere
def test_columns_stand_in_one_order(tmp_path, form, format):
    for name in honest(form).tables():
        directory = saved(tmp_path / name, form, format)
        forge(
            directory,
            tables=lambda tables, name=name: {**tables, name: tables[name].select(tables[name].column_names[::-1])},
            order="as given",
        )
        assert_refused(directory, form)


@grouped
def test_a_column_has_one_type(tmp_path, form, format):
    """A wider type shows the same values."""

    def widened(tables):
        found = {}
        for name, table in tables.items():
            place = table.column_names.index(GROUP[form])
            found[name] = table.set_column(place, GROUP[form], table[GROUP[form]].cast(pa.int64()))
        return found

    directory = saved(tmp_path, form, format)
    forge(directory, tables=widened, order="as given")
    assert_refused(directory, form)


@pytest.mark.parametrize("name", ["diary.txt", ".hidden", "more.parquet", "qit.csv.bak"])
@everywhere
def test_a_file_too_many_is_refused(tmp_path, form, format, name):
    directory = saved(tmp_path, form, format)
    (directory / name).write_text(SECRET)
    assert_refused(directory, form)


@everywhere
def test_a_directory_in_a_release_is_refused(tmp_path, form, format):
    directory = saved(tmp_path, form, format)
    (directory / "flu, cold, flu").mkdir()
    assert_refused(directory, form)


@everywhere
def test_a_file_has_one_name(tmp_path, form, format):
    directory = saved(tmp_path, form, format)
    name = next(iter(honest(form).tables()))
    (directory / f"{name}.{format}").rename(directory / f"flu.{format}")
    forge(directory, lambda document: document["tables"][name]["files"][0].update(file=f"flu.{format}"))
    assert_refused(directory, form)


@everywhere
def test_what_is_loaded_and_saved_again_has_the_same_bytes(tmp_path, form, format):
    directory = saved(tmp_path, form, format)
    sf.Release.load(directory).save(tmp_path / "again", format=format)
    files = {path.name: path.read_bytes() for path in directory.iterdir()}
    assert {path.name: path.read_bytes() for path in (tmp_path / "again").iterdir()} == files
    assert file_kind(directory) == format
    assert spelled(read_manifest(directory)).encode() == files["manifest.json"]


@everywhere
def test_a_column_of_another_type_than_the_tables_is_found(tmp_path, form, format):
    directory = saved(tmp_path, form, format)
    names = ("age", "age_min", "age_max")

    def floats(tables):
        for name, table in tables.items():
            for column in names:
                if column in table.column_names:
                    place = table.column_names.index(column)
                    plain = pa.array(table[column].to_pylist(), pa.float64())
                    tables[name] = tables[name].set_column(place, column, plain)
        return tables

    forge(directory, tables=floats)
    assert refusal(directory, table_of(form))
