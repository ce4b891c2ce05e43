"""Secrets of which a person may have several values, or none: by several columns that mean the same, or by all her rows."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sfumato.errors import PolicyError, did_you_mean
from sfumato.table.people_rule import BAND, SIZE, People

if TYPE_CHECKING:
    from sfumato.table.schema import Schema

MOST_PEOPLE = 10**11
"""No population is larger."""


def named_secrets(schema: Schema) -> dict[str, Any]:
    """Return `secrets`, `sensitive` and `quasi` of a schema: a secret is columns where people may have several values.

    One value of each column a person is the short spelling's, `sensitive`: then there are no such secrets.
    """
    given: Any = schema.secrets
    if not isinstance(given, Mapping) or not all(isinstance(name, str) and name for name in given):
        raise PolicyError(f"secrets: expected name = columns, got {given!r}", hint='diagnosis = ["diag_1", "diag_2"]')
    named = {name: _columns(name, columns) for name, columns in given.items()}
    if named and schema.sensitive:
        if sorted(named) != sorted(schema.sensitive):
            raise PolicyError("secrets: sensitive columns are named twice, here and as sensitive", hint="leave sensitive out")
        named = {name: named[name] for name in schema.sensitive}  # a manifest sorts names; `sensitive` has their order
    sensitive, quasi = tuple(named) or schema.sensitive, tuple(schema.quasi)
    if schema.people_rule.all:
        named = named or {name: (name,) for name in sensitive}
        quasi = (*quasi, *(name for name in schema.people_rule.bands if name not in quasi))
    elif all(columns == (name,) for name, columns in named.items()):
        named = {}
    return {"secrets": named, "sensitive": sensitive, "quasi": quasi}


def _columns(name: str, given: Sequence[str] | str) -> tuple[str, ...]:
    listed = [given] if isinstance(given, str) else given
    if not isinstance(listed, Sequence) or not listed or not all(isinstance(column, str) and column for column in listed):
        problem = f"secrets: {name!r}: expected a column, or columns that mean the same, got {given!r}"
        raise PolicyError(problem, hint=f'{name} = ["…"]')
    return tuple(listed)


def check_bundled(schema: Schema) -> None:
    """Refuse what is for one value a person where somebody may have several, and the other way round."""
    most = schema.people_rule.most
    if not schema.bundled:
        if most is not None:
            raise PolicyError("people: most: everybody has one value of each secret here", hint="leave it out")
        return
    if schema.by_cell:
        raise PolicyError(
            "secrets: a person may have several values here, and synthetic records have one value of each",
            hint='name = "boxes", or "noisy-boxes"',
        )
    if isinstance(most, Mapping) and set(most) != set(schema.secrets):
        raise PolicyError(
            f"people: most: expected a number for each of {', '.join(schema.secrets)}", hint="most = 5 is for every secret"
        )
    part_of = {column: name for name, columns in schema.secrets.items() for column in columns if column not in schema.secrets}
    for option in ("types", "recode", "bins", "domains", "missing"):
        for column in getattr(schema, option):
            if column in part_of:
                raise PolicyError(
                    f"{option}: {column!r} is a column of the secret {part_of[column]!r}, whose columns mean the same",
                    hint=f"say it of {part_of[column]!r}",
                )
    for name, rule in schema.missing.items():
        if name in schema.sensitive and rule == "drop":
            raise PolicyError(
                f"missing: {name!r}: with all rows of a person, an empty cell drops no person",
                hint="leave it out: an empty cell is no fact",
            )


_PROTECT = (
    'protect = "each" bounds what is believed of every sensitive column; protect = "combination" bounds the belief in '
    "combinations of their values, and in a single one only by the sum over the combinations that have it"
)


def check_protect(schema: Schema) -> Any:
    """Return what is bounded of several sensitive columns, refused where nothing says so; of one there is nothing to say."""
    if schema.protect not in (None, "each", "combination"):
        raise PolicyError(f"protect: expected 'each' or 'combination', got {schema.protect!r}", hint=_PROTECT)
    if len(schema.sensitive) == 1:
        return None
    if schema.bundled:
        if schema.protect == "combination":
            raise PolicyError(
                "protect: a person may have several values of a secret, so that each is protected by itself",
                hint='protect = "each", or leave it out',
            )
        return "each"
    if schema.protect is None:
        listed = ", ".join(map(repr, schema.sensitive[:10])) + (
            f" and {len(schema.sensitive) - 10} more" if len(schema.sensitive) > 10 else ""
        )
        raise PolicyError(
            f"protect: {listed} are sensitive, and nothing says whether each is protected by itself, or "
            "only what they are together",
            hint=_PROTECT,
        )
    return schema.protect


def check_people(schema: Schema) -> None:
    """Refuse columns that there are not, and rules that would look at a secret."""
    rule = schema.people_rule
    known = [name for name in (*schema.identifier, *schema.quasi, *schema.other) if name not in rule.bands]
    for name in rule.looked_at:
        if schema.role(name) is None:
            where = "unit: household" if rule.unit is not None and name in rule.key else "people"
            hint = did_you_mean(name, known)
            hint = (
                hint
                if hint.startswith("did you mean")
                else f'a column of the table needs a role too: identifier = ["{name}"]; {hint}'
            )
            raise PolicyError(f"{where}: no column {name!r} in the schema", hint=hint)
        if schema.role(name) == "sensitive":
            what = "who is one person" if name in rule.key else "which row of a person is kept"
            raise PolicyError(
                f"people: {name!r} is sensitive, and {what} must not depend on a secret: it would tell something about it",
                hint=f"take one of {', '.join(known)}",
            )
    if not schema.one_row_per_person and (rule.key or rule.rows):
        raise PolicyError("people: one_row_per_person = false says that rows are not people", hint="leave one of the two out")


def check_budget_key(schema: Schema) -> None:
    """Refuse columns that are none, that are secrets, or of which a draw would book only one of somebody's rows."""
    rule = schema.people_rule
    for name in schema.budget_key:
        if schema.role(name) in (None, "sensitive"):
            raise PolicyError(
                f"[budget] key: {name!r} is {'sensitive, and would decide' if schema.role(name) else 'no column, and decides'} "
                "who is one person",
                hint=did_you_mean(name, [*schema.identifier, *schema.quasi, *schema.other]),
            )
    if rule.all and schema.budget_key and set(schema.budget_key) != set(rule.key):
        whom = "a person with all her rows" if rule.unit is None else "a household with all its members"
        raise PolicyError(
            f"[budget] key: a draw is of {whom}, told by {', '.join(map(repr, rule.key))}, and would book one row's "
            f"{', '.join(map(repr, schema.budget_key))} alone",
            hint="leave it out",
        )


