"""Methods with a weaker claim, from a policy file to an audit with the private links."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sfumato import Heterogeneous, Ring
from sfumato.policy import Policy
from sfumato.release.links import Links
from tests.cli.conftest import POLICY, Run, listing

METHODS = ("heterogeneous", "ring")


def words(text: str) -> str:
    return " ".join(text.split())


def choose(place: Path, name: str, *lines: str, against: str = "reader") -> None:
    """Write the policy with this method; ring shows ℓ different values, so there no value may be too frequent."""
    policy = POLICY.replace("[requirement]", f'[requirement]\nagainst = "{against}"', 1).replace('"0.2"', '"0.5"')
    method = "\n".join(["[method]", f'name = "{name}"', *lines])
    (place / "p.toml").write_text(policy.replace("theta  = 2", "theta  = 0").replace('"0.1"', '"0.5"') + method + "\n")


@pytest.mark.parametrize("name", METHODS)
def test_without_accepting_the_weaker_claim_nothing_is_published(place: Path, run: Run, name: str) -> None:
    choose(place, name)
    before = listing(place)
    done = run("publish", "people.csv", "-p", "p.toml", "-o", "release", "--links", "links.parquet")
    assert done.code == 2
    assert "proves no bound on what a reader believes" in words(done.err)
    assert "accept_weaker_claim = true" in words(done.err)
    assert listing(place) == before


@pytest.mark.parametrize("name", METHODS)
def test_the_weaker_claim_does_not_stand_in_for_one_against_an_engineer(place: Path, run: Run, name: str) -> None:
    choose(place, name, "accept_weaker_claim = true", against="engineer")
    done = run("publish", "people.csv", "-p", "p.toml", "-o", "release")
    assert done.code == 2
    assert 'choose against = "reader"' in words(done.err)
    assert not (place / "release").exists()


def test_a_policy_file_sets_every_parameter_of_the_methods(place: Path) -> None:
    choose(place, "heterogeneous", "accept_weaker_claim = true", 'matcher = "greedy"', "partition = 50", 'packing = "tight"')
    expected = Heterogeneous(accept_weaker_claim=True, matcher="greedy", partition=50, packing="tight")
    assert Policy.load(place / "p.toml").method == expected
    choose(place, "ring", "accept_weaker_claim = true", "l = 2", 'assignment = "shift"')
    assert Policy.load(place / "p.toml").method == Ring(accept_weaker_claim=True, l=2, assignment="shift")


@pytest.mark.parametrize("name", METHODS)
def test_an_accepted_weaker_claim_is_published_in_its_own_words_and_audited_with_links(place: Path, run: Run, name: str) -> None:
    choose(place, name, "accept_weaker_claim = true")
    done = run("publish", "people.csv", "-p", "p.toml", "-o", "release", "--links", "links.parquet", "--seed", 1)
    assert done.code == 0
    assert "no claim is made" in words(done.out)
    manifest = json.loads((place / "release" / "manifest.json").read_text())
    assert manifest["claims"] == []
    assert "before values are allotted" in words(manifest["parameters"]["weaker_claim"])
    assert "links" not in {path.stem for path in (place / "release").iterdir()}
    plain = json.loads(run("audit", "release", "--table", "people.csv", "--json").out)
    linked = run("audit", "release", "--table", "people.csv", "--links", "links.parquet", "--json")
    assert linked.code == 0
    found = json.loads(linked.out)
    assert (found["problems"], found["claims"]) == ([], [])
    only = set(found["stronger"]) - set(plain["stronger"])
    assert only == {"a value seen twice among linked records", "engineer who knows which records are linked with whom"}


def test_links_of_another_run_are_found_out_and_links_alone_say_nothing(place: Path, run: Run) -> None:
    choose(place, "heterogeneous", "accept_weaker_claim = true")
    for seed in (1, 2):
        run("publish", "people.csv", "-p", "p.toml", "-o", f"r{seed}", "--links", f"links{seed}.parquet", "--seed", seed)
    assert len(Links.load(place / "links1.parquet").carried) == 200
    assert run("audit", "r1", "--table", "people.csv", "--links", "links2.parquet").code == 1
    alone = run("audit", "r1", "--links", "links1.parquet")
    assert alone.code == 2
    assert "table" in alone.err


def test_links_are_refused_for_methods_that_match_nobody(place: Path, run: Run) -> None:
    done = run("publish", "people.csv", "-p", "p.toml", "-o", "release", "--links", "links.parquet")
    assert done.code == 2
    assert "matches nobody" in words(done.err)
    assert not (place / "release").exists()


@pytest.mark.parametrize("name", METHODS)
def test_explain_says_that_no_belief_is_bounded_and_what_is_claimed_instead(place: Path, run: Run, name: str) -> None:
    choose(place, name, "accept_weaker_claim = true")
    told = words(run("explain", "people.csv", "-p", "p.toml", "--quick", "--all").out)
    assert f"No belief is bounded: the method {name} can make a release" in told
    assert "What is claimed instead" in told
    assert "may become at most" not in told
    assert "Unprotected: nobody" not in told
    assert "Not promised" in told
    assert "before values are allotted" in json.loads(run("explain", "people.csv", "-p", "p.toml", "--json").out)["weaker_claim"]


@pytest.mark.parametrize(("links", "why"), [("release/links.parquet", "lies in a release"), ("no/links.parquet", "no directory")])
def test_links_that_cannot_be_kept_apart_are_refused_before_anything_is_written(
    place: Path, run: Run, links: str, why: str
) -> None:
    choose(place, "heterogeneous", "accept_weaker_claim = true")
    before = listing(place)
    done = run("publish", "people.csv", "-p", "p.toml", "-o", "release", "--links", links)
    assert done.code != 0
    assert why in words(done.err)
    assert listing(place) == before
