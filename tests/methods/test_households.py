"""Whole households: sizes that never share a group, events of somebody, one row a household, with and without noise."""

import tomllib
from dataclasses import replace
from fractions import Fraction

import jsonschema
import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli.app import app
from sfumato.errors import Infeasible, InputError, PolicyError
from sfumato.methods import Boxes, NoisyBoxes
from sfumato.policy import Policy
from sfumato.policy.schema import policy_schema
from sfumato.query.held import HOUSEHOLDS
from sfumato.release.base import Release
from sfumato.release.buckets import BucketsRelease
from sfumato.table import Schema, Table
from sfumato.table.people_rule import BAND, SIZE

ASKED = sf.FPrivacy(theta=2, offset="0.15")
UNIT = {"household": "home", "quasi": {"age": "greatest", "area": "first by age"}}
VALUES = [f"i{k}" for k in range(8)]


def members(homes=900, seed=4, *, visits=False):
    """Return rows of people in households of one to five, who come once or twice with `visits`."""
    coins = np.random.default_rng(seed)
    home = np.repeat(np.arange(homes), coins.choice([1, 1, 2, 2, 2, 3, 4, 5], homes))
    person = np.arange(len(home))
    if visits:
        person = np.repeat(person, coins.integers(1, 3, len(home)))
        home = home[person]
    age = coins.integers(1, 90, person.max() + 1)
    shared, own = coins.integers(0, 8, homes)[home], coins.integers(0, 8, len(home))
    return pa.table(
        {
            "home": home,
            "person": person,
            "age": age[person],
            "area": home % 7,
            "illness": [f"i{k}" for k in np.where(coins.random(len(home)) < 0.5, shared, own)],
        }
    )


def read(frame=None, *, unit=UNIT, people=None, close=None, **told):
    schema = {"identifier": ["home", "person"], "quasi": ["age", "area"], "sensitive": ["illness"], "unit": unit}
    schema = Schema(**{**schema, "people": people, **told})
    return Table.from_frame(members() if frame is None else frame, close(schema) if close else schema, seed=1)


@pytest.fixture(scope="module")
def made():
    return Boxes().run(read(), ASKED, seed=1)


def test_a_household_has_what_its_members_have_and_is_shown_in_one_row():
    frame, table = members(), read()
    rows = frame.to_pylist()
    homes = sorted({row["home"] for row in rows})
    assert table.rows == len(homes)
    own = [[row for row in rows if row["home"] == home] for home in homes]
    shown = sorted((max(one["age"] for one in some), some[0]["area"], sorted({one["illness"] for one in some})) for some in own)
    assert sorted((row["age"], row["area"], sorted(row["illness"])) for row in table.to_arrow().to_pylist()) == shown
    assert table.choice.sentence.startswith(f"{len(rows):,} rows of {len(rows):,} people in {len(homes)} households, ")
    assert "number of members of a household" in table.about_people()[1]


def test_sizes_are_exact_as_long_as_enough_households_are_left():
    sizes = np.bincount(np.bincount(members()["home"].to_numpy()))
    bands = read().column(SIZE)
    assert [*bands.labels()] == ["1", "2", "3", "4", "5 or more"]
    assert np.bincount(bands.codes).tolist() == sizes[1:].tolist()
    few = read(members(homes=120)).column(SIZE)
    assert [*few.labels()] == ["1 or more"]  # no two bands of 50 households
    assert read(unit={**UNIT, "alike": "exact"}).column(SIZE).kind == "numeric"
    assert read(unit={**UNIT, "alike": [3]}).column(SIZE).labels() == ("1 to 2", "3 or more")
    assert [column.name for column in read(unit={**UNIT, "alike": []}).quasi] == ["age", "area"]


def test_members_with_several_rows_are_counted_once_and_their_rows_banded_inside_sizes():
    frame = members(visits=True)
    table = read(frame, people={"key": "person"})
    assert [column.name for column in table.quasi] == ["age", "area", SIZE, BAND]
    first = {home: len(set(some)) for home, some in pairs(frame, "home", "person").items()}
    every = {home: len(some) for home, some in pairs(frame, "home", "person").items()}
    assert np.bincount(table.column(SIZE).codes).tolist() == np.bincount([min(5, one) for one in first.values()])[1:].tolist()
    alone = [every[home] for home, many in first.items() if many == 1]
    rows = [row[BAND] for row in table.to_arrow().to_pylist() if row[SIZE] == "1"]
    assert sorted(set(rows)) == ["1", "2 or more"]
    assert rows.count("1") == alone.count(1)
    assert Boxes().run(table, ASKED, seed=1).audit.holds


