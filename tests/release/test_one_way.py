"""A release can be written down in one way: whatever else could carry everybody's sensitive value is refused, and found."""

import hashlib
import json
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.errors import FormatError
from sfumato.release.manifest import spelled
from tests.release._forge import file_kind, forge, read_manifest, read_tables, refusal, with_rows
from tests.release._one_way import COUNTED, FORMATS, FORMS, SECRET, TABLE, honest, table_of

EVERYWHERE = [(form, format) for form in FORMS for format in FORMATS]
everywhere = pytest.mark.parametrize(("form", "format"), EVERYWHERE)
GROUP = {"buckets": "bucket", "ranges": "group", "columns": "group", "views": "group", "randomized": "part"}
grouped = pytest.mark.parametrize(("form", "format"), [(form, format) for form in GROUP for format in FORMATS])


def saved(tmp_path, form, format):
    directory = tmp_path / "release"
    honest(form).save(directory, format=format)
    assert sf.audit(directory, table_of(form)).holds is True
    return directory


def assert_refused(directory, form="buckets"):
    """Neither loading nor auditing, with or without the table, accepts what is there."""
    with pytest.raises(FormatError):
        sf.Release.load(directory)
    assert refusal(directory)
    assert refusal(directory, table_of(form))


def honest_hash(directory, name):
    """Let the manifest give the hash that a changed file has."""
    (path,) = Path(directory).glob(f"{name}.*")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    forge(directory, lambda document: document["tables"][name]["files"][0].update(sha256=digest))


def any_table(document):
    return next(iter(document["tables"].values()))


def any_claim(document):
    """Return the first claim; a release that makes none gets one, which it may not have either."""
    none = {"adversary": "engineer", "kind": "association", "statement": "Nobody learns anything."}
    document["claims"] = document["claims"] or [none]
    return document["claims"][0]


PLACES = {
    "the top": lambda d: d,
    "schema": lambda d: d["schema"],
    "schema.declared": lambda d: d["schema"]["declared"],
    "schema.quasi[0]": lambda d: d["schema"]["quasi"][0],
    "schema.sensitive[0]": lambda d: d["schema"]["sensitive"][0],
    "requirement": lambda d: d["requirement"],
    "method": lambda d: d["method"],
    "parameters": lambda d: d["parameters"],
    "claims[0]": any_claim,
    "tables.x": any_table,
    "tables.x.columns[0]": lambda d: any_table(d)["columns"][0],
    "tables.x.files[0]": lambda d: any_table(d)["files"][0],
}
LISTED = {"values[0]": lambda d: d["values"][0], "values[0].values[0]": lambda d: d["values"][0]["values"][0]}


@pytest.mark.parametrize("place", PLACES)
@everywhere
def test_unknown_keys_are_refused_at_every_level(tmp_path, form, format, place):
    directory = saved(tmp_path, form, format)
    forge(directory, lambda document: PLACES[place](document).update(diary=SECRET))
    assert_refused(directory, form)


@pytest.mark.parametrize("place", LISTED)
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("form", COUNTED)
def test_unknown_keys_are_refused_where_values_are_listed(tmp_path, form, format, place):
    directory = saved(tmp_path, form, format)
    forge(directory, lambda document: LISTED[place](document).update(diary=SECRET))
    assert_refused(directory, form)


@pytest.mark.parametrize("format", FORMATS)
def test_unknown_keys_are_refused_in_parts(tmp_path, format):
    directory = saved(tmp_path, "randomized", format)
    forge(directory, lambda document: document["parameters"]["parts"][0].update(diary=SECRET))
    assert_refused(directory)


FREE_TEXT = {
    "software": lambda d: d.update(software=SECRET),
    "software with a remark": lambda d: d.update(software=f"{d['software']} {SECRET}"),
    "a claim's statement": lambda d: any_claim(d).update(statement=SECRET),
    "a claim's statement, prolonged": lambda d: any_claim(d).update(statement=f"{any_claim(d)['statement']} {SECRET}"),
    "weaker_claim": lambda d: d["parameters"].update(weaker_claim=SECRET),
    "note": lambda d: d["parameters"].update(note=SECRET),
    "a table's name": lambda d: d["tables"].update({SECRET: any_table(d)}),
    "a file's name": lambda d: any_table(d)["files"][0].update(file=SECRET),
    "a column's name": lambda d: any_table(d)["columns"][0].update(name=SECRET),
    "a column's type": lambda d: any_table(d)["columns"][0].update(type=SECRET),
    "a kind": lambda d: d["schema"]["quasi"][0].update(kind=SECRET),
    "the form": lambda d: d.update(form=SECRET),
    "the method's name": lambda d: d["method"].update(name=SECRET),
    "the model": lambda d: d["requirement"].update(model=SECRET),
    "values": lambda d: d.update(
        values=[
            {
                "columns": [column["name"] for column in d["schema"]["sensitive"]],
                "values": [{"value": SECRET, "count": 12, "bound": "1"}],
            }
        ]
    ),
    "types of other columns": lambda d: d["schema"]["declared"]["types"].update({SECRET: "numeric"}),
    "domains of other columns": lambda d: d["schema"]["declared"]["domains"].update({SECRET: ["x"]}),
}


