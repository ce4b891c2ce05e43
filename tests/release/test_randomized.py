"""What the form randomized shows, and what it refuses to read."""

import datetime
import itertools
import json
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from sfumato import Schema, Table
from sfumato.errors import FormatError
from sfumato.release.base import Release
from sfumato.release.parts import RandomizedPart, plain_values
from sfumato.release.randomized import RandomizedRelease, randomized_claim
from tests.makers import people, skewed
from tests.release._randomized import RHO, balanced_parts, one_part, release_of, uniform, with_part

TABLE = skewed(400, values=6)


def compound():
    coins = np.random.default_rng(4)
    day = [datetime.date(2024, 5, int(d)) for d in coins.integers(1, 4, 300)]
    frame = pa.table({"age": coins.integers(20, 40, 300), "day": day, "kind": coins.choice(["a", "b", None], 300).tolist()})
    return Table.from_frame(
        frame, Schema(quasi=["age"], sensitive=["day", "kind"], protect="combination", missing={"kind": "value"})
    )


def test_records_show_quasi_values_part_and_sensitive_value():
    release = release_of(TABLE, balanced_parts(TABLE, 1))
    records = release.tables()["records"]
    assert records.column_names == ["age", "sex", "part", "value"]
    assert records.num_rows == TABLE.rows
    assert set(records["part"].to_pylist()) == set(range(1, len(release.parts) + 1))
    ours, theirs = (
        sorted(zip(*(t[name].to_pylist() for name in ("age", "sex")), strict=True)) for t in (records, TABLE.to_arrow())
    )
    assert ours == theirs


def test_examples_of_the_paper_give_their_matrices():
    # [SDR Example 1]: six values each; γ = 4 gives 4/9 and 1/9, γ = 10 gives 2/3 and 1/15.
    for gamma, same, other in ((4, Fraction(4, 9), Fraction(1, 9)), (10, Fraction(2, 3), Fraction(1, 15))):
        part = RandomizedPart(np.arange(6), (uniform(6, gamma),) * 6, Fraction(gamma))
        assert {(x == y, part.chance(x, y)) for x, y in itertools.product(range(6), repeat=2)} == {(True, same), (False, other)}


def test_beliefs_are_those_of_bayes_rule_by_hand():
    part = RandomizedPart(np.arange(3), (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)))
    shares = [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)]
    for x, y in itertools.product(range(3), repeat=2):
        chance = [[part.chance(a, b) for b in range(3)] for a in range(3)]
        assert part.belief(x, y, shares) == shares[x] * chance[x][y] / sum(shares[z] * chance[z][y] for z in range(3))
    assert part.belief(0, 0, shares) == Fraction(1, 2) * Fraction(2, 3) / (Fraction(1, 3) + Fraction(1, 16) + Fraction(1, 16))


@pytest.mark.parametrize("retention", [(Fraction(1, 3),) * 4, (Fraction(1, 2), Fraction(1, 5), Fraction(9, 10), Fraction(1, 7))])
def test_reconstruction_inverts_the_matrix(retention):
    part = RandomizedPart(np.arange(4), retention)
    matrix = np.array([[float(part.chance(x, y)) for x in range(4)] for y in range(4)])
    counts = np.array([50.0, 7.0, 0.0, 30.0])
    assert np.allclose(part.reconstruct(matrix @ counts), counts)
    assert np.allclose(part.reconstruct(counts), np.linalg.solve(matrix, counts))


def test_reconstruction_is_the_papers_formula():
    part = RandomizedPart(np.arange(5), (uniform(5, "7/2"),) * 5)
    seen = np.array([9.0, 4.0, 1.0, 0.0, 6.0])
    assert np.allclose(part.reconstruct(seen), ((5 - 1 + 3.5) * seen - 20) / 2.5)


def test_beliefs_of_people_are_averaged_over_the_rows_that_fit_and_add_up_to_one():
    release = release_of(TABLE, balanced_parts(TABLE, 1))
    beliefs = release.mean_beliefs(TABLE.to_arrow().slice(0, 5))
    assert np.allclose(beliefs.sum(1), 1)
    rows = release.tables()["records"].to_pylist()
    person = TABLE.to_arrow().slice(0, 1).to_pylist()[0]
    expected = np.zeros(len(release.domain))
    fitting = [row for row in rows if (row["age"], row["sex"]) == (person["age"], person["sex"])]
    for row in fitting:
        part, prior = release.parts[row["part"] - 1], release.priors[row["part"] - 1]
        y = [release.domain.labels[v] for v in part.values].index(row["value"])
        seen = sum(prior[z] * float(part.chance(z, y)) for z in range(len(part)))
        for x, code in enumerate(part.values):
            expected[code] += prior[x] * float(part.chance(x, y)) / seen / len(fitting)
    assert np.allclose(beliefs[0], expected)
    assert np.isnan(release.mean_beliefs([{"age": 5, "sex": "f"}])).all()