def pairs(frame, key, value):
    found = {}
    for row in frame.to_pylist():
        found.setdefault(row[key], []).append(row[value])
    return found


def test_no_group_mixes_sizes_and_counts_are_of_households(made, tmp_path):
    release = made.release
    rows = release.tables()["qit"].to_pylist()
    sizes = {}
    for row in rows:
        sizes.setdefault(row["group"], set()).add(row[SIZE])
    assert all(len(one) == 1 for one in sizes.values())
    assert len(sizes) > 10
    table = read()
    counts = np.bincount(release.st_value, weights=release.st_count)
    assert counts.tolist() == table.sensitive.counts.tolist()
    release.save(tmp_path / "r")
    loaded = Release.load(tmp_path / "r")
    assert isinstance(loaded, BucketsRelease)
    assert sf.audit(loaded, table).holds
    assert sf.audit(loaded).holds


def test_the_claim_is_about_somebody_and_every_member(made):
    (claim,) = made.release.claims
    assert "somebody of a given published household has a given value with probability at most" in claim.statement
    assert "other than through the band of how many members they have" in claim.statement
    assert (
        "So she does of every member, however she believes that what members of a household have goes together."
        in claim.statement
    )
    loose = Boxes().run(read(unit={**UNIT, "alike": []}), ASKED, seed=1)
    assert "not covered" in loose.release.claims[0].statement


def test_the_audit_tells_groups_that_mix_sizes(made):
    release = made.release
    place = [column.name for column in release.quasi].index(SIZE)
    band = release.quasi[place]
    codes = band.codes.copy()
    codes[0] = (codes[0] + 1) % band.size
    quasi = [*release.quasi]
    quasi[place] = replace(band, codes=codes)
    found = sf.audit(replace(release, quasi=tuple(quasi)))
    assert any("different bands" in one for one in found.problems)


def test_answers_count_households(made):
    found = made.release.count("SELECT COUNT(*) WHERE illness = 'i1'")
    assert HOUSEHOLDS in found.note
    assert abs(found.value - int(read().sensitive.counts[1])) < 1e-6
    assert made.release.count("SELECT COUNT(*)").value == 900


def test_a_size_that_cannot_keep_the_bounds_is_refused_in_words_of_households():
    with pytest.raises(Infeasible, match=r"with 5 or more"):
        Boxes().run(read(), sf.FPrivacy(theta="1.2", offset="0.01"), seed=1)


def test_noise_hides_a_household_of_so_many_values():
    """At most m members of k values each have m·k: most = m·k lays noise out for r^(-2mk)."""
    own = NoisyBoxes(has=dict.fromkeys(VALUES, "0.3"), otherwise="i0")
    table = read(unit={**UNIT, "most": 5}, close=own.close)
    publication = own.run(table, sf.FPrivacy(theta=2, offset="0.1", against="insider"), seed=1)
    public = publication.release.manifest.parameters
    assert Fraction(public["ratio"]) ** -10 <= Fraction(public["gamma"])
    assert sf.audit(publication.release, table).holds
    (claim,) = publication.release.claims
    assert "somebody of a given published household has a given value with probability" in claim.statement
    assert "So she does of every member" in claim.statement


def test_a_quasi_value_that_differs_inside_a_household_needs_a_rule():
    with pytest.raises(InputError, match=r"'age': \d+ households") as error:
        read(unit={"household": "home"})
    assert error.value.hint.startswith("unit=")


def test_a_person_of_two_households_is_refused():
    """What one household has would tell of the other."""
    frame = members(visits=True)
    home = frame["home"].to_numpy().copy()
    twice = np.flatnonzero(np.bincount(frame["person"].to_numpy())[frame["person"].to_numpy()] == 2)[0]
    home[twice] = home.max() + 1
    with pytest.raises(InputError, match=r"1 person.*several households"):
        read(frame.set_column(0, "home", pa.array(home)), people={"key": "person"})


def test_rows_that_look_like_visits_of_members_are_not_published_as_members():
    table = read(members(visits=True))
    assert [one.column for one in table.suspects] == ["person"]
    assert not read(members(visits=True), people={"rows": "people"}).suspects


