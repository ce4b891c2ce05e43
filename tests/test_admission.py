"""The gate: a release that asks for as much as a policy, or more, passes; whatever is looser, by however little, does not."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.admission import gated
from sfumato.release.files import read_manifest

FRAME = pa.table(
    {
        "age": [20 + (7 * i) % 40 for i in range(200)],
        "zip": [1000 + i % 9 for i in range(200)],
        "illness": (["Flu"] * 8 + ["Asthma"] * 6 + ["Gout"] * 4 + ["Lupus"] + ["HIV"]) * 10,
    }
)


def policy(requirement: str, columns: str = "", quasi: str = '["age", "zip"]') -> sf.Policy:
    return sf.Policy.parse(f'[columns]\nquasi = {quasi}\nsensitive = ["illness"]\n{columns}\n[requirement]\n{requirement}\n')


BASE = 'model = "f-privacy"\ntheta = 2\noffset = "0.1"'


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release under θ = 2 and c = 0.1: Lupus and HIV, 5 % each, have bounds of 20 %."""
    place = tmp_path_factory.mktemp("gate") / "release"
    sf.publish(FRAME, policy(BASE), out=place)
    return place


def failed(release: Path, asked: sf.Policy) -> list[str]:
    return [check.name for check in sf.gate(release, asked).checks if not check.passes]


@pytest.mark.parametrize(
    ("requirement", "passes"),
    [
        (BASE, True),
        (BASE.replace("2", "3"), True),
        ('model = "l-diversity"\nl = 1', True),
        (BASE.replace("0.1", "0.0999999999999999999999"), False),  # nearer to 0.1 than any float
        (BASE.replace("0.1", "0.1000000000000000000001"), True),
        (BASE + '\n[requirement.bounds]\nHIV = "0.2"', True),
        (BASE + '\n[requirement.bounds]\nHIV = "0.1999999999999999999"', False),
        (BASE + "\n[requirement.bounds]\nFlu = 1", True),
        (BASE + '\n[requirement.sets]\nrare = { values = ["HIV", "Lupus"], bound = "0.9" }', False),
        ('model = "l-diversity"\nl = 2', False),  # 80 + 10 % of Flu
        ('model = "presence-association"\nalpha = "0.5"\nbeta = "0.9"', False),
    ],
)
def test_bounds_are_compared_exactly(released: Path, requirement: str, passes: bool) -> None:
    assert failed(released, policy(requirement)) == ([] if passes else ["requirement"])


def test_an_adversary_who_knows_less_is_covered_and_one_who_knows_more_is_not(released: Path, tmp_path: Path) -> None:
    assert failed(released, policy(BASE + '\nagainst = "reader"')) == []
    sf.publish(FRAME, policy(BASE + '\nagainst = "reader"'), out=tmp_path / "reader")
    assert "adversary" in failed(tmp_path / "reader", policy(BASE))


def test_more_columns_or_finer_ones_do_not_pass_and_fewer_do(released: Path, tmp_path: Path) -> None:
    narrow = policy(BASE, 'other = ["zip"]', '["age"]')
    assert failed(released, narrow) == ["columns"]
    assert failed(released, policy(BASE, "[recode]\nage = { width = 10 }")) == ["columns"]
    sf.publish(FRAME, narrow, out=tmp_path / "narrow")
    assert failed(tmp_path / "narrow", policy(BASE)) == []


