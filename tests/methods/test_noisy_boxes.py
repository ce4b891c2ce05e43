"""Noisy boxes: what is published, and that nothing else answers to one person's value."""

import dataclasses
import json
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from sfumato import Boxes, Differential, FPrivacy, LDiversity, NoisyBoxes, Policy, Release, Schema, Table, audit, publication
from sfumato.errors import Infeasible, NotProvable, PolicyError
from sfumato.methods import default_method, noisy_boxes
from sfumato.testing import CHECKS, check_method, example_tables
from tests.makers import closed_for, people, skewed

NINE = {f"v{k}": 9 - k for k in range(9)}
METHOD = NoisyBoxes(shares=NINE, otherwise="v8", floor=40)
TABLE = closed_for(METHOD, skewed())
LISTED = NoisyBoxes(values=["v0", "v1"], otherwise="v1")
EIGHT = FPrivacy(theta=3, offset="0.05", against="insider")


def declared_for(table, **options):
    return NoisyBoxes(shares=dict.fromkeys(table.sensitive.labels, 1), otherwise=table.sensitive.labels[0], **options)


@pytest.mark.parametrize("requirement", [LDiversity(2, against="insider"), Differential("1")], ids=str)
def test_noisy_boxes_pass_the_conformance_suite(requirement):
    found = example_tables()
    labels = {label for table in found.values() for label in table.sensitive.labels if " / " not in label}
    tables = {name: table for name, table in found.items() if name != "compound"}
    method = NoisyBoxes(shares=dict.fromkeys(sorted(labels | {f"v{k}" for k in range(8)}), 1), otherwise="v0", floor=20)
    ran = check_method(method, requirement, {name: closed_for(method, table) for name, table in tables.items()})
    assert len(ran) == len(CHECKS) * len(tables)


def test_a_release_shows_every_declared_value_in_every_box_and_no_total():
    release = publication(TABLE, Differential("1"), method=METHOD, random=1).release
    st = release.tables()["st"]
    assert st.num_rows == 9 * len(release.sizes)
    assert min(st["count"].to_pylist()) < 0
    manifest = json.loads(release.manifest.to_json())
    assert manifest["values"] is None
    assert manifest["basis"] == "noisy"
    assert manifest["parameters"]["gamma"] == "2718281828459/1000000000000"
    assert (release.sizes >= 40).all()


def test_boxes_are_the_same_whatever_people_have():
    coins = np.random.default_rng(1)
    shown = set()
    for _ in range(5):
        values = [f"v{k}" for k in coins.integers(0, 9, TABLE.rows)]
        columns = {column.name: column.arrow() for column in TABLE.quasi}
        table = closed_for(METHOD, people(values, **{name: array.to_pylist() for name, array in columns.items()}))
        shown.add(str(METHOD.run(table, Differential("1"), random=3).release.tables()["qit"].to_pydict()))
    assert len(shown) == 1


def test_a_person_with_another_value_changes_nothing_but_two_counts(monkeypatch):
    monkeypatch.setattr(noisy_boxes, "two_sided", lambda ratio, count, random: np.zeros(count, np.int64))
    other = [*TABLE.to_arrow()["value"].to_pylist()]
    other[7] = "never heard of"  # falls to the catch-all
    columns = {column.name: column.arrow().to_pylist() for column in TABLE.quasi}
    changed = closed_for(METHOD, people(other, **columns))
    one, two = (METHOD.run(table, Differential("1"), random=1) for table in (TABLE, changed))
    assert one.release.manifest.to_json() == two.release.manifest.to_json()
    assert one.private == two.private
    assert json.dumps(one.audit.to_dict()) == json.dumps(two.audit.to_dict())
    gap = one.release.st_count - two.release.st_count
    assert sorted(gap[gap != 0].tolist()) == [-1, 1]


@pytest.mark.parametrize("value", ["only one has it", None, "", "v3"])
def test_no_table_is_refused_for_what_one_person_has(value):
    own = NoisyBoxes(shares={"a": 2, "b": 2, "rare": 1}, otherwise="b", floor=4)
    requirement = FPrivacy(theta=2, offset="0.05", bounds={"rare": "1/2"}, against="insider")
    table = Table.from_frame(
        pa.table({"age": list(range(12)), "value": ["a"] * 11 + [value]}), own.close(Schema(quasi=["age"], sensitive=["value"]))
    )
    made = own.run(table, requirement, random=1)
    assert made.audit.holds is True
    assert made.release.domain.labels == ("a", "b", "rare")


