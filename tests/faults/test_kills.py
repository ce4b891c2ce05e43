"""A handful of the kills of tests/faults/kills.py, and that they reach every method."""

from sfumato.methods import METHODS
from tests.faults.kills import POLICIES, kills, leftovers


def test_every_method_is_killed():
    assert set(POLICIES) == set(METHODS)


def test_killed_publications_leave_nothing_but_whole_releases_and_receipts(tmp_path):
    wrong = [(what, came) for what, came in kills(tmp_path, 8, 1, ("boxes", "anatomy")) if came not in ("in time", "too late")]
    assert wrong == []


def test_leftovers_are_found(tmp_path):
    for folder in ("releases", "receipts"):
        (tmp_path / folder).mkdir()
    (tmp_path / "releases" / ".a.0123456789ab.partial").mkdir()
    (tmp_path / "releases" / "empty").mkdir()
    (tmp_path / "receipts" / "a.receipt.json").touch()
    (tmp_path / "links.parquet").write_bytes(b"PAR1")
    assert len(list(leftovers(tmp_path))) == 4
