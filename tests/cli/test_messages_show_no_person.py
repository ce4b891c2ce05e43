"""Whatever is wrong with a file: no message shows an identifier or a quasi value, and a sensitive value only alone.

Every cell of these tables is a marker, so that a cell in a message cannot be missed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import ipc
from typer.testing import CliRunner

from sfumato.cli.app import app
from sfumato.errors import InputError
from sfumato.table import Schema, Table

NAMES = ["person", "town", "born", "weight", "illness"]
COUNT = 120
PERSON = re.compile(r"IDMARK|TOWNMARK|18[67]\d-|7719\d\d", re.IGNORECASE)
SICK = re.compile("SICKMARK", re.IGNORECASE)

POLICY = """\
[columns]
identifier = ["person"]
quasi      = ["town", "born", "weight"]
sensitive  = ["illness"]
[requirement]
model  = "l-diversity"
l      = 3
against = "reader"
"""


def rows() -> list[list[str]]:
    first = date(1870, 1, 1)
    return [
        [
            f"IDMARK{i}",
            f"TOWNMARK{i % 7}",
            (first + timedelta(days=31 * (i % 40))).isoformat(),
            str(771900 + i % 50),
            f"SICKMARK{i % 5}",
        ]
        for i in range(COUNT)
    ]


def text(header: list[str] | None = NAMES, *, lines: list[list[str]] | None = None, delimiter: str = ",") -> str:
    cells = ([] if header is None else [header]) + (rows() if lines is None else lines)
    return "".join(delimiter.join(line) + "\n" for line in cells)


def changed(column: int, row: int, cell: str) -> list[list[str]]:
    lines = rows()
    lines[row][column] = cell
    return lines


def columns(names: list[str] = NAMES) -> pa.Table:
    return pa.table(dict(zip(names, map(pa.array, zip(*rows(), strict=True)), strict=True)))


def arrow(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def parquet(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    return sink.getvalue().to_pybytes()


def flipped(raw: bytes) -> bytes:
    """Return the bytes with a bit of every 31st changed in the first half, which hits offsets, codes and texts."""
    damaged = bytearray(raw)
    for place in range(64, len(raw) // 2, 31):
        damaged[place] ^= 128
    return bytes(damaged)


def strange(column: pa.Array) -> pa.Table:
    return columns().set_column(1, "town", column)


def number_of_town() -> pa.Array:
    return pa.array([f"TOWNMARK{i % 7}" for i in range(COUNT)])


DAMAGED: dict[str, tuple[str, str | bytes]] = {
    "no header": ("t.csv", text(None)),
    "no header, a cell twice": ("t.csv", text(None, lines=[[*line[:3], line[1], line[4]] for line in rows()])),
    "no header, blanks around": ("t.csv", text(None, lines=[[f" {cell} " for cell in line] for line in rows()])),
    "a header of other names": ("t.csv", text(["TOWNMARK1", "TOWNMARK2", "TOWNMARK3", "TOWNMARK4", "TOWNMARK5"])),
    "one name of the schema in a row": ("t.csv", text(None, lines=[["illness", *rows()[0][1:]], *rows()])),
    "another delimiter": ("t.csv", text(None, delimiter=";")),
    "no delimiter at all": ("t.csv", "".join(line[0] + "\n" for line in rows())),
    "a short row": ("t.csv", text(lines=[*rows(), ["IDMARK999", "TOWNMARK1"]])),
    "an open quote": ("t.csv", text(lines=changed(1, 7, '"TOWNMARK1'))),
    "no UTF-8": ("t.csv", text().encode() + b"IDMARK9,TOWNMARK\xff,1870-01-01,771901,SICKMARK1\n"),
    "a text among numbers": ("t.csv", text(lines=changed(3, 5, "IDMARK5"))),
    "a text among dates": ("t.csv", text(lines=changed(2, 5, "TOWNMARK5"))),
    "a repeated identifier": ("t.csv", text(lines=changed(0, 5, "IDMARK6"))),
    "no sensitive value": ("t.csv", text(lines=changed(4, 5, ""))),
    "a header of 9 MB": ("t.csv", "IDMARK" * 1_600_000),
    "a cell of 200 kB in the first line": ("t.csv", f'"{"IDMARK" * 40_000}",TOWNMARK1\n' + text()),
    "zeros": ("t.csv", b"\0" * 5000),
    "Arrow without names": ("t.arrow", arrow(columns(rows()[0]))),
    "Arrow with flipped bits": ("t.arrow", flipped(arrow(columns()))),
    "Arrow cut off": ("t.arrow", arrow(columns())[:3000]),
    "Parquet without names": ("t.parquet", parquet(columns(rows()[0]))),
    "Parquet with flipped bits": ("t.parquet", flipped(parquet(columns()))),
    "Parquet cut off": ("t.parquet", parquet(columns())[:-200]),
    "text called Parquet": ("t.parquet", text()),
    "text called Arrow": ("t.arrow", text()),
    "records with fields": ("t.arrow", arrow(strange(pa.array([{f"TOWNMARK{i % 2}": i} for i in range(COUNT)])))),
    "bytes": ("t.arrow", arrow(strange(number_of_town().cast(pa.binary())))),
    "a time zone": ("t.arrow", arrow(strange(pa.array(range(COUNT), pa.timestamp("s", tz="TOWNMARK/1"))))),
    "days beyond the calendar": (
        "t.parquet",
        parquet(strange(pa.array([2**30 + i for i in range(COUNT)], pa.int32()).cast(pa.date32()))),
    ),
}


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("good")
    (place / "t.csv").write_text(text())
    (place / "p.toml").write_text(POLICY)
    places = ["--policy", str(place / "p.toml"), "--out", str(place / "release"), "--receipts", str(place)]
    done = CliRunner().invoke(app, ["publish", str(place / "t.csv"), *places, "--seed", "1"])
    assert done.exit_code == 0, done.stderr
    for shown in (done.stdout, done.stderr):
        assert not PERSON.search(shown)
    (place / "release.receipt.json").unlink()  # an audit then reads the table as the manifest says
    return place / "release"


def said(*arguments: object) -> tuple[int, str]:
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    return done.exit_code, done.stdout + done.stderr


def refused(shown: tuple[int, str]) -> None:
    code, message = shown
    assert code in (1, 2), message[:500]
    assert "should not" not in message
    assert "Traceback" not in message
    assert message.startswith("error: ") or code == 1
    assert len(message) < 2000
    assert not PERSON.search(message), PERSON.search(message)
    assert not SICK.search(message)


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_table_is_refused_without_a_cell_of_it(name: str, tmp_path: Path, release: Path) -> None:
    file, content = DAMAGED[name]
    data, policy = tmp_path / file, tmp_path / "p.toml"
    data.write_bytes(content.encode() if isinstance(content, str) else content)
    policy.write_text(POLICY)
    refused(said("publish", data, "--policy", policy, "--out", tmp_path / "out"))
    refused(said("explain", data, "--policy", policy))
    refused(said("audit", release, "--table", data, "--policy", policy))
    assert not (tmp_path / "out").exists()
    for other in (("audit", release, "--table", data), ("audit", release, "--outsiders", data)):
        code, message = said(*other)  # these columns may be whole, or not looked at
        assert code in (0, 1, 2)
        assert not PERSON.search(message)
        assert "should not" not in message


NO_DRAFT = [name for name in DAMAGED if name not in (
    "no UTF-8", "a text among numbers", "a text among dates", "a repeated identifier", "no sensitive value",
    "a header of other names",
)]  # fmt: skip
"""The tables that have a draft show their columns' names in it, and their sensitive values alone."""


