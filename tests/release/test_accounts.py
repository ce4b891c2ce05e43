"""The table `groups` of soft cuts: in every form, in one spelling, and read carefully."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from sfumato import Ambiguity, Boxes, FPrivacy, PresenceAssociation, Release, publication
from sfumato.auditor import audit_release
from sfumato.auditor.audit import audit_tables
from sfumato.errors import FormatError
from tests.makers import skewed

LINEAR = FPrivacy(theta=2, offset="1/4")
WAYS = {
    "buckets": (LINEAR, Boxes(floor=20)),
    "ranges": (LINEAR, Boxes(floor=20, form="ranges")),
    "columns": (PresenceAssociation(1, LINEAR), Ambiguity(floor=20)),
}


@pytest.fixture(scope="module")
def table():
    return skewed(1500)


@pytest.fixture(scope="module", params=WAYS)
def made(request, table):
    requirement, method = WAYS[request.param]
    found = publication(table, requirement, method=method, random=4)
    assert found.release.manifest.basis == "soft"
    assert len(found.release.sizes) > 3
    return found


def test_every_form_shows_the_account_of_every_group_and_comes_back_from_the_disk(made, table, tmp_path):
    release = made.release
    groups = release.tables()["groups"]
    assert groups.column_names == ["group", "account"]
    assert groups["group"].to_pylist() == list(range(1, len(release.sizes) + 1))
    assert min(groups["account"].to_pylist()) < 1000  # something was refused
    for kind in ("parquet", "csv"):
        release.save(tmp_path / kind, format=kind)
        loaded = Release.load(tmp_path / kind)
        assert loaded.tables()["groups"].equals(groups)
        assert audit_release(loaded, table).holds is True


def test_equal_seeds_give_equal_accounts_whatever_the_order_of_the_input(made, table):
    turned = table.take(np.arange(table.rows)[::-1])
    again = publication(turned, _requirement(made), method=made.method, random=4)
    assert again.release.tables()["groups"].equals(made.release.tables()["groups"])


def _requirement(made):
    return WAYS[made.release.form][0]


def test_an_audit_judges_the_engineer_by_the_account_and_tells_the_readers_belief_apart(made, table):
    release = made.release
    tables = release.tables()
    told = np.array(tables["groups"]["account"])
    bounds = dict(zip(made.bounds.values, made.bounds.limits, strict=True))
    shares, figures = [], []
    for group, counts in enumerate(_counts(release)):
        for label, count in counts.items():
            if bounds[label] < 1:
                size = sum(counts.values())
                shares.append((Fraction(count, size) - bounds[label], Fraction(count, size)))
                figure = count / (1 + (size - 1) * Fraction(int(told[group]), 1000))
                figures.append((figure - bounds[label], figure))
    claim = made.audit.claims[-1]
    assert (claim.worst, claim.reader) == (max(figures)[1], max(shares)[1])
    assert claim.worst > claim.reader
    assert claim.to_dict()["reader"] == str(claim.reader)
    lower = tables["groups"].set_column(1, "account", pa.array(np.maximum(told // 2, 1), pa.int32()))
    audit = audit_tables(release.manifest, {**tables, "groups": lower}, table)
    assert audit.claims[-1].holds is False  # the same people and values: only the account says that more was told
    assert audit.exposure == made.audit.exposure  # a reader's


def _counts(release):
    """Count values by group from the published tables."""
    tables = release.tables()
    found = [{} for _ in release.sizes]
    if release.form == "ranges":
        for row in tables["records"].to_pylist():
            found[row["group"] - 1][row["value"]] = found[row["group"] - 1].get(row["value"], 0) + 1
        return found
    for row in tables["st"].to_pylist():
        found[row["group"] - 1][row["value"]] = row["count"]
    return found


def test_other_accounts_are_refused(made):
    release = made.release
    tables, groups = release.tables(), release.tables()["groups"]
    column = groups["account"].to_pylist()

    def refused(match, **changed):
        with pytest.raises(FormatError, match=match):
            type(release).from_tables(release.manifest, {**tables, **changed})

    def with_told(values):
        return groups.set_column(1, "account", pa.array(values, pa.int32()))

    refused("between 1 and 1000", groups=with_told([1001, *column[1:]]))
    refused("start at 1", groups=with_told([0, *column[1:]]))
    refused("canonical order", groups=groups.take(list(range(groups.num_rows))[::-1]))
    refused("without gaps", groups=groups.slice(1))
    refused("rows for", groups=pa.concat_tables([groups, groups.slice(0, 1)]))
    refused("has the tables", extra=groups)
    with pytest.raises(FormatError, match="has the tables"):
        type(release).from_tables(release.manifest, {name: one for name, one in tables.items() if name != "groups"})
    with pytest.raises(FormatError, match="has the tables"):
        type(release).from_tables(replace(release.manifest, basis="safe"), tables)
    turned = groups.take(list(range(groups.num_rows))[::-1])
    put_right = type(release).from_tables(release.manifest, {**tables, "groups": turned}, in_any_order=True)
    assert put_right.tables()["groups"].equals(groups)


def test_groups_that_show_the_same_but_for_their_accounts_are_numbered_by_them():
    from sfumato.release.accounts import account_listing, renumbered
    from sfumato.release.canonical import TableRows, canonical_order

    told = np.array([700, 1000, 490])
    same = TableRows("qit", np.array([0, 1, 2]), np.array([5, 5, 5]))
    order = canonical_order((same, *account_listing(told)), 3)
    assert renumbered(told, order.number).tolist() == [490, 700, 1000]


def test_soft_groups_must_carry_accounts():
    from sfumato.groups.grouping import Grouping

    with pytest.raises(ValueError, match="account"):
        Grouping(np.zeros(3, np.int32), 1, "soft")
    with pytest.raises(ValueError, match="account"):
        Grouping(np.zeros(3, np.int32), 1, "safe", account=np.array([1000]))
