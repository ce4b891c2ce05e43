"""Draws of noise are added up over releases of the same people, whoever makes them and whatever becomes of them."""

from fractions import Fraction
from math import exp

import pyarrow as pa
import pytest

from sfumato import Boxes, Differential, LDiversity, NoisyBoxes, Policy, Schema, Table, publication
from sfumato.budget import SUFFIX, book, spent
from sfumato.errors import OutputError, PolicyError
from sfumato.methods import people
from sfumato.privacy.differential import within_power
from tests.makers import skewed

METHOD = NoisyBoxes(values=[f"v{k}" for k in range(9)], otherwise="v8", floor=100)
FRAME = skewed().to_arrow()
SCHEMA = Schema(quasi=["age", "sex"], sensitive=["value"])


@pytest.fixture(autouse=True)
def another_home(tmp_path, monkeypatch):
    """Let no other test's draws count."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))


def table_of(frame=FRAME, **roles):
    return Table.from_frame(frame, METHOD.close(Schema(**{"quasi": ["age", "sex"], "sensitive": ["value"], **roles})))


def draw(table, register, epsilon="1", budget=None):
    limit = None if budget is None else Fraction(budget)
    return publication(table, Differential(epsilon), method=METHOD, register=register, budget=limit)


def test_odds_multiply_exactly_and_the_next_draw_is_refused_before_it_is_made(tmp_path):
    table = table_of()
    for _ in range(3):
        draw(table, tmp_path, budget="3")
    assert spent(table.marks, [tmp_path]).odds == Differential("1").gamma ** 3
    with pytest.raises(PolicyError, match="3 earlier"):
        draw(table, tmp_path, budget="3")
    assert spent(table.marks, [tmp_path]).draws == 3  # nothing was drawn, and nothing is booked
    assert draw(table, tmp_path, epsilon="0.5", budget="3.5")


def test_draws_in_the_users_own_register_count_too(tmp_path):
    publication(table_of(), Differential("1"), method=METHOD)
    with pytest.raises(PolicyError, match="1 earlier"):
        draw(table_of(), tmp_path / "another", budget="1.5")


def test_a_draw_counts_although_the_program_crashed_afterwards(tmp_path, monkeypatch):
    def crash(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(people, "show_noisy", crash)
    with pytest.raises(KeyboardInterrupt):
        draw(table_of(), tmp_path)
    assert spent(table_of().marks, [tmp_path]).draws == 1


def test_what_people_have_decides_nothing_about_who_they_are(tmp_path):
    draw(table_of(), tmp_path)
    other = FRAME.set_column(2, "value", pa.array(["v1"] * FRAME.num_rows))
    found = spent(table_of(other).marks, [tmp_path])
    assert found.draws == 1
    some = FRAME.take(pa.array(range(300)))
    assert spent(table_of(some).marks, [tmp_path]).draws == 1  # half of the people
    strangers = skewed(seed=8).to_arrow()
    strangers = strangers.set_column(0, "age", pa.array([age.as_py() + 100 for age in strangers["age"]]))
    assert spent(table_of(strangers).marks, [tmp_path]).draws == 0


def test_a_year_later_identifiers_tell_the_same_people(tmp_path):
    def year(numbers, older):
        ages = pa.array([age.as_py() + older for age in FRAME["age"]])
        frame = FRAME.set_column(0, "age", ages).append_column("number", pa.array(numbers))
        schema = Schema(identifier=["number"], quasi=SCHEMA.quasi, sensitive=SCHEMA.sensitive)
        return Table.from_frame(frame, schema)

    book(year(range(len(FRAME)), 0).marks, Fraction(2), tmp_path)
    again, others = (year(range(start, start + len(FRAME)), 1000) for start in (10, 10**6))
    assert again.people_fingerprint.similarity(year(range(len(FRAME)), 0).people_fingerprint) < 0.1
    assert spent(again.marks, [tmp_path]).draws == 1
    assert spent(others.marks, [tmp_path]).draws == 0


def test_a_release_of_groups_counts_as_unlimited_and_so_does_a_broken_booking(tmp_path):
    from sfumato.receipt import save_with_receipt

    table = Table.from_frame(FRAME, SCHEMA)
    groups = publication(table, LDiversity(2), method=Boxes())
    save_with_receipt(
        groups.release,
        tmp_path / "groups",
        format="parquet",
        receipts=tmp_path / "register",
        fingerprint=table.fingerprint,
        policy="",
        figures={},
        audit={},
        people=table.people_fingerprint,
    )
    with pytest.raises(PolicyError, match="without a bound"):
        draw(table_of(), tmp_path / "register", budget="3")
    assert draw(table_of(), tmp_path / "register")  # without a budget there is nothing to keep
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / f"x{SUFFIX}").write_text("{}")
    with pytest.raises(PolicyError, match="without a bound"):
        draw(table_of(), tmp_path / "other", budget="3")


def test_a_budget_needs_noise_and_a_place_to_remember(tmp_path):
    with pytest.raises(PolicyError, match="no budget"):
        publication(Table.from_frame(FRAME, SCHEMA), LDiversity(2), method=Boxes(), budget=Fraction(3))
    with pytest.raises(OutputError, match="register"):
        book(table_of().marks, Fraction(2), None, budget=Fraction(3))


POLICY = """
[columns]
quasi = ["age", "sex"]
sensitive = ["value"]
[requirement]
model = "differential"
epsilon = "1"
[method]
values = ["a", "b"]
otherwise = "b"
[budget]
epsilon = {}
"""


def test_a_policy_states_the_budget_and_nothing_else_there():
    assert Policy.parse(POLICY.format("2.5")).budget == Fraction(5, 2)
    assert Policy.parse(POLICY.format("3").replace("[budget]\nepsilon = 3", "")).budget is None
    for wrong in ("0", "-1", "1000", '"x"', "3\ndelta = 1"):
        with pytest.raises(PolicyError, match=r"\[budget\]"):
            Policy.parse(POLICY.format(wrong))


def test_a_number_is_compared_with_a_power_of_e_exactly():
    e = Fraction("2.71828182845904523536028747135266249775724709369995")
    assert within_power(e, Fraction(1))
    assert not within_power(e + Fraction(1, 10**49), Fraction(1))
    assert within_power(Fraction(exp(3)) * (1 - Fraction(1, 10**12)), Fraction(3))


def test_options_without_a_name_are_not_blamed_for_a_fault_of_the_requirement():
    with pytest.raises(PolicyError) as caught:
        Policy.parse(POLICY.format("3").replace('model = "differential"', 'model = "differential"\ntypo = 1'))
    assert "typo" in caught.value.message
    assert "[method]" not in caught.value.message
