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
    audited = json.loads(run("audit", "one", "--table", "people.csv", "--policy", "n.toml", "--json").out)
    assert [(claim["adversary"], claim["holds"]) for claim in audited["claims"]] == [("insider", True)]
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


VISITS = """
[columns]
identifier = ["id"]
quasi = ["age"]
other = ["day"{unread}]
{sensitive}
[people]
key = "id"
keep = {keep}
[requirement]
model = "differential"
epsilon = "1"
[method]
values = ["flu", "gout", "none"]
otherwise = "none"
floor = 20
"""


@pytest.mark.parametrize("keep", ["all", "first by day"])
def test_what_is_printed_of_visits_does_not_follow_from_what_somebody_has(place, run, monkeypatch, keep):
    """One patient's two visits of a day have the same illnesses, or others: one fact or four, a coin or none."""
    several = keep == "all"
    secret = '[secrets]\nill = ["d1", "d2"]' if several else 'sensitive = ["d1"]'
    given = '"all"\nmost = 2' if several else f'"{keep}"'
    (place / "v.toml").write_text(VISITS.format(unread="" if several else ', "d2"', sensitive=secret, keep=given))
    printed = set()
    for number, cells in enumerate([("flu,flu", "flu,flu"), ("flu,gout", "none,asthma"), ("flu,7.5", "gout,")]):
        rows = [f"p{k},{20 + k % 30},1,flu,flu" for k in range(60)]
        rows += [f"q,40,1,{two}" for two in cells]
        (place / "v.csv").write_text("id,age,day,d1,d2\n" + "\n".join(rows) + "\n")
        monkeypatch.setenv("XDG_DATA_HOME", str(place / f"home {number}"))
        done = run("publish", "v.csv", "-p", "v.toml", "-o", f"out{number}", "--receipts", f"home{number}")
        assert done.code == 0, done.err
        assert "62 rows of 61 people" in done.out
        shown = done.out.replace(f"home{number}", "home").replace(f"home {number}", "home").replace(f"out{number}", "out")
        printed.add(" ".join(shown.split()))
    assert len(printed) == 1
