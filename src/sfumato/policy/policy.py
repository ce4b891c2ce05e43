"""A policy: the TOML file as checked objects."""

from __future__ import annotations

import contextlib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

from sfumato.errors import InputError, PolicyError, Problems, SfumatoError, did_you_mean, joined, listing
from sfumato.exact import exact
from sfumato.methods import METHODS, Ambiguity, Boxes, Method, NoisyBoxes
from sfumato.plugins import Registry, unknown
from sfumato.policy.hierarchies import sets_with_hierarchies, with_hierarchies, written
from sfumato.policy.roles import ROLES
from sfumato.policy.sections import (
    PolicySection,
    check_numbers,
    flag,
    known_keys,
    known_sections,
    near,
    parameters,
    plain,
    section,
    text,
    texts,
)
from sfumato.policy.wording import hint_in_toml, in_toml
from sfumato.privacy import MODELS, Requirement
from sfumato.randomness import Randomness, coins_of
from sfumato.table import ReadOptions, Schema, Table
from sfumato.table.read import TablePath, column_names
from sfumato.table.source import read_text, refusal

T = TypeVar("T")

TABLES = (
    "input",
    "people",
    "columns",
    "unit",
    "secrets",
    "weight",
    "types",
    "recode",
    "bins",
    "domains",
    "missing",
    "requirement",
    "method",
    "budget",
    "population",
)
DECISIONS = 30
"""How many decisions of an unreviewed draft are listed, doubtful ones first."""

KEPT = "receipt"
"""The table that only the policy in a receipt has: the files it named, and the coins that chose among rows of one person."""

INPUT = ("delimiter", "decimal", "encoding", "null", "header", "names", "sheet", "rename", "one_row_per_person")
RULES = ("types", "recode", "bins", "domains", "missing")
"""The tables that say something of single columns."""

LONGEST, DEEPEST = 10_000_000, 100
"""A policy file has at most so many bytes, and a key in it so many parts."""

MOST_BUDGET = 100
WEAKER = "accept_weaker_claim"
EXACT_OPTIONS = ("c", "t", "amplification", "delta", "epsilon", "shares", "has", "theta")
"""Options on which a privacy decision rests: their decimals are taken as written."""


