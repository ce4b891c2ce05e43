"""The auditor's reading of a model that another package brings."""

import importlib.metadata
from dataclasses import replace
from fractions import Fraction

import pytest

from sfumato import FPrivacy, LDiversity, SmallDomain, audit, publish
from sfumato.auditor import bounds
from sfumato.auditor.bounds import UnknownModel, bounds_of
from sfumato.errors import FormatError
from tests.makers import people

TABLE = people(["flu"] * 4 + ["a", "b", "c", "d"])
HALF = {"model": "no-more-than", "package": "caps 1.2", "share": "1/2", "against": "engineer"}


def read(parameters, counts):
    """No value with more than this share of a group; and one that nobody has is not bounded."""
    return {value: Fraction(parameters["share"]) if counts[value] else Fraction(1) for value in counts}


class Entry:
    """An installed entry point; `loaded` tells how often it was loaded."""

    loaded = 0

    def __init__(self, function):
        self.function = function

    def load(self):
        Entry.loaded += 1
        return self.function


@pytest.fixture
def installed(monkeypatch):
    def install(function):
        def points(*, group, name):
            assert group == "sfumato.auditor_models"
            return [Entry(function)] if name == "no-more-than" else []

        monkeypatch.setattr(bounds, "entry_points", points)

    return install


def release(requirement):
    made = publish(TABLE, LDiversity(2), random=1)
    values = tuple({**entry, "bound": requirement.get("share", "1/2")} for entry in made.manifest.values)
    return replace(made, manifest=replace(made.manifest, requirement=requirement, values=values))


def test_a_reading_that_is_installed_judges_the_claim_by_its_exact_bounds(installed):
    installed(read)
    report = audit(release(HALF), TABLE)
    assert report.holds is True
    assert (report.claims[0].worst, report.claims[0].bound) == (Fraction(1, 2), Fraction(1, 2))
    report = audit(release({**HALF, "share": "1/3"}))
    assert report.problems == ()
    assert report.claims[0].holds is False
    assert (report.claims[0].worst, report.claims[0].bound) == (Fraction(1, 2), Fraction(1, 3))


def test_bounds_in_the_manifest_that_do_not_follow_from_the_reading_are_found(installed):
    installed(lambda parameters, counts: dict.fromkeys(counts, Fraction(3, 4)))
    assert "follows as 3/4" in str(audit(release(HALF)).problems)


def test_without_the_reading_the_claim_is_not_judged_and_the_package_is_named(installed):
    installed(read)
    unknown = release({**HALF, "model": "magic"})
    for report in (audit(unknown), audit(unknown, TABLE)):
        assert report.problems == ()
        assert report.holds is None
        note = report.claims[0].note
        assert "model 'magic'" in note
        assert "package 'caps 1.2'" in note
        assert report.claims[0].worst == Fraction(1, 2)


def test_a_randomized_claim_is_not_judged_either_without_the_reading():
    made = publish(TABLE, FPrivacy(offset="2/3"), method=SmallDomain(), random=1)
    unknown = replace(made, manifest=replace(made.manifest, requirement={**HALF, "model": "magic"}))
    report = audit(unknown, TABLE)
    assert report.claims[0].holds is None
    assert "is not installed" in report.claims[0].note


def test_only_the_reading_of_the_model_that_the_manifest_names_is_loaded(installed):
    installed(read)
    before = Entry.loaded
    assert audit(publish(TABLE, LDiversity(2), random=1), TABLE).holds is True
    assert Entry.loaded == before
    audit(release(HALF))
    assert Entry.loaded > before


def test_a_package_cannot_take_the_place_of_a_reading_that_the_audit_has(monkeypatch):
    monkeypatch.setattr(bounds, "entry_points", lambda **given: pytest.fail("asked for a known model"))
    assert bounds_of(LDiversity(4).to_dict(), None, ["a"]) == {"a": Fraction(1, 4)}


@pytest.mark.parametrize(
    "found",
    [{"a": 0.5}, {"a": Fraction(3, 2)}, {"a": Fraction(-1, 2)}, {}, None],
    ids=["a float", "above 1", "below 0", "a value is missing", "nothing"],
)
def test_a_reading_that_gives_no_exact_bounds_is_refused(installed, found):
    installed(lambda parameters, counts: found)
    with pytest.raises(FormatError, match="this audit can read"):
        bounds_of(HALF, {"a": 1}, ["a"])


def test_a_reading_gets_counts_and_is_not_asked_where_they_are_not_known(installed):
    asked = []
    installed(lambda parameters, counts: asked.append((parameters, counts)) or read(parameters, counts))
    assert bounds_of(HALF, {"a": 3, "b": 5}, ["a", "c"]) == {"a": Fraction(1, 2), "c": Fraction(1)}
    assert asked == [(HALF, {"a": 3, "b": 5, "c": 0})]
    assert bounds_of(HALF, None, ["a"]) is None
    assert len(asked) == 1


def test_a_model_inside_a_bound_on_presence_is_read_too(installed):
    installed(read)
    both = {"model": "presence-association", "alpha": "1/2", "beta": {"model": "no-more-than", "share": "1/3"}}
    assert bounds_of(both, {"a": 1}, ["a"]) == {"a": Fraction(1, 3)}
    with pytest.raises(UnknownModel, match="magic"):
        bounds_of({**both, "beta": {"model": "magic"}}, {"a": 1}, ["a"])


def test_entry_points_are_those_of_the_installed_packages():
    assert bounds.entry_points is importlib.metadata.entry_points
