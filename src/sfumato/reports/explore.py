"""A page that answers: every table of one or two columns of a release, in one HTML file for recipients who install nothing.

It is made from the release alone. Names and values lie in it as JSON in which no character can end the script that holds it, and
the page shows them as text; the one program that runs is the one whose hash the page's policy names.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from fractions import Fraction
from importlib.resources import files
from pathlib import Path
from typing import Any

from sfumato import __version__
from sfumato.charts.look import DARK, LIGHT
from sfumato.charts.svg import colours
from sfumato.errors import OutputError
from sfumato.exact import percent
from sfumato.notebook import text as html_text
from sfumato.policy.words import recoding_in_words
from sfumato.progress import Progress, silent
from sfumato.query.answer import Estimate, cell_texts
from sfumato.query.crosstab import Crosstab
from sfumato.query.tables import Margin, cross_tables, margins, pairs
from sfumato.release.base import Release
from sfumato.release.manifest import KNOWS
from sfumato.reports.promise import NOT_PROMISED, QUASI, SECRET, SEEN, SEVERAL, weight_in_words

MOST_BYTES = 5_000_000
"""A page is no larger."""

MOST_CELLS = 90_000
"""Cells of cross tables that a page holds: about 45 bytes each."""

CONFIDENCE = 0.95

_EDGE = ", each band called by its lower edge"


def explore_page(release: Release, *, progress: Progress = silent) -> tuple[bytes, list[str]]:
    """Return the page of a release, and what did not fit into it."""
    columns = margins(release, confidence=CONFIDENCE)
    listed = pairs(columns)
    tables, left = [], []
    for number, (pair, found) in enumerate(cross_tables(release, listed, most=MOST_CELLS, confidence=CONFIDENCE)):
        progress("cross tables", number / max(1, len(listed)))
        if isinstance(found, Crosstab):
            tables.append(_crossed(found))
        else:
            left.append(f"{pair.names[0]} and {pair.names[1]}: {found}")
    counted = {one.name for one in columns}
    told = release.manifest.schema
    left += [
        f"{one['name']}: too many values" for role in ("quasi", "sensitive") for one in told[role] if one["name"] not in counted
    ]
    about = {**_about(release), "columns": [_column(release, one) for one in columns]}
    while len(page := _html({**about, "tables": tables, "left": left})) > MOST_BYTES and tables:
        largest = max(tables, key=lambda table: len(json.dumps(table)))
        tables.remove(largest)
        left.append(f"{largest['a']} and {largest['b']}: the page would be larger than {MOST_BYTES // 1_000_000} MB")
    if len(page) > MOST_BYTES:
        raise OutputError("a page of this release would be larger than 5 MB even without its cross tables")
    return page, left


def _about(release: Release) -> dict[str, Any]:
    """Return what the release says of itself, in words."""
    manifest = release.manifest
    form = _form(release)
    statements = [{"who": one.adversary, "knows": KNOWS.get(one.adversary, ""), "text": one.statement} for one in manifest.claims]
    weaker = str(manifest.parameters.get("weaker_claim", ""))
    return {
        "title": f"{release.rows:,} people: {', '.join(str(one['name']) for one in manifest.schema['sensitive'])}",
        "people": release.rows,
        "software": f"sfumato {__version__}",
        "confidence": CONFIDENCE,
        "seen": [SEEN.get(form, ""), *([SEVERAL] if manifest.bundled else [])],
        "promises": statements,
        "weaker": weaker,
        "bounds": _bounds(release) if manifest.claims else [],
        "open": [f"Not promised, {NOT_PROMISED}"],
    }


def _bounds(release: Any) -> list[list[str]]:
    """Return of every sensitive value the share of people who have it and its bound, where the manifest says them."""
    found = []
    for part in release.each:
        listed = [one for one in part.manifest.values or () if "bound" in one]
        for one in listed:
            named = f"{part.domain.names[0]}: {one['value']}" if len(release.each) > 1 else str(one["value"])
            found.append([named, percent(Fraction(int(one["count"]), release.rows)), percent(Fraction(str(one["bound"])))])
    return found


def _form(release: Release) -> str:
    return "noisy" if release.manifest.rests_on.noisy else release.manifest.form


def _column(release: Release, one: Margin) -> dict[str, Any]:
    declared, form = release.manifest.schema["declared"], _form(release)
    recoded = declared["recode"].get(one.name)
    plain = SECRET.get(form, "as counts of groups") if one.secret else QUASI.get(form, "as it is")
    weight = declared.get("weight")
    plain = weight_in_words(weight) if weight is not None and weight["column"] == one.name else plain
    return {
        "name": one.name,
        "secret": one.secret,
        "overlaps": one.secret and release.manifest.bundled,
        "shown": plain if recoded is None else recoding_in_words(recoded) + (_EDGE if "width" in recoded else ""),
        "values": [cell_texts((one.name,), key)[0] for key, _ in one.answer],
        **_figures([answer for _, answer in one.answer]),
    }


def _crossed(table: Crosstab) -> dict[str, Any]:
    lifts = [one for row in table.lift for one in row]
    return {
        "a": table.names[0],
        "b": table.names[1],
        "rows": list(table.rows),
        "cols": list(table.columns),
        **_figures([one for row in table.counts for one in row]),
        "expected": [_short(one) for row in table.expected for one in row],
        "lift": [None if one is None else _short(one.value) for one in lifts],
        "liftLow": [None if one is None else _short(one.low) for one in lifts],
        "liftHigh": [None if one is None else _short(one.high) for one in lifts],
        "test": str(table.test),
    }


def _figures(answers: Sequence[Estimate]) -> dict[str, Any]:
    """Return counts with the ends of their intervals, to a tenth of a person, and notes by the cells that have them."""
    notes: dict[str, list[int]] = {}
    for place, one in enumerate(answers):
        if one.note:
            notes.setdefault(one.note, []).append(place)
    return {
        "n": [round(one.value, 1) for one in answers],
        "low": [None if one.low is None else round(one.low, 1) for one in answers],
        "high": [None if one.high is None else round(one.high, 1) for one in answers],
        "notes": [{"text": note, "cells": places if len(places) < len(answers) else None} for note, places in notes.items()],
    }


def _short(number: float | None) -> float | None:
    return None if number is None else float(f"{number:.3g}")


def _html(data: dict[str, Any]) -> bytes:
    """Return the page with its data, its program and its look in it."""
    place = files("sfumato.reports")
    page, program, style = ((place / f"explore.{kind}").read_text(encoding="utf-8") for kind in ("html", "js", "css"))
    digest = base64.b64encode(hashlib.sha256(program.encode()).digest()).decode("ascii")
    parts = {
        "TITLE": html_text(data["title"]),
        "HASH": digest,
        "STYLE": style.replace("LIGHT;", colours(LIGHT)).replace("DARK;", colours(DARK)),
        "DATA": script_safe(data),
        "PROGRAM": program,
    }
    head, *rest = page.split("{{")  # in one pass: what is put in is not looked at again
    filled = [head]
    for piece in rest:
        name, _, after = piece.partition("}}")
        filled += [parts[name], after]
    return "".join(filled).encode()


def script_safe(data: Any) -> str:
    """Return JSON that stands inside a script element: nothing in it can end the element, or a line."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def write_page(release: Release, out: str | Path, *, progress: Progress = silent) -> tuple[int, list[str]]:
    """Write the page to a new file that everybody may read; return its size, and what did not fit."""
    from sfumato.receipt import refuse_in_release
    from sfumato.reports.making import save

    target = Path(out)
    refuse_in_release(target.absolute(), why="an audit refuses a release with files that are not its own")
    if target.exists() or target.is_symlink():
        raise OutputError(f"{target} exists already", hint="choose another name, or remove it")
    page, left = explore_page(release, progress=progress)
    save(page, target, public=True)
    return len(page), left
