"""People with several values of a secret, gathered by an engine: the bytes, sentences and refusals of memory."""

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.api import publication
from sfumato.errors import InputError, PolicyError
from sfumato.scale.engine import ResourceLimits
from sfumato.scale.verb import audit_directory, publish_source
from tests.scale._large import alike, content

pytest.importorskip("duckdb")

ASKED = sf.FPrivacy(theta=6, offset="0.05")
COLUMNS = {
    "quasi": ["age", "sex"],
    "other": ["seen"],
    "identifier": ["patient"],
    "secrets": {"diagnosis": ["d1", "d2"], "ward": "ward"},
}
PEOPLE = {"key": "patient", "keep": "all", "quasi": "first by seen"}
RULES = {
    "bands": ({}, {}),
    "exact numbers": ({"alike": "exact"}, {}),
    "no bands": ({"alike": []}, {}),
    "edges": ({"alike": [2, 4]}, {}),
    "quasi by column": ({"quasi": {"age": "least", "sex": "last by seen"}}, {}),
    "an empty ward is a value": ({}, {"missing": {"ward": "value"}}),
    "rows without a key are dropped": ({"without_key": "drop"}, {}),
    "bins of equally many people": (
        {"alike": []},
        {"secrets": {"ward": "ward", "pay": ["p1", "p2"]}, "other": ["seen", "d1", "d2"], "bins": {"pay": {"people": 20}}},
    ),
}  # fmt: skip


def visits(people=900, *, keyless=False):
    """Return rows of people, with ties in the order of rows, empty cells and differing quasi values."""
    coins = np.random.default_rng(7)
    times = coins.choice([1, 2, 3, 6], people, p=[0.5, 0.25, 0.15, 0.1])
    whose = np.repeat(np.arange(people), times)
    rows = len(whose)
    values = np.array([f"D{k}" for k in range(12)])
    one, two = (values[np.minimum(coins.geometric(0.2, rows) - 1, 11)] for _ in range(2))
    table = {
        "patient": [None if keyless and k % 97 == 0 else f"P{k:05d}" for k in whose],
        "age": (20 + whose % 60 + coins.integers(0, 2, rows)).tolist(),
        "sex": np.where(whose % 2 == 0, "f", "m").tolist(),
        "seen": [f"2024-0{k}-01" for k in coins.integers(1, 5, rows)],
        "d1": one.tolist(),
        "d2": [None if k % 3 else value for k, value in enumerate(two.tolist())],
        "ward": [None if k % 11 == 0 else f"W{k % 4}" for k in range(rows)],
    }
    order = coins.permutation(rows)
    return pa.table(table).take(pa.array(order))


def schema(rule="bands", **more):
    people, given = RULES[rule]
    return sf.Schema(**{**COLUMNS, **given, **more}, people={**PEOPLE, **people})


def data(rule, **given):
    table = visits(keyless=rule == "rows without a key are dropped", **given)
    if "bins" in RULES[rule][1]:
        coins = np.random.default_rng(1)
        for name in ("p1", "p2"):
            table = table.append_column(name, pa.array(coins.integers(0, 40, table.num_rows)))
    return table


def both(frame, declared, place, source=None, *, asked=ASKED, method=None):
    """Publish in memory and by DuckDB; return both, after comparing everything that is written and told."""
    memory = sf.Table.from_frame(frame, declared, random=1) if source is None else sf.Table.read(source, declared, random=1)
    made = publication(memory, asked, method=method, random=1)
    made.release.save(place / "memory")
    limits = ResourceLimits(1 << 29, 2)
    given = {"random": 1, "limits": limits, "fingerprinted": True, "method": method}
    large = publish_source(frame if source is None else source, declared, asked, place / "large", **given)
    assert content(place / "memory") == content(place / "large")
    alike(large.audit, made.audit)
    assert large.fingerprints == (memory.fingerprint, memory.people_fingerprint)
    assert large.table.about_people() == memory.about_people()
    return made, large, memory


