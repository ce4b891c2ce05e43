"""One run of a study: a release is made in memory, measured, and thrown away."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.auditor import Audit, audit_release
from sfumato.comparison.candidates import closed
from sfumato.comparison.typical import typical_answers
from sfumato.errors import InputError, OneBox, PeopleNotIdentified, SfumatoError
from sfumato.explanation.room import requirement_of
from sfumato.explanation.study import ONE_BOX
from sfumato.methods import METHODS, Method, Publication
from sfumato.release import Release
from sfumato.release.atomic import scratch
from sfumato.table import Table
from sfumato.utility import TrueAnswers, bucket_loss, error_of, gcp

SEED = 0
"""Of every run: none of these releases is published."""


@dataclass(frozen=True)
class DrawBudget:
    """Where draws on the owner's own people are booked, and the ε that they may reach together."""

    register: str
    budget: str | None


@dataclass(frozen=True, eq=False)
class RunTask:
    """What one process is given: the people, the questions with their true answers, what to run, and which attacks."""

    table: Table
    asked: TrueAnswers
    method: Mapping[str, Any]
    requirement: Mapping[str, Any]
    attacks: Sequence[str] = ()
    spending: DrawBudget | None = None


def measure(task: RunTask) -> dict[str, Any]:
    """Return the figures of one run as plain values; where there is no release, `note` says why."""
    given = {name: value for name, value in task.method.items() if name not in ("name", "package")}
    method = METHODS[str(task.method["name"])](**given)
    table = closed(task.table, method)
    before, start = memory("VmRSS"), time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OneBox)  # one box is a figure here
            warnings.simplefilter("ignore", PeopleNotIdentified)  # the study says it
            made = _publication(table, method, task)
    except SfumatoError as error:
        return {"note": error.message}
    figures: dict[str, Any] = {"seconds": time.process_time() - start, "memory": memory("VmHWM") - before}
    release = made.release
    audit = made.audit
    if audit.exposure is None:  # how coins fell is looked at here: nobody chooses among draws of one release
        audit = audit_release(release, table, links=made.links)
    figures |= _claims(audit, release)
    wrong = error_of(release, task.asked, workers=1)
    figures |= {
        "error": wrong.median,
        "error_mean": wrong.mean,
        "independence": wrong.independence_median,
        "coverage": wrong.held,
        "intervals": wrong.intervals,
        "classes": {kind.name: kind.median for kind in wrong.classes},
    }
    figures |= _shape(release, method, table)
    figures["typical"] = typical_answers(release, table)
    figures |= {"size": size_on_disk(release), "attacks": advantages(release, table, task.attacks, seed=SEED)}
    return figures


def _publication(table: Table, method: Method, task: RunTask) -> Publication:
    requirement = requirement_of(task.requirement)
    if task.spending is None:
        return method.run(table, requirement, random=SEED)
    from fractions import Fraction

    from sfumato.api import publication

    budget = None if task.spending.budget is None else Fraction(task.spending.budget)
    if method.odds_bound(requirement, method.bounds(table, requirement)) is None:
        budget = None  # nothing bounds what it tells, and the study says so
    return publication(table, requirement, method=method, register=Path(task.spending.register), budget=budget)


def _claims(audit: Audit, release: Release) -> dict[str, Any]:
    judged = [claim for claim in audit.claims if claim.used is not None and claim.claim.kind == "association"]
    worst = max(judged, key=lambda claim: claim.used or 0, default=None)
    return {
        "holds": audit.holds,
        "against": release.claims[-1].adversary if release.claims else "nobody",
        "worst": None if worst is None or worst.worst is None else float(worst.worst),
        "bound": None if worst is None or worst.bound is None else float(worst.bound),
        "used": None if worst is None or worst.used is None else float(worst.used),
        "exposure": audit.exposure,
    }


def _shape(release: Release, method: Method, table: Table) -> dict[str, Any]:
    shape: dict[str, Any] = {"form": release.form, "suppressed": max(0, table.rows - release.rows), "note": ""}
    sizes = release.sizes
    if len(sizes):
        shape |= {"groups": len(sizes), "smallest": int(sizes.min()), "largest": int(sizes.max())}
        shape["loss"] = bucket_loss(sizes).loss
        shape["note"] = ONE_BOX if method.way == "boxes" and len(sizes) == 1 else ""
    try:
        shape["gcp"] = gcp(release).value
    except InputError:
        shape["gcp"] = None
    return shape


def size_on_disk(release: Release) -> int:
    """Return how many bytes the release has as Parquet, written to a private place that is gone at the end."""
    with scratch() as private:
        place = private / "release"
        release.save(place)
        return sum(file.stat().st_size for file in place.iterdir())


def memory(name: str) -> int:
    """Return the bytes of memory that this process has in use (VmRSS) or had at most (VmHWM); 0 where nobody tells."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{name}:")), 0)


# What attacks reach on a run's release, above what guessing the most frequent value reaches.


def advantages(release: Release, table: Table, attacks: Sequence[str], *, seed: int) -> dict[str, float | None]:
    """Return by name of attack the share of people guessed right above the baseline, the best variant of each.

    None where the attack makes no sense on such a release.
    """
    from sfumato.attacks import attack

    best: dict[str, float | None] = {}
    for name in attacks:
        try:
            results = attack(release, table, name, random=seed)
        except SfumatoError:
            best[name] = None
            continue
        above = [
            result.success - result.baseline for result in results if result.success is not None and result.baseline is not None
        ]
        best[name] = max(above, default=None)
    return best
