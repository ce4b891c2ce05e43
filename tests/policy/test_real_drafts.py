"""Drafts of real tables that statsmodels brings: kinds, roles and offers that a person would have made too."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import pytest

from sfumato.policy import Policy
from sfumato.policy.draft import draft_policy

statsmodels = pytest.importorskip("statsmodels.api")


@pytest.fixture(scope="module")
def drafts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder: Path = tmp_path_factory.mktemp("tables")
    made = {}
    for name in ("fair", "anes96", "heart"):
        getattr(statsmodels.datasets, name).load_pandas().data.to_csv(folder / f"{name}.csv", index=False)
        made[name] = draft_policy(folder / f"{name}.csv")
    return made


@pytest.mark.parametrize(("table", "column"), [("fair", "rate_marriage"), ("anes96", "popul")])
def test_ratings_and_sizes_are_numbers_whatever_else_their_names_say(drafts: dict[str, str], table: str, column: str) -> None:
    """A name with marriage or popul in it made them codes of a family or a place."""
    assert Policy.parse(drafts[table]).schema.types[column] == "numeric"


def test_a_size_of_a_place_is_published_in_bands(drafts: dict[str, str]) -> None:
    assert "width" in Policy.parse(drafts["anes96"]).schema.to_dict()["recode"]["popul"]


def test_an_age_is_not_the_secret_where_another_number_may_be(drafts: dict[str, str]) -> None:
    schema = Policy.parse(drafts["heart"]).schema
    assert (tuple(schema.quasi), tuple(schema.sensitive)) == (("age",), ("survival",))


def test_only_bounds_below_what_the_rule_allows_are_offered(drafts: dict[str, str]) -> None:
    offer = re.compile(r'^# ".*" = "([0-9.]+)" .*at most ([0-9.]+) % sure', re.MULTILINE)
    for text in drafts.values():
        found = offer.findall(text)
        assert found
        assert all(100 * Fraction(bound) < Fraction(allowed) for bound, allowed in found)