@pytest.mark.parametrize("place", FREE_TEXT)
@everywhere
def test_free_text_is_refused_wherever_words_stand(tmp_path, form, format, place):
    directory = saved(tmp_path, form, format)
    forge(directory, FREE_TEXT[place])
    assert_refused(directory, form)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(("form", "key"), [("weaker", "weaker_claim"), ("note", "note")])
def test_weaker_claims_and_notes_are_made_in_fixed_words(tmp_path, form, key, format):
    directory = tmp_path / "release"
    honest(form).save(directory, format=format)
    assert sf.audit(directory, TABLE).problems == ()
    forge(directory, lambda document: document["parameters"].update({key: f"{document['parameters'][key]} {SECRET}"}))
    assert_refused(directory, form)


def upside_down(found):
    """Return a document with its keys in another order at every level."""
    if isinstance(found, dict):
        return {key: upside_down(found[key]) for key in sorted(found, reverse=True)}
    return [upside_down(one) for one in found] if isinstance(found, list) else found


SPELLINGS = {
    "a duplicated key": lambda text: text.replace("{", '{\n  "software": ' + json.dumps(SECRET, ensure_ascii=False) + ",", 1),
    "a duplicated key, deeper": lambda text: text.replace('"schema": {', '"schema": {\n    "declared": 1,', 1),
    "keys in another order": lambda text: json.dumps(upside_down(json.loads(text)), indent=2, ensure_ascii=False) + "\n",
    "other indentation": lambda text: json.dumps(json.loads(text), indent=1, ensure_ascii=False, sort_keys=True) + "\n",
    "no indentation": lambda text: json.dumps(json.loads(text), ensure_ascii=False, sort_keys=True) + "\n",
    "an escaped letter": lambda text: text.replace('"sfumato-release"', '"\\u0073fumato-release"'),
    "an escaped slash": lambda text: text.replace("sfumato ", "sfumato\\u0020"),
    "1.0 instead of 1": lambda text: text.replace('"version": 2', '"version": 2.0'),
    "1.0 rows": lambda text: text.replace('"rows": 12', '"rows": 12.0'),
    "an exponent": lambda text: text.replace('"rows": 12', '"rows": 12e0'),
    "blanks at the end": lambda text: text + " ",
    "blanks at a line's end": lambda text: text.replace(",\n", ", \n", 1),
    "a line more": lambda text: text + "\n",
    "no line feed at the end": lambda text: text.rstrip("\n"),
    "carriage returns": lambda text: text.replace("\n", "\r\n"),
    "a byte order mark": lambda text: "\ufeff" + text,
    "something behind it": lambda text: text + json.dumps(SECRET) + "\n",
}


@pytest.mark.parametrize("spelling", SPELLINGS)
@everywhere
def test_a_manifest_is_spelled_in_one_way(tmp_path, form, format, spelling):
    directory = saved(tmp_path, form, format)
    path = directory / "manifest.json"
    text = path.read_bytes().decode()
    other = SPELLINGS[spelling](text)
    assert other != text
    path.write_bytes(other.encode())
    assert_refused(directory, form)


FRACTIONS = {"2/4": "1/2", "01/2": "1/2", "0.5": "1/2", " 1/2": "1/2", "1/1": "1", "5e-1": "1/2", "+1": "1", "१": "1"}


@pytest.mark.parametrize("written", FRACTIONS)
@everywhere
def test_a_fraction_is_in_lowest_terms(tmp_path, form, format, written):
    directory = saved(tmp_path, form, format)
    number = {"model": "f-privacy", "theta": "0", "offset": FRACTIONS[written], "bounds": {}, "against": "reader"}
    forge(directory, lambda document: document.update(requirement=number))
    sf.Release.load(directory)
    forge(directory, lambda document: document["requirement"].update(offset=written))
    assert_refused(directory, form)
    assert "requirement.offset is not what a manifest holds there" in refusal(directory)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("form", COUNTED)
