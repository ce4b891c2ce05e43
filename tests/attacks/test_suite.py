"""One shape of result for every adversary: beside guessing, beside a control, and beside what the release claims."""

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.attacks.judge import NO_BETTER, Judge, Posteriors, covered
from sfumato.attacks.result import interval
from sfumato.attacks.sight import Sight
from tests.makers import people, skewed


@pytest.fixture(scope="module")
def table():
    return skewed(rows=900)


@pytest.fixture(scope="module")
def release(table):
    return sf.publish(table, sf.FPrivacy(theta=3, offset="0.1"), method=sf.Boxes(floor=20), random=1)


def by_name(results):
    return {one.name: one for one in results}


def test_random_worlds_are_the_audit(table, release):
    [found] = sf.attack(release, table, "random-worlds", random=1)
    audit = sf.audit(release, table)
    assert found.worst == pytest.approx(float(audit.claims[0].reader))
    assert found.mean_belief == pytest.approx(audit.exposure)
    assert (found.verdict, found.over, found.knows) == ("claimed", 0.0, "reader")


def test_a_refuted_claim_is_said_to_be_refuted(table):
    """A judge with a bound below what the release shows: the belief is above it, so the claim is refuted."""
    judge = Judge(np.array([0, 1]), None, np.array([0.5, 0.5]), ("reader",), 0, None)
    beliefs = np.array([[0.6, 0.4], [0.2, 0.5]])
    found = judge.score(Posteriors(beliefs), attack="x", knows="reader", seconds=0.0)
    assert (found.verdict, found.over, found.worst, found.bound) == ("refuted", 0.5, 0.6, 0.5)
    assert judge.score(Posteriors(beliefs), attack="x", knows="engineer", seconds=0.0).verdict == "not claimed"
    assert judge.score(Posteriors(beliefs, error=0.2), attack="x", knows="reader", seconds=0.0).verdict == "claimed"


def test_ties_are_shared_and_whoever_is_not_found_is_not_counted():
    judge = Judge(np.array([0, 1, 2]), None, None, (), 0, None)
    beliefs = np.array([[0.5, 0.5, 0], [0.5, 0.5, 0], [np.nan, np.nan, np.nan]])
    found = judge.score(Posteriors(beliefs), attack="x", knows="reader", seconds=0.0)
    assert (found.people, found.success, found.baseline, found.warnings) == (2, 0.5, 0.5, (NO_BETTER,))


def test_intervals_are_wilsons():
    """By hand: 0 of 10 gives 0 to z²/(10 + z²)."""
    low, high = interval(0, 10)
    assert low == 0
    assert high == pytest.approx(1.96**2 / (10 + 1.96**2), abs=1e-4)


def test_a_claim_covers_whoever_knows_less(table, release):
    assert covered(release) == ("reader", "engineer")
    assert by_name(sf.attack(release, table, "corruption", random=1))["corruption, all others known"].verdict == "not claimed"


def test_naive_bayes_is_right_as_often_for_outsiders(table, release):
    away = skewed(rows=900, seed=8)
    found = by_name(sf.attack(release, table, ["nb"], outsiders=away, random=1))["nb"]
    assert found.success > found.baseline + 0.02
    assert found.control == pytest.approx(found.success, abs=0.06)


def test_whoever_knows_all_others_of_a_group_knows_the_last_one(table, release):
    found = by_name(sf.attack(release, table, "corruption", random=1))
    assert found["corruption, all others known"].success == 1
    one, useful = found["corruption, one other known"], found["corruption, one other known, the most useful"]
    assert one.mean_belief <= useful.mean_belief + 0.02


def test_an_insider_of_noisy_boxes_is_held_to_the_bound(table):
    values = sorted(table.sensitive.labels)
    shares = {label: f"{count}/{table.rows}" for label, count in table.sensitive.histogram().items()}
    method = sf.NoisyBoxes(shares=shares, otherwise=values[0])
    closed = sf.Table.from_frame(table.to_arrow(), method.close(sf.Schema(quasi=["age", "sex"], sensitive=["value"])))
    release = sf.publish(closed, sf.FPrivacy(theta=2, offset="0.1", against="insider"), method=method, random=1)
    [found] = sf.attack(release, closed, "corruption", random=1)
    assert (found.verdict, found.over) == ("claimed", 0.0)
    assert found.worst <= found.bound + 1e-9
    assert found.success < 0.7


