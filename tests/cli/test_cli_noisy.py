"""Noisy boxes on the command line: published, audited, questioned, and refused once the budget is spent."""

import json

import pytest

POLICY = """
[columns]
identifier = ["name"]
quasi = ["age", "sex"]
sensitive = ["illness"]
[requirement]
model = "differential"
epsilon = "1"
[method]
values = ["Flu", "Asthma", "Gout", "Lupus", "HIV", "other"]
otherwise = "other"
floor = 40
[budget]
epsilon = 1.5
"""


@pytest.fixture(autouse=True)
def another_home(place, monkeypatch):
    """Let no other test's draws count."""
    monkeypatch.setenv("XDG_DATA_HOME", str(place / "home"))


def test_a_table_is_published_with_noise_until_the_budget_of_its_people_is_spent(place, run):
    (place / "n.toml").write_text(POLICY)
    done = run("publish", "people.csv", "--policy", "n.toml", "--out", "one", "--json")
    assert done.code == 0, done.err
    told = json.loads(done.out)
    assert (told["method"], told["basis"], told["baseline"]) == ("noisy-boxes", "noisy", None)
    assert told["audit"]["exposure"] is None
    assert told["spent"]["draws"] == 1
    drawn, where = told["made"][-2:]
    assert "ε = 1 of a budget of 1.5" in drawn
    assert "booked elsewhere" in where
    assert "insider: holds" in run("audit", "one", "--table", "people.csv", "--policy", "n.toml").out
    assert run("query", "one", "SELECT COUNT(*) WHERE illness = 'Flu'").code == 0
    refused = run("publish", "people.csv", "--policy", "n.toml", "--out", "two")
    assert refused.code == 2
    assert "1 earlier" in refused.err
    assert not (place / "two").exists()
    assert run("explain", "people.csv", "--policy", "n.toml", "--quick").code == 0
    untold = POLICY.replace('identifier = ["name"]', 'other = ["name"]')
    (place / "u.toml").write_text(untold)
    refused = run("publish", "people.csv", "--policy", "u.toml", "--out", "two")
    assert "1 earlier" in refused.err  # by their quasi values
    done = run("publish", "people.csv", "--policy", "u.toml", "--out", "two", "--receipts", "elsewhere", "--json")
    drawn, told_apart, where = json.loads(done.out)["made"][
        -3:
    ]  # what is booked in another directory is not seen, and it says so
    assert ("1 draw, ε = 1 of a budget of 1.5." in drawn, "cannot be told apart" in told_apart) == (True, True)
    assert ("elsewhere" in where, "are not seen" in where) == (True, True)
