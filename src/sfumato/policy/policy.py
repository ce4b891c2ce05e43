"""A policy: the TOML file as checked objects."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

from sfumato.errors import PolicyError, SfumatoError, did_you_mean
from sfumato.exact import exact
from sfumato.methods import METHODS, Ambiguity, Boxes, Method, NoisyBoxes
from sfumato.policy.sections import (
    Section,
    check_numbers,
    flag,
    known_keys,
    known_sections,
    parameters,
    plain,
    section,
    text,
    texts,
)
from sfumato.policy.wording import in_toml
from sfumato.privacy import MODELS, Requirement
from sfumato.table import ReadOptions, Schema, Table
from sfumato.table.regular import TooLongError, read_text, refusal

T = TypeVar("T")

TABLES = ("input", "columns", "types", "recode", "bins", "domains", "missing", "requirement", "method", "budget")
INPUT = ("delimiter", "decimal", "encoding", "null", "one_row_per_person")
ROLES = ("identifier", "quasi", "sensitive", "other")

LONGEST, DEEPEST = 10_000_000, 100
"""A policy file has at most so many bytes, and a key in it so many parts."""

LATER_METHODS = ("privbayes",)
MOST_BUDGET = 100
WEAKER = "accept_weaker_claim"
EXACT_OPTIONS = ("c", "t", "amplification", "delta", "shares")
"""Options on which a privacy decision rests: their decimals are taken as written."""


@dataclass(frozen=True)
class Policy:
    """What a policy file says: how to read the table, its schema, what is promised, and by which method.

    `method` is None where the policy names none: `default_method` then chooses.
    `text` is the file as it was written; the private receipt keeps it. A number with a decimal point is taken as written: 0.29 is
    29/100.
    """

    options: ReadOptions
    schema: Schema
    requirement: Requirement
    method: Method | None
    text: str
    budget: Fraction | None = None

    @classmethod
    def load(cls, path: str | Path) -> Policy:
        """Return the policy in a file."""
        path = Path(path)
        refused = refusal(path)
        if refused == "there is no such file":
            raise PolicyError(
                f"{path}: no such policy file", hint="`sfumato policy init DATA --out POLICY` writes a draft to start from"
            )
        if refused is not None:
            raise PolicyError(f"{path}: {refused}", hint="give the path of a policy, a TOML file")
        try:
            content = read_text(path, most=LONGEST)
        except UnicodeDecodeError:
            raise PolicyError(f"{path}: not UTF-8 text", hint="a policy is a TOML file; save it as UTF-8") from None
        except TooLongError:
            raise PolicyError(f"{path}: a policy has at most {LONGEST:,} bytes", hint="is it the table?") from None
        except OSError as error:
            raise PolicyError(f"{path}: cannot be read: {error.strerror or 'the disk refused'}") from None
        try:
            return cls.parse(content)
        except PolicyError as error:
            raise PolicyError(f"{path}: {error.message}", hint=error.hint) from None

    @classmethod
    def parse(cls, content: str) -> Policy:
        """Return the policy in TOML text; whatever is unknown, missing or of the wrong type is an error that says where."""
        document = _document(content)
        known_sections(document, TABLES)
        for name, why in (("columns", "the role of every column"), ("requirement", "what is promised")):
            if name not in document:
                raise PolicyError(f"[{name}]: missing; it says {why}", hint="`sfumato policy init DATA` writes a draft")
        schema = _schema(document)
        requirement = _requirement(section(document, "requirement"))
        method = _method(section(document, "method"), requirement, schema)
        return cls(
            options=_options(section(document, "input")),
            schema=_closed(schema, method),
            requirement=requirement,
            method=method,
            text=content,
            budget=_budget(section(document, "budget")),
        )

    def read_table(self, path: str | Path) -> Table:
        """Return the table in a file, read as the policy says; what the policy asks of the wrong column is told in its words."""
        try:
            return Table.read(path, self.schema, options=self.options)
        except PolicyError as error:
            raise PolicyError(in_toml(error.message), hint=error.hint) from None


def _document(content: str) -> dict[str, Any]:
    """Return the tables of TOML text, after checking that nothing in them takes long to compute with or to write out."""
    if any(key.count(".") > DEEPEST for line in content.splitlines() for key in line.split("=")[:-1] or [line]):
        raise PolicyError(f"a key has more than {DEEPEST} parts", hint="no key of a policy has more than three")
    try:
        document = tomllib.loads(content, parse_float=Decimal)
        check_numbers(document)
    except tomllib.TOMLDecodeError as error:
        raise PolicyError(f"not valid TOML: {error}", hint="texts need quotes, lists brackets, one key = value a line") from None
    except RecursionError:
        raise PolicyError("lists or tables are nested too deeply", hint="no list of a policy is in another one") from None
    except ValueError:
        raise PolicyError("a number has too many digits to be read", hint="a whole number has at most 19 digits") from None
    return document


def _options(found: Section) -> ReadOptions:
    known_keys(found, "[input]", INPUT)
    options: dict[str, Any] = {key: text(found, key, "[input]") for key in ("delimiter", "decimal", "encoding")}
    options["null"] = texts(found, "null", "[input]")
    return _located("[input]", ReadOptions, {key: value for key, value in options.items() if value is not None})


def _schema(document: Section) -> Schema:
    columns = section(document, "columns")
    known_keys(columns, "[columns]", ROLES)
    arguments: dict[str, Any] = {role: texts(columns, role, "[columns]") or () for role in ROLES}
    for name in ("types", "recode", "bins", "domains", "missing"):
        arguments[name] = plain(section(document, name))
    arguments["one_row_per_person"] = flag(section(document, "input"), "one_row_per_person", "[input]", default=True)
    return _located("", Schema, arguments)


def _requirement(found: Section) -> Requirement:
    model = text(found, "model", "[requirement]")
    if model is None:
        raise PolicyError("[requirement] model: missing", hint=f"one of {', '.join(MODELS)}")
    cls = _named(model, MODELS, "[requirement] model")
    arguments = {key: value for key, value in found.items() if key != "model"}
    if "bounds" in arguments:
        arguments["bounds"] = section(arguments, "bounds")
    return _located("[requirement]", cls, parameters(arguments, "[requirement]", cls))


def _method(found: Section, requirement: Requirement, schema: Schema) -> Method | None:
    name = text(found, "name", "[method]")
    if not found:
        return None
    if name is None:  # options without a name are options of the usual method
        name = (Ambiguity if requirement.presence is not None else NoisyBoxes if requirement.against == "insider" else Boxes).name
    if name == "buckets" or "locality" in found:
        old = "name" if name == "buckets" else "locality"
        raise PolicyError(f"[method] {old}: buckets are a form now, and several methods make them", hint=_respelled(found))
    cls = _named(name, METHODS, "[method] name", later=LATER_METHODS)
    arguments = {key: value for key, value in found.items() if key != "name"}
    if WEAKER in arguments and WEAKER not in {field.name for field in fields(cls)}:
        takers = ", ".join(other for other, kind in METHODS.items() if WEAKER in {field.name for field in fields(kind)})
        raise PolicyError(f"[method] {WEAKER}: {name!r} claims nothing less than a reader's bound", hint=f"only for {takers}")
    given = parameters(arguments, "[method]", cls)
    options = {key: value if key in EXACT_OPTIONS else plain(value) for key, value in given.items()}
    if options.get("max_size") == 1 and options["max_size"] is not True:
        raise PolicyError("[method] max_size: a bucket of 1 person hides nothing", hint="max_size = 50 is usual")
    if isinstance(options.get("weights"), dict):
        known_keys(options["weights"], "[method] weights", schema.quasi)
    return _located("[method]", cls, options)


def _budget(found: Section) -> Fraction | None:
    """Return the ε that all draws of noise of the same people may reach together; None where nothing limits them."""
    known_keys(found, "[budget]", ("epsilon",))
    if not found:
        return None
    epsilon = exact(found.get("epsilon", ""), "[budget] epsilon")
    if not 0 < epsilon <= MOST_BUDGET:
        raise PolicyError(
            f"[budget] epsilon: expected a number above 0 and at most {MOST_BUDGET}, got {epsilon}", hint="epsilon = 3"
        )
    return epsilon


def _respelled(found: Section) -> str:
    """Return how a policy for the method that was called buckets is written now."""
    locality = found.get("locality", "boxes")
    name = "decoys" if found.get("decoys") else {"none": "multi-size", "near": "near-groups"}.get(str(locality), "boxes")
    form = ' and form = "buckets"' if name == "near-groups" else ""
    return f'write name = "{name}"{form}' + (", and leave out locality" if "locality" in found else "")


def _closed(schema: Schema, method: Method | None) -> Schema:
    """Return the schema as the method needs it: declared parameters declare which sensitive values there are."""
    try:
        return schema if method is None else method.close(schema)
    except SfumatoError as error:
        raise PolicyError(in_toml(error.message, "[method] shares:"), hint=error.hint) from None


def _named(name: str, known: Mapping[str, type[T]], where: str, *, later: tuple[str, ...] = ()) -> type[T]:
    if name in known:
        return known[name]
    if name in later:
        raise PolicyError(f"{where}: {name!r} is not in this version", hint=f"this version has {', '.join(known)}")
    raise PolicyError(f"{where}: unknown {name!r}", hint=did_you_mean(name, known))


def _located(where: str, cls: type[T], arguments: dict[str, Any]) -> T:
    """Make an object of the policy's figures; what its own checks refuse is reported in the words and places of the file."""
    try:
        return cls(**arguments)
    except SfumatoError as error:
        raise PolicyError(in_toml(error.message, where), hint=error.hint) from None
