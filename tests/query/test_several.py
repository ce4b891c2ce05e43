"""Several secrets that are protected each by itself: what is completed, judged and kept of each, and figures over two of them."""

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.query import model_cache as room
from sfumato.query.complete import UnlinkedWarning
from sfumato.query.count import remember
from sfumato.query.model_cache import ModelCache
from tests.makers import tells

ROWS = 2000
ILL, PAY = ["Flu", "Gout", "HIV"], [10, 20, 30]


def table():
    coins = np.random.default_rng(0)
    age = coins.integers(20, 60, ROWS)
    ill = np.where(age > 40, coins.choice(ILL, ROWS, p=[0.2, 0.5, 0.3]), coins.choice(ILL, ROWS, p=[0.6, 0.3, 0.1]))
    pay = np.where(ill == "HIV", 10, coins.choice(PAY, ROWS))
    columns = {"age": age, "sex": coins.choice(["f", "m"], ROWS), "ill": ill, "pay": pay}
    return sf.Table.from_frame(pa.table(columns), sf.Schema(quasi=["age", "sex"], sensitive=["ill", "pay"], protect="each"))


@pytest.fixture(scope="module")
def release():
    return sf.publish(table(), sf.FPrivacy(offset="0.8"), method=sf.Boxes(floor=20), random=1)


@pytest.fixture(scope="module")
def shown(release):
    """The published tables by hand: people, and the share of each value in each bucket."""
    tables = {name: one.to_pylist() for name, one in release.tables().items()}
    people = tables["qit"]
    size = {}
    for row in people:
        size[row["group"]] = size.get(row["group"], 0) + 1
    shares = {"ill": {}, "pay": {}}
    for row in tables["st"]:
        value = row["value"] if row["secret"] == "ill" else int(row["value"])
        shares[row["secret"]][row["group"], value] = row["count"] / size[row["group"]]
    return people, shares


def test_probabilities_of_each_secret_add_up_to_one_and_are_those_of_the_secret_alone(release):
    found = release.probabilities("pyarrow")
    names = [f"ill = {one}" for one in ILL] + [f"pay = {one}" for one in PAY]
    assert found.column_names == ["age", "sex", *names]
    for name, own in (("ill", names[:3]), ("pay", names[3:])):
        assert np.allclose(sum(found[one].to_numpy() for one in own), 1, atol=1e-5)
        alone = release.of(name).probabilities("pyarrow")
        assert all(found[one].equals(alone[one]) for one in own)


def test_completed_tables_have_every_secret_drawn_independently_inside_groups_and_say_so(release):
    with pytest.warns(UnlinkedWarning, match="ill and pay"):
        tables = release.impute(3, random=1, kind="pyarrow")
    shown = {name: one.to_pylist() for name, one in release.tables().items()}
    for one in tables:
        assert one.column_names == ["age", "sex", "ill", "pay"]
        for name, kind in (("ill", str), ("pay", int)):
            totals = {}
            for row in shown["st"]:
                if row["secret"] == name:
                    value = kind(row["value"])
                    totals[value] = totals.get(value, 0) + row["count"]
            drawn = one[name].to_pylist()
            assert all(abs(drawn.count(value) - total) < 5 * ROWS**0.5 for value, total in totals.items())
    poor = [sum(x == "HIV" and y != 10 for x, y in zip(t["ill"].to_pylist(), t["pay"].to_pylist(), strict=True)) for t in tables]
    assert min(poor) > 50  # in the table nobody: a link that is not published is not invented either
    with pytest.warns(UnlinkedWarning):
        assert tables[0].equals(release.impute(1, random=1, kind="pyarrow")[0])


def test_quality_is_told_of_each_secret(release):
    found = release.quality()
    assert list(found.each) == ["ill", "pay"]
    assert found["ill"].to_dict() == release.of("ill").quality().to_dict()
    assert str(found).startswith("of ill: 2,000 people in")
    assert found.to_arrow().column("secret").to_pylist() == ["ill", "ill", "pay", "pay"]
    assert set(found.to_dict()["each"]) == {"ill", "pay"}


def test_averages_over_two_secrets_are_those_of_people_who_have_them_independently(release, shown):
    people, shares = shown
    weight = [shares["ill"].get((row["group"], "HIV"), 0) * (1 - shares["pay"].get((row["group"], 10), 0)) for row in people]
    ages = [row["age"] for row in people]
    mean = np.average(ages, weights=weight)
    found = release.count("AVG(age) WHERE ill = 'HIV' AND pay > 10")
    assert found.value == pytest.approx(mean)
    # a ratio of sums of independent people, to first order: Σ w(1 − w)(age − mean)²
    error = sum(w * (1 - w) * (age - mean) ** 2 for w, age in zip(weight, ages, strict=True)) ** 0.5 / sum(weight)
    assert found.std_error == pytest.approx(error, rel=1e-6)
    assert found.low is None
    assert "independent inside groups" in found.note
    total = release.count("SUM(age) WHERE ill = 'HIV' AND pay > 10")
    assert total.value == pytest.approx(np.dot(ages, weight))


def test_averages_of_one_secret_by_another_are_means_over_groups(release, shown):
    people, shares = shown
    ill = np.array([shares["ill"].get((row["group"], "Gout"), 0) for row in people])
    pay = np.array([sum(value * shares["pay"].get((row["group"], value), 0) for value in PAY) for row in people])
    assert release.count("AVG(pay) WHERE ill = 'Gout'").value == pytest.approx(np.average(pay, weights=ill))
    by = dict(zip(ILL, [one.value for _, one in release.count("AVG(pay) GROUP BY ill")], strict=True))
    assert by["Gout"] == pytest.approx(np.average(pay, weights=ill))
    half = [shares["pay"].get((row["group"], 10), 0) for row in people]
    assert release.count("SHARE(pay = 10) WHERE ill = 'Gout'").value == pytest.approx(np.average(half, weights=ill))


def test_without_rows_of_people_an_average_of_a_quasi_column_is_refused_with_a_way_out():
    ranges = sf.publish(table(), sf.FPrivacy(offset="0.8"), method=sf.Boxes(floor=20, form="ranges"), random=1)
    with pytest.raises(sf.errors.QueryError, match="own quasi values") as found:
        ranges.count("AVG(age) WHERE ill = 'HIV' AND pay > 10")
    assert tells(found.value.hint, "counts in ranges")


def test_what_each_secret_teaches_is_kept_and_learned_once(release, tmp_path, monkeypatch):
    release.save(tmp_path / "release")
    (tmp_path / "models").mkdir(mode=0o700)
    questions = ["age < 33 AND ill = 'HIV'", "age < 33 AND pay = 10"]

    def ask():
        loaded = sf.Release.load(tmp_path / "release")
        remember(loaded, ModelCache(tmp_path / "models", "5" * 64))
        return [loaded.count(one) for one in questions], loaded.of("pay").count(questions[1])

    first = ask()
    kept = sorted(path.name for path in (tmp_path / "models").iterdir())
    assert {name.split(".")[1][:2] for name in kept} == {"1-", "2-"}
    monkeypatch.setattr(room.ModelCache, "put", lambda *_: pytest.fail("fitted again"))
    assert ask() == first
    assert first[0][1] == first[1]
    assert sorted(path.name for path in (tmp_path / "models").iterdir()) == kept
