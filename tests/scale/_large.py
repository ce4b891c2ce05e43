"""People, rules and requirements that every engine meets, and how two releases or audits are compared."""

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.ledger import in_order

SCHEMA = sf.Schema(
    quasi=["age", "gender", "education", "country"],
    sensitive=["salary"],
    other=["marital", "race", "workclass", "occupation"],
    bins={"salary": list(range(0, 51, 2))},
    recode={"age": {"width": 2}},
    people={"rows": "people"},
)
ASKED = sf.FPrivacy(theta=4, offset="0.02")


def content(directory):
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def alike(found, expected):
    """Compare two audits: all that is said, and figures up to the order in which they were added up."""
    one, other = found.to_dict(), expected.to_dict()
    exposure, expected = one.pop("exposure"), other.pop("exposure")
    assert exposure == (None if expected is None else pytest.approx(expected, rel=1e-12))
    figures, others = ({key: (each.pop("figure"), each) for key, each in told.pop("stronger").items()} for told in (one, other))
    assert one == other
    assert figures.keys() == others.keys()
    for key, (figure, said) in figures.items():
        assert figure == pytest.approx(others[key][0], rel=1e-12), key
        assert said == others[key][1]


VALUES = [str(value) for value in range(50)]
CLOSED = sf.Schema(
    quasi=list(SCHEMA.quasi), sensitive=["salary"], other=list(SCHEMA.other), recode={"age": {"width": 2}},
    people={"rows": "people"}, closed={"values": VALUES, "otherwise": "0"},
)  # fmt: skip
ODD = sf.Schema(quasi=["when", "weight", "place"], sensitive=["ill"], people={"rows": "people"}, recode={"weight": {"round": 2}},
                other=["smokes", "pay", "patient", "seen", "name"])  # fmt: skip
SHARES = {str(value): f"{(value % 10 + 1) ** 3}/{5 * sum((one + 1) ** 3 for one in range(10))}" for value in range(50)}
RANDOMIZED = {
    "uniform": (SCHEMA, sf.RhoPrivacy("1/10", "1/4"), sf.UniformPerturbation()),
    "a retention for each value": (SCHEMA, sf.RhoPrivacy("1/10", "1/4"), sf.SmallDomain(retention="per-value")),
    "parts": (SCHEMA, sf.RhoPrivacy("1/10", "1/4"), sf.SmallDomain()),
    "declared parts": (
        CLOSED,
        sf.RhoPrivacy("1/10", "1/4", against="insider"),
        sf.SmallDomain(parameters="declared", shares=SHARES, otherwise="0"),
    ),
}
EACH = sf.Schema(quasi=["when", "weight", "place"], sensitive=["ill", "pay"], protect="each", people={"rows": "people"},
                 recode={"weight": {"round": 2}}, bins={"pay": {"people": 6}},
                 other=["smokes", "patient", "seen", "name"])  # fmt: skip
RULES = {
    "missing values are values": ({}, {}),
    "missing values are dropped": ({"missing": {"when": "drop", "place": "drop"}, "against": "reader"}, {}),
    "bins of equally many people": ({"bins": {"pay": {"people": 5}}, "types": {}}, {"sensitive": ["pay"]}),
    "dates to months": ({"recode": {"when": {"to": "month"}}}, {}),
    "prefixes": ({"recode": {"place": {"prefix": 1}}}, {}),
    "categories regrouped": ({"recode": {"place": {"map": {"x1": "one"}, "other": "rest"}}}, {}),
    "rounded numbers": ({"recode": {"weight": {"round": 5}}}, {}),
    "several sensitive columns": ({"protect": "combination"}, {"sensitive": ["ill", "smokes"]}),
    "the first row of a person": ({"people": {"key": "patient", "keep": "first by seen"}}, {}),
    "the last row of a person": ({"people": {"key": "patient", "keep": "last by seen"}}, {}),
    "identifiers": ({"identifier": ["name"]}, {}),
    "a weight in bins": ({"weight": "weight", "missing": {"weight": "drop"}, "against": "reader"}, {}),
}


def odd_table(rows=1500):
    """Return people with every oddity a rule speaks of."""
    coins = np.random.default_rng(4)
    days = np.datetime64("2020-01-01") + coins.integers(0, 900, rows)
    weight = coins.normal(70, 10, rows)
    weight[::50] = np.nan
    place = [None if k % 40 == 0 else f"x{k % 13}" for k in coins.integers(0, 1000, rows)]
    return pa.table(
        {
            "when": pa.array(days, pa.date32(), mask=coins.random(rows) < 0.03),
            "weight": pa.array(weight, from_pandas=False),
            "place": place,
            "ill": coins.choice(["flu", "gout", "asthma", "rash", "cough", "ache"], rows),
            "smokes": coins.choice([True, False], rows),
            "pay": coins.integers(1000, 9000, rows),
            "patient": coins.integers(0, rows * 3 // 4, rows),
            "seen": coins.integers(0, 5, rows),
            "name": [f"person {k}" for k in range(rows)],
        }
    )


def ruled(rule, frame):
    """Return how the table is read by a rule, and a requirement that goes with it."""
    words, roles = RULES[rule]
    words = dict(words)
    against = words.pop("against", "engineer")
    sensitive = roles.get("sensitive", ["ill"])
    identifier = words.pop("identifier", [])
    quasi = ["when", "weight", "place"]
    other = [name for name in frame.column_names if name not in (*quasi, *sensitive, *identifier)]
    words.setdefault("people", {"rows": "people"})
    schema = sf.Schema(quasi=quasi, sensitive=sensitive, identifier=identifier, other=other, **words)
    return schema, sf.FPrivacy(theta=4, offset="0.1", against=against)


def visits():
    """Return rows of people whom a number among the other columns tells, and the schema that says so, with identifiers too."""
    numbers = [k % 900 for k in range(2000)]
    frame = pa.table(
        {
            "row": [f"R{k:05d}" for k in range(2000)],
            "person": [float(number) if number % 7 else None for number in numbers],
            "age": [20 + number % 60 for number in numbers],
            "sex": ["fm"[number % 2] for number in numbers],
            "value": ["abc"[k % 3] for k in range(2000)],
        }
    )
    roles = {"identifier": ["row"], "quasi": ["age", "sex"], "sensitive": ["value"], "other": ["person"]}
    return frame, sf.Schema(**roles, one_row_per_person=False, budget_key=["person"])


def marked(marks):
    """Return what marks of people come to under one key: sorted hashes of people and of quasi values."""
    key = bytes(range(16))
    rows = marks.fingerprint.rows
    return [in_order(chunks, rows, key).tolist() for chunks in (marks.people(), marks.quasi())], marks.identified_by