@pytest.mark.parametrize("rule", RULES)
def test_duckdb_gathers_people_as_memory_does(rule, tmp_path):
    asked = sf.FPrivacy(theta=2, offset="0.1") if "bins" in rule else ASKED
    _, large, memory = both(data(rule), schema(rule), tmp_path, asked=asked)
    assert large.table.choice == memory.choice
    assert large.manifest.bundled
    assert large.rows == memory.rows
    if rule == "bands":
        assert memory.choice.tied > 50
        assert memory.choice.rows > memory.choice.people


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_files_are_gathered_with_the_types_that_memory_guesses(ending, tmp_path):
    source = tmp_path / f"visits.{ending}"
    (pc.write_csv if ending == "csv" else pq.write_table)(visits(), source)
    made, _, memory = both(None, schema(), tmp_path, source)
    report, table = audit_directory(tmp_path / "large", source, schema(), random=memory.choice.coins)
    assert report.holds is True
    assert not report.problems
    assert table.choice == memory.choice
    alike(report, sf.audit(made.release, memory))
    alike(audit_directory(tmp_path / "large")[0], sf.audit(made.release))


def test_one_row_a_person_with_several_columns_is_published_by_an_engine(tmp_path):
    people = {"key": "patient", "keep": "first by seen"}
    declared = sf.Schema(**COLUMNS, people=people)
    made, *_ = both(visits(), declared, tmp_path)
    assert made.release.rows == 900


@pytest.mark.parametrize(
    ("people", "problem"),
    [
        ({"quasi": None}, "quasi column 'age': "),
        ({"quasi": {"age": "least", "town": "first by seen"}}, "'town'"),
    ],
)
def test_what_memory_refuses_an_engine_refuses_with_the_same_sentence(people, problem, tmp_path):
    declared = sf.Schema(**COLUMNS, people={**PEOPLE, **people})
    with pytest.raises((InputError, PolicyError), match=problem) as memory:
        sf.Table.from_frame(visits(), declared, random=1)
    with pytest.raises((InputError, PolicyError)) as engine:
        publish_source(visits(), declared, ASKED, tmp_path / "out", random=1)
    assert engine.value.message == memory.value.message
    assert not (tmp_path / "out").exists()


def test_rows_without_a_key_are_refused_in_every_engine(tmp_path):
    with pytest.raises(InputError, match="whose rows"):
        publish_source(visits(keyless=True), schema(), ASKED, tmp_path / "out", random=1)


@pytest.mark.parametrize("place", ["duckdb.BYTES_A_PERSON", "gather._BYTES_A_FACT"])
def test_more_people_than_memory_holds_are_refused_with_what_they_would_take(tmp_path, monkeypatch, place):
    monkeypatch.setattr(f"sfumato.scale.{place}", 1 << 20)
    with pytest.raises(InputError, match="cut in memory") as caught:
        publish_source(visits(), schema(), ASKED, tmp_path / "out", random=1, limits=ResourceLimits(1 << 29, 1))
    assert "--memory" in caught.value.hint
    assert not (tmp_path / "out").exists()


def test_columns_of_different_types_are_refused_by_an_engine(tmp_path):
    table = visits()
    table = table.set_column(table.column_names.index("d2"), "d2", pa.array(range(table.num_rows)))
    with pytest.raises(InputError, match="of different types"):
        publish_source(table, schema(), ASKED, tmp_path / "out", random=1)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda key, place: key.lower() if place % 3 == 0 else key, "only by case"),
        (lambda key, place: "  " if place % 5 == 0 else key, "whose rows"),
    ],
)
def test_keys_in_two_spellings_and_blank_ones_are_refused_by_an_engine(tmp_path, change, said):
    table = visits()
    keys = pa.array([change(key, place) for place, key in enumerate(table["patient"].to_pylist())])
    table = table.set_column(table.column_names.index("patient"), "patient", keys)
    for publish in (
        lambda: publish_source(table, schema(), ASKED, tmp_path / "out", random=1),
        lambda: sf.Table.from_frame(table, schema(), random=1),
    ):
        with pytest.raises(InputError, match=said):
            publish()


