"""`sfumato audit` of releases that hide presence: the claims on the screen, and outsiders from a file."""

import json

import pytest

POLICY = """\
[columns]
identifier = ["name"]
quasi      = ["age", "sex"]
sensitive  = ["illness"]
[recode]
age = { width = 5 }
[requirement]
model   = "presence-association"
against = "reader"
alpha   = 1
beta    = "0.6"
[method]
name  = "ambiguity"
floor = 10
"""


@pytest.fixture
def released(place, run):
    (place / "presence.toml").write_text(POLICY)
    done = run("publish", "people.csv", "--policy", "presence.toml", "--out", "out", "--seed", "3")
    assert done.code == 0, done.err
    return place


def test_the_claim_of_presence_is_shown_beside_that_of_values(released, run):
    done = run("audit", "out", "--table", "people.csv", "--all")
    assert done.code == 0
    shown = " ".join(done.out.split())
    assert "presence, 100 % of 100 %" in shown
    assert "the claim holds" in shown
    assert "covering groups combined" in shown


def test_outsiders_from_a_file_are_recoded_as_the_table_was(released, run):
    (released / "others.csv").write_text("age,sex\n37,f\n38,m\n120,f\n38,x\n")
    done = run("audit", "out", "--outsiders", "others.csv", "--json")
    assert done.code == 0
    found = json.loads(done.out)["stronger"]
    assert found["outsiders who are certainly absent"]["figure"] == pytest.approx(0.5)
    assert found["presence of outsiders, all covering groups combined"]["figure"] == pytest.approx(0.5)


def test_outsiders_without_the_quasi_columns_are_no_fault_of_the_release(released, run):
    (released / "others.csv").write_text("age,town\n37,x\n")
    done = run("audit", "out", "--outsiders", "others.csv")
    assert done.code == 2
    assert "'sex' are missing" in " ".join(done.err.split())
    assert "---" not in done.err


def test_outsiders_of_a_release_that_shows_who_is_in_it_are_refused(released, run):
    assert run("publish", "people.csv", "--policy", "p.toml", "--out", "shown").code == 0
    (released / "others.csv").write_text("age,sex\n37,f\n")
    done = run("audit", "shown", "--outsiders", "others.csv")
    assert done.code == 2
    assert "says nothing about presence" in done.err
