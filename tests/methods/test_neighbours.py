"""Whoever claims that odds grow at most so much: no one person decides whether there is a release, its schema, or a message."""

import random
from importlib.util import find_spec

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import PolicyError, SfumatoError
from sfumato.table.people import require_shared_texts

PAIRS = 420
"""Neighbouring pairs of tables that are looked at."""

DOMAINS = {
    "plain": {"a": ["1", "2", "2.5", "3"], "b": ["x", "y"]},
    "texts": {"a": ["1", "2", "north"], "b": [f"town {k}" for k in range(40)]},
    "codes": {"a": ["01", "02", "10"], "b": ["1", "2", "3"]},
    "days": {"a": ["2024-01-01", "2024-02-01", "2024-03-01"], "b": ["f", "m"]},
    "mixed days": {"a": ["2024-01-01 00:00:00", "2024-01-01 12:30:00"], "b": ["2024-01-01", "never"]},
    "range": {"a": {"min": 0, "max": 60}, "b": ["true", "false"]},
    "bands": {"a": {"min": 0, "max": 60}, "b": ["n", "s"]},
    "missing": {"a": ["1", "2", "3"], "b": ["u", "v"]},
    "letters": {"a": ["a", "b", "c"], "b": ["aa", "bb"]},
    "numbers": {"a": {"min": 1, "max": 40}, "b": {"min": 0, "max": 3}},
}
CELLS = {"bands": {"a": ["7", "7.5", "12", "59.25", "60"], "b": ["north", "south"]}, "missing": {"a": ["1", "2", "3", ""]}}
SECRETS = {"a": ["flu", "gout", "none"], "number": ["1", "2", "3.5"], "bins": ["10", "20.5", "1000", "3000"]}
MORE = {
    "bands": {"recode": {"a": {"width": 5}, "b": {"prefix": 1}}},
    "missing": {"missing": {"a": "value"}},
}


def cells_of(domains, kind, column):
    stated = CELLS.get(kind, {}).get(column)
    if stated is not None:
        return stated
    domain = domains[column]
    return [str(k) for k in range(domain["min"], domain["max"] + 1)] if isinstance(domain, dict) else domain


def schema_of(kind, secret, declares):
    domains = dict(DOMAINS[kind])
    rules = dict(MORE.get(kind, {}))
    if not declares and secret == "bins":
        rules["bins"] = {"s": [0, 100, 2000, "inf"]}
    elif not declares:
        domains["s"] = SECRETS[secret]
    elif secret == "bins":
        rules["bins"] = {"s": [0, 100, 2000, "inf"]}
    return sf.Schema(quasi=["a", "b"], sensitive=["s"], domains=domains, **rules)


def told(path, rows, schema, method, requirement):
    """Return all that is to be seen of a publication but for its records, or its refusal."""
    path.write_text("a,b,s\n" + "".join(",".join(row) + "\n" for row in rows))
    try:
        table = sf.Table.read(path, method.close(schema))
        table.require_people()
        require_shared_texts(table)
        made = method.run(table, requirement, random=1)
    except SfumatoError as error:
        return type(error).__name__, str(error)
    shown = made.release.tables()
    types = {name: {one.name: str(one.type) for one in shown[name].schema} for name in sorted(shown)}
    said = (made.audit.problems, made.audit.warnings, made.audit.holds)
    return made.release.manifest.schema, made.release.rows, types, said, sorted(made.private), made.bounds


def neighbours(kind, secret, coins):
    """Return a table, and the same with another record in the place of one, who may then be alone with her values."""
    columns = [cells_of(DOMAINS[kind], kind, name) for name in ("a", "b")] + [SECRETS[secret]]
    usual = [cells[: max(1, coins.randint(1, len(cells)))] for cells in columns]
    if coins.random() < 0.3:  # as many people as there are texts: some are alone with theirs
        rows = [tuple(cells[k % len(cells)] for cells in columns) for k in range(coins.randint(19, 42))]
    else:
        rows = [tuple(coins.choice(cells) for cells in usual) for _ in range(coins.randint(20, 60))]
    place = coins.randrange(len(rows))
    return rows, [*rows[:place], tuple(coins.choice(cells) for cells in columns), *rows[place + 1 :]]


DRAWS = [
    (sf.PrivBayes(), False),
    (sf.PrivBayes(values=["flu", "gout", "none", "1", "2"], otherwise="none"), True),
    (sf.NoisyTables(noise="sfumato"), False),
]


