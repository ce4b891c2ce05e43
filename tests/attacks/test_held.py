"""Adversaries of people who may have several values: what they know, what they reach, and what nobody claims."""

from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.auditor.knowing import beliefs_by_number, classes_of, share_above
from tests.makers import tells

PEOPLE = {"key": "who", "keep": "all"}


def visits(people=600, *, alike=None, secrets=None, form="buckets", rows=(1, 2, 3, 4, 6, 9), theta=3):
    """Return a table and a release of it in which people with more rows have more values."""
    coins = np.random.default_rng(3)
    times = coins.choice(rows, people)
    who = np.repeat(np.arange(people), times)
    ill = [f"v{min(k, 9)}" for k in coins.geometric(0.25, len(who)) - 1]
    frame = pa.table({"who": who, "age": 20 + who % 50, "ill": ill, "ward": [f"w{k}" for k in coins.integers(0, 12, len(who))]})
    given = {} if alike is None else {"alike": alike}
    named = secrets or {"ill": "ill"}
    rest = [name for name in ("ill", "ward") if name not in named]
    schema = sf.Schema(quasi=["age"], identifier=["who"], secrets=named, other=rest, people={**PEOPLE, **given})
    table = sf.Table.from_frame(frame, schema, random=1)
    asked = sf.FPrivacy(theta=theta, offset="0.1")
    return table, sf.publish(table, asked, method=sf.Boxes(form=form), random=1)


def test_beliefs_add_up_to_what_a_group_shows_and_ascend_with_the_number():
    group, number = np.repeat([0, 1, 2], [6, 4, 3]), np.array([1, 1, 2, 5, 5, 9, 3, 3, 3, 3, 0, 0, 2])
    classes = classes_of(group, number, 3)
    found = beliefs_by_number(classes, np.array([0, 0, 1, 2, 0]), np.array([2, 5, 1, 1, 6]))
    assert (classes.people * found[[0, 0, 0]][:1]).sum(axis=1)[0] == pytest.approx(2)
    sums = [(classes.people[g] * one).sum() for g, one in zip([0, 0, 1, 2, 0], found, strict=True)]
    assert sums == pytest.approx([2, 5, 1, 1, 6])
    assert (np.diff(found[0, :4]) > 0).all()
    assert found[2, 0] == pytest.approx(1 / 4)  # all have as many rows: nothing is learned
    assert found[3].tolist()[:2] == [0.0, 1.0]  # who has none has none, and one other has it
    assert (found[4] == 1).all()
    assert share_above(classes, np.array([0]), np.array([2]), np.array([0.5])) == pytest.approx(1 / 13)


def test_who_knows_the_number_of_rows_exceeds_bounds_inside_a_band_and_the_claim_says_band():
    table, release = visits(alike=[2], rows=(1, 2, 2, 2, 12), theta="1.5")
    found = {one.attack: one for one in sf.attack(release, table, random=1)}
    assert found["random-worlds"].verdict == "claimed"
    assert found["random-worlds"].over == 0
    counted = found["number-of-rows"]
    assert counted.verdict == "not claimed"
    assert counted.over > 0.02
    assert counted.largest_belief > found["random-worlds"].largest_belief
    assert found["number-of-values"].mean_belief > found["random-worlds"].mean_belief
    audit = sf.audit(release, table)
    assert audit.stronger["who knows how many rows everybody has"].figure == pytest.approx(counted.over)
    assert audit.claims[0].stronger[0] == "number-of-rows"
    assert "who knows how many values of a secret everybody has" in sf.audit(release).stronger


def test_exact_numbers_of_rows_leave_nothing_to_know():
    table, release = visits(alike="exact")
    found = {one.attack: one for one in sf.attack(release, table, ["number-of-rows", "random-worlds"], random=1)}
    assert "tells nothing" in found["number-of-rows"].refused
    assert found["random-worlds"].over == 0
    audit = sf.audit(release, table)
    assert "who knows how many rows everybody has" not in audit.stronger
    assert audit.claims[0].stronger[0] == "number-of-values"


@pytest.mark.parametrize("form", ["buckets", "ranges"])
def test_each_secret_is_attacked_by_itself(form):
    table, release = visits(secrets={"ward": "ward", "ill": "ill"}, form=form, alike=[])
    found = sf.attack(release, table, ["random-worlds", "number-of-rows"], random=1)
    assert [(one.attack, one.variant) for one in found] == [
        (name, secret) for secret in ("ward", "ill") for name in ("random-worlds", "number-of-rows")
    ]
    assert all(one.verdict == "claimed" for one in found[::2])


