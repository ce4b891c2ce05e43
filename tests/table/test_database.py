"""Tables out of databases: what comes, what is refused, and that no password is ever shown."""

from __future__ import annotations

import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pytest

from sfumato.errors import InputError
from sfumato.table import Database, Schema, Table, read_arrow
from tests.makers import tells

SCHEMA = Schema(quasi=["age", "sex"], sensitive=["ill"])
PEOPLE = [(20 + i, "fm"[i % 2], f"ill {i % 3}") for i in range(12)]
QUERY = "SELECT age, sex, ill FROM people WHERE age > 21"
PASSWORD = "correct-horse"


@pytest.fixture
def sqlite(tmp_path: Path) -> Path:
    with sqlite3.connect(tmp_path / "people.db") as base:
        base.execute("CREATE TABLE people (age INTEGER, sex TEXT, ill TEXT)")
        base.executemany("INSERT INTO people VALUES (?, ?, ?)", PEOPLE)
    base.close()
    return tmp_path / "people.db"


@pytest.fixture
def duckdb(tmp_path: Path) -> Path:
    library = pytest.importorskip("duckdb")
    with library.connect(str(tmp_path / "people.duckdb")) as base:
        base.execute("CREATE TABLE people (age INTEGER, sex TEXT, ill TEXT)")
        base.executemany("INSERT INTO people VALUES (?, ?, ?)", PEOPLE)
    return tmp_path / "people.duckdb"


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_the_result_of_a_query_is_a_table(kind: str, request: pytest.FixtureRequest) -> None:
    file = request.getfixturevalue(kind)
    for url in (str(file), f"{kind}:///{file}"):
        table = Table.read(Database(url, QUERY), SCHEMA)
        assert table.rows == 10
        assert table.kinds == {"age": "numeric", "sex": "categorical", "ill": "categorical"}


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT * FROM nobody", "a table that"),
        ("SELEKT 1", "understand the query"),
        ("DELETE FROM people", "not one SELECT"),
        ("INSERT INTO people VALUES (1, 'f', 'x') RETURNING age", "not one SELECT"),
        ("CREATE TABLE more AS SELECT * FROM people", "not one SELECT"),
        ("SELECT 1, 2; SELECT 3, 4", "not one SELECT"),
        ("ATTACH 'other.db' AS other", "not one SELECT"),
        ("PRAGMA threads = 1", "not one SELECT"),
        ("SELECT age, sex, ill AS sex FROM people", "columns 2, 3"),
    ],
)
def test_bad_queries_are_refused_and_nothing_is_written(
    kind: str, sql: str, message: str, request: pytest.FixtureRequest
) -> None:
    file = request.getfixturevalue(kind)
    with pytest.raises(InputError, match=message):
        read_arrow(Database(str(file), sql))
    assert read_arrow(Database(str(file), QUERY)).num_rows == 10


def test_a_database_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    for url in (f"sqlite:///{tmp_path}/none.db", f"{tmp_path}/none.duckdb"):
        with pytest.raises(InputError, match="no such file"):
            read_arrow(Database(url, "SELECT 1"))
    assert list(tmp_path.iterdir()) == []


def test_urls_of_other_kinds_and_empty_queries_are_refused_without_being_shown() -> None:
    for url, sql in ((f"mysql://me:{PASSWORD}@host/x", "SELECT 1"), ("sqlite:///x.db", " ")):
        with pytest.raises(InputError) as problem:
            Database(url, sql)
        assert PASSWORD not in str(problem.value)
    assert PASSWORD not in repr(Database(f"postgresql://me:{PASSWORD}@host/x", f"SELECT '{PASSWORD}'"))


