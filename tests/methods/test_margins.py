"""Noisy tables beside noisy boxes: which there are, what is on disk, what audits find, and what answers learn from them."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import FormatError, PolicyError
from sfumato.methods.margins import MarginRequest, planned
from tests.makers import closed_for, people

VALUES = ("a", "b", "c", "d")
ONE = sf.Differential("1")


def crowd(n=1200, seed=3):
    """Return people of whom the young mostly have a, and the others what they like."""
    coins = np.random.default_rng(seed)
    age, sex = coins.integers(18, 80, n), coins.choice(["f", "m"], n)
    value = np.where((age < 40) & (coins.random(n) < 0.7), "a", coins.choice(VALUES, n))
    return people(value.tolist(), age=age.tolist(), sex=sex.tolist())


def method(**options):
    return sf.NoisyBoxes(values=VALUES, otherwise="d", floor=60, **options)


def made(**options):
    own = method(**options)
    return own.run(closed_for(own, crowd()), ONE, random=1).release


def test_tables_are_usual_from_a_hundred_thousand_people_on():
    asked = MarginRequest(("age", "sex"), 99_999, 4, 1, several=False)
    gamma = Fraction(3)
    assert planned(None, gamma, asked) is None
    plan = planned(None, gamma, asked._replace(people=100_000))
    assert plan.tables == (("age",), ("sex",))
    assert planned(Fraction(0), gamma, asked._replace(people=100_000)) is None
    assert planned((("age", "sex"),), gamma, asked).tables[-1] == ("age", "sex")
    assert made().margins is None
    assert made().manifest.parameters["margins_from"] == 100_000
    for wrong in (asked._replace(several=True), asked._replace(values=601)):
        with pytest.raises(PolicyError, match="margins"):
            planned(Fraction(1, 2), gamma, wrong)
    with pytest.raises(PolicyError, match="not a quasi column"):
        planned((("age", "height"),), gamma, asked)


def test_a_release_with_tables_comes_back_as_it_was_saved(tmp_path):
    release = made(margins=[["age", "sex"]])
    assert release.margins.bands == (31, 2, 62)
    release.save(tmp_path / "out")
    again = sf.Release.load(tmp_path / "out")
    assert again.tables()["margins"].equals(release.tables()["margins"])
    assert again.count("SELECT COUNT(*) WHERE value = 'a' AND age < 40").value == pytest.approx(
        release.count("SELECT COUNT(*) WHERE value = 'a' AND age < 40").value
    )
    order = np.arange(len(release.tables()["margins"]))
    order[:2] = 1, 0
    tables = {**release.tables(), "margins": release.tables()["margins"].take(order)}
    with pytest.raises(FormatError, match="canonical order"):
        type(release).as_read(release.manifest, tables, in_any_order=False)


def restated(release, **changed):
    parameters = release.manifest.parameters
    margins = {**parameters["margins"], **changed}
    return replace(release, manifest=replace(release.manifest, parameters={**parameters, "margins": margins}))


def test_audits_find_noise_that_was_not_paid_for():
    own = method(margins="0.7")
    table = closed_for(own, crowd())
    release = own.run(table, ONE, random=1).release
    assert sf.audit(release).holds is True
    assert sf.audit(release, table=table).holds is True
    ratio = Fraction(release.manifest.parameters["margins"]["ratio"])
    assert sf.audit(restated(release, ratio=str(Fraction(round(ratio**2 * 2**30), 2**30)))).holds is False
    assert sf.audit(restated(release, gamma=str(Fraction(3, 2)))).holds is False
    assert sf.audit(restated(release, tables=[["age"]])).holds is False
    without = replace(release, margins=replace(release.margins, counts=release.margins.counts // 8 * 8 + 40))
    assert any("tables beside" in problem for problem in sf.audit(without, table=table).problems)


def test_a_table_that_is_asked_as_it_is_shown_is_answered_as_well_as_its_noise():
    own = method(margins="0.9")
    plain = crowd(6000)
    table = closed_for(own, plain)
    release = own.run(table, sf.Differential("4"), random=2).release
    sex, code = plain.quasi[1], plain.sensitive.codes
    for value, label in enumerate(VALUES):
        truth = int(((sex.codes == 0) & (code == value)).sum())
        found = release.count(f"SELECT COUNT(*) WHERE sex = 'f' AND value = '{label}'")
        assert abs(found.value - truth) < 15  # the noise of a count has a spread of 1.6
        assert found.low <= found.value <= found.high
