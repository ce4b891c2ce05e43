"""What a policy says of a column, in words: as the column is published, and not nearly so."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest

from sfumato.policy.words import bounds_in_words, recoding_in_words
from sfumato.table.recode import recoding


@pytest.mark.parametrize(
    ("recode", "below"),
    [
        ({"width": 5, "bottom": 20}, 25),
        ({"width": 20, "bottom": 15}, 20),  # no edge of a band
        ({"width": 10, "bottom": 15, "origin": 5}, 25),
        ({"width": 10, "bottom": -5}, 0),
    ],
)
def test_below_the_bottom_all_are_said_to_be_one_who_are(recode: dict[str, Any], below: int) -> None:
    assert recoding_in_words(recode) == f"in bands of {recode['width']}, all below {below} as one"
    values = list(range(-50, 60))
    shown = recoding(recode, "x").apply(pa.array(values), "numeric", "x")[0].to_pylist()
    assert max(value for value, one in zip(values, shown, strict=True) if one == shown[0]) == below - 1


ODDS = {"model": "f-privacy", "theta": "8", "offset": "0.02", "odds": "8"}
GROWTH = (
    "of what at least one in nine people have, odds grow at most 8-fold (24 % → at most 72 %); of what fewer have, belief is at "
    "most one half, and at most 8·share + 2 %."
)
HALVES = {"a": Fraction(1, 2), "b": Fraction(1, 2)}
TWO_THIRDS = dict.fromkeys("ab", Fraction(2, 3))


def said(requirement: dict[str, Any], **more: Any) -> list[str]:
    return bounds_in_words(requirement, HALVES, TWO_THIRDS, against="engineer", **more)


def test_where_every_rule_has_odds_growth_is_said_and_nothing_beside_it() -> None:
    assert said(ODDS) == [GROWTH]
    assert said(ODDS, people=False) == [GROWTH.replace("people", "rows")]
    assert said({**ODDS, "bounds": {"a": "1"}}) == [GROWTH, "Values with bounds of their own keep those."]
    own = {**ODDS, "columns": {"x": {**ODDS, "odds": "4"}}}
    assert [text.split(":")[0] for text in said(own, secrets=["x", "y"])] == ["for x", "For y"]


@pytest.mark.parametrize("other", [{"model": "l-diversity", "l": 2}, {"model": "f-privacy", "theta": "2", "offset": "0"}])
def test_where_one_secret_has_another_rule_only_how_sure_somebody_becomes_is_said(other: dict[str, Any]) -> None:
    sure = "an engineer who uses no link between columns becomes at most 66.67 % sure that a given person has any one value"
    for requirement in (other, {**ODDS, "columns": {"x": other}}, {**other, "columns": {"x": ODDS}}):
        (text,) = said(requirement, secrets=["x", "y"])
        assert text.startswith(sure)
        assert "-fold" not in text
