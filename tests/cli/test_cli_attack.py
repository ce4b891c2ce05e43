"""`sfumato attack`: a line for each adversary, JSON for machines, and errors that say what would work."""

import json

import pytest


@pytest.fixture
def released(place, run):
    done = run("publish", "people.csv", "--policy", "p.toml", "--out", "out", "--seed", "3")
    assert done.code == 0, done.err
    return place


def test_every_adversary_has_a_line_or_a_reason(released, run):
    done = run("attack", "out", "--table", "people.csv", "--seed", "1", "--all")
    assert done.code == 0, done.err
    for name in ("random-worlds", "nb", "statistician", "corruption, all others", "minimality", "skewness"):
        assert name in done.out
    assert "composition was not tried: needs another release" in " ".join(done.out.split())


def test_what_reaches_nothing_is_one_line_and_the_legend_stands_under_the_table(place, run):
    lines = ["age,sex,illness,smokes,drinks"]
    lines += [f"{20 + i % 40},{'fm'[i % 2]},{'abcd'[i * i % 4]},{'yn'[i * 7 % 3 % 2]},{'yn'[i * 11 % 5 % 2]}" for i in range(600)]
    (place / "three.csv").write_text("\n".join(lines) + "\n")
    (place / "three.toml").write_text(
        '[columns]\nquasi = ["age", "sex"]\nsensitive = ["illness", "smokes", "drinks"]\n'
        '[requirement]\nprotect = "each"\nmodel = "f-privacy"\ntheta = 2\noffset = "0.1"\n[method]\nname = "boxes"\nfloor = 20\n'
    )
    assert run("publish", "three.csv", "--policy", "three.toml", "--out", "three", "--seed", "3").code == 0
    asked = ("attack", "three", "--table", "three.csv", "--seed", "1")
    found = json.loads(run(*asked, "--json").out)["attacks"]
    idle = sum(any("no better than guessing" in text for text in one["warnings"]) and not one["over"] for one in found)
    assert idle > 3
    told = run(*asked).out
    words = " ".join(told.split())
    assert words.lower().count("no better than guessing") == 1
    tried = [one for one in found if not one["refused"]]
    assert f"{idle} of {len(tried)}" in words
    over = {(one["attack"], one["variant"].split(", ")[-1]) for one in tried if one["over"]}
    rows = told.split("──")[-1].split("In %. right")[0]
    assert sum(rows.count(f" {name}, ") for name in dict(over)) == len(over) > 1  # one for each attack and secret
    assert rows.count("presence") == 1
    within = [one for one in tried if one["over"] == 0 and not any("guessing" in text for text in one["warnings"])]
    assert f"Better than guessing, and nobody above a bound: {len(within)} of {len(tried)}" in words
    best = max((one for one in within if one["variant"].endswith("illness")), key=lambda one: one["success"])
    assert f"{best['attack']}, {best['variant']}: {100 * best['success']:.1f} % right" in words
    assert len(told.splitlines()) < len(run(*asked, "--all").out.splitlines()) - idle


def test_json_has_every_figure(released, run):
    done = run("attack", "out", "--table", "people.csv", "-a", "random-worlds", "-a", "nb", "--json", "--seed", "1")
    assert done.code == 0
    found = json.loads(done.out)["attacks"]
    assert [one["attack"] for one in found] == ["random-worlds", "nb", "nb", "nb"]
    assert found[0]["verdict"] == "claimed"
    assert "secret" not in found[0]
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
