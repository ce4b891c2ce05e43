"""No draw of a randomized release is refused by its publisher, and nothing that is said of it tells how the coins fell."""

import itertools
import json

import numpy as np
import pytest

from sfumato import FPrivacy, LDiversity, RhoPrivacy, SmallDomain, UniformPerturbation, audit, publication
from sfumato.randomize.apply import Randomized
from tests.makers import closed_for, people

SHARES = {"a": 4, "b": 3, "c": 3}


def declared(kind):
    return kind(parameters="declared", shares=SHARES, otherwise="c")


def said(table, requirement, method, monkeypatch, made):
    """Return all that a publication says beside the release, when the coins make this of the people."""
    monkeypatch.setattr("sfumato.methods.people.randomize", lambda codes, plan, values, coins: made(codes, plan))
    done = publication(table, requirement, method=method, random=1)
    return json.dumps([done.audit.to_dict(), done.private, json.loads(done.release.manifest.to_json())]), done


@pytest.mark.parametrize(
    "method", [UniformPerturbation(), declared(UniformPerturbation), SmallDomain(retention="per-value")], ids=str
)
@pytest.mark.parametrize("values", ["aabc", "abcc", "abca"])
@pytest.mark.parametrize("alike", [False, True], ids=["everybody differs", "all alike"])
def test_every_draw_of_a_tiny_table_is_published_and_all_are_spoken_of_alike(method, values, alike, monkeypatch):
    table = people(values, sex=["f"] * 4) if alike else people(values)
    table = closed_for(method, table) if method.parameters == "declared" else table
    against = "insider" if method.parameters == "declared" else "engineer"
    asked = FPrivacy(theta=1, offset="0.2", against=against)
    seen = set()
    for drawn in itertools.product(range(3), repeat=4):
        made = Randomized(np.zeros(4, np.int32), np.array(drawn, np.int32))
        seen.add(said(table, asked, method, monkeypatch, lambda codes, plan, made=made: made)[0])
    assert len(seen) == 1


def test_every_draw_of_parts_is_published_and_all_are_spoken_of_alike(monkeypatch):
    # Declared parts are drawn too: every part that has a person's value, and then every value of the part.
    shares = {"a": 12, "b": 8, "c": 6, "d": 5, "e": 4, "f": 3, "g": 1, "h": 1, "i": 1, "j": 1}
    method = SmallDomain(parameters="declared", shares=shares, otherwise="j")
    table = closed_for(method, people("aeb"))
    asked = RhoPrivacy("1/3", "2/3", against="insider")
    plan = method.planned(asked, method.bounds(table, asked), table.rows)
    assert len(plan.parts) > 1
    seen = set()

    def ways(codes, plan):
        homes = [[(k, part) for k, part in enumerate(plan.parts) if code in part.values] for code in codes]
        for chosen in itertools.product(*homes):
            for value in itertools.product(*(part.values for _, part in chosen)):
                yield Randomized(np.array([k for k, _ in chosen], np.int32), np.array(value, np.int32))

    draws = []
    said(table, asked, method, monkeypatch, lambda codes, plan: draws.extend(ways(codes.tolist(), plan)) or draws[0])
    assert len(draws) > 200
    for made in draws[::7]:
        seen.add(said(table, asked, method, monkeypatch, lambda codes, plan, made=made: made)[0])
    assert len(seen) == 1


@pytest.mark.parametrize("method", [UniformPerturbation(), declared(UniformPerturbation)], ids=["computed", "declared"])
def test_the_unlikeliest_draw_is_published_and_only_a_later_audit_wonders(method, monkeypatch):
    table = people(["a"] * 80 + ["b"] * 60 + ["c"] * 60)
    table = closed_for(method, table) if method.parameters == "declared" else table
    against = "insider" if method.parameters == "declared" else "engineer"
    asked = LDiversity(2, against=against)
    likely = said(
        table,
        asked,
        method,
        monkeypatch,
        lambda codes, plan: Randomized(np.zeros(200, np.int32), np.array([0, 1, 2, 1] * 50, np.int32)),
    )
    for drawn in (lambda codes: codes, lambda codes: np.zeros(200), lambda codes: (codes + 1) % 3):
        made, done = said(
            table,
            asked,
            method,
            monkeypatch,
            lambda codes, plan, drawn=drawn: Randomized(np.zeros(200, np.int32), drawn(codes).astype(np.int32)),
        )
        assert made == likely[0]
        assert done.audit.exposure is None
        later = audit(done.release, table)
        assert later.holds is False
        assert any("implausible" in problem or "more or less often" in problem for problem in later.problems)
        assert later.exposure is not None


def test_the_command_says_the_same_of_every_draw(tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from sfumato.cli.app import app

    policy = '[columns]\nquasi = ["n"]\nsensitive = ["v"]\n[requirement]\nmodel = "rho-privacy"\nrho1 = "0.4"\nrho2 = "0.7"\n'
    (tmp_path / "p.toml").write_text(policy + '[method]\nname = "small-domain"\n')
    values = "aaaaaaaabbbbbbbccccccddddddeeeeefffff" * 5
    (tmp_path / "t.csv").write_text("n,v\n" + "".join(f"{k},{value}\n" for k, value in enumerate(values)))
    seen = set()
    monkeypatch.chdir(tmp_path)
    for seed in "012345":
        done = CliRunner().invoke(
            app, ["publish", "t.csv", "-p", "p.toml", "-o", f"{seed}/release", "--seed", seed, "--receipts", seed]
        )
        assert done.exit_code == 0
        seen.add((done.stdout + done.stderr).replace(f"{seed}/release", ""))
    assert len(seen) == 1
