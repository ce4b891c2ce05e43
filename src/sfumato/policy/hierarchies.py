"""Hierarchies that a policy names: `[recode] icd = { hierarchy = "icd.csv", level = 2 }`, by the path from the policy file.

A rule of `[requirement.sets]` may name one too: every category of the level is a set.

The receipt keeps a policy that can be read again anywhere: below it, under [receipt], stands what was in the files.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sfumato.errors import PolicyError
from sfumato.policy.profile import Profile, plain
from sfumato.policy.sections import PolicySection, known_keys
from sfumato.table.hierarchy import Hierarchy, hierarchy_text

KEYS = ("hierarchy", "level", "other")
MOST_FILES, LONGEST_BESIDE = 200, 1_000_000
"""So many texts beside a table are looked at for hierarchies, each of at most so many bytes."""
_SET = 'chapters = { hierarchy = "icd.csv", level = 2, theta = 4, offset = "0.02" }'


def with_hierarchies(recode: PolicySection, kept: Mapping[str, Any], base: Path | None, texts: dict[str, str]) -> dict[str, Any]:
    """Return the recodings with every hierarchy read: from `kept` texts, or from its file, whose text then goes to `texts`."""
    return {
        column: _hierarchy(f"[recode] {column}", spec, kept, base, texts)
        if isinstance(spec, Mapping) and "hierarchy" in spec
        else spec
        for column, spec in recode.items()
    }


def sets_with_hierarchies(
    sets: PolicySection, kept: Mapping[str, Any], base: Path | None, texts: dict[str, str]
) -> dict[str, Any]:
    """Return the rules for sets with the map of values to categories in place of every hierarchy, read in the same way."""
    rules = {}
    for name, rule in sets.items():
        if isinstance(rule, Mapping) and ("hierarchy" in rule or "level" in rule):
            where = f"[requirement.sets] {name}"
            named = {key: rule[key] for key in ("hierarchy", "level") if key in rule}
            if len(named) < 2 or "map" in rule:
                raise PolicyError(f"{where}: give hierarchy and level, and no map", hint=_SET)
            rest = {key: value for key, value in rule.items() if key not in named}
            rule = rest | {"map": dict(_hierarchy(where, named, kept, base, texts).map)}
        rules[name] = rule
    return rules


def written(content: str, files: Mapping[str, str], coins: bytes | None) -> str:
    """Return a policy's text for the receipt: below it the files that it names, and the coins that chose among rows."""
    own = [] if coins is None else [f'coins = "{coins.hex()}"']
    kept = [f"{toml_text(path)} = {toml_text(text)}" for path, text in files.items()]
    if not own and not kept:
        return content
    return "\n".join([content.rstrip("\n"), "", "[receipt]", *own, *(["[receipt.hierarchies]", *kept] if kept else []), ""])


def _hierarchy(
    where: str, spec: Mapping[str, Any], kept: Mapping[str, Any], base: Path | None, texts: dict[str, str]
) -> Hierarchy:
    known_keys(spec, where, KEYS)
    path, level = spec["hierarchy"], spec.get("level")
    if not isinstance(path, str) or not path:
        raise PolicyError(f"{where}: hierarchy: expected the path of a file", hint='{ hierarchy = "icd.csv", level = 2 }')
    text = kept.get(path)
    if not isinstance(text, str):
        file = Path(path) if base is None else base / path
        text = texts[path] = hierarchy_text(file, f"{where}: hierarchy {file}")
    try:
        return Hierarchy.parse(text, level=level, other=spec.get("other"), where=Path(path).name)  # type: ignore[arg-type]
    except PolicyError as error:
        raise PolicyError(f"{where}: {error.message}", hint=error.hint) from None


def toml_text(text: str) -> str:
    """Return a text as TOML writes it."""
    quoted = json.dumps(text, ensure_ascii=False)
    return "".join(sign if sign.isprintable() else f"\\U{ord(sign):08x}" for sign in quoted)


def beside(root: Path, column: Profile, *, but: Path | None = None) -> list[str]:
    """Return the texts below a directory that may be hierarchies of a column: not the table itself, nor what lies elsewhere."""
    files = (file for pattern in ("*.csv", "*/*.csv") for file in sorted(root.glob(pattern)))
    inside = (file for file in files if file.is_file() and root in file.resolve().parents and file != but)
    few = [file for file, _ in zip(inside, range(MOST_FILES), strict=False)]
    return [str(file.relative_to(root)) for file in few if _lists(file, column)]


def _lists(file: Path, column: Profile) -> bool:
    """Return whether a text has a line for most values of a column, and is no table of people."""
    if file.stat().st_size > LONGEST_BESIDE:
        return False
    try:
        lines = file.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return False
    listed = {_known(line.replace(",", ";").split(";")[0]) for line in lines}
    return len(listed) == len(lines) and 2 * len(listed & column.values) > len(column.values)


def _known(text: str) -> str:
    """Return a value as profiles have it."""
    return re.sub(r"[^0-9a-z ]+", "", plain(text.strip().strip('"')))