def test_sets_that_the_release_bounds_as_tightly_pass(tmp_path: Path) -> None:
    rare = '\n[requirement.sets]\nrare = { values = ["HIV", "Lupus"], bound = "BOUND" }'
    kinds = '\nkind = { map = { Flu = "a", Asthma = "a", Gout = "b", Lupus = "b", HIV = "b" }, theta = 2, offset = "0.1" }'
    sf.publish(FRAME, policy(BASE + rare.replace("BOUND", "0.35") + kinds), out=tmp_path / "sets")
    assert failed(tmp_path / "sets", policy(BASE)) == []
    assert failed(tmp_path / "sets", policy(BASE + rare.replace("BOUND", "0.36"))) == []
    assert failed(tmp_path / "sets", policy(BASE + rare.replace("BOUND", "0.34"))) == ["requirement"]
    assert failed(tmp_path / "sets", policy(BASE + rare.replace('"Lupus"', '"Gout"').replace("BOUND", "0.9"))) == ["requirement"]
    more = rare.replace("BOUND", "0.35") + kinds.replace('Flu = "a"', 'Flu = "a", Plague = "a"')
    assert failed(tmp_path / "sets", policy(BASE + more)) == []
    assert failed(tmp_path / "sets", policy(BASE + rare.replace("BOUND", "0.35") + kinds.replace("theta = 2", "theta = 1"))) == [
        "requirement"
    ]


def test_seeds_weaker_claims_and_broken_audits_do_not_pass(released: Path, tmp_path: Path) -> None:
    sf.publish(FRAME, policy(BASE), out=tmp_path / "seeded", seed=1)
    assert failed(tmp_path / "seeded", policy(BASE)) == ["coins"]
    manifest, sound = read_manifest(released), sf.audit(released)
    weak = gated(replace(manifest, claims=()), policy(BASE), sound)  # as the papers' own methods publish
    assert [check.name for check in weak.checks if not check.passes] == ["adversary"]
    audit: Any = sf.Audit(claims=(), problems=("something",))
    assert not gated(manifest, policy(BASE), audit).passes


def test_noise_is_compared_word_for_word(tmp_path: Path) -> None:
    declared = '[method]\nshares = { Flu = "0.4", Asthma = "0.3", Gout = "0.2", Lupus = "0.05", HIV = "0.05" }\notherwise = "Flu"'
    insider = BASE + '\nagainst = "insider"\n'
    sf.publish(FRAME, policy(insider + declared), out=tmp_path / "noisy", register=tmp_path)
    assert failed(tmp_path / "noisy", policy(insider + declared)) == []
    assert failed(tmp_path / "noisy", policy(insider.replace("= 2", "= 3") + declared)) == ["requirement"]
    assert "adversary" in failed(tmp_path / "noisy", policy(BASE))


def test_a_draft_is_no_gate_and_the_summary_is_plain(released: Path) -> None:
    with pytest.raises(sf.PolicyError, match="cannot judge"):
        sf.gate(released, sf.Policy.parse("reviewed = false\n" + policy(BASE).text))
    found = sf.gate(released, policy(BASE))
    assert found.passes
    assert repr(found) == "GateResult(passes)"
    assert found.to_dict()["checks"][3] == {"check": "requirement", "passes": True, "why": ""}
    bounds = {entry["value"]: Fraction(entry["bound"]) for entry in read_manifest(released).values or ()}
    assert bounds["HIV"] == Fraction(1, 5)


def test_a_weight_passes_in_bins_of_enough_people(tmp_path: Path) -> None:
    frame = FRAME.append_column("wt", pa.array([float(10 + i % 7) for i in range(200)]))
    rule = '[weight]\ncolumn = "wt"\nmade_without_secrets = true\nfloor = FLOOR\n'
    sf.publish(frame, policy(BASE, rule.replace("FLOOR", "30")), out=tmp_path / "weighed")
    assert failed(tmp_path / "weighed", policy(BASE, rule.replace("FLOOR", "30"))) == []
    assert failed(tmp_path / "weighed", policy(BASE, rule.replace("FLOOR", "20"))) == []
    assert failed(tmp_path / "weighed", policy(BASE, rule.replace("FLOOR", "31"))) == ["columns"]
    assert failed(tmp_path / "weighed", policy(BASE)) == ["columns"]
    unstated = sf.gate(tmp_path / "weighed", policy(BASE, rule.replace("FLOOR", "30").replace("true", "false")))
    reasons = [check.why for check in unstated.checks if not check.passes]
    assert reasons == ["[weight] differs from the policy's in made_without_secrets"]
