"""Attacks on several secrets that are protected each by itself: every secret is judged by its own values, also of outsiders."""

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import InputError, PolicyError

ROLES = {"quasi": ["age", "sex"], "protect": "each"}


def people(seed, rows=600):
    coins = np.random.default_rng(seed)
    return pa.table(
        {
            "age": coins.integers(20, 60, rows),
            "sex": coins.choice(["f", "m"], rows),
            "ill": coins.choice(["flu", "gout", "yes"], rows, p=[0.2, 0.2, 0.6]),
            "smokes": coins.choice(["no", "once", "yes"], rows, p=[0.3, 0.2, 0.5]),
        }
    )


def table(seed, sensitive=("ill", "smokes"), **more):
    return sf.Table.from_frame(people(seed), sf.Schema(sensitive=[*sensitive], **{**ROLES, **more}))


@pytest.fixture(scope="module")
def release():
    return sf.publish(table(1), sf.FPrivacy(offset="0.8"), method=sf.Boxes(floor=50), random=1)


def figures(found):
    return {one.variant: (one.success, one.control) for one in found}


@pytest.mark.parametrize("order", [("ill", "smokes"), ("smokes", "ill")])
def test_outsiders_are_paired_by_column_in_whatever_order_they_come(release, order):
    """`yes` is a value of both secrets: paired wrongly, another share of outsiders would be guessed."""
    together = figures(sf.attack(release, table(1, order), "nb", outsiders=table(2, order), random=3))
    for name in ("ill", "smokes"):
        own, away = (one for seed in (1, 2) for one in table(seed).apart() if one.schema.sensitive == (name,))
        alone = sf.attack(release.of(name), own, "nb", outsiders=away, random=3)
        assert any(one.control is not None for one in alone)
        for one in alone:
            assert together[f"{one.variant}, {name}" if one.variant else name] == (one.success, one.control)


def test_outsiders_with_one_of_the_secrets_are_a_control_of_that_one_alone(release):
    away = sf.Table.from_frame(people(2).drop_columns(["smokes"]), sf.Schema(quasi=["age", "sex"], sensitive=["ill"]))
    found = figures(sf.attack(release, table(1), ["nb"], outsiders=away, random=3))
    known = {name.rpartition(", ")[2] for name, (_, control) in found.items() if control is not None}
    assert known == {"ill"}
    assert {name.rpartition(", ")[2] for name in found} == {"ill", "smokes"}


def test_a_table_of_other_secrets_and_a_set_of_two_are_refused(release):
    with pytest.raises(InputError, match="protects ill, smokes each by itself, and the table ill / smokes"):
        sf.attack(release, table(1, protect="combination"), ["random-worlds"])
    with pytest.raises(PolicyError, match="the set 'bad' has values that are not all of one sensitive column"):
        sf.attack(release, table(1), ["random-worlds"], sets={"bad": ["gout", "once"]})