HEADERLESS = (
    "no header",
    "no header, a cell twice",
    "no header, blanks around",
    "one name of the schema in a row",
    "another delimiter",
)


@pytest.mark.parametrize("name", HEADERLESS)
def test_a_draft_of_a_file_without_a_header_shows_nobody(name: str, tmp_path: Path) -> None:
    file, content = DAMAGED[name]
    (tmp_path / file).write_bytes(content.encode() if isinstance(content, str) else content)
    code, draft = said("policy", "init", tmp_path / file)
    assert (code, "header = false" in draft) == (0, True)
    assert not PERSON.search(draft), PERSON.search(draft)


@pytest.mark.parametrize("name", [name for name in NO_DRAFT if name not in HEADERLESS])
def test_no_draft_is_made_of_a_damaged_table(name: str, tmp_path: Path) -> None:
    file, content = DAMAGED[name]
    (tmp_path / file).write_bytes(content.encode() if isinstance(content, str) else content)
    refused(said("policy", "init", tmp_path / file))


MISTAKEN: dict[str, Callable[[Path, Path], list[object]]] = {
    "the table as policy": lambda table, release: ["publish", table, "--policy", table, "--out", table.parent / "out"],
    "the table as policy of an explanation": lambda table, release: ["explain", table, "--policy", table],
    "the table as policy of an audit": lambda table, release: ["audit", release, "--policy", table],
    "the table as workload": lambda table, release: ["explain", table, "--policy", table.parent / "p.toml", "--workload", table],
    "the table as links": lambda table, release: ["audit", release, "--table", table, "--links", table],
    "the table as release": lambda table, release: ["audit", table],
    "the table as release of a question": lambda table, release: ["query", table, "weight = 1"],
    "the policy as table": lambda table, release: [
        "publish",
        table.parent / "p.toml",
        "--policy",
        table.parent / "p.toml",
        "--out",
        "x",
    ],
}


