"""BuReL's perturbation: the worked example, and the caps by exact arithmetic."""

from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sfumato import BetaLikeness, audit
from sfumato.methods.burel_perturbation import BuReLPerturbation
from sfumato.randomize.likeness import amplifications, exact_retentions, likeness_retentions
from tests.makers import skewed

COUNTS = (4, 5, 10, 11, 30, 40)


def limits_of(counts, beta, enhanced):
    bounds = BetaLikeness(beta, enhanced=enhanced).bounds({f"v{k:02}": count for k, count in enumerate(counts)})
    return bounds.limits


def posteriors(counts, kept):
    """The belief in each value after seeing it: p·P[i→i] / Σ p_j·P[j→i]."""
    size, total = len(counts), sum(counts)
    spread = sum(Fraction(count, total) * (1 - p) for count, p in zip(counts, kept, strict=True)) / size
    own = [Fraction(count, total) * (p + (1 - p) / size) for count, p in zip(counts, kept, strict=True)]
    seen = [spread + Fraction(count, total) * p for count, p in zip(counts, kept, strict=True)]
    return [mine / all_of_it for mine, all_of_it in zip(own, seen, strict=True)]


def test_the_worked_example():
    gammas = amplifications(COUNTS, limits_of(COUNTS, 2, True))
    assert [round(float(gamma), 3) for gamma in gammas] == [3.273, 3.353, 3.857, 3.985, 4.554, 4.924]
    assert round(1 / (5 + float(max(gammas))), 5) == 0.10076
    kept = exact_retentions(gammas)
    assert [round(float(p), 3) for p in kept] == [0.196, 0.205, 0.266, 0.282, 0.351, 0.395]
    assert [round(float(belief), 3) for belief in posteriors(COUNTS, kept)] == [0.112, 0.140, 0.284, 0.313, 0.639, 0.740]


def test_retentions_that_would_be_negative_are_mended():
    limits = limits_of((1, 99), 1, True)
    gammas = [limit / (1 - limit) * Fraction(100 - count, count) for count, limit in zip((1, 99), limits, strict=True)]
    assert round(float(exact_retentions(gammas)[0]), 2) == -0.98
    kept, gamma = likeness_retentions()((1, 99), limits)
    assert gamma is None
    assert min(kept) > 0


@settings(max_examples=150, deadline=None)
@given(st.lists(st.integers(1, 200), min_size=2, max_size=8), st.sampled_from(["0.5", "1", "2", "4"]), st.booleans())
def test_every_belief_keeps_its_bound_and_every_retention_is_positive(counts, beta, enhanced):
    limits = limits_of(counts, beta, enhanced)
    assume(any(limit < 1 for limit in limits))
    assume(all(limit == 1 or limit > Fraction(count, sum(counts)) for count, limit in zip(counts, limits, strict=True)))
    kept, _ = likeness_retentions()(counts, limits)
    assert all(0 < p < 1 for p in kept)
    assert all(belief <= limit for belief, limit in zip(posteriors(counts, kept), limits, strict=True))


@pytest.mark.parametrize("enhanced", [False, True])
def test_the_audit_confirms_a_release(enhanced):
    table = skewed(rows=800)
    release = BuReLPerturbation().run(table, BetaLikeness(2, enhanced=enhanced, against="reader"), random=1).release
    assert audit(release, table).holds is True
