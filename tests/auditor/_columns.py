"""An honest columns release of eight people in two groups, and ways to tamper with it."""

from sfumato.auditor import audit_tables
from sfumato.privacy import PresenceAssociation
from tests.makers import people
from tests.release import _forge
from tests.release._forge import in_order
from tests.release._fragments import columns_of

HALF = PresenceAssociation("1/2", "1/2", against="reader")
TABLE = people(
    ["flu", "cold", "flu", "cold", "ache", "flu", "ache", "cold"],
    age=[20, 21, 22, 23, 60, 61, 62, 63],
    sex=["f", "m", "f", "m", "f", "m", "m", "f"],
)
GROUPS = [0, 0, 0, 0, 1, 1, 1, 1]


def honest(requirement=HALF):
    return columns_of(TABLE, GROUPS, requirement)


def judged(release, tables, table=TABLE):
    return audit_tables(release.manifest, in_order(release.manifest, tables), table)


def with_rows(tables, name, rows):
    return {**tables, name: _forge.with_rows(tables[name], rows)}
