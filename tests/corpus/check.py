"""What the tests of the corpus share: one case published again and compared with the record."""

from importlib.metadata import PackageNotFoundError, version

from tests.corpus.cases import CASES
from tests.corpus.compare import differences, golden, without_csv_bytes
from tests.corpus.mapping import mapped
from tests.corpus.observe import watched


def check(name):
    """Publish a case again: everything must be as recorded, but for what `MAPPING` says."""
    recorded, versions = golden()
    assert name in recorded, f"{name} is not recorded: python -m tests.corpus.record"
    expected = recorded[name]
    if version("pyarrow") != versions["pyarrow"]:
        expected = without_csv_bytes(expected)
    assert differences(mapped(name, expected), watched(CASES[name])) == []


def installed_as_recorded(*packages):
    """Return whether packages have the versions that the record was made with."""
    try:
        return all(version(one) == golden()[1].get(one) for one in packages)
    except PackageNotFoundError:
        return False
