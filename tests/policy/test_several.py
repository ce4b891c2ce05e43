"""Figures about several secrets are those of each by itself, and the same wherever they are told."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli.app import app
from sfumato.errors import PolicyError, QueryError
from sfumato.policy import Policy
from sfumato.policy.verdict import verdict_of
from sfumato.table.write import write_table

POLICY = """reviewed = true
[columns]
quasi = ["age", "sex"]
sensitive = ["ill", "pays"]
[requirement]
model = "f-privacy"
theta = 2
offset = "0.3"
protect = "each"
"""
ROWS = 1000


@pytest.fixture(scope="module")
def people() -> pa.Table:
    coins = np.random.default_rng(4)
    ill, pays = ["flu"] * 500 + ["gout"] * 300 + ["HIV"] * 200, ["public"] * 800 + ["private"] * 200
    ages = coins.integers(20, 60, ROWS)
    return pa.table({"age": ages, "sex": coins.choice(["f", "m"], ROWS), "ill": coins.permutation(ill), "pays": pays})


@pytest.fixture(scope="module")
def place(people: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("several")
    write_table(people, place / "people.csv")
    (place / "policy.toml").write_text(POLICY)
    return place


def table(people: pa.Table) -> sf.Table:
    return sf.Table.from_frame(people, Policy.parse(POLICY).schema)


def test_the_verdict_shows_the_share_of_each_value_in_its_own_column(people: pa.Table) -> None:
    found = {value: (share, limit) for value, share, limit in verdict_of(Policy.parse(POLICY), table(people)).values}
    assert {value: share for value, (share, _) in found.items()} == {
        "ill: flu": Fraction(1, 2),
        "ill: gout": Fraction(3, 10),
        "ill: HIV": Fraction(1, 5),
        "pays: public": Fraction(4, 5),
        "pays: private": Fraction(1, 5),
    }
    assert found["ill: HIV"][1] == 2 * Fraction(1, 5) + Fraction(3, 10)


def test_who_knows_only_shares_is_as_sure_in_compare_as_in_explain_and_in_an_audit(people: pa.Table) -> None:
    whole, policy = table(people), Policy.parse(POLICY)
    study = sf.compare(whole, policy, ["boxes"], attacks=(), workers=1)
    told = sf.explain(whole, policy, workers=1).study
    assert told is not None
    assert study.prior_exposure == told.prior_exposure == whole.prior_exposure() == pytest.approx(0.8**2 + 0.2**2)


def test_counts_with_noise_are_held_against_the_bounds_of_each_column(place: Path) -> None:
    words = ["attack", "--differential", str(place / "people.csv"), "--policy", str(place / "policy.toml"), "--json"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0
    told = json.loads(done.stdout)
    assert set(told) == {"ill", "pays"}
    assert told["ill"]["value"] in ("flu", "gout", "HIV")
    assert told["pays"]["value"] in ("public", "private")
    assert told["ill"]["bound"] in (1.0, 0.9, 0.7)


@pytest.mark.parametrize("slip", ["thta = 2", 'theta = "two"', 'against = "nobody"'])
def test_a_slip_in_what_all_columns_share_is_told_where_it_stands(slip: str) -> None:
    """Columns inherit it, and were named as its place."""
    key = slip.split(maxsplit=1)[0]
    text = POLICY if key == "thta" else POLICY.replace("theta = 2\n", "")
    slipped = text.replace('protect = "each"', f'protect = "each"\n{slip}') + '[requirement.columns.ill]\noffset = "0.2"\n'
    with pytest.raises(PolicyError) as caught:
        Policy.parse(slipped)
    assert "[requirement]" in str(caught.value)
    assert "[requirement.columns]" not in str(caught.value)


def test_exposure_names_the_secret_that_it_is_of(people: pa.Table, place: Path) -> None:
    made = sf.publication(table(people), Policy.parse(POLICY).requirement, random=1)
    each = {name: made.audit.stronger[f"exposure of {name}"].figure for name in ("ill", "pays")}
    assert made.audit.exposed == max(each, key=each.__getitem__) == "pays"
    assert made.audit.exposure == each["pays"]
    assert table(people).prior_exposure("ill") == pytest.approx(0.5**2 + 0.3**2 + 0.2**2)
    out = CliRunner().invoke(
        app, ["publish", str(place / "people.csv"), "-p", str(place / "policy.toml"), "-o", str(place / "r")]
    )
    assert "for pays" in " ".join(out.output.split())
    json_out = CliRunner().invoke(app, ["audit", str(place / "r"), "--table", str(place / "people.csv"), "--json"])
    assert json.loads(json_out.stdout)["exposed"] == "pays"


def test_an_audit_with_another_table_asks_whether_it_is_one_and_says_once_what_cannot_be_seen(
    people: pa.Table, place: Path
) -> None:
    run = CliRunner().invoke
    assert (
        run(app, ["publish", str(place / "people.csv"), "-p", str(place / "policy.toml"), "-o", str(place / "s")]).exit_code == 0
    )
    write_table(people.slice(0, 700), place / "fewer.csv")
    policy = ["--policy", str(place / "policy.toml")]
    wrong = run(app, ["audit", str(place / "s"), "--table", str(place / "fewer.csv"), *policy])
    assert wrong.exit_code == 1
    assert "another table" in " ".join(wrong.output.split())
    right = run(app, ["audit", str(place / "s"), "--table", str(place / "people.csv"), *policy, "--all"])
    told = " ".join(right.output.split())
    assert right.exit_code == 0
    assert "another table" not in told
    assert told.count("rests on the method") == 1
    assert "cannot show how it was made" not in told


def test_a_question_about_a_column_that_was_not_published_says_so(people: pa.Table) -> None:
    release = sf.publish(table(people), Policy.parse(POLICY).requirement, random=1)
    with pytest.raises(QueryError) as caught:
        release.count("height > 3")
    assert "column 'height'" in str(caught.value)
    assert "drops is not published" in (caught.value.hint or "")