def test_a_release_in_several_files_is_read_whole(tmp_path, monkeypatch):
    monkeypatch.setattr("sfumato.release.files.PART_ROWS", 400)
    declared = sf.Schema(
        **{**COLUMNS, "secrets": {"ward": "ward"}, "other": ["seen", "d1", "d2"]}, people={**PEOPLE, "alike": []}
    )
    asked = sf.FPrivacy(theta=2, offset="0.1")
    made, large, memory = both(visits(), declared, tmp_path, asked=asked)
    assert len(large.manifest.tables["qit"]["files"]) == 3
    loaded = sf.Release.load(tmp_path / "large")
    assert loaded.count("ward = 'W1'").value == made.release.count("ward = 'W1'").value
    alike(audit_directory(tmp_path / "large")[0], sf.audit(made.release))
    assert sf.audit(tmp_path / "large", memory).holds is True


def homes(*, several=False):
    """Return rows of members of households, with ties of age; of some members several rows."""
    coins = np.random.default_rng(3)
    home = np.repeat(np.arange(500), coins.choice([1, 2, 3, 4], 500))
    member = np.arange(len(home))
    if several:
        again = coins.choice(len(home), 150)
        home, member = np.append(home, home[again]), np.append(member, member[again])
    rows = len(home)
    table = {
        "home": [f"H{one:04d}" for one in home],
        "member": [f"M{one:05d}" for one in member],
        "age": ((member * 7) % 60 + 20).tolist(),
        "town": [f"T{one % 4}" for one in home],
        "d1": [f"D{one}" for one in np.minimum(coins.geometric(0.2, rows) - 1, 11)],
        "d2": [None if k % 3 else f"D{k % 12}" for k in range(rows)],
    }
    return pa.table(table).take(pa.array(coins.permutation(rows)))


HOMES = {"identifier": ["home", "member"], "quasi": ["age", "town"], "secrets": {"diagnosis": ["d1", "d2"]}}
UNIT = {"household": "home", "quasi": "greatest by age"}


@pytest.mark.parametrize("people", [{"key": "member"}, {"rows": "people"}])
def test_an_engine_gathers_households_as_memory_does(people, tmp_path):
    several = "key" in people
    declared = sf.Schema(**HOMES, unit=UNIT, people=people)
    _, large, memory = both(homes(several=several), declared, tmp_path, asked=sf.FPrivacy(theta=6, offset="0.2"))
    assert large.table.choice == memory.choice
    assert memory.choice.members > memory.rows == 500
    assert large.manifest.household == ("members and rows" if several else "members")


def test_a_person_in_two_households_is_refused_by_an_engine_as_in_memory(tmp_path):
    table, declared = homes(several=True), sf.Schema(**HOMES, unit=UNIT, people={"key": "member"})
    table = pa.concat_tables([table, table.slice(0, 1).set_column(0, "home", pa.array(["H0499"]))])
    with pytest.raises(InputError, match="rows in several households") as memory:
        sf.Table.from_frame(table, declared, random=1)
    with pytest.raises(InputError) as engine:
        publish_source(table, declared, ASKED, tmp_path / "out", random=1)
    assert engine.value.message == memory.value.message


@pytest.mark.parametrize("unit", [False, True])
def test_noise_is_laid_on_people_whom_an_engine_gathers(unit, tmp_path):
    """Values are declared and read cell by cell; the same coins choose among them, and draw the noise."""
    asked = sf.Differential(odds=40)
    method = sf.NoisyBoxes(values=[f"D{k}" for k in range(12)], otherwise="D0")
    if unit:
        frame, declared = homes(), sf.Schema(**HOMES, unit={**UNIT, "most": 3}, people={"rows": "people"})
    else:
        columns = {**COLUMNS, "secrets": {"diagnosis": ["d1", "d2"]}, "other": ["seen", "ward"]}
        frame, declared = visits(), sf.Schema(**columns, people={**PEOPLE, "most": 3})
    both(frame, method.close(declared), tmp_path, asked=asked, method=method)
