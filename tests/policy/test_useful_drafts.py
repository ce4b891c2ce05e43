"""The untouched draft of any table about people gives a release worth having: drafted, checked, published and asked."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.policy import Policy, draft_policy
from tests.policy._ten_tables import TABLES, write
from tests.policy._useful import Useful, useful

ENOUGH = 2_000
"""What is asked holds for tables of so many people."""


def halved(policy: Policy, table: sf.Table) -> sf.FPrivacy:
    """The bounds that drafts had before: none above one half, or a third of the way from the share to 1 where more have it."""
    columns = {}
    for one in table.each():
        most = Fraction(int(one.sensitive.counts.max()), table.rows)
        target = max(Fraction(1, 2), most + (1 - most) / 3)
        theta = min(Fraction(8), (target - Fraction(1, 50)) / most)
        columns[one.schema.sensitive[0]] = sf.FPrivacy(theta=max(theta, Fraction(1)), offset="0.02")
    several = len(columns) > 1
    first = next(iter(columns.values()))
    return sf.FPrivacy(theta=first.theta, offset="0.02", columns=columns if several else None)


def asked(path: Path, **draft: Any) -> tuple[Policy, sf.Table, Useful]:
    """Draft, check, publish and ask a table without an edit."""
    policy = Policy.parse(draft_policy(path, reviewed=True, **draft))
    table = policy.read_table(path)
    policy.require_reviewed(path)
    made = sf.publication(table, policy.requirement, method=policy.method, random=1)
    assert made.audit.holds is True
    return policy, table, useful(made.release, table, exposure=made.audit.exposure or 0.0)


@pytest.mark.parametrize("name", TABLES)
def test_an_untouched_draft_tells_much_with_intervals_that_hold(name: str, tmp_path: Path) -> None:
    path = write(tmp_path / f"{name}.csv", TABLES[name](np.random.default_rng(29)))
    policy, table, found = asked(path, rename=name == "court")
    if table.rows < ENOUGH:
        assert found.ratio < 1
        return
    assert found.ratio <= 0.5
    assert found.intervals >= 0.8
    assert found.held >= 0.9
    before = sf.publication(table, halved(policy, table), random=1).audit.exposure or 0.0
    # Of two values that a third of people have each, 8-fold odds tell more than one half: 1.25 to 1.31 over six draws.
    assert found.exposure <= (1.35 if name == "plebiscite" else 1.3) * before


REAL = {
    "fair": {},
    "randhie": {"quasi": ["lncoins", "idp", "fmde", "physlm"], "sensitive": ["mdvis", "disea", "hlthg"]},
    "anes96": {},
}
"""Real tables about people that statsmodels ships; of randhie no name says what others may know."""


@pytest.mark.parametrize("name", REAL)
def test_an_untouched_draft_of_a_real_table_does_too(name: str, tmp_path: Path) -> None:
    datasets = pytest.importorskip("statsmodels.datasets")
    path = tmp_path / f"{name}.csv"
    getattr(datasets, name).load_pandas().data.to_csv(path, index=False)
    _, table, found = asked(path, roles=REAL[name])
    if table.rows < ENOUGH:
        assert found.ratio < 0.8
        return
    assert found.ratio <= 0.5
    assert found.intervals >= 0.8
    assert found.held >= 0.9