def test_the_values_are_listed_in_one_order(tmp_path, form, format):
    directory = saved(tmp_path, form, format)
    forge(directory, lambda document: document["values"][0]["values"].reverse())
    assert_refused(directory, form)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(
    "change",
    [
        lambda parts: parts.reverse(),
        lambda parts: [part.update(part=3 - part["part"]) for part in parts],
        lambda parts: [part.update(part=part["part"] + 1) for part in parts],
        lambda parts: parts[0]["values"].reverse(),
        lambda parts: parts[0].update(retention=parts[0]["retention"][0]),
        lambda parts: parts[0].update(values=[[value] for value in parts[0]["values"]]),
        lambda parts: parts.append({**parts[1], "part": 3}),
    ],
    ids=["listed backwards", "renumbered", "a gap", "values backwards", "one retention for all", "lists of one", "nobody's"],
)
def test_parts_are_told_in_one_way(tmp_path, change, format):
    directory = saved(tmp_path, "randomized", format)
    forge(directory, lambda document: change(document["parameters"]["parts"]))
    assert_refused(directory)


def turned(table):
    """Return the rows in another order."""
    return table.take(list(range(table.num_rows))[::-1])


@everywhere
def test_rows_stand_in_one_order_in_every_table(tmp_path, form, format):
    for name in honest(form).tables():
        directory = saved(tmp_path / name, form, format)
        forge(directory, tables=lambda tables, name=name: {**tables, name: turned(tables[name])}, order="as given")
        assert_refused(directory, form)
        assert f"the rows of table '{name}' are not in the canonical order" in refusal(directory, table_of(form))


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
    assert "the numbers of groups are not in the canonical order" in refusal(directory, table_of(form))


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


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("requirement", {"bounds": {"Ana has HIV": "1/2"}}),
        ("method", {"weights": {"Ana has HIV": 2}}),
    ],
)
def test_names_of_values_and_columns_that_nobody_has_are_refused(tmp_path, place, told):
    sf.publish(TABLE, sf.FPrivacy(theta=1, offset="0.3"), method=sf.Boxes(), random=1).save(tmp_path / "release")
    forge(tmp_path / "release", manifest=lambda document: document[place].update(told))
    with pytest.raises(FormatError, match="values or of columns that the release does not have"):
        sf.Release.load(tmp_path / "release")
    assert_refused(tmp_path / "release")


NOTE = "k-anonymity makes no claim about sensitive values"
SECOND = {
    "a method of another form": ("ranges", lambda d: d.update(method=sf.Anatomy(l=3).to_dict())),
    "a basis that the method has not": ("ranges", lambda d: d.update(basis="matched")),
    "a locality, which older manifests had": ("ranges", lambda d: d["parameters"].update(locality="near")),
    "matches of a method that has none": ("ranges", lambda d: d["parameters"].update(matches=3)),
    "dummies of a method that has none": ("ranges", lambda d: d["parameters"].update(dummies=3)),
    "a note beside a claim": (
        "buckets",
        lambda d: d["parameters"].update(note="k-anonymity makes no claim about sensitive values"),
    ),
    "no list of values": ("buckets", lambda d: d.update(values=None)),
    "decoys that are not there": ("buckets", lambda d: d["method"].update(decoys=5)),
    "a whole number with a fraction": ("buckets", lambda d: d["method"].update(time_limit=30.0)),
    "negative zero": ("buckets", lambda d: d["method"].update(gap=-0.0)),
    "weights of nothing": ("buckets", lambda d: d["method"].update(weights={})),
    "a version with zeros before it": ("buckets", lambda d: d.update(software="sfumato 000.1.00")),
    "reproducible without a seed": ("buckets", lambda d: d.update(seeded=False, reproducible=True)),
}


@pytest.mark.parametrize("what", SECOND)
def test_what_is_said_of_the_making_has_one_spelling_and_goes_together(tmp_path, what):
    form, change = SECOND[what]
    directory = saved(tmp_path, form, "parquet")
    forge(directory, manifest=change)
    assert_refused(directory, form)


@pytest.mark.parametrize("number", ["1e999", "-1e999", "1e400"])
def test_a_number_beyond_all_numbers_is_refused(tmp_path, number):
    directory = saved(tmp_path, "buckets", "parquet")
    text = (directory / "manifest.json").read_text()
    (directory / "manifest.json").write_text(re.sub(r'"time_limit": 30', f'"time_limit": {number}', text))
    assert number in (directory / "manifest.json").read_text()
    assert_refused(directory)


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
