"""The audit of noisy counts: parameters against the claim, exactly; with the table also the noise."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from sfumato import Differential, FPrivacy, NoisyBoxes, audit, publication
from sfumato.auditor import audit_release
from sfumato.methods import noisy_boxes
from sfumato.randomize.noise import two_sided
from sfumato.release.accounts import noisy_claim
from tests.makers import closed_for, skewed

SHARES = {f"v{k}": 9 - k for k in range(9)}
METHOD = NoisyBoxes(shares=SHARES, otherwise="v8", floor=30)
TABLE = closed_for(METHOD, skewed(3000))
JOINED, APART = FPrivacy(theta=3, offset="0.05", against="insider"), Differential("1")


def made(requirement, seed=1, table=TABLE):
    method = replace(METHOD, merge=requirement is not APART)
    return publication(table, requirement, method=method, random=seed).release


def restated(release, **parameters):
    manifest = release.manifest
    return replace(release, manifest=replace(manifest, parameters={**manifest.parameters, **parameters}))


@pytest.mark.parametrize("requirement", [JOINED, APART], ids=["joined", "apart"])
def test_honest_releases_hold_with_and_without_the_table(requirement):
    for seed in range(4):
        release = made(requirement, seed)
        assert audit(release).holds is True
        report = audit(release, TABLE)
        assert report.holds is True, report.problems
        assert 0 < report.exposure < 1


def test_an_audit_says_from_which_belief_its_figure_starts():
    only = NoisyBoxes(values=["v0", "v1", "v2", "v8"], otherwise="v8", floor=30)
    released = publication(closed_for(only, skewed(900)), APART, method=only, random=1).release
    assert audit(released).claims[0].note.startswith("from a belief of 1 in 4")
    assert audit(made(JOINED)).claims[0].note.startswith("from a belief")


def test_a_publisher_looks_at_no_draw():
    report = audit_release(made(APART), TABLE, draw=False)
    assert report.holds is True
    assert report.exposure is None
    wrong = made(APART)
    wrong = replace(wrong, st_count=np.where(np.arange(len(wrong.st_count)) == 3, 900, wrong.st_count))
    assert audit_release(wrong, TABLE, draw=False).problems == ()
    assert any("stated law" in problem for problem in audit_release(wrong, TABLE).problems)


@pytest.mark.parametrize("requirement", [JOINED, APART], ids=["joined", "apart"])
def test_noise_of_half_the_scale_is_caught_with_the_table(requirement, monkeypatch):
    many = NoisyBoxes(shares={f"v{k}": 1 for k in range(60)}, otherwise="v8", floor=30)
    table = closed_for(many, skewed(3000, values=60))
    bound = FPrivacy(theta=20, offset="0.05", against="insider") if requirement is JOINED else APART
    assert audit(publication(table, bound, method=many, random=5).release, table).holds is True
    monkeypatch.setattr(noisy_boxes, "two_sided", lambda ratio, count, random: two_sided(ratio**2, count, random))
    weak = publication(table, bound, method=many, random=5).release
    assert audit(weak).holds is True  # the tables alone cannot show it
    assert any("stated law" in problem for problem in audit(weak, table).problems)


@pytest.mark.parametrize(
    ("lie", "found"),
    [
        (lambda r: restated(r, ratio=str(Fraction(r.manifest.parameters["ratio"]) ** 2)), "too small"),
        (lambda r: restated(r, ratio="9/10"), "smallest multiple"),
        (lambda r: restated(r, ratio="1/1" + 200 * "0"), "too small"),
        (lambda r: restated(r, gamma="20"), "the manifest says 20"),
        (lambda r: restated(r, groups=3), "the manifest says 3"),
        (lambda r: replace(r, group=np.roll(r.group, 1)), "in different groups"),
        (lambda r: replace(r, st_count=r.st_count + (r.st_value == 0) * 10**4), "over its bound"),
    ],
    ids=[
        "half the scale",
        "another ratio",
        "hardly any noise",
        "another gamma",
        "another number",
        "torn people",
        "shares over a bound",
    ],
)
def test_what_does_not_follow_from_the_requirement_is_found_without_the_table(lie, found):
    report = audit(lie(made(JOINED)))
    assert report.holds is False
    assert any(found in text for text in (*report.problems, *(claim.note for claim in report.claims)))


@pytest.mark.parametrize("share", ["0", "1"])
def test_shares_of_nobody_and_of_everybody_are_found(share):
    release = made(JOINED)
    method = {**release.manifest.method, "shares": {**release.manifest.method["shares"], "v3": share}}
    report = audit(replace(release, manifest=replace(release.manifest, method=method)))
    assert report.holds is False
    assert any("add up to 1" in problem for problem in report.problems)


def test_other_claims_and_other_words_are_not_confirmed():
    release = made(JOINED)
    for claim in (noisy_claim("engineer", model="f-privacy"), replace(release.claims[0], statement="Nobody learns anything.")):
        report = audit(replace(release, manifest=replace(release.manifest, claims=(claim,))))
        assert report.holds is False


def test_people_who_are_not_the_tables_are_found():
    report = audit(made(APART), closed_for(METHOD, skewed(2999)))
    assert any("not rows of" in problem for problem in report.problems)


def test_a_value_that_nobody_has_is_no_fault_of_an_own_bound():
    own = NoisyBoxes(shares={"a": 5, "b": 4, "c": 1}, otherwise="b", floor=10)
    bounded = FPrivacy(theta=2, offset="0.01", bounds={"c": "1/2"}, against="insider")
    table = closed_for(own, skewed(100, values=2))
    assert audit(publication(table, bounded, method=own, random=1).release, table).holds is True
