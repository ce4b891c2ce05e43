from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.auditor.bounds import bounds_of, presence_bound
from sfumato.errors import FormatError
from sfumato.privacy import BetaLikeness, FPrivacy, LDiversity, PresenceAssociation, RhoPrivacy

HALF = PresenceAssociation("1/2", "1/2", against="reader")

counts_strategy = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 500), min_size=2)
requirements = st.one_of(
    st.builds(FPrivacy, theta=st.fractions(1, 20), offset=st.fractions(Fraction(1, 100), 1)),
    st.builds(FPrivacy, theta=st.fractions(1, 20), offset=st.fractions(Fraction(1, 100), 1), odds=st.fractions(1, 20)),
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
    assert bounds_of(FPrivacy(offset="1/4", odds=8).to_dict(), None, ["a"]) == {"a": Fraction(1, 4)}
    assert bounds_of(FPrivacy(offset="3/4", odds=8).to_dict(), None, ["a"]) is None


@pytest.mark.parametrize("document", [{}, {"model": "magic"}, {"model": "l-diversity"}, {"model": "l-diversity", "l": 0}])
def test_a_requirement_that_cannot_be_read_is_an_error(document):
    with pytest.raises(FormatError, match="requirement"):
        bounds_of(document, {"a": Fraction(1)}, ["a"])


@pytest.mark.parametrize(
    "beta",
    [
        "0",
        "3",
        {"model": "l-diversity", "l": "1/3"},
        {"model": "l-diversity", "l": "0"},
        {"model": "f-privacy", "theta": "0", "offset": "2", "bounds": {}},
        {"model": "f-privacy", "theta": "1", "offset": "0", "bounds": {"s": "3/2"}},
        {"model": "f-privacy", "theta": "1", "offset": "0", "bounds": {"s": "0"}},
        {"model": "f-privacy", "theta": "1", "offset": "0", "bounds": ["s"]},
        {"model": "f-privacy", "theta": "1", "offset": "0", "odds": "1/2", "bounds": {}},
        {"model": "f-privacy", "theta": "1", "offset": "0", "odds": None, "bounds": {}},
        {"model": "rho-privacy", "rho1": "1/2", "rho2": "1/3"},
        {"model": "rho-privacy", "rho1": "1/2", "rho2": "3"},
        {"model": "rho-privacy", "rho1": "0", "rho2": "1/2"},
    ],
)
def test_parameters_out_of_their_ranges_cannot_be_read(beta):
    with pytest.raises(FormatError, match="this audit can read"):
        bounds_of({"model": "presence-association", "alpha": "1", "beta": beta}, {"s": Fraction(1, 2)}, ["s"])


def test_the_auditor_reads_alpha_and_beta_on_its_own():
    inner = FPrivacy(theta=2, offset="0.1", against="reader")
    requirement = PresenceAssociation("0.1", inner, against="reader")
    shares = {"s": Fraction(1, 4), "t": Fraction(3, 4)}
    assert presence_bound(requirement.to_dict()) == Fraction(1, 10)
    assert bounds_of(requirement.to_dict(), shares, ["s", "t"]) == requirement.limits(shares)
    assert bounds_of(requirement.to_dict(), None, ["s", "t"]) is None
    assert bounds_of(HALF.to_dict(), None, ["s"]) == {"s": Fraction(1, 2)}
    assert presence_bound(inner.to_dict()) is None


@pytest.mark.parametrize("alpha", ["0", "3/2", "x", None, True, "1/0"])
def test_an_alpha_that_is_none_cannot_be_read(alpha):
    with pytest.raises(FormatError, match=r"alpha|requirement"):
        presence_bound({"model": "presence-association", "alpha": alpha, "beta": "1/2"})


def test_a_bound_on_presence_inside_another_cannot_be_read():
    with pytest.raises(FormatError, match="requirement"):
        bounds_of({"model": "presence-association", "alpha": "1", "beta": HALF.to_dict()}, None, ["s"])
