"""Results of completed tables combined: Rubin's rules by hand, against statsmodels' own results, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import t

import sfumato as sf
from sfumato.errors import QueryError


def test_rubins_rules_by_hand() -> None:
    # q = 1, 2, 3 and U = .5: B = 1, T = .5 + 4/3; the share of B in T is 8/11, so that ν = 2·(11/8)² = 3.78125.
    found = sf.combine([([1.0], [[0.5]]), ([2.0], [[0.5]]), ([3.0], [[0.5]])], names=["age"])
    assert found.names == ("age",)
    assert found.estimates.tolist() == [2.0]
    assert found.covariance[0, 0] == pytest.approx(11 / 6)
    assert found.missing[0] == pytest.approx(8 / 11)
    assert found.freedom[0] == pytest.approx(3.78125)
    reach = t.ppf(0.975, 3.78125) * math.sqrt(11 / 6)
    assert found.intervals[0] == pytest.approx([2 - reach, 2 + reach])
    assert found.p_values[0] == pytest.approx(2 * t.sf(2 / math.sqrt(11 / 6), 3.78125))


def test_degrees_of_freedom_of_barnard_and_rubin_by_hand() -> None:
    # With 10 of the complete table: 11/13·10·3/11 = 30/13 observed; 1/(1/3.78125 + 13/30) = 1.4335…
    found = sf.combine([([1.0], [0.5]), ([2.0], [0.5]), ([3.0], [0.5])], freedom=10)
    assert found.freedom[0] == pytest.approx(1 / (1 / 3.78125 + 13 / 30))


def test_tables_that_agree_leave_the_variance_as_it_was() -> None:
    found = sf.combine([([1.0, 2.0], np.diag([0.25, 4.0]))] * 4)
    assert np.allclose(found.covariance, np.diag([0.25, 4.0]))
    assert np.isinf(found.freedom).all()
    assert found.intervals[0] == pytest.approx([1 - 1.959964 * 0.5, 1 + 1.959964 * 0.5], abs=1e-5)


def test_covariances_between_estimates_are_those_of_numpy() -> None:
    random = np.random.default_rng(1)
    q = random.normal(size=(6, 3))
    u = [np.diag(random.uniform(1, 2, 3)) for _ in range(6)]
    found = sf.combine(list(zip(q, u, strict=True)))
    assert np.allclose(found.covariance, np.mean(u, axis=0) + (7 / 6) * np.cov(q.T))


def test_results_of_statsmodels_are_taken_with_names_and_degrees_of_freedom() -> None:
    statsmodels = pytest.importorskip("statsmodels.api")
    pandas = pytest.importorskip("pandas")
    random = np.random.default_rng(2)
    fits = []
    for _ in range(3):
        x = pandas.DataFrame({"const": 1.0, "age": random.normal(size=200)})
        fits.append(statsmodels.Logit(random.random(200) < 1 / (1 + np.exp(-x["age"])), x).fit(disp=0))
    found = sf.combine(fits)
    assert found.names == ("const", "age")
    assert found.estimates[1] == pytest.approx(np.mean([fit.params["age"] for fit in fits]))
    assert (found.freedom <= 198).all()
    frame = found.frame()
    assert list(frame["name"]) == ["const", "age"]
    assert "age" in str(found)
    assert "3 completed tables" in found._repr_html_()


def test_mappings_and_variances_are_taken() -> None:
    found = sf.combine([({"a": 1.0, "b": 0.0}, [1.0, 1.0]), ({"a": 3.0, "b": 0.0}, [1.0, 1.0])])
    assert found.names == ("a", "b")
    assert found.covariance[0, 0] == pytest.approx(1 + 1.5 * 2)


@pytest.mark.parametrize(
    ("fits", "told"),
    [
        ([], "0 results"),
        ([([1.0], [1.0])], "1 results"),
        ([3, 4], "a int"),
        ([([1.0], [1.0, 2.0])] * 2, "covariance of shape"),
        ([([math.nan], [1.0])] * 2, "not finite"),
        ([(["a"], [1.0])] * 2, "not numbers"),
        ([({"a": 1.0}, [1.0]), ({"b": 1.0}, [1.0])], "result 2 has other terms"),
    ],
)
def test_what_is_no_result_is_refused(fits: list[object], told: str) -> None:
    with pytest.raises(QueryError, match=told):
        sf.combine(fits)


def test_names_and_confidence_must_fit() -> None:
    fits = [([1.0], [1.0])] * 2
    with pytest.raises(QueryError, match="other terms"):
        sf.combine(fits, names=["a", "b"])
    with pytest.raises(QueryError, match="confidence"):
        sf.combine(fits, confidence=1.0)
