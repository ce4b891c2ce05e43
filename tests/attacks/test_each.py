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
        own, away = (one for seed in (1, 2) for one in table(seed).each() if one.schema.sensitive == (name,))
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
    with pytest.raises(InputError, match="protects ill, smokes"):
        sf.attack(release, table(1, protect="combination"), ["random-worlds"])
    with pytest.raises(PolicyError, match="set 'bad'"):
        sf.attack(release, table(1), ["random-worlds"], sets={"bad": ["gout", "once"]})


def test_no_figure_about_one_of_several_secrets_is_above_1(release):
    other = sf.publish(table(1), sf.FPrivacy(offset="0.8"), method=sf.Boxes(floor=50), random=2)
    found = sf.attack(release, table(1), random=3, others=[other], sets={"some": ["flu", "gout"], "both": ["yes"]})
    figures = [
        one for result in found for one in (result.success, result.mean_belief, result.largest_belief, result.worst, result.over)
    ]
    figures += [value for result in found for name, value in result.figures.items() if "belief" in name and "/" not in name]
    assert len([one for one in figures if one is not None]) > 50
    assert all(0 <= one <= 1 + 1e-9 for one in figures if one is not None)


def test_another_release_counts_for_the_secret_it_is_about_alone_or_among_others(release):
    """A release of one secret beside one of two, in either order: composition was not tried, or found no value in common."""
    own = next(one for one in table(1).each() if one.schema.sensitive == ("ill",))
    alone = sf.publish(own, sf.FPrivacy(offset="0.8"), method=sf.Boxes(floor=50), random=4)
    part = {one.name: one for one in sf.attack(release.of("ill"), own, "composition", others=[alone], random=3)}
    both = {one.name: one for one in sf.attack(release, table(1), "composition", others=[alone], random=3)}
    assert {name.removesuffix(", ill") for name, one in both.items() if not one.refused} == set(part)
    assert [one.variant for one in both.values() if one.refused] == ["smokes"]
    turned = sf.attack(alone, own, "composition", others=[release], random=3)
    assert [one.success for one in turned] == [
        one.success for one in sf.attack(alone, own, "composition", others=[release.of("ill")], random=3)
    ]
    assert all(one.figures.get("values left on average", 1) > 0 for one in turned)


def test_presence_is_asked_once_and_is_about_no_secret():
    coins = np.random.default_rng(1)
    frame = people(1).append_column("place", pa.array(coins.integers(0, 40, 600)))
    everybody = sf.Table.from_frame(frame, sf.Schema(sensitive=["ill", "smokes"], quasi=["age", "sex", "place"], protect="each"))
    hidden = sf.publish(everybody, sf.PresenceAssociation("0.9", "0.9"), method=sf.Ambiguity(), random=1)
    found = sf.attack(hidden, everybody, ["presence", "random-worlds"], random=3)
    assert [(one.attack, one.variant, one.secret) for one in found] == [
        ("presence", "from the release", ""),
        ("random-worlds", "ill", "ill"),
        ("random-worlds", "smokes", "smokes"),
    ]
    [again] = sf.attack(hidden, everybody, "presence", random=3)
    assert again.largest_belief == found[0].largest_belief <= 0.9
