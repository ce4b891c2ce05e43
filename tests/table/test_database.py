"""Tables out of databases: what comes, what is refused, and that no password is ever shown."""

from __future__ import annotations

import os
import shutil
import socket
import sqlite3
import subprocess
import traceback
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from sfumato.errors import InputError
from sfumato.table import Database, Schema, Table, read_arrow

SCHEMA = Schema(quasi=["age", "sex"], sensitive=["ill"])
PEOPLE = [(20 + i, "fm"[i % 2], f"ill {i % 3}") for i in range(12)]
QUERY = "SELECT age, sex, ill FROM people WHERE age > 21"
PASSWORD = "correct-horse"


@pytest.fixture
def sqlite(tmp_path: Path) -> Path:
    pytest.importorskip("adbc_driver_sqlite")
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
        ("SELECT * FROM nobody", "names a table that is not there"),
        ("SELEKT 1", "does not understand the query"),
        ("DELETE FROM people", "the query would write"),
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


def _program(name: str) -> str | None:
    places = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}")) if Path("/usr/lib/postgresql").is_dir() else []
    return shutil.which(name) or (str(places[-1]) if places else None)


@pytest.fixture(scope="module")
def postgresql(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of its own that listens on this machine only, with a user who needs a password."""
    pytest.importorskip("adbc_driver_postgresql")
    initdb, server = _program("initdb"), _program("postgres")
    if initdb is None or server is None:
        pytest.skip("no PostgreSQL is installed (initdb was not found)")
    home = tmp_path_factory.mktemp("pg")
    as_user: dict[str, object] = {}
    if os.getuid() == 0:  # the server refuses to run as root
        as_user = {"user": "nobody", "group": "nogroup", "extra_groups": []}
        shutil.chown(home, "nobody", "nogroup")
        for parent in home.parents:
            if parent.owner() == "root" and not parent.stat().st_mode & 0o001:
                parent.chmod(parent.stat().st_mode | 0o711)
    (home / "password").write_text(PASSWORD)
    (home / "password").chmod(0o644)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": home, **as_user}
    command = [initdb, "-D", f"{home}/data", "-U", "owner", "-A", "scram-sha-256", f"--pwfile={home}/password", "-N"]
    subprocess.run(command, check=True, **quiet)  # type: ignore[call-overload]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = ["-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "fsync=off", "-p", str(port)]
    process = subprocess.Popen([server, "-D", f"{home}/data", *settings], **quiet)  # type: ignore[call-overload]
    url = f"postgresql://owner:{PASSWORD}@127.0.0.1:{port}/postgres"
    try:
        _fill(url)
        yield url
    finally:
        process.terminate()
        process.wait(30)


def _fill(url: str) -> None:
    from time import sleep

    from adbc_driver_postgresql import dbapi

    for _ in range(300):
        try:
            with dbapi.connect(url) as base, base.cursor() as cursor:
                cursor.execute("CREATE TABLE people (age INTEGER, sex TEXT, ill TEXT, paid NUMERIC(8,2), came DATE)")
                rows = [(*row, f"{100 + row[0]}.50", "2024-05-01") for row in PEOPLE]
                values = ", ".join(f"({a}, '{s}', '{i}', {p}, '{d}')" for a, s, i, p, d in rows)
                cursor.execute(f"INSERT INTO people VALUES {values}")
                base.commit()
                return
        except dbapi.OperationalError:
            sleep(0.2)
    raise AssertionError("the server did not start")


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
        ("SELECT * FROM nobody", "names a table that is not there"),
        ("SELECT nothing FROM people", "names a column that is not there"),
        ("SELEKT 1", "does not understand the query"),
        ("DELETE FROM people", "the query would write"),
        ("SELECT age, ill::integer FROM people", "a value cannot be turned"),
    ],
)
def test_bad_queries_of_a_server_are_refused_without_its_words(sql: str, message: str, postgresql: str) -> None:
    with pytest.raises(InputError, match=message) as problem:
        read_arrow(Database(postgresql, sql))
    shown = "".join(traceback.format_exception(problem.value))
    assert PASSWORD not in shown
    assert "ill 0" not in shown
    assert read_arrow(Database(postgresql, QUERY)).num_rows == 10


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
