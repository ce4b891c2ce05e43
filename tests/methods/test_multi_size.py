from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sfumato import MultiSize, audit, publication, publish
from sfumato.errors import ClaimBroken, Infeasible, NotProvable, PolicyError
from sfumato.groups.grouping import Histograms, require_bounds
from sfumato.privacy import FPrivacy, LDiversity
from sfumato.privacy.bounds import Bounds
from sfumato.table import Schema, Table
from tests.makers import people, skewed

BLIND = MultiSize()


def shares_by_bucket(release):
    """Return {(bucket, value): count} and bucket sizes, read from the published tables by plain Python."""
    tables = release.tables()
    sizes = Counter(tables["qit"]["group"].to_pylist())
    counts = {(row["group"], row["value"]): row["count"] for row in tables["st"].to_pylist()}
    return counts, sizes


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.integers(1, 12), min_size=2, max_size=7),
    st.sampled_from(["optimal", "top-down", "two-size"]),
    st.integers(0, 2**32),
)
def test_every_bucket_keeps_every_bound_and_everybody_is_published_once(counts, strategy, seed):
    values = [f"v{k}" for k, count in enumerate(counts) for _ in range(count)]
    table = people(values)
    requirement = FPrivacy(theta=2, offset="0.2")
    bounds = requirement.bounds(table.sensitive.histogram())
    assume(bounds.protects)
    try:
        release = MultiSize(strategy=strategy, max_size=len(values)).run(table, requirement, random=seed).release
    except Infeasible:
        assert strategy == "two-size"  # one group of all always exists; two sizes below it need not
        return
    shown, sizes = shares_by_bucket(release)
    for (bucket, value), count in shown.items():
        assert Fraction(count, sizes[bucket]) <= bounds.limit(value)
    assert sorted(release.tables()["qit"]["number"].to_pylist()) == list(range(len(values)))
    assert Counter({value: sum(c for (_, v), c in shown.items() if v == value) for value in set(values)}) == Counter(values)


def test_a_table_of_one_value_needs_a_bound_of_one():
    table = people(["same"] * 10)
    with pytest.raises(Infeasible, match="same"):
        publish(table, LDiversity(2))
    with pytest.raises(PolicyError, match="protects nobody"):
        publish(table, FPrivacy(offset=1))
    with pytest.raises(PolicyError, match="protects nobody"):
        BLIND.run(table, FPrivacy(offset=1), random=1)


def test_what_is_no_table_requirement_or_method_is_told_so():
    table = skewed()
    for arguments, message in [
        (([1, 2], LDiversity(2)), "table: got a list"),
        ((table, "l-diversity"), "requirement: got a str"),
    ]:
        with pytest.raises(PolicyError, match=message):
            publish(*arguments)
    with pytest.raises(PolicyError, match="method: got a str"):
        publish(table, LDiversity(2), method="boxes")
    with pytest.raises(PolicyError, match="table: got a dict"):
        audit(publish(table, LDiversity(2)), {})


def test_the_loss_is_that_of_the_published_sizes_and_the_papers_measures_follow():
    result = publication(skewed(), FPrivacy(theta=4, offset="0.02"), method=BLIND, random=2)
    assert result.private["loss"] == int(((result.release.sizes - 1) ** 2).sum())
    assert result.private["gap"] <= 1e-4
    assert result.audit.holds is True


def test_the_strategies_lose_less_and_less():
    table = skewed()
    loss = [
        publication(table, FPrivacy(theta=4, offset="0.05"), method=replace(BLIND, strategy=strategy), random=1).private["loss"]
        for strategy in ("one-size", "two-size", "top-down", "optimal")
    ]
    assert loss == sorted(loss, reverse=True)
    assert loss[3] < loss[1]


def test_who_shares_a_bucket_follows_nothing():
    schema = Schema(quasi=["number"], sensitive=["value"], allow_unique=["number"])
    table = Table.from_frame(pa.table({"number": range(2000), "value": [f"v{k % 5}" for k in range(2000)]}), schema)
    qit = publish(table, LDiversity(5), method=BLIND, random=11).tables()["qit"]
    members = np.asarray(qit["number"])[np.argsort(np.asarray(qit["group"]), kind="stable")].reshape(400, 5)
    mates = np.random.default_rng(1).permuted(members, axis=1)
    # Correlations of n independent pairs have standard deviation 1/√n: five of them is a false alarm in 10^6.
    assert abs(np.corrcoef(mates[:, 0], mates[:, 1])[0, 1]) < 5 / np.sqrt(400)


def test_an_insider_is_refused_with_the_reason():
    with pytest.raises(NotProvable, match=r"(?s)not against 'insider'.*declared") as caught:
        publish(skewed(), LDiversity(2, against="insider"))
    assert caught.value.against == "insider"


def test_dropped_people_lose_the_engineers_claim():
    import pyarrow as pa

    frame = pa.table({"age": [1, 2, 3, 4, 5], "value": ["a", "b", None, "a", "b"]})
    table = Table.from_frame(frame, Schema(quasi=["age"], sensitive=["value"], missing={"value": "drop"}))
    with pytest.raises(NotProvable, match="people were left out"):
        publish(table, LDiversity(2))
    assert publish(table, LDiversity(2, against="reader")).rows == 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"strategy": "best"}, "strategy=….*expected one of"),
        ({"max_size": 0}, "max_size=….*from 1 on"),
        ({"max_size": 2.5}, "max_size=….*from 1 on"),
        ({"gap": -1}, "gap=….*from 0 on"),
        ({"time_limit": "long"}, "time_limit=….*from 0 on"),
        ({"gap": True}, "gap=….*from 0 on"),
        ({"time_limit": float("inf")}, "time_limit=….*from 0 on"),
        ({"form": "columns"}, "form=….*'buckets', 'ranges'"),
    ],
)
def test_parameters_are_checked_when_the_method_is_made(options, message):
    with pytest.raises(PolicyError, match=message):
        MultiSize(**options)


def test_the_ranges_of_blind_groups_are_shown_and_hold():
    table = skewed()
    made = publication(table, FPrivacy(theta=4, offset="0.05"), method=MultiSize(form="ranges"), random=1)
    assert made.release.form == "ranges"
    assert made.release.manifest.basis == "blind"
    assert made.audit.holds is True


def test_a_group_over_its_bound_is_never_published():
    full = Histograms(np.array([0, 0], np.int32), np.array([0, 1], np.int32), np.array([2, 1]))
    require_bounds(full, np.array([3]), Bounds.of("ab", (2, 1), (Fraction(2, 3), Fraction(1, 3))))
    with pytest.raises(ClaimBroken, match="1 group counts exceed"):
        require_bounds(full, np.array([3]), Bounds.of("ab", (2, 1), (Fraction(65, 100), Fraction(1, 3))))