def test_shares_that_are_shown_keep_the_bounds_where_boxes_are_joined():
    apart = dataclasses.replace(METHOD, merge=True).run(TABLE, EIGHT, random=4)
    loose = METHOD.run(TABLE, EIGHT, random=4)
    limits = dict(zip(apart.bounds.values, apart.bounds.limits, strict=True))

    def over(release):
        size = release.sizes[release.st_group]
        bound = [limits[release.domain.labels[value]] for value in release.st_value]
        return sum(
            count > limit * int(n) for count, limit, n in zip(release.st_count.tolist(), bound, size.tolist(), strict=True)
        )

    assert over(loose.release) > 0 == over(apart.release)
    assert apart.release.draws.sum() == len(loose.release.sizes) == apart.private["boxes"]
    assert len(apart.release.sizes) < len(loose.release.sizes)
    total = [np.bincount(one.release.st_value, weights=one.release.st_count) for one in (apart, loose)]
    assert (total[0] == total[1]).all()  # sums are published as they are: no fresh noise


def test_a_table_that_keeps_no_bound_stays_one_box_and_says_so():
    alike = closed_for(METHOD, people(["v8"] * 200, age=list(range(200))))
    made = dataclasses.replace(METHOD, merge=True).run(alike, EIGHT, random=1)
    assert len(made.release.sizes) == 1
    assert made.audit.holds is True
    assert any("over its bound" in warning for warning in made.audit.warnings)


def test_no_claim_is_made_against_anybody_else():
    for against in ("reader", "engineer"):
        with pytest.raises(NotProvable):
            METHOD.run(TABLE, FPrivacy(theta=3, offset="0.05", against=against))
    statement = METHOD.run(TABLE, EIGHT, random=1).release.claims[0].statement
    assert "knows everybody else's value" in statement
    assert "declared share" in statement
    assert "not bounded" in statement


def test_what_cannot_be_declared_is_refused_from_the_declaration_alone():
    with pytest.raises(PolicyError, match="needs shares"):
        NoisyBoxes(otherwise="a")
    with pytest.raises(PolicyError, match="otherwise"):
        NoisyBoxes(shares={"a": 1, "b": 1})
    with pytest.raises(PolicyError, match="only values were declared"):
        LISTED.run(closed_for(LISTED, TABLE), EIGHT)
    with pytest.raises(Infeasible):
        METHOD.run(TABLE, LDiversity(7, against="insider"))
    with pytest.raises(PolicyError, match="declared values"):
        METHOD.run(skewed(), EIGHT)


def test_the_floor_is_a_public_rule():
    free = dataclasses.replace(METHOD, floor=None)
    assert free.floor_for(Fraction(3), 1000) > free.floor_for(Fraction(30), 1000)
    many = NoisyBoxes(values=[f"v{k}" for k in range(100)], otherwise="v0")
    assert many.floor_for(Fraction(3), 1000) > free.floor_for(Fraction(3), 1000)


POLICY = """
[columns]
quasi = ["age", "sex"]
sensitive = ["value"]
[requirement]
model = "differential"
epsilon = "1"
[method]
values = ["v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8"]
otherwise = "v8"
"""


def test_a_policy_against_an_insider_needs_no_name_of_a_method():
    policy = Policy.parse(POLICY)
    assert policy.method == NoisyBoxes(values=[f"v{k}" for k in range(9)], otherwise="v8")
    assert policy.requirement == Differential(1)
    assert default_method(Differential("1"), TABLE) == policy.method
    inferential = POLICY.replace('model = "differential"\nepsilon = "1"', 'model = "l-diversity"\nl = 2\nagainst = "insider"')
    assert Policy.parse(inferential.replace("values = ", "shares = { v0 = 1, v8 = 1 } # ")).method.name == "noisy-boxes"
    with pytest.raises(NotProvable, match="noisy-boxes") as error:
        Boxes().run(skewed(), LDiversity(2, against="insider"))
    assert "noisy-boxes" in error.value.hint


def test_a_release_is_the_same_from_parquet_and_csv_and_answers_count_questions(tmp_path):
    for requirement in (EIGHT, Differential("1")):
        release = METHOD.run(TABLE, requirement, random=2).release
        for format in ("parquet", "csv"):
            place = tmp_path / f"{requirement.model}-{format}"
            release.save(place, format=format)
            loaded = Release.load(place)
            assert (loaded.st_count == release.st_count).all()
            assert audit(loaded, TABLE).holds is True
            assert loaded.count("value = 'v0'").value == release.count("value = 'v0'").value