@pytest.mark.parametrize("header", [NAMES, None], ids=["with a header", "without"])
@pytest.mark.parametrize("name", MISTAKEN)
def test_a_table_given_in_the_place_of_another_file_is_not_quoted(
    name: str, header: list[str] | None, tmp_path: Path, release: Path
) -> None:
    (tmp_path / "t.csv").write_text(text(header))
    (tmp_path / "p.toml").write_text(POLICY)
    refused(said(*MISTAKEN[name](tmp_path / "t.csv", release)))


def test_a_whole_table_shows_sensitive_values_alone(tmp_path: Path, release: Path) -> None:
    (tmp_path / "t.csv").write_text(text())
    (tmp_path / "p.toml").write_text(POLICY)
    explained, explanation = said("explain", tmp_path / "t.csv", "--policy", tmp_path / "p.toml", "--quick", "--all")
    audited, report = said("audit", release, "--table", tmp_path / "t.csv")
    drafted, draft = said("policy", "init", tmp_path / "t.csv")
    assert (explained, audited, drafted) == (0, 0, 0)
    assert SICK.search(explanation)
    assert SICK.search(draft)
    for message in (explanation, report, draft):
        assert not PERSON.search(message)


def test_a_value_that_a_bound_names_wrongly_is_answered_with_sensitive_values_only(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(text())
    (tmp_path / "p.toml").write_text(
        POLICY.replace(
            'model  = "l-diversity"\nl      = 3', 'model = "f-privacy"\noffset = "0.5"\nbounds = { SICKMARK9 = "0.3" }'
        )
    )
    code, message = said("publish", tmp_path / "t.csv", "--policy", tmp_path / "p.toml", "--out", tmp_path / "out")
    assert code == 2
    assert SICK.search(message)
    assert not PERSON.search(message)


def test_a_mistyped_column_is_still_answered_with_the_nearest_of_an_accepted_header(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(text())
    (tmp_path / "p.toml").write_text(POLICY.replace('"born"', '"borne"'))
    code, message = said("explain", tmp_path / "t.csv", "--policy", tmp_path / "p.toml")
    assert code == 2
    assert "did you mean 'born'?" in message


def test_a_frame_made_of_a_file_without_a_header_is_refused_without_its_names() -> None:
    schema = Schema(identifier=["person"], quasi=["town", "born", "weight"], sensitive=["illness"])
    for table in (columns(rows()[0]), columns(rows()[0]).to_pandas()):
        with pytest.raises(InputError) as found:
            Table.from_frame(table, schema)
        assert "'town'" in str(found.value)
        assert not PERSON.search(str(found.value))
        assert not SICK.search(str(found.value))


def test_what_a_value_looks_like_tells_no_letter_of_it() -> None:
    from sfumato.table.coding import pattern

    assert pattern("Mr. 7") == "Xx. 9"
    assert pattern("½Ⅷ②") == "999"
    assert set(pattern("नमस्ते 你好 ☂")) <= {"x", " "}
