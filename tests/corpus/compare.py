"""The recorded files, and what differs from them."""

import functools
import hashlib
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.corpus.cases import FAMILIES
from tests.corpus.mapping import ANY
from tests.corpus.observe import arithmetic

GOLDEN = Path(__file__).parent / "golden"
CLOSE = 1e-9
"""Numbers may differ by so much, relatively and absolutely, on a processor of the kind that recorded them."""
ELSEWHERE = 1e-6
"""On any other: sums in another order let iterated fits end elsewhere (up to 9e-8 was seen)."""
_LONG = 40
_SHOWN = 300


def closeness() -> float:
    """Return by how much numbers may differ from the record on this machine."""
    return CLOSE if golden()[1].get("arithmetic") == arithmetic() else ELSEWHERE


def differences(expected: Any, found: Any, place: str = "") -> list[str]:
    """Return every place where two records differ, each with both sides."""
    if expected == ANY:
        return []
    if isinstance(expected, Mapping) and isinstance(found, Mapping):
        named = {**expected, **found}
        return [
            line
            for key in named
            for line in differences(expected.get(key, "(nothing)"), found.get(key, "(nothing)"), f"{place}.{key}".lstrip("."))
        ]
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        pairs = enumerate(zip(expected, found, strict=True))
        return [line for number, (one, other) in pairs for line in differences(one, other, f"{place}[{number}]")]
    if _number(expected) and _number(found):
        same = math.isclose(expected, found, rel_tol=closeness(), abs_tol=closeness())
    else:
        same = expected == found and type(expected) is type(found)
    return [] if same else [f"{place}: recorded {_short(expected)}, found {_short(found)}"]


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def without_csv_bytes(recorded: Any) -> Any:
    """Return a record without hashes of CSV files, which pyarrow writes: another version may write them in another way."""
    return {
        key: {**one, "csv": ANY} if isinstance(one, Mapping) and "csv" in one else one for key, one in recorded.items()
    }  # fmt: skip


@functools.cache
def golden() -> tuple[dict[str, Any], dict[str, str]]:
    """Return all recorded cases by name, and the versions that recorded them."""
    about = json.loads((GOLDEN / "about.json").read_text(encoding="utf-8"))
    cases: dict[str, Any] = {}
    for family in FAMILIES:
        cases |= json.loads((GOLDEN / f"{family}.json").read_text(encoding="utf-8"))
    return {name: _spelled(one, about["texts"]) for name, one in cases.items()}, about["versions"]


def write(records: Mapping[str, Mapping[str, Any]], versions: Mapping[str, str]) -> None:
    """Write a file a family, a line a case, and texts that many of them share once."""
    texts: dict[str, str] = {}
    for family, cases in records.items():
        lines = [f"{json.dumps(name, ensure_ascii=False)}:{_compact(_shared(one, texts))}" for name, one in cases.items()]
        (GOLDEN / f"{family}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    about = {"versions": dict(versions), "texts": dict(sorted(texts.items()))}
    (GOLDEN / "about.json").write_text(json.dumps(about, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _shared(value: Any, texts: dict[str, str]) -> Any:
    """Return a record with a mark in place of each long text."""
    if isinstance(value, str) and len(value) > _LONG:
        mark = "#" + hashlib.sha256(value.encode()).hexdigest()[:8]
        if texts.setdefault(mark, value) != value:
            raise ValueError(f"two texts have the mark {mark}")
        return mark
    if isinstance(value, Mapping):
        return {key: _shared(one, texts) for key, one in value.items()}
    return [_shared(one, texts) for one in value] if isinstance(value, list) else value


def _spelled(value: Any, texts: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return texts.get(value, value)
    if isinstance(value, Mapping):
        return {key: _spelled(one, texts) for key, one in value.items()}
    return [_spelled(one, texts) for one in value] if isinstance(value, list) else value