def test_a_query_that_would_write_another_file_is_refused(duckdb: Path, sqlite: Path, tmp_path: Path) -> None:
    before = sorted(tmp_path.iterdir())
    for file, sql in (
        (duckdb, f"COPY people TO '{tmp_path}/out.csv'"),
        (duckdb, f"EXPORT DATABASE '{tmp_path}/out'"),
        (duckdb, f"EXPLAIN ANALYZE COPY people TO '{tmp_path}/out.csv'"),
        (sqlite, f"VACUUM INTO '{tmp_path}/out.db'"),
    ):
        with pytest.raises(InputError, match="not one SELECT"):
            read_arrow(Database(str(file), sql))
    assert sorted(tmp_path.iterdir()) == before


def test_a_query_of_duckdb_may_name_other_files_of_this_machine_and_fetches_nothing(duckdb: Path, tmp_path: Path) -> None:
    (tmp_path / "more.csv").write_text("age,sex\n1,f\n")
    assert read_arrow(Database(str(duckdb), f"SELECT * FROM read_csv('{tmp_path}/more.csv')")).num_rows == 1
    with pytest.raises(InputError):
        read_arrow(Database(str(duckdb), "SELECT * FROM read_csv('https://127.0.0.1:1/more.csv')"))


def test_damaged_databases_are_told_from_held_ones(duckdb: Path, sqlite: Path) -> None:
    whole = duckdb.read_bytes()
    for damaged in (whole[:12288] + b"\xaa" * (len(whole) - 12288), whole[: len(whole) // 3]):
        duckdb.write_bytes(damaged)
        with pytest.raises(InputError, match="is damaged"):
            read_arrow(Database(str(duckdb), QUERY))
    sqlite.write_bytes(sqlite.read_bytes()[:4096] + b"\xff" * 4096)
    with pytest.raises(InputError, match="is damaged"):
        read_arrow(Database(str(sqlite), QUERY))
    duckdb.write_bytes(b"no database at all" * 1000)
    with pytest.raises(InputError, match="no database of"):
        read_arrow(Database(str(duckdb), QUERY))


def test_a_database_that_another_program_holds_is_said_to_be_held(duckdb: Path) -> None:
    wait = "import sys\nprint(1, flush=True)\nsys.stdin.read()"
    other = [sys.executable, "-c", f"import duckdb\nheld = duckdb.connect({str(duckdb)!r})\n{wait}"]
    with subprocess.Popen(other, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        with pytest.raises(InputError, match="another program"):
            read_arrow(Database(str(duckdb), QUERY))
        process.communicate()
    told = Database("x.db", "SELECT 1")._explained(sqlite3.OperationalError("database is locked"))
    assert told.message == "another program holds the database"


def test_a_block_is_no_lock() -> None:
    """What a driver says of a failing DO block, or of a damaged block of a file, has the letters of "lock"."""
    for words in ("PL/pgSQL function inline_code_block line 1 at RAISE", "a block of 262,144 bytes", "blocked"):
        told = Database("x.duckdb", "SELECT 1")._explained(RuntimeError(words))
        assert tells(told.message, "could not answer")


@pytest.mark.parametrize("name", ["a [1]*?.", "it's, {x}.", "md:", "%41#."])
@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_a_database_is_the_file_that_is_named(
    kind: str, name: str, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = request.getfixturevalue(kind)
    file.rename(tmp_path / f"{name}{file.suffix}")
    monkeypatch.chdir(tmp_path)
    found = Database(f"{kind}:///{tmp_path}/{name}{file.suffix}", QUERY)
    assert read_arrow(found).num_rows == 10


SQLITE_TYPES = ("INTEGER", "REAL", "TEXT", "BLOB", "NUMERIC", "")
SQLITE_CELLS: dict[str, object] = {
    "nothing": None,
    "whole": 7,
    "real": 2.5,
    "text": "unknown",
    "number": "08.5",
    "bytes": b"\xff\x00",
}
CLOSED = Schema(
    quasi=["age"], sensitive=["ill"], people={"rows": "people"}, closed={"values": ["1", "2", "2.5", "7", "x"], "otherwise": "x"}
)  # fmt: skip


@pytest.mark.parametrize("declared", SQLITE_TYPES)
@pytest.mark.parametrize("cell", SQLITE_CELLS)
def test_no_cell_of_sqlite_decides_whether_there_is_a_table_or_what_others_have(declared: str, cell: str, tmp_path: Path) -> None:
    """36 columns with one cell of another kind, after more rows than a driver looks at: all others are read as before."""
    rows = 3000
    for place in (0, rows - 1):
        file = tmp_path / f"{place}.db"
        with closing(sqlite3.connect(file)) as base, base:
            base.execute(f"CREATE TABLE people (age INTEGER, ill {declared})")
            base.executemany("INSERT INTO people VALUES (?, ?)", [(i, 1 + i % 2) for i in range(rows)])
            base.execute("UPDATE people SET ill = ? WHERE age = ?", (SQLITE_CELLS[cell], place))
        table = Table.read(Database(str(file), "SELECT age, ill FROM people"), CLOSED)
        found = [table.sensitive.domain.labels[code] for code in table.sensitive.codes]
        expected = [str(1 + i % 2) for i in range(rows)]
        expected[place] = {"whole": "7", "real": "2.5"}.get(cell, "x")
        assert found == expected


def test_cells_of_sqlite_that_are_all_bytes_are_nothing_known_where_values_are_declared_and_else_refused(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "x.db")) as base, base:
        base.execute("CREATE TABLE people (age INTEGER, ill BLOB)")
        base.executemany("INSERT INTO people VALUES (?, ?)", [(i, b"\xff") for i in range(9)])
    query = Database(str(tmp_path / "x.db"), "SELECT age, ill FROM people")
    assert Table.read(query, CLOSED).sensitive.domain.labels == ("x",)
    with pytest.raises(InputError, match="'ill': it holds bytes"):
        Table.read(query, Schema(quasi=["age"], sensitive=["ill"]))


def _program(name: str) -> str | None:
    places = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}")) if Path("/usr/lib/postgresql").is_dir() else []
    return shutil.which(name) or (str(places[-1]) if places else None)


@pytest.fixture(scope="module")
def postgresql() -> Iterator[str]:
    """A server of its own that listens on this machine only, with a user who needs a password.

    It lies in no directory of pytest's: another run of tests closes these, while it begins, to whom the server runs as.
    """
    pytest.importorskip("adbc_driver_postgresql")
    initdb, server = _program("initdb"), _program("postgres")
    if initdb is None or server is None:
        pytest.skip("no PostgreSQL is installed (initdb was not found)")
    with tempfile.TemporaryDirectory(prefix="sfumato-postgresql-", ignore_cleanup_errors=True) as made:
        home, as_user = Path(made), {}
        if os.getuid() == 0:  # the server refuses to run as root
            as_user = {"user": "nobody", "group": "nogroup", "extra_groups": []}
            shutil.chown(home, "nobody", "nogroup")
        (home / "password").write_text(PASSWORD)
        (home / "password").chmod(0o644)
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": home, **as_user}
        command = [initdb, "-D", f"{home}/data", "-U", "owner", "-A", "scram-sha-256", f"--pwfile={home}/password", "-N"]
        subprocess.run(command, check=True, **quiet)  # type: ignore[call-overload]
        process, url = _started([server, "-D", f"{home}/data"], quiet)
        try:
            _fill(url)
            yield url
        finally:
            process.terminate()
            process.wait()


def _started(server: list[str], how: dict[str, object]) -> tuple[subprocess.Popen[bytes], str]:
    """Return a server that answers, and its address; it is waited for as long as it runs.

    Another program may take the port before it does: then it ends, and is started at another one.
    """
    from adbc_driver_postgresql import dbapi

    for _ in range(10):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        settings = ["-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "fsync=off", "-p", str(port)]
        process = subprocess.Popen([*server, *settings], **how)  # type: ignore[call-overload]
        url = f"postgresql://owner:{PASSWORD}@127.0.0.1:{port}/postgres"
        while process.poll() is None:
            try:
                dbapi.connect(url).close()
                return process, url
            except dbapi.Error:
                time.sleep(0.1)
    raise AssertionError("the server ends as soon as it is started")


def _fill(url: str) -> None:
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(url) as base, base.cursor() as cursor:
        cursor.execute("CREATE TABLE people (age INTEGER, sex TEXT, ill TEXT, paid NUMERIC(8,2), came DATE)")
        rows = [(*row, f"{100 + row[0]}.50", "2024-05-01") for row in PEOPLE]
        values = ", ".join(f"({a}, '{s}', '{i}', {p}, '{d}')" for a, s, i, p, d in rows)
        cursor.execute(f"INSERT INTO people VALUES {values}")
        cursor.execute("CREATE SEQUENCE counter")
        cursor.execute("CREATE DOMAIN fee AS money")
        base.commit()


def test_a_query_of_a_postgresql_server_is_a_table(postgresql: str) -> None:
    assert Table.read(Database(postgresql, QUERY), SCHEMA).rows == 10
    all_columns = read_arrow(Database(postgresql, "SELECT * FROM people"))
    assert all_columns["came"].type == pa.date32()
    schema = Schema(quasi=["age", "paid", "came"], sensitive=["ill"], other=["sex"], types={"paid": "numeric"})
    table = Table.read(Database(postgresql, "SELECT * FROM people"), schema)
    assert table.column("paid").values[0].as_py() == 120.5


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT * FROM nobody", "a table that"),
        ("SELECT nothing FROM people", "a column that"),
        ("SELEKT 1", "understand the query"),
        ("DELETE FROM people", "understand the query"),
        ("COPY people TO '/tmp/sfumato-copied'", "understand the query"),
        ("COMMIT; DELETE FROM people", "understand the query"),
        ("DO $$ BEGIN RAISE EXCEPTION 'a block'; END $$", "understand the query"),
        ("WITH gone AS (DELETE FROM people RETURNING *) SELECT * FROM gone", "not one SELECT"),
        ("SELECT age, nextval('counter') FROM people", "the query would write"),
        ("SELECT age, sex, ill AS sex FROM people", "columns 2, 3"),
        ("SELECT age, ill::integer FROM people", "cannot be turned"),
    ],
)
def test_bad_queries_of_a_server_are_refused_without_its_words(sql: str, message: str, postgresql: str) -> None:
    with pytest.raises(InputError, match=message) as problem:
        read_arrow(Database(postgresql, sql))
    shown = "".join(traceback.format_exception(problem.value))
    assert PASSWORD not in shown
    assert "ill 0" not in shown
    assert read_arrow(Database(postgresql, QUERY)).num_rows == 10


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("12.5::money", "12.50"),
        ("'-5.25'::money", "-5.25"),
        ("12.5::money::fee", "12.50"),
        ("4000000000::oid", 4000000000),
        ("7::int8", 7),
        ("1.50::numeric", "1.50"),
        ("'550e8400-e29b-41d4-a716-446655440000'::uuid", "550e8400-e29b-41d4-a716-446655440000"),
        ("'10.0.0.1'::inet", "10.0.0.1/32"),
        ("B'101'", "101"),
        ("'x'::text", "x"),
        ("NULL::money", None),
    ],
)
def test_what_a_server_stores_comes_as_what_it_means(value: str, expected: object, postgresql: str) -> None:
    found = read_arrow(Database(postgresql, f"SELECT age, {value} AS odd FROM people -- to the end\n ; "))
    assert set(found["odd"].to_pylist()) == {expected}


def test_a_wrong_password_or_place_is_told_without_the_password(postgresql: str) -> None:
    for url, message in (
        (postgresql.replace(PASSWORD, "secret-horse"), "refused the user or the password"),
        (postgresql.replace("/postgres", "/elsewhere"), "no such database"),
        (f"postgresql://me:{PASSWORD}@127.0.0.1:1/x", "no connection"),
        (f"postgresql://me:{PASSWORD}@127.0.0.1:port/x", "."),
    ):
        with pytest.raises(InputError, match=message) as problem:
            read_arrow(Database(url, QUERY))
        assert "horse" not in "".join(traceback.format_exception(problem.value))