@pytest.mark.parametrize(
    ("unit", "people", "said"),
    [
        ({"home": "home"}, None, "expected household = column"),
        ({"household": "home", "keep": "all"}, None, "unknown key"),
        ({"household": []}, None, "no column is named"),
        ({"household": "home", "alike": "rows"}, None, "expected sizes, exact"),
        ({"household": "home"}, {"key": "person", "keep": "all"}, "one member's"),
        ({"household": "illness"}, None, "on a secret"),
    ],
)
def test_what_is_said_of_households_is_checked(unit, people, said):
    with pytest.raises(PolicyError, match=said):
        read(unit=unit, people=people)


def test_a_schema_of_households_is_read_back_from_what_is_public():
    for people in (None, {"key": "person"}):
        schema = read(people=people).schema
        assert Schema.from_dict(schema.to_dict()).to_dict() == schema.to_dict()
        assert "home" not in str(schema.to_dict())


TEXT = """
[unit]
household = "home"
quasi = { age = "greatest", area = "first by age" }
[columns]
identifier = ["home", "person"]
quasi = ["age", "area"]
sensitive = ["illness"]
[requirement]
model = "f-privacy"
theta = 2
offset = "0.15"
"""


NOISY = """[unit]
most = 5
[method]
has = { i0 = "0.3", i1 = "0.3", i2 = "0.3", i3 = "0.3", i4 = "0.3" }
otherwise = "i0"
"""


@pytest.mark.parametrize("noisy", [False, True])
def test_a_policy_names_the_unit(tmp_path, monkeypatch, noisy):
    monkeypatch.setenv("SFUMATO_RECEIPTS", str(tmp_path / "receipts"))
    text = TEXT
    if noisy:
        unit, method = NOISY.split("[method]")
        text = (
            TEXT.replace("[unit]\n", unit).replace('offset = "0.15"\n', 'offset = "0.15"\nagainst = "insider"\n[method]') + method
        )
    csv.write_csv(members(), tmp_path / "homes.csv")
    (tmp_path / "policy.toml").write_text(text)
    jsonschema.validate(tomllib.loads(text), policy_schema())
    table, where = str(tmp_path / "homes.csv"), ["--policy", str(tmp_path / "policy.toml")]

    def run(*words):
        found = CliRunner().invoke(app, [*words])
        assert found.exit_code == 0, found.output
        return " ".join(found.output.split())

    run("policy", "check", str(tmp_path / "policy.toml"), table)
    assert "people in 900 households" in run("publish", table, *where, "--out", str(tmp_path / "out"), "--seed", "1")
    run("audit", str(tmp_path / "out"), "--table", table, *where)
    assert "number of members of a household lies is published" in run("explain", table, *where, "--quick")
    assert "households" in run("query", str(tmp_path / "out"), "illness = 'i3' AND age < 50")


def test_a_policy_with_another_word_for_the_unit_says_so():
    with pytest.raises(PolicyError, match=r"\[unit\] kept: unknown key"):
        Policy.parse(TEXT.replace("household =", 'kept = "x"\nhousehold ='))


def test_explain_measures_households_and_beside_them_their_members():
    """Of several values a person single ones are asked for; members are single people, with one value each."""
    from sfumato.explanation import explain
    from sfumato.table.secrets import single_people

    table = read(members())
    alone = sf.Table.from_frame(members(), single_people(table.schema))
    assert (alone.bundles, alone.rows) == (None, members().num_rows)
    about = explain(table, sf.FPrivacy(theta=2, offset="0.2"), members=alone)
    errors = {row.name: row.errors for row in about.study.rows}
    assert about.study.workloads == ("who has a value", "ranges")
    assert set(errors) == {"soft", "tight", "members"}
    assert errors["soft"][0] < about.study.independence[0]
    assert "of every member" in " ".join(about.details())


def test_a_member_without_a_value_is_read_beside_households_too():
    from sfumato.table.secrets import single_people

    frame = pa.table({"home": [1, 1, 2, 3], "age": [30, 31, 40, 50], "illness": ["a", None, "b", "a"]})
    schema = Schema(
        quasi=["age"],
        identifier=["home"],
        secrets={"illness": ["illness"]},
        unit={"household": "home", "quasi": "greatest by age"},
    )
    alone = sf.Table.from_frame(frame, single_people(schema))
    assert (alone.rows, len(alone.sensitive.domain)) == (4, 3)
