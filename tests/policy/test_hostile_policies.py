"""Policies with numbers, nestings and sizes that nobody writes: one sentence each, from TOML and from Python."""

from __future__ import annotations

import inspect
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from sfumato.errors import PolicyError, SfumatoError
from sfumato.methods import METHODS
from sfumato.policy import Policy
from sfumato.policy.policy import LONGEST
from sfumato.privacy import MODELS

POLICY = """\
[columns]
quasi = ["age"]
sensitive = ["ill"]
[requirement]
model = "f-privacy"
theta = 2
offset = "0.1"
"""

TOML_NUMBERS = [
    "1e999999999",
    "-1e999999999",
    "1e-999999999",
    "1e999",
    "nan",
    "inf",
    "-inf",
    "9" * 5000,
    "0x" + "f" * 5000,
    "9" * 30,
]
QUOTED = ['"1e999999999"', '"1e999"', '"1/0"', '"nan"', f'"{"9" * 5000}"', f'"1/{"9" * 5000}"']
PLACES = {
    "theta": ("theta = 2", "theta = {}"),
    "offset": ('offset = "0.1"', "offset = {}"),
    "a bound": ("theta = 2", "theta = 2\nbounds = {{ HIV = {} }}"),
    "a width": ("[requirement]", "[recode]\nage = {{ width = {} }}\n[requirement]"),
    "a top": ("[requirement]", "[recode]\nage = {{ top = {} }}\n[requirement]"),
    "an edge": ("[requirement]", "[bins]\nill = [0, {}, 5]\n[requirement]"),
    "a limit": ("[requirement]", "[domains]\nage = {{ min = 0, max = {} }}\n[requirement]"),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("number", TOML_NUMBERS + QUOTED, ids=range(len(TOML_NUMBERS + QUOTED)))
def test_a_number_that_nobody_writes_is_refused_wherever_a_policy_takes_one(place: str, number: str) -> None:
    old, new = PLACES[place]
    with pytest.raises(PolicyError) as found:
        Policy.parse(POLICY.replace(old, new.format(number)))
    assert len(str(found.value)) < 700


@pytest.mark.parametrize("zero", ["0.0", "-0.0", '"-0"', "0e999999999"])
def test_every_zero_is_the_same_zero(zero: str) -> None:
    assert Policy.parse(POLICY.replace("theta = 2", f"theta = {zero}")).requirement.to_dict()["theta"] == "0"


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "[" * 5000 + "]" * 5000,
        "x = " + "{a=" * 5000 + "1" + "}" * 5000,
        ".".join("a" * 20_000) + " = 1",
        "[" + ".".join("a" * 20_000) + "]",
        "x = { " + ".".join("a" * 20_000) + " = 1 }",
        POLICY + "\0",
        "= = =",
    ],
    ids=["lists", "tables", "a long key", "a long section", "a long key inside", "a NUL", "nothing"],
)
def test_text_that_is_no_policy_is_refused_in_one_sentence(text: str) -> None:
    with pytest.raises(PolicyError) as found:
        Policy.parse(text)
    assert len(str(found.value)) < 400


def test_a_policy_of_a_gigabyte_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    with path.open("wb") as file:
        file.truncate(1 << 30)  # a hole: it has the size and takes no room
    with pytest.raises(PolicyError, match=f"at most {LONGEST:,} bytes"):
        Policy.load(path)


HOSTILE: dict[str, Any] = {
    "text 1e999999999": "1e999999999",
    "decimal 1e999999999": Decimal("1e999999999"),
    "decimal 1e-999999999": Decimal("1e-999999999"),
    "10^5000": 10**5000,
    "-10^5000": -(10**5000),
    "1/10^5000": Fraction(1, 10**5000),
    "2^63": 2**63,
    "nan": float("nan"),
    "inf": float("inf"),
    "-inf": float("-inf"),
    "decimal nan": Decimal("nan"),
    "-0.0": -0.0,
    "1e308": 1e308,
    "a long text": "x" * 1_000_000,
    "a list": [10**5000],
    "a mapping": {"age": 10**5000},
    "nothing": None,
    "true": True,
}
NEEDED: dict[str, dict[str, Any]] = {
    "l-diversity": {"l": 3},
    "f-privacy": {"theta": 2, "offset": "0.1"},
    "beta-likeness": {"beta": 2},
    "rho-privacy": {"rho1": "0.1", "rho2": "0.5"},
    "presence-association": {"alpha": "0.5", "beta": "0.5"},
    "differential": {"epsilon": "1"},
    "noisy-boxes": {"values": ["a", "b"], "otherwise": "b"},
}


@pytest.mark.parametrize("name", [*MODELS, *METHODS])
def test_every_parameter_takes_a_hostile_value_or_refuses_it_in_a_sentence(name: str) -> None:
    maker = {**MODELS, **METHODS}[name]
    for parameter in inspect.signature(maker).parameters:
        for value in HOSTILE.values():
            try:
                made = maker(**{**NEEDED.get(name, {}), parameter: value})
            except SfumatoError as problem:
                message = str(problem)
                assert 0 < len(message) < 2000, (name, parameter)
            else:
                assert len(str(made.to_dict())) < 10_000
