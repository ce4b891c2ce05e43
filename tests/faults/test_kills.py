"""A handful of the kills of tests/faults/kills.py, and that they reach every method, engine and verb that writes."""

import re
from pathlib import Path

import sfumato.cli
from sfumato.methods import METHODS
from tests.faults.kills import JOBS, POLICIES, furnish, kills, leftovers


def test_every_method_is_killed():
    assert set(POLICIES) == set(METHODS)


def test_every_verb_that_writes_is_killed():
    places = Path(sfumato.cli.__file__).parent
    writing = {
        path.stem for path in places.glob("[a-z]*.py") if re.search(r"with .*\bwriting\(|STATE.written = str", path.read_text())
    }
    # large.py publishes by an engine, and the demo runs the others
    assert writing - {"large", "demo"} <= {job.split()[0] for job in JOBS}


def test_killed_verbs_leave_nothing_but_what_is_whole(tmp_path):
    jobs = ("publish boxes", "publish anatomy by duckdb", "sample")
    wrong = [(what, came) for what, came in kills(tmp_path, 6, 1, jobs) if came not in ("in time", "too late")]
    assert wrong == []


def test_leftovers_are_found(tmp_path):
    furnish(tmp_path)
    (tmp_path / "releases" / ".a.0123456789ab.partial").mkdir()
    (tmp_path / "releases" / "empty").mkdir()
    (tmp_path / "receipts" / "a.receipt.json").touch()
    (tmp_path / "links" / "links.parquet").write_bytes(b"PAR1")
    (tmp_path / "completed" / "half").mkdir()
    (tmp_path / "reports" / "cut.html").write_text("<html>")
    (tmp_path / "databases" / "a.duckdb").write_bytes(b"")
    (tmp_path / "tmp" / ".sfumato.0123456789ab.partial").mkdir()
    assert len(list(leftovers(tmp_path))) == 8