def test_other_attacks_say_why_they_are_not_done():
    table, release = visits()
    found = {one.attack: one for one in sf.attack(release, table, "all", random=1)}
    assert tells(found["nb"].refused, "one value", "several")
    assert "together here" in found["rows"].refused
    with pytest.raises(sf.PolicyError, match="'number-of-rings'"):
        sf.attack(release, table, "number-of-rings")
    frame = pa.table({"age": range(60), "ill": ["a", "b", "c"] * 20})
    plain = sf.Table.from_frame(frame, sf.Schema(quasi=["age"], sensitive=["ill"]))
    other = sf.publish(plain, sf.LDiversity(2), random=1)
    with pytest.raises(sf.PolicyError, match="everybody has one value"):
        sf.attack(other, plain, "number-of-rows")
    with pytest.raises(sf.InputError, match="have one"):
        sf.attack(release, plain)


def test_another_table_is_refused():
    table, release = visits()
    other, _ = visits(people=599)
    with pytest.raises(sf.InputError, match="not rows"):
        sf.attack(release, other)
    assert table.rows == 600


def test_a_study_compares_boxes_and_says_why_the_others_take_no_part():
    table, _ = visits(alike=[])
    study = sf.compare(table, sf.FPrivacy(theta=3, offset="0.1"), vary={"floor": [20, 60]}, workload="crosstabs", workers=1)
    assert {run.method for run in study.runs} == {"boxes"}
    assert len([run for run in study.runs if run.made]) == 2
    best = study.runs[0]
    assert best.error < 0.3
    assert best.coverage > 0.85
    assert best.attacks["number-of-values"] is not None
    assert "several values of a secret" in study.left_out["anatomy"]


def test_a_report_speaks_of_people_rows_and_facts(tmp_path):
    table, release = visits(alike=[2], rows=(1, 2, 2, 2, 12), theta="1.5")
    text = sf.report(release, table, out=tmp_path / "report.html").read_text()
    assert table.choice.sentence in text
    assert "which values belong to one person is not" in text
    assert "somebody who knows how many rows everybody has believes something more firmly than its bound" in text
    public = sf.report(release, out=tmp_path / "public.html", public=True).read_text()
    assert "how many rows a person has: shown, and not protected" in public
    assert table.choice.sentence not in public


def worlds(histogram):
    """Return every placement of values on rows, each once."""
    return sorted(set(permutations([value for value, count in enumerate(histogram) for _ in range(count)])))


def test_whoever_declares_no_key_is_broken_by_who_knows_whose_rows_are_whose():
    """Rows published as people keep 1/2 a row. Every placement of a group's values on its rows is enumerated: a person with
    two rows has some value with more. The figures stand in docs/guarantees.md."""
    parts = [(2, 1), (2, 2), (3, 1), (2, 1, 1), (2, 2, 1), (3, 2), (4, 1), (2, 1, 1, 1), (3, 1, 1)]
    tables, broken = 0, 0
    for whose in parts:
        rows = sum(whose)
        owner = np.repeat(np.arange(len(whose)), whose)
        worst = {}
        for values in product(range(3), repeat=rows):
            histogram = tuple(np.bincount(values, minlength=3).tolist())
            if 2 * max(histogram) > rows:
                continue  # no release of these rows keeps 1/2
            if histogram not in worst:
                placed = np.array(worlds(histogram))
                has = [[(placed[:, owner == one] == x).any(axis=1).mean() for x in range(3)] for one in range(len(whose))]
                worst[histogram] = Fraction(float(np.max(has))).limit_denominator(1000)
            tables += 1
            broken += worst[histogram] > Fraction(1, 2)
        ill = ["v0", "v1", "v2"] * 2  # of 4 and 5 rows none has a value in more than half
        if rows in (4, 5):
            frame = pa.table({"age": [1] * rows, "ill": ill[:rows]})
            table = sf.Table.from_frame(frame, sf.Schema(quasi=["age"], sensitive=["ill"], people={"rows": "people"}))
            release = sf.publish(table, sf.LDiversity(2), method=sf.Boxes(floor=1), random=1)
            assert sf.audit(release, table).holds is True
            assert sf.attack(release, table, "rows", persons=owner, random=1)[-1].over > 0
    assert (broken, tables) == (618, 618)
