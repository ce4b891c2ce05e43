"""Deliberate changes since the corpus was recorded, applied to the recorded side before it is compared.

After a change of the format the test can so be run against the old record: whatever a rule does not name must still be as it
was. When the new format stands, record again and empty `MAPPING`. A rule says what it is for, and any of:

- `files`: the recorded name of a table, and what it is called now: `{"qit": "records"}`
- `columns`: of a table, by its *recorded* name, what columns are called now: `{"qit": {"bucket": "group"}}`
- `types`: of a table, by its recorded name, the Arrow types that columns have now: `{"qit": {"bucket": "int64"}}`
- `keys`: top-level keys of the manifest, and what they are called now; None for one that is gone: `{"basis": "grouping"}`
- `values`: what a top-level key of the manifest holds now where that is one fixed value: `{"version": 3}`
- `rewritten`: top-level keys of the manifest whose content is another now: only that they are there is compared
- `texts`: words of messages, claims and notes, and what is said now (explanations that are kept as hashes cannot be mapped)
- `without`: places in a record (`"answers.association"`, `"explained"`) that are not compared
- `cases`: which cases it is about, as a pattern such as `"boxes* each"`; all, if it does not say
- `forms`: which forms it is about; all, if it does not say

Hashes of whole files follow: those of a file that a rule touches, of its CSV twin and of the manifest are not compared, because
other names are other bytes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

MANIFEST = "manifest.json"


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One deliberate change."""

    why: str
    files: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    types: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    keys: Mapping[str, str | None] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)
    rewritten: Sequence[str] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    without: Sequence[str] = ()
    cases: str = "*"
    forms: Sequence[str] = ()


MAPPING: tuple[Rule, ...] = ()

ANY = "(not compared)"
"""Stands in a record where whatever is found is accepted."""


def mapped(name: str, recorded: Any, rules: Sequence[Rule] = MAPPING) -> Any:
    """Return what is expected now of a case that was recorded so."""
    for rule in rules:
        if fnmatchcase(name, rule.cases.replace("[", "[[]")):
            if not rule.forms or _form(recorded) in rule.forms:
                recorded = {key: _seed(one, rule) if key.startswith("seed ") else one for key, one in recorded.items()}
            recorded = _said(recorded, rule.texts)
    return recorded


def _form(recorded: Mapping[str, Any]) -> str | None:
    """Return the form of a recorded release; None of a refusal."""
    files = recorded.get("seed 1", {}).get("files")
    return None if files is None else files[MANIFEST]["keys"]["form"]


def _seed(one: Mapping[str, Any], rule: Rule) -> dict[str, Any]:
    made = _renamed(dict(one), rule) if "files" in one else dict(one)
    for place in rule.without:
        made = _without(made, place.split("."))
    return made


def _renamed(one: dict[str, Any], rule: Rule) -> dict[str, Any]:
    files, csv, changed = {}, dict(one.get("csv", {})), False
    for name, content in one["files"].items():
        stem, _, kind = name.rpartition(".")
        if name == MANIFEST or not any(stem in part for part in (rule.files, rule.columns, rule.types)):
            files[name] = content
            continue
        changed = True
        types, columns = rule.types.get(stem, {}), rule.columns.get(stem, {})
        held = {columns.get(key, key): _typed(value, types.get(key)) for key, value in content["columns"].items()}
        files[f"{rule.files.get(stem, stem)}.{kind}"] = {**content, "bytes": ANY, "columns": held}
        if csv.pop(f"{stem}.csv", None):
            csv[f"{rule.files.get(stem, stem)}.csv"] = ANY
    changed = changed or bool(rule.keys or rule.values or rule.rewritten)
    if changed:
        told = files[MANIFEST].get("keys")
        files[MANIFEST] = {"bytes": ANY, **({} if told is None else {"keys": _keys(told, rule)})}
        csv |= {MANIFEST: ANY} if csv else {}
    return {**one, "files": files, **({"csv": csv} if csv else {})}


def _typed(told: str, now: str | None) -> str:
    return told if now is None else f"{now} {told.rpartition(' ')[2]}"


def _keys(keys: Mapping[str, Any], rule: Rule) -> dict[str, Any]:
    made = {rule.keys.get(key, key): value for key, value in keys.items() if rule.keys.get(key, key) is not None}
    tables = {"tables": ANY} if rule.files or rule.columns or rule.types else {}
    return {**made, **tables, **rule.values, **dict.fromkeys(rule.rewritten, ANY)}


def _without(one: Any, place: Sequence[str]) -> Any:
    if not place or not isinstance(one, Mapping):
        return ANY
    return {**one, place[0]: _without(one[place[0]], place[1:])} if place[0] in one else one


def _said(one: Any, texts: Mapping[str, str]) -> Any:
    if isinstance(one, str):
        for old, new in texts.items():
            one = one.replace(old, new)
        return one
    if isinstance(one, Mapping):
        return {_said(key, texts): _said(value, texts) for key, value in one.items()}
    return [_said(value, texts) for value in one] if isinstance(one, list) else one