@pytest.mark.parametrize("kind", sorted(DOMAINS))
def test_of_synthetic_records_one_person_decides_nothing(kind, tmp_path):
    """A tenth of the pairs a domain: computed types, kinds, checks and messages are the same for both tables."""
    coins = random.Random(kind)
    differ = []
    for number in range(PAIRS // len(DOMAINS)):
        secret = list(SECRETS)[number % len(SECRETS)]
        method, declares = DRAWS[2 if number == 1 and find_spec("mbi") else number % 2]
        if declares and secret == "bins":
            method = sf.PrivBayes(values=["[0, 100)", "[100, 2000)", "[2000, inf)", "(missing)"], otherwise="(missing)")
        schema = schema_of(kind, secret, declares)
        pair = neighbours(kind, secret, coins)
        seen = [told(tmp_path / "t.csv", rows, schema, method, sf.Differential("1")) for rows in pair]
        assert len(seen[0]) == 6, seen[0]  # inside their domains both are published
        differ += [] if seen[0] == seen[1] else [(number, seen)]
    assert not differ, differ[0]


@pytest.mark.parametrize(
    "method",
    [
        sf.NoisyBoxes(values=["flu", "gout", "none"], otherwise="none", floor=10),
        sf.UniformPerturbation(parameters="declared", shares={"flu": "0.5", "gout": "0.3", "none": "0.2"}, otherwise="none"),
        sf.SmallDomain(parameters="declared", shares={"flu": "0.5", "gout": "0.3", "none": "0.2"}, otherwise="none"),
    ],
    ids=lambda method: method.name,
)
def test_where_quasi_values_are_public_one_secret_decides_nothing(method, tmp_path):
    coins = random.Random(method.name)
    requirement = sf.Differential("1") if method.name == "noisy-boxes" else sf.BetaLikeness(1, against="insider")
    schema = sf.Schema(quasi=["a", "b"], sensitive=["s"])
    cells = ["flu", "gout", "none", "", "unknown", "7", "7.5", "2024-01-01", "NA", "patient 7"]
    for _ in range(20):
        rows = [(coins.choice("12345"), coins.choice("xy"), coins.choice(cells[: coins.randint(1, 4)])) for _ in range(60)]
        place = coins.randrange(60)
        other = [*rows[:place], (*rows[place][:2], coins.choice(cells)), *rows[place + 1 :]]
        seen = [told(tmp_path / "t.csv", one, schema, method, requirement) for one in (rows, other)]
        assert len(seen[0]) == 6, seen[0]
        assert seen[0] == seen[1]


@pytest.mark.parametrize("method", [sf.PrivBayes(), sf.NoisyTables()], ids=lambda method: method.name)
def test_computed_bins_are_refused_by_whatever_draws_records(method):
    schema = sf.Schema(quasi=["a"], sensitive=["salary"], domains={"a": ["x", "y"]}, bins={"salary": {"people": 2}})
    with pytest.raises(PolicyError, match="edges of 'salary'"):
        method.close(schema)
    frame = {"a": ["x", "y"] * 10, "salary": list(range(1000, 3000, 100))}
    table = sf.Table.from_frame(pa.table(frame), schema)  # read with the edges that follow from it
    with pytest.raises(PolicyError, match="declared domains"):
        sf.publication(table, sf.Differential("1"), method=method)


def test_a_policy_with_computed_bins_is_refused_before_any_table_is_read():
    with pytest.raises(PolicyError, match="edges of 'salary'"):
        sf.Policy.parse(
            '[columns]\nquasi = ["a"]\nsensitive = ["salary"]\n[domains]\na = ["x", "y"]\n[bins]\nsalary = { people = 2 }\n'
            '[requirement]\nmodel = "differential"\nepsilon = "1"\n[method]\nname = "privbayes"\n'
        )


def test_a_column_called_like_the_number_of_a_person_is_refused_by_its_name_alone():
    schema = sf.Schema(quasi=["a"], sensitive=["s"], other=["patient_id"], domains={"a": ["x", "y"], "s": ["f", "g"]})
    said = set()
    for people in (range(20), [1] * 20, [k // 2 for k in range(20)]):
        frame = pa.table({"a": ["x", "y"] * 10, "s": ["f", "g"] * 10, "patient_id": list(people)})
        table = sf.Table.from_frame(frame, sf.PrivBayes().close(schema))
        with pytest.raises(SfumatoError) as caught:
            table.require_people()
        said.add(str(caught.value))
    assert len(said) == 1
    assert "'patient_id'" in said.pop()


@pytest.mark.parametrize(
    ("rules", "column", "cells"),
    [
        ({"recode": {"a": {"width": 5, "top": 60, "bottom": 0}}, "domains": {"a": {"min": 0, "max": 60}}}, "a", ("70", "-3")),
        ({"recode": {"a": {"width": "0.5", "top": 60, "bottom": 0}}, "domains": {"a": [0, 0.5, 1, 7, 60]}}, "a", ("70", "-3")),
        ({"recode": {"a": {"top": 60, "bottom": 0}}, "domains": {"a": {"min": 0, "max": 60}}}, "a", ("70", "-3")),
        ({"bins": {"s": ["-inf", 5, "inf"]}, "domains": {"a": {"min": 0, "max": 60}}}, "s", ("7", "-1")),
    ],
    ids=["bands", "halves", "top", "bins"],
)
def test_a_number_that_is_recoded_into_its_domain_may_be_as_large_as_it_likes(rules, column, cells, tmp_path):
    domains = {"s": ["1", "7"], **rules["domains"]}
    if "bins" in rules:
        del domains["s"]
    schema = sf.Schema(quasi=["a"], sensitive=["s"], **{**rules, "domains": domains})
    seen = []
    for cell in (*cells, "1e14", "1e15", "-1e15", "99999999999999999999", "1e300", "-1e300", "1e999"):
        rows = [("17"[k % 2], "17"[k % 3 == 0]) for k in range(40)]
        rows[3] = (cell, "1") if column == "a" else ("1", cell)
        (tmp_path / "t.csv").write_text("a,s\n" + "".join(",".join(row) + "\n" for row in rows))
        table = sf.Table.read(tmp_path / "t.csv", sf.PrivBayes().close(schema))
        seen.append((cell.startswith("-"), str(table.to_arrow()[column][3]), str(table.to_arrow().schema)))
    assert len({shown for *_, shown in seen}) == 1
    assert len({(below, value) for below, value, _ in seen}) == 2


def test_a_domain_of_numbers_that_could_not_be_told_apart_is_refused_as_declared():
    schema = sf.Schema(quasi=["a"], sensitive=["s"], domains={"a": {"min": 10**16, "max": 10**16 + 9}, "s": ["x", "y"]})
    with pytest.raises(PolicyError, match="'a': whole numbers of 16"):
        sf.PrivBayes().close(schema)
