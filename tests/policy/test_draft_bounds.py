"""Which values a draft leaves open, how it bins and bands numbers, and what it says that it took from the table."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import NotProvable
from sfumato.exact import percent
from sfumato.groups.soft import affords, soft_rule
from sfumato.policy import Policy, draft_policy
from sfumato.policy.opening import divided_from
from sfumato.policy.profile import profile
from sfumato.policy.proposal import bands_of, bins_of
from sfumato.policy.rule import STRICT, rule_for
from tests.policy._ten_tables import write

COINS = np.random.default_rng(3)


def opened(column: str, value: str, *, share: int = 80) -> str | None:
    """The open value of a column in which so many of 100 people have a value."""
    words = profile(column, pa.chunked_array([["a"]])).words
    return rule_for({value: share, "x": 99 - share, "y": 1}, words=words).opened


@pytest.mark.parametrize(
    "value",
    ["no", "No", "None", "0", "0.0", "false", "Negative", "never", "Normal", "(missing)", "?", "nein", "keine", "Non", "aucun",
     "jamais", "ninguno", "nunca", "não", "nenhum", "nessuno", "geen", "nooit", "nigdy", "brak", "no abuse", "unknown",
     "ohne Befund", "sin enfermedad", "sans maladie", "-", "n/a", "no known disease", "Not prescribed"],
)  # fmt: skip
def test_a_majority_of_nothing_is_open_and_the_others_are_bounded_together(value: str) -> None:
    assert opened("abuse", value) == value
    rule = rule_for({value: 80, "x": 19, "y": 1}, words=frozenset({"abuse"}))
    assert rule.bound(value) == 1
    assert rule.others == ("x", "y")


@pytest.mark.parametrize(
    "value",
    ["White", "yes", "1", "<=50K", "Northern", "nonsmoking wards of a hospital", "notified", "F", "N", "Non-Hodgkin lymphoma",
     "Non-STEMI", "no contest", "Unknown primary cancer", "Never-ending pain", "+", "no show"],
)  # fmt: skip
def test_a_majority_of_something_keeps_its_bound(value: str) -> None:
    assert opened("abuse", value) is None


@pytest.mark.parametrize(("letter", "other"), [("N", "Y"), ("n", "j"), ("F", "T")])
def test_a_letter_says_nothing_only_beside_the_letter_for_the_contrary(letter: str, other: str) -> None:
    assert rule_for({letter: 80, other: 20}).opened == letter
    assert rule_for({letter: 80, other: 19, "(missing)": 1}).opened == letter
    assert rule_for({letter: 80, "M": 20}).opened is None
    assert rule_for({letter: 80, other: 19, "M": 1}).opened is None


def test_what_fewer_than_half_have_is_never_open() -> None:
    assert opened("abuse", "no", share=50) is None
    assert opened("abuse", "no", share=51) == "no"


@pytest.mark.parametrize("column", ["religion", "voted", "party", "sexual_orientation"])
def test_of_belief_politics_and_sexuality_only_missing_values_are_open(column: str) -> None:
    assert opened(column, "none") is None
    assert opened(column, "no") is None
    assert opened(column, "(missing)") == "(missing)"


@pytest.mark.parametrize(
    "column",
    ["income", "Salary", "insurance", "employment", "job", "vaccinated", "residence", "einkommen", "geimpft", "vacunado_health"],
)
def test_where_absence_is_the_secret_nothing_is_open(column: str) -> None:
    for value in ("0", "no", "none", "(missing)"):
        assert opened(column, value) is None


def test_an_open_value_and_the_set_of_the_others_stand_in_the_draft_and_are_kept(tmp_path: Path) -> None:
    illness = COINS.choice(["No", "Flu", "Gout", "HIV"], 3000, p=[0.7, 0.2, 0.08, 0.02])
    path = write(tmp_path / "t.csv", [("age", COINS.integers(20, 80, 3000)), ("illness", illness)])
    draft = draft_policy(path)
    assert f'"No" = 1  # ? {percent((illness == "No").mean())} of people have it, and it says that nothing is there' in draft
    policy = Policy.parse(draft)
    table = policy.read_table(path)
    made = sf.publication(table, policy.requirement, random=1)
    assert made.audit.holds is True
    bounds = dict(zip(made.bounds.events, made.bounds.limits, strict=True))
    some = Fraction(int((illness != "No").sum()), 3000)
    assert bounds["No"] == 1
    assert made.bounds.events[-1] == "not No"
    assert made.bounds.limits[-1] == 8 * some / (1 + 7 * some)
    assert "TAKEN FROM THIS TABLE" in draft
    assert "illness is open" in draft


def test_bins_have_two_round_ends_near_the_first_and_last_hundredth() -> None:
    numbers = np.round(COINS.lognormal(8, 0.8, 20_000))
    made = bins_of(profile("salary", pa.chunked_array([numbers])), pa.chunked_array([numbers]))
    assert made is not None
    assert not made.zero
    low, high = np.quantile(numbers, (0.01, 0.99))
    step = 1000  # the 1-2-5 step that goes about twenty times into what lies between
    assert made.edges[0] == 0 < low
    assert high <= made.edges[-1] < high + step
    assert made.edges[-1] % step == 0
    assert numbers.max() > made.edges[-1]
    counted = np.histogram(np.clip(numbers, made.edges[0], made.edges[-1]), made.edges)[0]
    assert len(counted) == 10
    assert counted.min() > 0.08 * len(numbers)


def test_zero_is_a_bin_of_its_own_where_most_people_have_it(tmp_path: Path) -> None:
    numbers = np.where(COINS.random(5000) < 0.7, 0, COINS.integers(1, 400, 5000))
    made = bins_of(profile("gains", pa.chunked_array([numbers])), pa.chunked_array([numbers]))
    assert made is not None
    assert made.zero
    assert made.edges[:2] == (0, 0)
    path = write(tmp_path / "t.csv", [("age", COINS.integers(20, 80, 5000)), ("debt", numbers)])
    policy = Policy.parse(draft_policy(path))
    assert policy.requirement.own_bounds == {"0": 1}
    release = sf.publish(policy.read_table(path), policy.requirement, random=1)
    assert release.count("SELECT AVG(debt)").value == pytest.approx(numbers.mean(), rel=0.1)
    for asked, truth in (("debt > 0", numbers > 0), ("debt = 0", numbers == 0), ("debt <= 0", numbers == 0)):
        answer = release.count(asked)
        assert answer.value == answer.low == answer.high == truth.sum()


def test_debts_below_zero_are_no_nothing() -> None:
    numbers = np.where(COINS.random(5000) < 0.7, 0, COINS.integers(-100, 400, 5000)).astype(float)
    made = bins_of(profile("gains", pa.chunked_array([numbers])), pa.chunked_array([numbers]))
    assert made is not None
    assert made.zero
    assert made.edges[:3] == (-100, 0, 0)
    assert made.spec["clip"] is True


def test_numbers_beyond_clipped_bins_count_in_the_bins_at_the_ends() -> None:
    frame = pa.table({"age": COINS.integers(20, 80, 500), "pay": COINS.integers(-100, 1200, 500)})
    schema = sf.Schema(quasi=["age"], sensitive=["pay"], bins={"pay": {"edges": [0, 500, 1000], "clip": True}})
    table = sf.Table.from_frame(frame, schema)
    below = int((np.asarray(frame["pay"]) < 500).sum())
    assert table.sensitive.histogram() == {"[0, 500)": below, "[500, 1000]": 500 - below}
    assert sf.Schema.from_dict(table.schema.to_dict()).bins_of("pay") == schema.bins_of("pay")


def test_bands_at_the_ends_hold_a_hundredth_of_people() -> None:
    age = np.concatenate([COINS.integers(20, 70, 5000), [18] * 20, np.arange(70, 100)]).astype(float)
    spec = bands_of(age, 5)
    assert spec == {"width": 5, "bottom": 20, "top": 65}
    lowest = (age < spec["bottom"] + spec["width"]).mean()
    assert min(lowest, (age >= spec["top"]).mean()) >= 0.01
    assert bands_of(COINS.integers(20, 70, 5000).astype(float), 5) == {"width": 5}
    hours = np.concatenate([COINS.integers(20, 60, 5000), [66] * 30, [77] * 10, [80] * 90]).astype(float)
    assert bands_of(hours, 5) == {"width": 5, "top": 65}, "no band below it is narrow"


def test_a_draft_for_declared_parameters_takes_nothing_from_the_table(tmp_path: Path) -> None:
    illness = COINS.choice(["No", "Flu"], 2000, p=[0.8, 0.2])
    age = np.concatenate([COINS.integers(20, 70, 1990), np.arange(70, 80)])
    path = write(tmp_path / "t.csv", [("age", age), ("illness", illness)])
    draft = draft_policy(path, declared=True)
    policy = Policy.parse(draft)
    assert policy.requirement.own_bounds == {}
    assert not policy.schema.recode
    assert policy.requirement.against == "insider"
    assert "TAKEN FROM THIS TABLE" not in draft
    assert "No bound, no edge and no open value was taken from this table." in draft
    with pytest.raises(NotProvable, match="against"):
        sf.publish(policy.read_table(path), policy.requirement)


def test_strict_numbers_halve_theta_and_odds() -> None:
    assert rule_for({"x": 24, "y": 76}, STRICT).bound("x") == Fraction(24 * 4, 24 * 4 + 76)


def test_codes_of_places_that_are_the_secret_get_no_bins(tmp_path: Path) -> None:
    columns = [("age", COINS.integers(20, 80, 900)), ("birthplace", COINS.integers(1, 90, 900))]
    policy = Policy.parse(draft_policy(write(tmp_path / "t.csv", columns), roles={"sensitive": ["birthplace"]}))
    assert not policy.schema.bins
    assert policy.schema.types["birthplace"] == "categorical"


@pytest.mark.parametrize("many", [55, 70, 80, 90, 96])
def test_boxes_mixed_like_the_table_afford_a_refusal_from_the_said_number_of_people_on(many: int) -> None:
    rule = rule_for({"ill": 100 * many, "Flu": 100 * (98 - many), "HIV": 200}, words=frozenset())
    assert rule.closed_majority == "ill"
    asked = sf.FPrivacy(theta=8, offset="0.02", odds=8)
    patience = soft_rule(asked.bounds({"ill": 100 * many, "Flu": 100 * (98 - many), "HIV": 200}))
    assert patience is not None

    def afforded(people: int) -> bool:
        counts = {value: int(share * people) for value, share in rule.shares.items() if value != "ill"}
        box = asked.bounds({"ill": people - sum(counts.values()), **counts})
        fixed = [rule.bound(value) for value in box.values]
        return affords(replace(box, limits=tuple(fixed)), patience)

    now = divided_from({"illness": rule}, 10_000)
    assert afforded(now + 100)  # counts of a box are whole: some people more or less
    if now > 2 * 50:
        assert not afforded(int(0.9 * now))
    assert divided_from({"illness": rule}, 10_000, ("illness", "ill")) == 2 * 50 <= now
    assert (now > 2 * 50) == (many >= 70)
