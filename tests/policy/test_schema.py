"""Editors check a policy by a schema that follows from what models and methods declare; it refuses what is misspelt."""

import math
import re
import tomllib
from datetime import date
from pathlib import Path

import pytest

from sfumato.methods import METHODS
from sfumato.policy import Policy, draft_policy
from sfumato.policy.policy import INPUT, KEPT, RULES, TABLES
from sfumato.policy.schema import policy_schema
from sfumato.privacy import MODELS
from sfumato.release.shape import fault_in

ROOT = Path(__file__).parents[2]
SCHEMA = policy_schema()
PLAIN = """
[columns]
quasi = ["age"]
sensitive = ["illness"]
[requirement]
model = "f-privacy"
theta = 8
offset = "0.02"
"""


FULL = """
reviewed = true
[input]
delimiter = ";"
decimal = ","
null = ["?"]
rename = true
[people]
key = ["id"]
keep = "first by seen"
[columns]
identifier = ["id", "seen"]
quasi = ["age", "town", "born", "job"]
sensitive = ["illness", "income"]
other = ["note"]
allow_unique = ["town"]
[types]
age = "numeric"
[recode]
age = { width = 5, top = 90, bottom = "20" }
town = { prefix = 2 }
born = { to = "year" }
job = { map = { nurse = "health" }, other = "rest" }
[bins]
income = { width = 1000, from = 0, to = "5000" }
[domains]
born = { min = 1920-01-01, max = 2020-12-31 }
[missing]
age = "value"
[requirement]
protect = "each"
model = "f-privacy"
theta = 8
offset = 0.02
odds = "8"
against = "reader"
bounds = { HIV = "1/50" }
[requirement.columns.income]
model = "l-diversity"
l = 3
[requirement.columns.income.sets]
within = { near = 1, bound = "0.9" }
[method]
name = "boxes"
floor = 20
weights = { age = 2.5 }
form = "ranges"
[budget]
epsilon = 3
key = "id"
"""


def test_what_is_read_is_accepted():
    assert Policy.parse(FULL).reviewed
    assert fault(FULL) is None


def plain(value):
    """Return a TOML value as an editor passes it on: dates as text, and numbers without an end as large ones."""
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, list):
        return [plain(one) for one in value]
    if isinstance(value, float) and math.isinf(value):
        return 1e300
    return value.isoformat() if isinstance(value, date) else value


def fault(text):
    return fault_in(plain(tomllib.loads(text)), SCHEMA)


def documented():
    """Return the whole policies of the documentation."""
    texts = [path.read_text() for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))]
    blocks = [one for text in texts for one in re.findall(r"```toml\n(.*?)```", text, re.DOTALL)]
    return [one for one in blocks if "[columns]" in one and "[requirement]" in one and "…" not in one]


def test_what_is_documented_is_accepted():
    assert len(documented()) >= 2
    assert [fault(one) for one in documented()] == [None] * len(documented())


@pytest.mark.parametrize("options", [{}, {"strict": True}, {"declared": True}])
def test_drafts_are_accepted(tmp_path, options):
    rows = "\n".join(f"{20 + k % 50},{'fm'[k % 2]},{['flu', 'gout', 'HIV'][k % 3]},{k * 37 % 9000}" for k in range(400))
    (tmp_path / "people.csv").write_text(f"age,sex,illness,income\n{rows}\n")
    text = draft_policy(tmp_path / "people.csv", **options)
    assert "[requirement]" in text
    assert fault(text) is None


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ("[method]\nname = 'boxes'\nflor = 3", "method"),
        ("[method]\nname = 'boxes'\nfloor = 0", "method.floor"),
        ("[method]\nname = 'bxoes'", "method"),
        ("[method]\nname = 'mondrian'\npartition = 'strickt'", "method.partition"),
        ("[method]\nname = 'mondrian'\nt = 1.5", "method.t"),
        ("[mehtod]\nname = 'boxes'", ""),
        ("[input]\nheader = 'yes'", "input.header"),
        ("[recode]\nage = { widht = 5 }", "recode"),
        ("[missing]\nage = 'dorp'", "missing"),
        ("[requirement.sets]\nill = { values = [], bound = '0.1' }", "requirement.sets"),
        ("[requirement.columns.illness]\nthta = 4", "requirement.columns"),
        ("[budget]\nkey = 'name'", "budget.epsilon"),
    ],
)
def test_what_a_policy_does_not_take_is_marked_where_it_stands(line, place):
    assert fault(PLAIN) is None
    found = fault(f"{PLAIN}{line}")
    assert found is not None
    assert found.startswith(place)


@pytest.mark.parametrize("wrong", ["model = 'f-privcy'", "model = 'rho-privacy'\nrho1 = '0.1'", "model = 'l-diversity'\nl = '3'"])
def test_a_requirement_is_that_of_one_model(wrong):
    assert fault("[columns]\nquasi = ['a']\n[requirement]\n" + wrong).startswith("requirement")


def test_options_without_a_name_are_those_of_the_usual_methods():
    assert fault(f"{PLAIN}[method]\nfloor = 20") is None
    assert fault(f"{PLAIN}[method]\nk = 20") is not None


def test_every_section_model_and_method_is_known():
    assert set(SCHEMA["properties"]) == {"reviewed", KEPT, *TABLES} >= set(RULES)
    assert set(SCHEMA["definitions"]["InputSection"]["properties"]) == set(INPUT)
    named = {one["properties"]["name"]["const"] for one in SCHEMA["definitions"]["Method"]["anyOf"] if "name" in one["required"]}
    assert named == set(METHODS)
    assert {one["properties"]["model"]["const"] for one in SCHEMA["definitions"]["Requirement"]["anyOf"]} == set(MODELS)
