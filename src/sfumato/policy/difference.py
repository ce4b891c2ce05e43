"""What changed from one policy to another, in sentences that say what it means for the people in the table."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from sfumato.exact import decimal_text
from sfumato.policy.policy import Policy
from sfumato.policy.roles import ROLES

_MEANS = {
    "identifier": "compared and dropped",
    "quasi": "published, as what a reader may know",
    "sensitive": "published and protected",
    "other": "dropped",
    None: "not in the table",
}
_STRENGTH = ("reader", "engineer", "insider")


def differences(old: Policy, new: Policy) -> list[str]:
    """Return a sentence for everything that the new policy says differently; none where they mean the same."""
    return [
        *_review(old, new),
        *_input(old, new),
        *_people(old, new),
        *_columns(old, new),
        *_requirement(old, new),
        *_method(old, new),
    ]


def _review(old: Policy, new: Policy) -> list[str]:
    if old.reviewed == new.reviewed:
        return []
    return ["It is reviewed now, and can be published." if new.reviewed else "It is not reviewed any more: publish refuses it."]


def _input(old: Policy, new: Policy) -> list[str]:
    before, after = vars(old.options), vars(new.options)
    return [
        f"[input] {key}: {_shown(before[key])} becomes {_shown(after[key])}; the file is read differently."
        for key in _changed(before, after)
    ]


def _people(old: Policy, new: Policy) -> list[str]:
    lines = []
    if old.schema.one_row_per_person != new.schema.one_row_per_person:
        what = "people: nobody may have several rows" if new.schema.one_row_per_person else "rows, and no longer of people"
        lines.append(f"Claims now speak of {what}.")
    before, after = old.schema.people_rule, new.schema.people_rule
    if before != after:
        if after.unit is not None:
            known = ", ".join(map(repr, after.key))
            lines.append(f"Whole households are published, known by {known}; claims speak of somebody of a household.")
        elif after.key:
            lines.append(f"A person is known by {', '.join(map(repr, after.key))}, and of several rows is kept: {after.keep}.")
            if after.all and (before.alike, before.quasi) != (after.alike, after.quasi):
                who = "one band of numbers of rows" if after.alike != "exact" else "the same number of rows"
                who = who if after.stratified else "any number of rows"
                lines.append(
                    f"People with {who} may share a group; shown are the quasi values of: {after.quasi or 'all rows alike'}."
                )
        else:
            lines.append("No column says any more which rows are one person's.")
        if before.shares != after.shares:
            lines.append(f"Bounds follow from {'the shares of each band' if after.shares == 'band' else 'shares of everybody'}.")
    sizes = [policy.schema.population for policy in (old, new)]
    if sizes[0] != sizes[1]:
        was, now = ("not said" if size is None else f"{size:,} people" for size in sizes)
        lines.append(f"The population was {was} and is now {now}: estimates of who is found change, and no promise does.")
    return lines


def _columns(old: Policy, new: Policy) -> list[str]:
    lines = []
    for name in dict.fromkeys(name for policy in (new, old) for name in _named(policy)):
        was, is_now = old.schema.role(name), new.schema.role(name)
        if was != is_now:
            lines.append(f"{name!r} was {was or 'not there'} ({_MEANS[was]}) and is now {is_now or 'gone'} ({_MEANS[is_now]}).")
    for name in _changed(old.schema.secrets, new.schema.secrets):
        if name not in new.schema.sensitive:
            continue
        columns = new.schema.secrets.get(name)
        made = "one value a person" if columns is None else f"all that a person has in {', '.join(map(repr, columns))}"
        lines.append(f"{name!r} is {made}.")
    for rule, called in (("types", "is read"), ("recode", "is published"), ("bins", "is binned"), ("domains", "may be")):
        mine, yours = _rules(old, rule), _rules(new, rule)
        lines += [
            f"{name!r} {called} {_shown(yours.get(name))} in place of {_shown(mine.get(name))}."
            for name in _changed(mine, yours)
            if old.schema.role(name) == new.schema.role(name)
        ]
    for name in (*new.schema.quasi, *new.schema.sensitive):
        before, after = _missing(old, name), _missing(new, name)
        if name in old.schema.secrets and name in new.schema.secrets:
            lines += _none(name, before, after)
        elif _role(old, name) == _role(new, name) and before != after:
            lines.append(f"Who has no {name!r} was treated as {before!r}, and is now as {after!r}.")
    weights = [policy.schema.to_dict().get("weight") for policy in (old, new)]
    if weights[0] != weights[1]:
        lines.append(f"The weight was {_shown(weights[0])} and is now {_shown(weights[1])}.")
    allowed = set(new.schema.allow_unique) - set(old.schema.allow_unique)
    lines += [f"{name!r} may be published though its texts nearly name people." for name in sorted(allowed)]
    return lines


def _named(policy: Policy) -> list[str]:
    """Return the columns of the table that a policy names: of a secret its columns, and no band of numbers of rows."""
    schema = policy.schema
    names = [name for role in ROLES if role != "sensitive" or not schema.secrets for name in getattr(schema, role)]
    names += [name for columns in schema.secrets.values() for name in columns]
    return [name for name in names if schema.role(name) is not None]


def _role(policy: Policy, name: str) -> str | None:
    """Return the role of a column, or that of a secret by its name."""
    return "sensitive" if name in policy.schema.secrets else policy.schema.role(name)


def _missing(policy: Policy, name: str) -> str:
    """Return what is done with who has no value; of a secret with any number of them nothing unless the policy says so."""
    schema = policy.schema
    return schema.missing.get(name, "") if name in schema.secrets else schema.missing_rule(name)


def _none(name: str, before: str, after: str) -> list[str]:
    """Return what changes for who has none of a secret of which people have any number of values."""
    had, has = (
        f"{verb} {'the value (missing)' if rule == 'value' else 'no value'}" for verb, rule in (("had", before), ("has", after))
    )
    lines = [f"Who has no {name!r} {had}, and {has} now."] if (before == "value") != (after == "value") else []
    if (before == "error") != (after == "error"):
        lines.append(f"An empty cell of {name!r} is {'refused' if after == 'error' else 'no fact'} now.")
    return lines


def _rules(policy: Policy, rule: str) -> Mapping[str, Any]:
    rules = policy.schema.to_dict()[rule]
    return rules if isinstance(rules, Mapping) else {}


def _requirement(old: Policy, new: Policy) -> list[str]:
    before, after = old.requirement.to_dict(), new.requirement.to_dict()
    if before["model"] != after["model"]:
        return [f"Another promise: {before['model']} becomes {after['model']}. `sfumato explain` says what it means."]
    lines = []
    if before["against"] != after["against"]:
        more = _STRENGTH.index(after["against"]) > _STRENGTH.index(before["against"])
        lines.append(
            f"The promise is now against {after['against']}, who knows {'more' if more else 'less'} than {before['against']}."
        )
    for key in _changed(before, after):
        if key not in ("model", "against", "bounds", "sets"):
            was, is_now = before.get(key), after.get(key)
            lines.append(f"{key} goes from {_shown(was)} to {_shown(is_now)}{_stricter(key, was, is_now)}.")
    mine, yours = before.get("bounds") or {}, after.get("bounds") or {}
    lines += [f"{name!r}: {_bound(mine.get(name))} becomes {_bound(yours.get(name))}." for name in _changed(mine, yours)]
    mine, yours = before.get("sets") or {}, after.get("sets") or {}
    for name in _changed(mine, yours):
        change = "is new" if name not in mine else "is gone" if name not in yours else "has other values, or another bound"
        lines.append(f"The set of values {name!r} {change}.")
    return lines


def _changed(mine: Mapping[str, Any], yours: Mapping[str, Any]) -> list[str]:
    return [key for key in dict.fromkeys((*mine, *yours)) if mine.get(key) != yours.get(key)]


def _stricter(key: str, before: Any, after: Any) -> str:
    """Return what a change of a number means, where more of it always means the same."""
    if key not in ("theta", "offset", "odds", "l", "alpha", "rho2"):
        return ""
    if key == "odds" and (before is None or after is None):
        grows = after is None
    else:
        try:
            grows = Fraction(str(after)) > Fraction(str(before))
        except (ValueError, ZeroDivisionError):
            return ""
    stricter = grows if key == "l" else not grows
    return ": a reader may become less sure" if stricter else ": a reader may become surer"


def _bound(given: Any) -> str:
    if given is None:
        return "no bound of its own"
    number = Fraction(str(given))
    return "no bound, a reader may become certain" if number == 1 else f"a bound of {decimal_text(number * 100)} %"


def _method(old: Policy, new: Policy) -> list[str]:
    before = None if old.method is None else old.method.to_dict()
    after = None if new.method is None else new.method.to_dict()
    if before == after:
        return []
    if before is None or after is None or old.method is None or new.method is None or old.method.name != new.method.name:
        names = [("the default" if method is None else method.name) for method in (old.method, new.method)]
        return [f"The method was {names[0]} and is now {names[1]}."]
    return [f"[method] {key}: {_shown(before.get(key))} becomes {_shown(after.get(key))}." for key in _changed(before, after)]


def _shown(value: Any) -> str:
    if value is None:
        return "nothing said"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_shown(item)}" for key, item in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_shown, value)) + "]"
    if isinstance(value, str) and re.fullmatch(r"-?\d+(/\d+)?", value):
        return decimal_text(Fraction(value))
    return f'"{value}"' if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)