@dataclass(frozen=True)
class Policy:
    """What a policy file says: how to read the table, its schema, what is promised, and by which method.

    `method` is None where the policy names none: `default_method` then chooses. A draft is not `reviewed`, and `sfumato publish`
    refuses it; a policy that does not say is. `warnings` tell what the policy says in vain.
    `text` is the file as it was written and `files` are the texts of those it names; the private receipt keeps both, and the
    `coins` that chose among rows of one person. A number with a decimal point is taken as written: 0.29 is 29/100.
    """

    options: ReadOptions
    schema: Schema
    requirement: Requirement
    method: Method | None
    text: str
    reviewed: bool = True
    warnings: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    coins: bytes | None = None
    budget: Fraction | None = None

    def __repr__(self) -> str:
        state = "reviewed" if self.reviewed else "a draft, not reviewed"
        return f"Policy({state}; {', '.join(self.schema.quasi)} → {', '.join(self.schema.sensitive)}; {self.requirement.model})"

    def __str__(self) -> str:
        return self.text

    @classmethod
    def load(cls, path: str | Path, *, data: TablePath | None = None) -> Policy:
        """Return the policy in a file. All that is wrong is said at once; with the `data` at hand, by the table's own names."""
        path = Path(path)
        if refusal(path) == "there is no such file":
            raise PolicyError(
                f"{path}: no such policy file", hint="`sfumato policy init DATA --out POLICY` writes a draft to start from"
            )
        check, expected = "give the path of a policy, a TOML file", "a policy is a TOML file; save it as UTF-8"
        content = read_text(path, str(path), most=LONGEST, error=PolicyError, check=check, expected=expected)
        try:
            return cls.parse(content, base=path.parent)
        except PolicyError as error:
            problems = error.problems or (error,)
            raise joined(problems if data is None else by_header(problems, content, data), str(path)) from None

    @classmethod
    def parse(cls, content: str, *, base: Path | None = None) -> Policy:
        """Return the policy in TOML text; whatever is unknown, missing or of the wrong type is an error that says where.

        Files that it names are looked for from `base` on, the directory of the policy file.
        """
        document = _document(content)
        problems = Problems()
        made: dict[str, Any] = {}
        files: dict[str, str] = {}
        warnings: list[str] = []
        with problems.noted():
            made["reviewed"] = flag(document, "reviewed", "", default=True)
        with problems.noted():
            known_sections({name: value for name, value in document.items() if name not in ("reviewed", KEPT)}, TABLES)
        for name, why in (("columns", "the role of every column"), ("requirement", "what is promised")):
            with problems.noted():
                if name not in document and not any(near(other, TABLES) == name for other in document):
                    raise PolicyError(f"[{name}]: missing; it says {why}", hint="`sfumato policy init DATA` writes a draft")
        with problems.noted():
            made["options"] = _options(section(document, "input"))
        if "columns" in document:
            with problems.noted():
                made["schema"] = _schema(document, warnings, base, files)
        if "requirement" in document:
            with problems.noted():
                kept = section(section(document, KEPT), "hierarchies")
                made["requirement"] = _requirement(section(document, "requirement"), kept, base, files)
        with problems.noted():
            stated = section(document, "method")
            made["method"] = _method(stated, made.get("requirement"), made.get("schema"))
        with problems.noted():
            limits = section(document, "budget")
            made["budget"] = _budget(limits)
            if "key" in limits and "schema" in made:
                made["schema"] = replace(made["schema"], budget_key=_key(limits["key"]))
        problems.stop()
        made |= {"text": content, "files": files, "coins": _coins(section(document, KEPT))}
        return cls(**{**made, "schema": _closed(made["schema"], made["method"]), "warnings": tuple(warnings)})

    def read_table(self, path: TablePath, *, seed: int | None = None, random: Randomness | int | bytes | None = None) -> Table:
        """Return the table in a file, read as the policy says; what the policy asks of the wrong column is said in its words.

        `seed` or `random` decides among equally early rows of one person, see `Table.read`; else the policy's own coins do.
        """
        coins = coins_of(seed, random)
        try:
            return Table.read(path, self.schema, options=self.options, random=self.coins if coins is None else coins)
        except PolicyError as error:
            raise PolicyError(in_toml(error.message), hint=hint_in_toml(error.hint)) from None
        except InputError as error:
            error.hint = hint_in_toml(error.hint)
            raise

    def require_reviewed(self, data: TablePath, *, named: str = "the policy") -> None:
        """Raise a `PolicyError` that lists the decisions to look at, unless somebody has looked and says `reviewed`."""
        if self.reviewed:
            return
        from sfumato.policy.draft import review

        made = review(data, self.schema, self.options)
        shown = [
            PolicyError(f"{'' if decision.sure else '? '}{decision.column}: {decision.role}; {decision.why}")
            for decision in made[:DECISIONS]
        ]
        more = f" ({len(made) - DECISIONS} more not shown)" if len(made) > DECISIONS else ""
        raise listing(
            f"{named}: an unreviewed draft is not published. Check the role of every column{more}",
            shown,
            hint=f"once they are right, `sfumato policy check {named} DATA --reviewed`, or reviewed = true in the file",
        )

    def kept_text(self, table: Table) -> str:
        """Return the policy as a receipt keeps it: read again from there, it makes the same table of the same file."""
        known = _document(self.text).get(KEPT) is not None
        return self.text if known else written(self.text, self.files, None if table.choice is None else table.choice.coins)


def _coins(section: PolicySection) -> bytes | None:
    coins = text(section, "coins", "[receipt]")
    try:
        return None if coins is None else bytes.fromhex(coins)
    except ValueError:
        raise PolicyError("[receipt] coins: expected what a receipt says", hint="leave [receipt] out") from None


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


def _options(section: PolicySection) -> ReadOptions:
    known_keys(section, "[input]", INPUT)
    options: dict[str, Any] = {key: text(section, key, "[input]") for key in ("delimiter", "decimal", "encoding", "sheet")}
    options |= {key: texts(section, key, "[input]") for key in ("null", "names")}
    options["header"] = flag(section, "header", "[input]", default=True)
    options["rename"] = flag(section, "rename", "[input]", default=False)
    return _located("[input]", ReadOptions, {key: value for key, value in options.items() if value is not None})