def test_decoys_keep_what_the_papers_promise_of_frequent_values(table):
    """Equally frequent values cannot be told from decoys: whoever knows all others is right once in 1 + σ times."""
    even = people([f"v{k % 8}" for k in range(640)])
    for sigma in (1, 2):
        release = sf.publish(even, sf.LDiversity(4), method=sf.Decoys(decoys=sigma), random=2)
        found = by_name(sf.attack(release, even, "corruption", random=1))["corruption, all others known"]
        low, high = found.interval
        assert low <= 1 / (1 + sigma) <= high
        assert found.figures["promised"] == pytest.approx(1 / (1 + sigma))


def test_the_same_seed_finds_the_same(table, release):
    once, again = (sf.attack(release, table, ["definetti", "corruption"], random=4) for _ in range(2))
    assert [one.success for one in once] == [one.success for one in again]


def test_a_sight_has_no_sensitive_column(table, release, monkeypatch):
    seen = []
    monkeypatch.setattr("sfumato.attacks.random_worlds.random_worlds", lambda sight: seen.append(sight) or iter(()))
    sf.attack(release, table, "random-worlds", outsiders=skewed(rows=30, seed=5))
    [sight] = seen
    assert isinstance(sight, Sight)
    for held in vars(sight).values():
        assert not isinstance(held, sf.Table)
        if isinstance(held, pa.Table):
            assert held.column_names == ["age", "sex"]


@pytest.mark.parametrize(
    "method",
    [sf.MultiSize(), sf.NearGroups(), sf.Anatomy(), sf.Boxes(form="ranges", floor=20), sf.UniformPerturbation()],
    ids=lambda method: f"{method.name} {method.form}",
)
def test_every_form_is_attacked_or_says_why_not(table, method):
    needs = sf.LDiversity(2) if method.name == "anatomy" else sf.FPrivacy(theta=2, offset="0.1")
    release = sf.publish(table, needs, method=method, random=1)
    for found in sf.attack(release, table, random=1):
        assert found.refused or (0 <= found.success <= 1 and found.people > 0)
        assert found.verdict != "refuted", found


def test_an_unknown_attack_is_named_with_the_nearest_known(table, release):
    with pytest.raises(sf.PolicyError, match="no attack 'bn'") as error:
        sf.attack(release, table, "bn")
    assert "nb" in error.value.hint


def test_synthetic_records_teach_and_are_nobodys():
    """At an ε of 20 records are nearly drawn from the table: naive Bayes beats guessing, and readers have no rows to look at."""
    from tests.release._synthetic import declared

    table = declared(skewed(rows=900))
    release = sf.PrivBayes().run(table, sf.Differential("20"), random=1).release
    found = by_name(sf.attack(release, table, random=1))
    assert found["nb"].success > found["nb"].baseline
    for name in ("random-worlds", "corruption", "minimality", "presence", "skewness"):
        assert found[name].refused


def test_another_table_is_refused_whatever_it_differs_in(table, release):
    with pytest.raises(sf.InputError, match=r"about 900 people.*300"):
        sf.attack(release, skewed(rows=300))
    with pytest.raises(sf.InputError, match="another number of times"):
        sf.attack(release, skewed(rows=900, seed=8))
    turned = table.to_arrow().set_column(0, "age", pa.array(table.to_arrow()["age"].to_pylist()[::-1]))
    with pytest.raises(sf.InputError, match="no row of the release"):
        sf.attack(release, sf.Table.from_frame(turned, table.schema), "nb")
    other = people(["x", "y"] * 450, weight=[1] * 900)
    with pytest.raises(sf.InputError, match="quasi and sensitive columns"):
        sf.attack(release, other)
    with pytest.raises(sf.InputError, match="outsiders"):
        sf.attack(release, table, "nb", outsiders=other)


def test_tables_of_many_columns_are_compared_too():
    """Twelve columns of 40 values have 40^12 combinations: more than can be counted one by one."""
    coins = np.random.default_rng(3)
    quasi = {f"q{k}": coins.integers(0, 40, 200).tolist() for k in range(12)}
    wide = people([f"v{k % 5}" for k in range(200)], **quasi)
    release = sf.publish(wide, sf.LDiversity(3), method=sf.MultiSize(), random=1)
    assert sf.attack(release, wide, "nb", random=1)[0].people == 200
