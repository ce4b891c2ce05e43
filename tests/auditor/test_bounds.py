from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.auditor.bounds import bounds_of
from sfumato.errors import FormatError
from sfumato.privacy import BetaLikeness, FPrivacy, LDiversity, RhoPrivacy

counts_strategy = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 500), min_size=2)
requirements = st.one_of(
    st.builds(FPrivacy, theta=st.fractions(1, 20), offset=st.fractions(Fraction(1, 100), 1)),
    st.builds(BetaLikeness, st.fractions(0, 6), enhanced=st.booleans()),
    st.just(RhoPrivacy("1/2", "3/4")),
    st.just(LDiversity(1)),
)


@given(counts_strategy, requirements)
def test_the_auditors_bounds_are_the_publishers_although_written_apart(counts, requirement):
    bounds = requirement.bounds(counts)
    shares = dict(zip(bounds.values, bounds.shares, strict=True))
    theirs = bounds_of(requirement.to_dict(), shares, list(bounds.values))
    assert theirs == dict(zip(bounds.values, bounds.limits, strict=True))


def test_single_bounds_are_read_too():
    document = FPrivacy(theta=8, offset="0.02", bounds={"a": "1/3"}).to_dict()
    assert bounds_of(document, {"a": Fraction(1, 10), "b": Fraction(9, 10)}, ["a", "b"]) == {
        "a": Fraction(1, 3),
        "b": Fraction(1),
    }


def test_without_shares_only_bounds_that_need_none_are_known():
    assert bounds_of(LDiversity(4).to_dict(), None, ["a"]) == {"a": Fraction(1, 4)}
    assert bounds_of(FPrivacy(offset="1/4").to_dict(), None, ["a"]) == {"a": Fraction(1, 4)}
    assert bounds_of(BetaLikeness(1).to_dict(), None, ["a"]) is None


@pytest.mark.parametrize("document", [{}, {"model": "magic"}, {"model": "l-diversity"}, {"model": "l-diversity", "l": 0}])
def test_a_requirement_that_cannot_be_read_is_an_error(document):
    with pytest.raises(FormatError, match="requirement"):
        bounds_of(document, {"a": Fraction(1)}, ["a"])