def _schema(document: PolicySection, warnings: list[str], base: Path | None, files: dict[str, str]) -> Schema:
    problems = Problems()
    columns: PolicySection = {}
    with problems.noted():
        columns = section(document, "columns")
    with problems.noted():
        known_keys(columns, "[columns]", (*ROLES, "allow_unique"))
    arguments: dict[str, Any] = {}
    for role in (*ROLES, "allow_unique"):
        with problems.noted():
            arguments[role] = texts(columns, role, "[columns]") or ()
    for name in RULES:
        with problems.noted():
            arguments[name] = plain(section(document, name))
    with problems.noted():
        kept = section(section(document, KEPT), "hierarchies")
        arguments["recode"] = with_hierarchies(arguments.get("recode", {}), kept, base, files)
    problems.stop()
    arguments["secrets"] = dict(section(document, "secrets"))
    unused = {*arguments["identifier"], *arguments["other"]} - {
        *arguments["quasi"],
        *arguments["sensitive"],
        *arguments["secrets"],
    }
    for name in RULES:
        idle = [column for column in arguments[name] if column in unused]
        if idle:
            what = "such columns are" if len(idle) > 1 else "such a column is"
            warnings.append(f"[{name}] {', '.join(map(repr, idle))}: without effect, because {what} dropped")
            arguments[name] = {column: rule for column, rule in arguments[name].items() if column not in unused}
    arguments["one_row_per_person"] = flag(section(document, "input"), "one_row_per_person", "[input]", default=True)
    if "people" in document:
        arguments["people"] = dict(section(document, "people"))
    for name in ("unit", "weight"):
        if name in document:
            arguments[name] = dict(section(document, name))
    population = section(document, "population")
    known_keys(population, "[population]", ("people",))
    if "population" in document:
        arguments["population"] = population.get("people", 0)
    arguments["protect"] = section(document, "requirement").get("protect")
    return _located("", Schema, arguments)


def _requirement(whole: PolicySection, kept: PolicySection, base: Path | None, files: dict[str, str]) -> Requirement:
    rest = {key: value for key, value in whole.items() if key not in ("columns", "protect")}
    model = _model(rest, "[requirement]", kept, base, files)  # first: columns inherit from it, and would report its mistakes
    columns = {
        name: _model(_inherited(section(own, name), whole), f"[requirement.columns] {name}", kept, base, files)
        for own in (section(whole, "columns"),)
        for name in own
    }
    return _model({**rest, "columns": columns}, "[requirement]", kept, base, files) if columns else model


def _inherited(own: PolicySection, whole: PolicySection) -> PolicySection:
    """Return a column's requirement: its own model, or that of all columns with some numbers of its own."""
    if "model" in own:
        return {**own, **{key: whole[key] for key in ("against",) if key in whole}}
    if whole.get("model") == "presence-association":
        raise PolicyError(
            "[requirement.columns]: with a bound on presence every column needs a model of its own", hint='model = "l-diversity"'
        )
    return {**{key: value for key, value in whole.items() if key not in ("columns", "protect", "sets", "bounds")}, **own}


def _model(stated: PolicySection, where: str, kept: PolicySection, base: Path | None, files: dict[str, str]) -> Requirement:
    model = text(stated, "model", where)
    if model is None:
        raise PolicyError(f"{where} model: missing", hint=f"one of {', '.join(MODELS)}")
    cls = _named(model, MODELS, f"{where} model")
    arguments = {key: value for key, value in stated.items() if key != "model"}
    if "bounds" in arguments:
        arguments["bounds"] = section(arguments, "bounds")
    if "sets" in arguments:
        arguments["sets"] = sets_with_hierarchies(section(arguments, "sets"), kept, base, files)
    return _located(where, cls, parameters(arguments, where, cls))


def _method(section: PolicySection, requirement: Requirement | None, schema: Schema | None) -> Method | None:
    name = text(section, "name", "[method]")
    if not section:
        return None
    if name is None:  # options without a name are options of the usual method
        if requirement is None:
            return None  # which one that is follows from the requirement, whose fault is told
        name = _usual(requirement).name
    cls = _named(name, METHODS, "[method] name")
    arguments = {key: value for key, value in section.items() if key != "name"}
    if WEAKER in arguments and WEAKER not in {field.name for field in fields(cls)}:
        takers = ", ".join(other for other, kind in METHODS.items() if WEAKER in {field.name for field in fields(kind)})
        raise PolicyError(f"[method] {WEAKER}: {name!r} has no weaker claim to accept", hint=f"only for {takers}")
    given = parameters(arguments, "[method]", cls)
    options = {key: value if key in EXACT_OPTIONS else plain(value) for key, value in given.items()}
    if options.get("max_size") == 1 and options["max_size"] is not True:
        raise PolicyError("[method] max_size: a bucket of 1 person hides nothing", hint="max_size = 50 is usual")
    if isinstance(options.get("weights"), dict) and schema is not None:
        known_keys(options["weights"], "[method] weights", schema.quasi)
    return _located("[method]", cls, options)


