"""Who is found by quasi values, what each column adds to it, and what a coarser one gains and costs: figures by hand."""

from __future__ import annotations

import math
from datetime import date
from fractions import Fraction
from itertools import product

import numpy as np
import pyarrow as pa
import pytest

from sfumato.explanation.coarser import coarser_step, information, misplaced
from sfumato.explanation.highlights import determining, finding
from sfumato.explanation.risk import band_names, guessing, risk_of
from sfumato.table import Schema, Table


def table(recode: dict[str, object] | None = None, **columns: list[object]) -> Table:
    quasi = [name for name in columns if name != "secret"]
    return Table.from_frame(pa.table(columns), Schema(quasi=quasi, sensitive=["secret"], recode=recode or {}))


PEOPLE = {"age": [1, 1, 2, 2, 2, 3], "sex": ["f", "f", "f", "f", "m", "m"], "secret": ["a", "b", "a", "b", "a", "b"]}
"""Classes (1, f) twice, (2, f) twice, (2, m) and (3, m) alone."""


def test_prosecutor_journalist_marketer_and_the_distribution_of_k_by_hand() -> None:
    risk = risk_of(table(**PEOPLE))
    assert (risk.people, risk.classes, risk.smallest) == (6, 4, 1)
    assert risk.prosecutor == (Fraction(1), Fraction(4, 6))
    assert (risk.journalist, risk.marketer, risk.unique) == (Fraction(1), Fraction(4, 6), Fraction(2, 6))
    assert dict(zip(band_names(), risk.bands, strict=True))["1"] == 2
    assert risk.bands == (2, 4, 0, 0, 0, 0, 0)
    assert (risk.below(2), risk.below(3)) == (2, 6)
    assert band_names() == ("1", "2", "3–4", "5–9", "10–19", "20–99", "100 or more")


def test_what_each_column_adds_is_counted_without_it() -> None:
    age, sex = risk_of(table(**PEOPLE)).columns
    assert age.unique_without == 0  # four women and two men
    assert sex.unique_without == Fraction(1, 6)  # only the person of age 3


def brute(codes: list[int], secret: list[int]) -> Fraction:
    right = Fraction(0)
    for i, own in enumerate(codes):
        others = [secret[j] for j in range(len(codes)) if j != i and codes[j] == own]
        most = max((others.count(value) for value in others), default=0)
        best = {value for value in others if others.count(value) == most}
        right += Fraction(secret[i] in best, max(len(best), 1))
    return right / len(codes)


def test_guessing_the_secret_from_the_others_is_what_asking_everybody_gives() -> None:
    coins = np.random.default_rng(1)
    for levels, values in product((1, 2, 4, 9), (2, 3)):
        for _ in range(10):
            codes, secret = coins.integers(0, levels, 14), coins.integers(0, values, 14)
            guessed, association = guessing(codes, levels, secret, values)
            assert guessed == brute(codes.tolist(), secret.tolist())
            base = Fraction(int(np.bincount(secret).max()), 14)
            assert association == (max(Fraction(0), (guessed - base) / (1 - base)) if base < 1 else 0)


def test_a_column_that_nearly_is_the_secret_is_named_and_one_in_which_everybody_differs_is_not() -> None:
    secret = ["HIV", "Flu", "Gout", "Asthma"] * 50
    drug = [{"HIV": "A", "Flu": "B", "Gout": "C", "Asthma": "D"}[value] for value in secret]
    risk = risk_of(table(drug=drug, number=list(range(200)), secret=secret))
    assert [column.name for column in risk.columns if column.determines] == ["drug"]
    (sentence,) = determining(risk)
    assert sentence.startswith("Nearly the secret itself: drug (100 %")
    assert determining(risk_of(table(**PEOPLE))) == []


def test_misplaced_people_and_lost_links_by_hand() -> None:
    # Of four values in two pairs: 3 and 1 people read as 2 and 2, and 2 and 2 as they are: 1 of 8 is on another value.
    fine, coarse = np.array([0, 0, 0, 1, 2, 2, 3, 3]), np.array([0, 0, 0, 0, 1, 1, 1, 1])
    assert misplaced(fine, 4, coarse) == pytest.approx(1 / 8)
    # A column that is the secret has log 2 of it; chance adds (4 − 2 − 2 + 1 cells less … ) / 2n, with two cells −1 / 2n.
    same = np.array([0, 1] * 50)
    assert information(same, 2, same, 2) == pytest.approx(math.log(2) + 1 / 200)
    assert information(np.zeros(100, int), 1, same, 2) == 0.0


