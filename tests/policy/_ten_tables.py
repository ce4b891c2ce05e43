"""Ten small tables made like those that people bring: names, shapes, majorities, doubled columns. Nobody is in them.

In each the secrets follow from the quasi columns with noise, as they do in life.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np

Coins = np.random.Generator
Columns = list[tuple[str, object]]


def write(path: Path, columns: Columns, *, header: bool = True) -> Path:
    """Write columns, of which two may have one name."""
    lists = [np.asarray(values).tolist() for _, values in columns]
    with path.open("w", newline="") as stream:
        out = csv.writer(stream)
        if header:
            out.writerow([name for name, _ in columns])
        out.writerows(zip(*lists, strict=True))
    return path


def pick(coins: Coins, values: list[str], weights: np.ndarray) -> np.ndarray:
    """Return a value for each row of weights, with chances in proportion."""
    chance = np.cumsum(weights / weights.sum(axis=1, keepdims=True), axis=1)
    return np.array(values)[(coins.random(len(weights))[:, None] > chance).sum(axis=1).clip(0, len(values) - 1)]


def likely(*scores: np.ndarray) -> np.ndarray:
    """Return weights of values from their scores."""
    return np.exp(np.stack(np.broadcast_arrays(*scores), axis=1))


def hospital(coins: Coins, rows: int = 6000) -> Columns:
    """Visits with laboratory results and drugs; three drugs have the values of insulin, and most people take none."""
    age = coins.integers(18, 95, rows)
    old = (age - 55) / 20
    drug = lambda lean: pick(coins, ["No", "Steady", "Up", "Down"], likely(lean + 0 * old, old - 0.5, old - 2.5, old - 2.5))  # noqa: E731
    codes = pick(coins, ["I10", "E11.9", "J45", "K21.0", "F32.1"], likely(old, old, -old, 0 * old, -0.5 * old - 1))
    return [
        ("patient_nbr", coins.permutation(rows) + 100_000),
        ("race", pick(coins, ["Caucasian", "AfricanAmerican", "Asian", "Other"], likely(2 + 0 * old, 0.5, -1, -1))),
        ("gender", pick(coins, ["Female", "Male"], likely(0 * old, 0 * old))),
        ("age", age),
        ("diag_1", codes),
        ("A1Cresult", pick(coins, ["None", "Norm", ">7", ">8"], likely(2.2 - old, 0, old - 0.5, old - 0.2))),
        ("insulin", drug(0.5)),
        ("metformin", drug(1.5)),
        ("glipizide", drug(2.5)),
        ("readmitted", pick(coins, ["NO", ">30", "<30"], likely(0.6 - old, 0 * old, old - 1))),
    ]


def census(coins: Coins, rows: int = 5000) -> Columns:
    """Adults with an income of which a quarter has the higher class."""
    age, hours = coins.integers(17, 90, rows), coins.normal(40, 10, rows).round().clip(1, 99).astype(int)
    school = coins.integers(1, 17, rows)
    rich = (school - 9) / 4 + (hours - 40) / 25 - ((age - 47) / 25) ** 2
    return [
        ("age", age),
        ("workclass", pick(coins, ["Private", "Self-emp", "Gov", "?"], likely(2 + 0 * rich, 0.3, 0.5, -1))),
        ("education-num", school),
        ("marital-status", pick(coins, ["Married", "Never-married", "Divorced"], likely(age / 40, 1.6 - age / 40, 0 * rich))),
        ("sex", pick(coins, ["Male", "Female"], likely(0.6 + 0 * rich, 0 * rich))),
        ("hours-per-week", hours),
        ("income", np.where(coins.random(rows) < 1 / (1 + np.exp(0.9 - rich)), ">50K", "<=50K")),
    ]


def happiness(coins: Coins, rows: int = 4000) -> Columns:
    """A survey of how happy people are, with columns of 0 and 1, and the square of a column."""
    age, school = coins.integers(18, 89, rows), coins.integers(0, 21, rows)
    married = coins.random(rows) < 0.55
    lucky = school / 5 + 1.5 * married - 3
    return [
        ("age", age),
        ("educ", school),
        ("educsq", school**2),
        ("female", coins.integers(0, 2, rows)),
        ("black", (coins.random(rows) < 0.24).astype(int)),
        ("married", married.astype(int)),
        ("owngun", np.where(coins.random(rows) < 0.2 + 0.3 * (age > 50), "yes", "no")),
        (
            "happy",
            pick(coins, ["not happy", "pretty happy", "very happy"], likely(-lucky - 0.6, 0.6 + 0 * lucky, lucky - 0.4)),
        ),
    ]


def alcohol(coins: Coins, rows: int = 4000) -> Columns:
    """Men at work, one in ten of whom drinks too much."""
    age = coins.integers(25, 60, rows)
    school = coins.integers(0, 20, rows)
    drinks = coins.random(rows) < 0.02 + 0.25 * (age > 45) * (school < 12)
    return [
        ("abuse", drinks.astype(int)),
        ("status", pick(coins, ["out", "unemployed", "employed"], likely(2.0 * drinks, 1.5 * drinks - 1, 2.0 - drinks))),
        ("age", age),
        ("educ", school),
        ("married", (coins.random(rows) < 0.8).astype(int)),
        ("famsize", coins.integers(1, 9, rows)),
        ("white", (coins.random(rows) < 0.85).astype(int)),
        ("northeast", (coins.random(rows) < 0.2).astype(int)),
    ]


def court(coins: Coins, rows: int = 5000) -> Columns:
    """Defendants with two columns of a name, twice."""
    age = coins.integers(18, 80, rows)
    priors = coins.poisson(np.where(age < 35, 4.0, 1.5))
    risk = priors / 3 - age / 25
    decile = np.clip((5 + 2.2 * risk + coins.normal(0, 1, rows)).round(), 1, 10).astype(int)
    again = (coins.random(rows) < 1 / (1 + np.exp(-risk))).astype(int)
    return [
        ("id", np.arange(1, rows + 1)),
        ("sex", pick(coins, ["Male", "Female"], likely(1.4 + 0 * risk, 0 * risk))),
        ("age", age),
        ("race", pick(coins, ["African-American", "Caucasian", "Hispanic", "Other"], likely(0.9 + 0 * risk, 0.6, -0.8, -1.2))),
        ("decile_score", decile),
        ("priors_count", priors),
        ("c_charge_degree", pick(coins, ["F", "M"], likely(risk, 0 * risk))),
        ("is_recid", again),
        ("decile_score", decile),
        ("priors_count", priors),
    ]


def marriages(coins: Coins, rows: int = 5000) -> Columns:
    """How often people betray, how they rate their marriage, and how religious they are."""
    years, age = coins.choice([0.5, 2.5, 6, 9, 13, 16.5, 23], rows), coins.choice([17.5, 22, 27, 32, 37, 42], rows)
    good = 1.6 - years / 7 + coins.normal(0, 0.4, rows)
    many = np.where(coins.random(rows) < 1 / (1 + np.exp(1.2 + good)), coins.gamma(1.2, 2.5, rows).round(3) + 0.03, 0.0)
    return [
        ("rate_marriage", pick(coins, list("12345"), likely(-3 - good, -1.8 - good, 0 * good, 0.8 + 0 * good, 0.6 + good))),
        ("age", age),
        ("yrs_married", years),
        ("children", coins.integers(0, 6, rows)),
        ("religious", pick(coins, list("1234"), likely(0 * good, 0.8 + 0 * good, 0.9 + 0.2 * good, -0.4 + 0.3 * good))),
        ("educ", coins.choice([9, 12, 14, 16, 17, 20], rows)),
        ("affairs", many.round(4)),
    ]


def doctors(coins: Coins, rows: int = 4000) -> Columns:
    """Visits to doctors: most people made none."""
    age = coins.choice(np.arange(0.19, 0.73, 0.05).round(2), rows)
    weak = (age - 0.4) * 5
    ill = np.minimum(coins.poisson(np.exp(0.3 * weak)), 5)
    return [
        ("sex", coins.integers(0, 2, rows)),
        ("age", age),
        ("region", pick(coins, ["north", "south", "coast", "hills"], likely(0 * weak, 0.3 * weak, 0.5, -0.5))),
        ("illness", ill),
        ("chcond", pick(coins, ["no", "limited", "not limited"], likely(0.7 - weak, weak - 1.2, 0.3 * weak))),
        ("doctorco", np.minimum(coins.poisson(0.15 + 0.12 * ill), 9)),
        ("prescribed", np.minimum(coins.poisson(np.exp(weak - 0.8)), 8)),
    ]


def plebiscite(coins: Coins, rows: int = 2700) -> Columns:
    """What people will vote, and how much they like what there is."""
    age, like = coins.integers(18, 71, rows), coins.normal(0, 0.5, rows)
    region = coins.integers(0, 5, rows)
    lean = like + (age - 40) / 15 + 1.5 * (region == 2) - (region == 4)
    income = np.array([2500, 7500, 15000, 35000, 75000, 125000])
    return [
        ("region", np.array(["C", "M", "N", "S", "SA"])[region]),
        ("population", np.array([3750, 25000, 45000, 125000, 250000])[(region + coins.integers(0, 2, rows)) % 5]),
        ("sex", pick(coins, ["F", "M"], likely(0 * lean, 0 * lean))),
        ("age", age),
        ("education", pick(coins, ["P", "S", "PS"], likely(age / 50, 0.6 + 0 * lean, -0.3 + 0 * lean))),
        ("income", income[np.clip((2 + (age - 40) / 12 + coins.normal(0, 1, rows)).round(), 0, 5).astype(int)]),
        ("vote", pick(coins, ["N", "Y", "U", "A"], likely(-lean, lean, 0 * lean - 0.3, 0 * lean - 1.4))),
    ]


def smokers(coins: Coins, rows: int = 2500) -> Columns:
    """Smokers, who stopped or did not, with a difference of weights and a tax of the place."""
    age = coins.integers(25, 75, rows)
    stop = (coins.random(rows) < 0.15 + 0.006 * (age - 25)).astype(int)
    return [
        ("seqn", coins.permutation(rows) + 200),
        ("qsmk", stop),
        ("sex", coins.integers(0, 2, rows)),
        ("race", (coins.random(rows) < 0.13).astype(int)),
        ("age", age),
        ("education", coins.integers(1, 6, rows)),
        ("wt82_71", (coins.normal(2, 7, rows) + 3 * stop).round().astype(int)),
        ("tax82", coins.choice(np.arange(0.8, 1.6, 0.05).round(4), rows)),
        ("asthma", (coins.random(rows) < 0.03 + 0.001 * (age - 25)).astype(int)),
        ("smokeintensity", np.where(age > 50, coins.choice([20, 30, 40], rows), coins.choice([5, 10, 15, 20], rows))),
    ]


def voters(coins: Coins, rows: int = 944) -> Columns:
    """A small survey of voters, with the size of the place where they live."""
    age, income = coins.integers(19, 91, rows).astype(float), coins.integers(1, 25, rows).astype(float)
    left = coins.normal(0, 1, rows) - (income - 12) / 12
    return [
        ("popul", coins.choice(np.r_[0, coins.integers(1, 3000, 95)], rows).astype(float)),
        ("TVnews", coins.integers(0, 8, rows).astype(float)),
        ("PID", np.clip((3 - 2 * left).round(), 0, 6)),
        ("age", age),
        ("educ", coins.integers(1, 8, rows).astype(float)),
        ("income", income),
        ("vote", (coins.random(rows) < 1 / (1 + np.exp(2 * left))).astype(float)),
    ]


TABLES: dict[str, Callable[[Coins], Columns]] = {
    made.__name__: made for made in (hospital, census, happiness, alcohol, court, marriages, doctors, plebiscite, smokers, voters)
}
