"""`sfumato attack`: a line for each adversary, JSON for machines, and errors that say what would work."""

import json

import pytest


@pytest.fixture
def released(place, run):
    done = run("publish", "people.csv", "--policy", "p.toml", "--out", "out", "--seed", "3")
    assert done.code == 0, done.err
    return place


def test_every_adversary_has_a_line_or_a_reason(released, run):
    done = run("attack", "out", "--table", "people.csv", "--seed", "1")
    assert done.code == 0, done.err
    for name in ("random-worlds", "nb", "statistician", "corruption, all others known", "minimality", "skewness"):
        assert name in done.out
    assert "composition was not tried: it needs another release" in " ".join(done.out.split())


def test_json_has_every_figure(released, run):
    done = run("attack", "out", "--table", "people.csv", "-a", "random-worlds", "-a", "nb", "--json", "--seed", "1")
    assert done.code == 0
    found = json.loads(done.out)["attacks"]
    assert [one["attack"] for one in found] == ["random-worlds", "nb", "nb", "nb"]
    assert found[0]["verdict"] == "claimed"
    assert found[0]["interval"][0] <= found[0]["success"] <= found[0]["interval"][1]


def test_outsiders_with_their_illness_are_the_control(released, run):
    (released / "others.csv").write_text((released / "people.csv").read_text())
    done = run("attack", "out", "--table", "people.csv", "-a", "nb", "--outsiders", "others.csv", "--json")
    assert done.code == 0, done.err
    [first, *_] = json.loads(done.out)["attacks"]
    assert first["control"] == pytest.approx(first["success"])


def test_two_releases_are_put_together(released, run):
    assert run("publish", "people.csv", "--policy", "p.toml", "--out", "again", "--seed", "4").code == 0
    done = run("attack", "out", "--table", "people.csv", "-a", "composition", "--with", "again", "--json")
    assert "values left on average" in json.loads(done.out)["attacks"][0]["figures"]


def test_counts_with_noise_are_compared_with_the_policy(released, run):
    done = run("attack", "--differential", "people.csv", "--policy", "p.toml", "--json")
    assert done.code == 0, done.err
    assert [one["epsilon"] for one in json.loads(done.out)["levels"]] == [0.01, 0.05, 0.1, 0.5, 1.0, 2.0]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("out",), "no table was given, and nothing else can judge an attack"),
        ((), "no release was given"),
        (("out", "--table", "people.csv", "-a", "bayes"), "there is no attack 'bayes'"),
        (("out", "--table", "people.csv", "--set", "low"), "--set low: expected a name and values"),
        (("out", "--table", "people.csv", "--person", "whom"), "--person whom: the table has no such column"),
        (("--differential", "people.csv"), "--differential takes a table and a policy"),
    ],
)
def test_what_is_missing_or_unknown_is_said(released, run, given, said):
    done = run("attack", *given)
    assert done.code == 2
    assert said in " ".join(done.err.split())