@pytest.mark.parametrize(
    ("values", "recode", "text", "levels"),
    [
        (list(range(20, 60)), {"width": 5}, "width = 10", 4),
        (list(range(20, 60)), {"width": 5, "top": 55, "bottom": 25}, "width = 10, top = 50, bottom = 20", 4),
        (list(range(20, 60)), {"width": 16, "top": 56, "bottom": 34}, "width = 32, top = 56, bottom = 34", 2),
        (list(range(20, 60)), {"width": 32, "top": 56, "bottom": 34}, None, 0),  # both ends in one band already
        (list(range(20, 60)), {"top": 55}, "width = 2, top = 54", 18),
        (list(range(40)), {"round": 5}, "round = 10", 5),
        (list(range(20, 60)), None, "width = 2", 20),
        ([f"{i:02}{j}" for i in range(5) for j in range(8)], {"prefix": 2}, "prefix = 1", 1),
        ([f"{i:02}{j}" for i in range(5) for j in range(8)], None, "prefix = 2", 5),
        (["a", "a", "a", "b", "b", "c", "d", "e"] * 5, None, "the 2 most frequent values, others as 'other'", 3),
        (["yes", "no"] * 20, None, None, 0),
    ],
)
def test_the_next_step_has_half_the_levels_or_is_one_level_up(
    values: list[object], recode: dict[str, object] | None, text: str | None, levels: int
) -> None:
    made = table({"x": recode} if recode else None, x=values, secret=["a", "b"] * 20)
    step = coarser_step(made, made.quasi[0])
    if text is None:
        assert step is None
        return
    assert step is not None
    assert (step.text, step.levels) == (text, levels)


def test_dates_go_up_to_the_next_unit_and_not_beyond_years() -> None:
    days = [f"20{20 + i // 12:02}-{i % 12 + 1:02}-01" for i in range(36)]
    for now, up in (("month", 'to = "quarter"'), ("quarter", 'to = "year"'), ("year", None)):
        frame = pa.table({"x": pa.array(days).cast(pa.date32()), "secret": ["a", "b"] * 18})
        made = Table.from_frame(frame, Schema(quasi=["x"], sensitive=["secret"], recode={"x": {"to": now}}))
        step = coarser_step(made, made.quasi[0])
        assert (None if step is None else step.text) == up


def test_what_a_step_gains_is_what_publishing_it_would_give() -> None:
    coins = np.random.default_rng(2)
    columns = {
        "age": coins.integers(20, 80, 300).tolist(),
        "town": [f"t{i}" for i in coins.integers(0, 9, 300)],
        "secret": ["a", "b"] * 150,
    }
    risk = risk_of(table({"age": {"width": 5}}, **columns))
    age = risk.columns[0]
    assert age.step is not None
    assert age.step.unique == table({"age": {"width": 10}}, **columns).unique_share()
    assert age.unique_without == table(**{"town": columns["town"], "secret": columns["secret"]}).unique_share()
    assert len(finding(risk)) == 3
    assert "instead of" in finding(risk)[2]


def test_a_step_that_cuts_through_values_is_counted_by_people() -> None:
    """Weeks become months, and a week may lie in two of them: who shares a week may be alone in a month."""
    days = ["2024-01-29", "2024-02-01", "2024-01-02", "2024-01-03", "2024-01-10", "2024-03-05", "2024-03-06", "2024-04-02"]
    made = table(
        {"day": {"to": "week"}},
        day=[date.fromisoformat(day) for day in days],
        sex=["f", "f", "f", "m", "m", "m", "m", "f"],
        secret=["a", "b"] * 4,
    )
    day = next(column for column in risk_of(made).columns if column.name == "day")
    months = list(zip([day[:7] for day in days], ["f", "f", "f", "m", "m", "m", "m", "f"], strict=True))
    assert day.step is not None
    assert day.step.recode.to_dict() == {"to": "month"}
    assert day.step.unique == Fraction(sum(months.count(one) == 1 for one in months), 8)


def test_what_a_column_adds_is_what_comparing_everybody_gives() -> None:
    coins = np.random.default_rng(3)
    for _ in range(10):
        columns = {name: coins.integers(0, many, 60).tolist() for name, many in (("a", 9), ("b", 4), ("c", 30))}
        risk = risk_of(table(**columns, secret=coins.choice(["x", "y"], 60).tolist()))
        for one in risk.columns:
            others = list(zip(*(values for name, values in columns.items() if name != one.name), strict=True))
            assert one.unique_without == Fraction(sum(others.count(row) == 1 for row in others), 60)
