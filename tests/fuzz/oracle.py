"""What must hold of a release directory, whoever wrote it."""

from __future__ import annotations

import json
import math
import random
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from sfumato import Release, Table
from sfumato.api import audit
from sfumato.auditor import Audit
from sfumato.errors import SfumatoError
from sfumato.query.answer import Estimate
from tests.fuzz.files import Files, Row, text
from tests.fuzz.sql import question
from tests.fuzz.truth import shares_of, shares_shown, wrong_claims
from tests.fuzz.truth_held import Person, false_in
from tests.fuzz.truth_randomized import wrong_randomized
from tests.fuzz.truth_table import no_placement, people_of, untrue


class Wrong(Exception):  # noqa: N818
    """Something that must not happen, whatever the mutant."""


def check_release(directory: Path, table: Table, honest: dict[str, Any], coins: random.Random) -> str:
    """Load, audit, save again and question what a directory holds; return what became of it. `honest` is the true manifest."""
    release = _loaded(directory)
    alone, beside = _audited(directory, None), _audited(directory, table)
    verdicts = [None if one is None else one.holds for one in (alone, beside)]
    if release is None:
        if True in verdicts:
            raise Wrong("an audit holds of a release that cannot be loaded")
        return "refused" if alone is None else "a finding"
    if verdicts[0] is False and verdicts[1] is True:
        raise Wrong("the audit with the table is more lenient than the one without")
    if verdicts[0] is True:
        _none(false_claims(directory, None), "the audit holds without the table")
    if verdicts[1] is True:
        _none(false_claims(directory, table), "the audit holds with the table")
        if json.loads((directory / "manifest.json").read_text(encoding="utf-8"))["schema"] != honest["schema"]:
            raise Wrong("the audit holds with the table although the manifest declares other columns than it")
    _same_again(release, directory)
    ask(release, coins)
    check_beliefs(release, table.to_arrow().select([column.name for column in table.quasi]))
    rows = table.to_arrow().to_pylist()
    if verdicts[1] is True and table.bundles is None and any(no_placement(one, rows) for one in Files.read(directory).parts()):
        return "holds of nobody"
    return {True: "holds", False: "does not hold", None: "cannot tell"}[verdicts[1]]


def false_claims(directory: Path, table: Table | None) -> list[str]:
    """Return what is false in a release, as the second opinion has it."""
    files = Files.read(directory)
    rows = None if table is None else table.to_arrow().to_pylist()
    if rows is not None and set(rows[0]) != {*files.quasi, *files.sensitive}:
        return ["the table has other columns"]
    if files.held:
        return false_in(files, None if rows is None else [_person(files, row) for row in rows])
    return [fault for part in files.parts() for fault in _false_of(part, rows)]


def _person(files: Files, row: Row) -> Person:
    has = {name: frozenset(text(value) for value in row[name]) for name in files.sensitive}
    return tuple(row[name] for name in files.quasi), has


def _false_of(files: Files, rows: list[Row] | None) -> list[str]:
    found = [] if rows is None else untrue(files, rows)
    if found:
        return found
    if files.form == "randomized":
        return wrong_randomized(files, rows)
    if rows is None:
        return wrong_claims(files, shares_shown(files))
    counts: dict[str, int] = {}
    for _, value in people_of(files, rows):
        counts[value] = counts.get(value, 0) + 1
    return wrong_claims(files, shares_of(counts))


def ask(release: Release, coins: random.Random, text: str | None = None) -> str:
    """Ask a question and check that the answer is one."""
    columns = [column["name"] for column in (*release.manifest.schema["quasi"], *release.manifest.schema["sensitive"])]
    sql = question(coins, columns) if text is None else text
    try:
        answer = release.count(sql, estimator=coins.choice([None, None, None, "paper", "likelihood"]))
    except SfumatoError:
        return "refused"
    for estimate in [answer] if isinstance(answer, Estimate) else [answer.total, *(one for _, one in answer)]:
        ends = (estimate.low, estimate.high)
        numbers = [estimate.value, estimate.std_error, *(end for end in ends if end is not None)]
        if not all(math.isfinite(number) for number in numbers):
            raise Wrong("an answer is not a number")
        if None not in ends and not estimate.low <= estimate.high:
            raise Wrong("an interval is upside down")
    str(answer)
    return "answered"


def check_beliefs(release: Release, people: Any) -> None:
    """Ask what is believed of these people and check that these are probabilities."""
    found = [release.beliefs(people), release.mean_beliefs(people)]
    if release.form in ("columns", "views"):
        found.append(release.presence(people))
    for beliefs in found:
        known = beliefs[~np.isnan(beliefs)]
        if not ((known >= -1e-9) & (known <= 1 + 1e-9)).all():
            raise Wrong("a belief is no probability")


def _loaded(directory: Path) -> Release | None:
    try:
        return Release.load(directory)
    except SfumatoError:
        return None


def _audited(directory: Path, table: Table | None) -> Audit | None:
    try:
        found = audit(directory, table)
    except SfumatoError:
        return None
    str(found)
    json.dumps(found.to_dict(), allow_nan=False)
    return found


def _none(faults: list[str], what: str) -> None:
    if faults:
        raise Wrong(f"{what}, but: {'; '.join(faults[:3])}")


def _same_again(release: Release, directory: Path) -> None:
    """Raise unless a release that was loaded is saved with the same bytes."""
    kind = "csv" if any(path.suffix == ".csv" for path in directory.rglob("*")) else "parquet"
    again = directory.with_name(directory.name + "-again")
    shutil.rmtree(again, ignore_errors=True)
    release.save(again, format=kind)
    if _content(directory) != _content(again):
        raise Wrong("what was loaded is not saved with the same bytes")
    shutil.rmtree(again)


def _content(directory: Path) -> dict[Path, bytes]:
    return {path.relative_to(directory): path.read_bytes() for path in directory.rglob("*") if path.is_file()}