def _usual(requirement: Requirement) -> type[Method]:
    """Return the method that a policy without a name for one means by its options."""
    if requirement.presence is None:
        return NoisyBoxes if requirement.against == "insider" else Boxes
    return Ambiguity


def _budget(section: PolicySection) -> Fraction | None:
    """Return the ε that all draws of noise of the same people may reach together; None where nothing limits them."""
    known_keys(section, "[budget]", ("epsilon", "key"))
    if not section:
        return None
    epsilon = exact(section.get("epsilon", ""), "[budget] epsilon")
    if not 0 < epsilon <= MOST_BUDGET:
        raise PolicyError(
            f"[budget] epsilon: expected a number above 0 and at most {MOST_BUDGET}, got {epsilon}", hint="epsilon = 3"
        )
    return epsilon


def _key(given: Any) -> list[str]:
    """Return the columns that tell people apart over several draws."""
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise PolicyError("[budget] key: expected a column, or a list of columns", hint='key = ["name", "born"]')
    return names


def _closed(schema: Schema, method: Method | None) -> Schema:
    """Return the schema as the method needs it: declared parameters declare which sensitive values there are."""
    try:
        return schema if method is None else method.close(schema)
    except SfumatoError as error:
        raise PolicyError(in_toml(error.message, "[method] shares:"), hint=hint_in_toml(error.hint)) from None


def _named(name: str, known: Registry[T], where: str) -> type[T]:
    if name in known:
        return known[name]
    raise unknown(where, name, known)


def _located(where: str, cls: type[T], arguments: dict[str, Any]) -> T:
    """Make an object of the policy's figures; what its own checks refuse is reported in the words and places of the file."""
    try:
        return cls(**arguments)
    except SfumatoError as error:
        problems = getattr(error, "problems", ()) or (error,)
        raise joined(
            [
                PolicyError(
                    in_toml(problem.message, where), hint=hint_in_toml(problem.hint), column=getattr(problem, "column", None)
                )
                for problem in problems
            ]
        ) from None


# The columns of a policy beside those of the table: which of two spellings is the wrong one.


def by_header(problems: Sequence[PolicyError], content: str, data: TablePath) -> list[PolicyError]:
    """Return the problems of a policy, those about names of columns judged by the table's own names where it has a header.

    A name under [columns] that the table does not have is the wrong one, and not what [recode] says of the right one. The
    policy's problems stay as they are where the table cannot be read, or its first line may be a person.
    """
    roles = _roles(content)
    names = _names(content, data) if roles else None
    if names is None or not _accepted(roles, names):
        return list(problems)
    free = [name for name in names if name not in roles]
    wrong = [
        PolicyError(f"[columns] {role}: the table has no column {name!r}", hint=did_you_mean(name, free or names), column=name)
        for name, role in roles.items()
        if name not in names
    ]
    if not wrong:
        return list(problems)
    return [*wrong, *(problem for problem in problems if problem.column is None or problem.column not in names)]


def _roles(content: str) -> dict[str, str]:
    """Return the role of every column that is written as a policy writes it."""
    with contextlib.suppress(tomllib.TOMLDecodeError, RecursionError, ValueError):
        columns: Any = tomllib.loads(content).get("columns", {})
        if isinstance(columns, dict):
            lists = {role: columns.get(role, []) for role in ROLES}
            if all(isinstance(names, list) for names in lists.values()):
                return {name: role for role, names in lists.items() for name in names if isinstance(name, str)}
    return {}


def _names(content: str, data: TablePath) -> list[str] | None:
    with contextlib.suppress(SfumatoError, OSError, TypeError, ValueError):
        stated: Any = tomllib.loads(content).get("input", {})
        known = {
            key: stated[key]
            for key in ("delimiter", "decimal", "encoding", "header", "names", "sheet", "rename")
            if key in stated
        }
        return column_names(data, ReadOptions(**known))
    return None


def _accepted(roles: dict[str, str], names: Sequence[str]) -> bool:
    by_role: dict[str, Any] = {role: [name for name, given in roles.items() if given == role] for role in ROLES}
    with contextlib.suppress(PolicyError):
        return Schema(**by_role).accepts(names)
    return False
