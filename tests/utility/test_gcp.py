"""GCP by hand."""

import datetime

import numpy as np
import pyarrow as pa
import pytest

from sfumato import LDiversity, Schema, Table, publish
from sfumato.errors import InputError
from sfumato.methods.anatomy import Anatomy
from sfumato.utility.gcp import gcp, gcp_of_groups
from tests.makers import people
from tests.release._ranges import of_groups

AGE = [20, 30, 40, 60]
TOWN = ["x", "y", "z", "z"]
GROUPS = [0, 0, 1, 1]


def table_with(**options):
    data = pa.table({"age": AGE, "town": TOWN, "value": list("abab")})
    return Table.from_frame(data, Schema(quasi=["age", "town"], sensitive=["value"], **options))


def test_ranges_and_sets_are_measured_against_what_is_seen():
    found = gcp(of_groups(table_with(), GROUPS))
    # Ages 10/40 and 20/40, towns 1/2 and 0, two people each.
    assert found.per_column == {"age": pytest.approx(0.375), "town": pytest.approx(0.25)}
    assert found.value == pytest.approx(0.3125)
    assert (found.normalised_by, found.declared) == ("seen", ())


def test_declared_domains_come_first_and_are_named():
    domains = {"age": {"min": 0, "max": 100}, "town": ["v", "w", "x", "y", "z"]}
    found = gcp(of_groups(table_with(domains=domains), GROUPS))
    assert found.per_column == {"age": pytest.approx(0.15), "town": pytest.approx(0.125)}
    assert found.normalised_by == "declared"
    half = gcp(of_groups(table_with(domains={"age": domains["age"]}), GROUPS))
    assert half.per_column == {"age": pytest.approx(0.15), "town": pytest.approx(0.25)}
    assert (half.normalised_by, half.declared) == ("mixed", ("age",))


def test_groups_weigh_by_their_people():
    table = people(list("abcd"), age=[0, 10, 10, 4])
    assert gcp_of_groups(table.quasi, np.array([0, 0, 0, 1])).value == pytest.approx(3 / 4)
    assert gcp_of_groups(table.quasi, np.array([0, -1, -1, 0])).value == pytest.approx(1.0)
    with pytest.raises(InputError, match="no row"):
        gcp_of_groups(table.quasi, np.array([-1] * 4))


def test_a_domain_of_one_value_costs_nothing():
    assert gcp(of_groups(people(list("ab"), age=[5, 5], town=["x", "x"]), [0, 0])).value == 0.0


def test_a_missing_category_is_a_value_and_a_missing_number_is_not():
    found = gcp(of_groups(people(list("abc"), age=[0, 10, None], town=["x", None, "x"]), [0, 1, 1]))
    # Ages: 0 and {10, missing}: no width. Towns: {x} of {x, missing} and both of them, for one and two people.
    assert found.per_column == {"age": 0.0, "town": pytest.approx(2 / 3)}


def test_dates_are_measured_in_days():
    days = [datetime.date(2024, 1, 1), datetime.date(2024, 1, 11), datetime.date(2024, 1, 21)]
    assert gcp(of_groups(people(list("abc"), day=days), [0, 0, 1])).value == pytest.approx((10 / 20) * 2 / 3)


def test_buckets_are_measured_by_the_ranges_they_would_be_shown_by():
    table = table_with()
    release = publish(table, LDiversity(2), method=Anatomy(l=2), random=1)
    codes = [column.codes for column in release.quasi]
    by_hand = gcp_of_groups(release.quasi, release.group)
    assert gcp(release) == by_hand
    widths = []
    for bucket in range(len(release.sizes)):
        ages = np.array(AGE)[codes[0][release.group == bucket]]
        widths += [(ages.max() - ages.min()) / 40] * len(ages)
    assert by_hand.per_column["age"] == pytest.approx(np.mean(widths))