def check_secret_recodes(schema: Schema) -> None:
    """Refuse two recodings of one secret: categories are grouped, numbers have bins."""
    for name in schema.sensitive:
        rule = schema.recoding(name)
        if rule is None:
            continue
        if rule.needs != "categorical":
            raise PolicyError(
                f"recode: {name!r} is sensitive, and {rule.called} is for quasi columns",
                hint="a numeric sensitive column is made coarser with bins",
            )
        if name in schema.bins:
            raise PolicyError(f"recode: {name!r} has bins already", hint="remove one of the two")
        if schema.closed is not None:
            raise PolicyError(
                f"recode: {name!r} has declared values, which are those that are published",
                hint="recode the table before, and declare what it has then",
            )


def check_population(people: int | None) -> None:
    """Refuse a size of the population that none has."""
    if people is not None and (isinstance(people, bool) or not isinstance(people, int) or not 1 <= people <= MOST_PEOPLE):
        raise PolicyError(
            f"[population] people: expected a whole number from 1 to {MOST_PEOPLE:,}, got {people!r}", hint="people = 1200000"
        )


def taken_names(rule: People, names: Container[str]) -> list[PolicyError]:
    """Return a problem for every column of the table that is called as one that says how many rows, or members, there are."""
    whose = {BAND: "how many rows somebody has", SIZE: "how many members a household has"}
    return [
        PolicyError(
            f"people: the table has a column {name!r}, the name of the published column that says {whose[name]}",
            hint=f"rename {name!r} in the table",
        )
        for name in rule.bands
        if name in names
    ]


def public_secrets(schema: Schema) -> dict[str, Any]:
    """Return of which columns each secret is, and who may share a group, where people may have several values."""
    if not schema.bundled:
        return {}
    rule, secrets = schema.people_rule, {name: list(columns) for name, columns in schema.secrets.items()}
    alike = rule.alike if isinstance(rule.alike, str) else list(rule.alike or ())
    gathered: dict[str, Any] = {"keep": "all", "alike": alike} if rule.all else {}
    gathered |= {"shares": "band"} if rule.shares == "band" else {}
    gathered |= {} if rule.unit is None else {"unit": rule.unit, "several": rule.several}
    if rule.most is not None:
        gathered["most"] = dict(rule.most) if isinstance(rule.most, Mapping) else rule.most
    return {"secrets": secrets} | ({"people": gathered} if gathered else {})


def single_people(schema: Schema) -> Schema | None:
    """Return how the same table is read person by person where whole households are published; None where none are.

    Relatives are then taken for strangers: it is for figures beside those of households, and nothing is published like this.
    A member who has none has none as a value, where everybody has one.
    """
    rule = schema.people_rule
    if rule.unit is None:
        return None
    kept: dict[str, Any] = {"key": rule.member, "keep": "all", "quasi": rule.quasi} if rule.several else {"rows": "people"}
    missing: dict[str, Any] = dict(schema.missing)
    if not rule.several:
        missing = {**dict.fromkeys(schema.sensitive, "value"), **missing}
    return replace(
        schema,
        missing=missing,
        identifier=[name for name in schema.identifier if name in rule.member],
        other=[*schema.other, *(name for name in schema.identifier if name not in rule.member)],
        quasi=[name for name in schema.quasi if name not in rule.bands],
        people=kept,
    )


def values_counted(schema: Schema) -> dict[str, int] | None:
    """Return of how many values of each secret a person is counted where counts have noise; None where nothing says so.

    Who has one row has as many as the secret has columns, at most.
    """
    rule = schema.people_rule
    room = {name: None if rule.all else len(columns) for name, columns in schema.secrets.items()}
    given = rule.most if isinstance(rule.most, Mapping) else dict.fromkeys(room, rule.most)
    counted = {name: min((limit for limit in (given[name], most) if limit is not None), default=0) for name, most in room.items()}
    return counted if all(counted.values()) else None