def test_true_shares_can_be_given_as_prior():
    release = release_of(TABLE, one_part(TABLE))
    true = TABLE.sensitive.counts / TABLE.rows
    beliefs = release.mean_beliefs(TABLE.to_arrow(), shares=[true])
    p = float(release.parts[0].retention[0])
    largest = max(f * (p + (1 - p) / 6) / (f * p + (1 - p) / 6) for f in true)
    assert beliefs.max() <= largest + 1e-12


@pytest.mark.parametrize("kind", ["parquet", "csv"])
@pytest.mark.parametrize("table", [TABLE, compound()], ids=["one column", "compound with dates and missing values"])
def test_a_saved_release_comes_back_the_same(tmp_path, kind, table):
    release = release_of(table, balanced_parts(table, 1), requirement=RHO)
    release.save(tmp_path / "r", format=kind)
    loaded = Release.load(tmp_path / "r")
    assert isinstance(loaded, RandomizedRelease)
    assert loaded.domain.labels == release.domain.labels
    one, two = (r.tables()["records"] for r in (release, loaded))
    assert all(one[name].to_pylist() == two[name].to_pylist() for name in one.column_names)
    for ours, theirs in zip(release.parts, loaded.parts, strict=True):
        assert ours.values.tolist() == theirs.values.tolist()
        assert (ours.retention, ours.gamma, ours.largest_share) == (theirs.retention, theirs.gamma, theirs.largest_share)


def test_a_value_that_nobody_shows_stays_in_the_domain():
    table = people(["a"] * 30 + ["b"] * 30 + ["c"])
    release = release_of(table, one_part(table), seed=2)
    codes = np.where(release.value == 2, 0, release.value)
    silent, _ = RandomizedRelease(release.manifest, release.quasi, release.domain, release.part, codes).canonical()
    assert RandomizedRelease.from_tables(silent.manifest, silent.tables()).domain.labels == ("a", "b", "c")


def test_values_in_the_manifest_are_plain_json():
    assert plain_values(compound().sensitive.domain)[0] == ("2024-05-01", "a")
    assert json.dumps(plain_values(TABLE.sensitive.domain)) == json.dumps([f"v{k}" for k in range(6)])


def loaded(release, **changes):
    changed = with_part(release, 1, **changes)
    return RandomizedRelease.from_tables(changed.manifest, changed.tables())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"values": ["v0"]}, "part does not"),
        ({"values": ["v0", "v0", "v1", "v2", "v3", "v4", "v5"]}, "lists a value twice"),
        ({"values": []}, "lists no values"),
        ({"values": [{"v": 1}]}, "not a plain value"),
        ({"values": [["v0", "v1"]]}, "entry per sensitive"),
        ({"retention": "0"}, "retention above 0"),
        ({"retention": "3/2"}, "retention above 0"),
        ({"retention": ["1/2"]}, "retention above 0"),
        ({"retention": 0.5}, "not an exact number"),
        ({"retention": "1/0"}, "divides by zero"),
        ({"gamma": "many"}, "not an exact number"),
        ({"shares": ["1/2"]}, "add up to 1"),
        ({"counts": [1, 2]}, "unknown keys: counts"),
        ({"part": 2}, "numbered 1, 2, … without gaps"),
    ],
)
def test_parts_that_cannot_be_are_refused(changes, message):
    with pytest.raises(FormatError, match=message):
        loaded(release_of(TABLE, one_part(TABLE)), **changes)


def test_tables_that_cannot_be_are_refused():
    release = release_of(TABLE, one_part(TABLE))
    records = release.tables()["records"]
    for tables, message in (
        ({"qit": records}, "has the tables records"),
        ({"records": records.append_column("more", records["age"])}, "should have the columns"),
        ({"records": records.set_column(2, "part", pa.array([2] * records.num_rows, pa.int32()))}, "numbers from 1 to 1"),
        ({"records": records.set_column(2, "part", pa.array(["1"] * records.num_rows))}, "'part' holds string, expected int32"),
        (
            {"records": records.set_column(3, "value", pa.array([["v0"]] * records.num_rows))},
            "'value' holds list<item: string>, expected string",
        ),
    ):
        with pytest.raises(FormatError, match=message):
            RandomizedRelease.from_tables(release.manifest, tables)


def test_the_claim_says_what_is_taken_as_prior():
    assert (
        "for records seen as independent with the part's shares as prior"
        in randomized_claim("engineer", declared=False).statement
    )
    told = randomized_claim("insider", declared=True).statement
    assert "for any prior p inside the part the belief is at most γp/(1+(γ−1)p)" in told.replace("For", "for")
