"""`compare`: every method that can keep a requirement, and every variation of it, measured side by side on one table."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from sfumato.comparison.candidates import Candidate, candidates
from sfumato.comparison.kept import StudyDirectory, identity
from sfumato.comparison.measure import DrawBudget, RunTask
from sfumato.comparison.pool import run_all
from sfumato.comparison.result import Run, Study, ranked
from sfumato.comparison.vary import recoded, variations
from sfumato.errors import InputError, PolicyError, did_you_mean
from sfumato.explanation.stand_in import stand_in
from sfumato.explanation.study import checked_workload, random_workloads, sample
from sfumato.methods import Method
from sfumato.privacy import Requirement
from sfumato.progress import Progress, silent
from sfumato.query import Workload, crosstab_workload
from sfumato.register import open_register
from sfumato.table import Table
from sfumato.utility import TrueAnswers, asked_of

WORKLOADS = ("random", "crosstabs")

ATTACKS = ("nb",)
"""What every release of a study is attacked by: naive Bayes."""

HELD_ATTACKS = "number-of-values"
"""The same where people may have several values: who knows how many everybody has."""

RereadTable = Callable[[Mapping[str, Any]], Table]
"""Gives the table read anew with other recodings, by column."""


@dataclass(frozen=True, eq=False)
class StudyOptions:
    """How a study is made: of which methods and variations, on which people, with which questions, what it may spend."""

    methods: Sequence[str | Method] | None = None
    vary: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    translate: bool = False
    workload: Workload | str = "random"
    people: int | None = None
    attacks: tuple[str, ...] = ATTACKS
    spend: bool = False
    register: Path | None = None
    budget: Fraction | None = None
    workers: int | None = None
    out: Path | None = None


def compare(
    table: Table,
    requirement: Requirement,
    own: Method,
    setting: StudyOptions,
    *,
    reread: RereadTable | None = None,
    progress: Progress | None = None,
) -> Study:
    """Return the study of a table under a requirement; see `sfumato.api.compare`."""
    tell = progress or silent
    if table.bundles is not None:  # naive Bayes is for one value a person
        setting = replace(setting, attacks=tuple(HELD_ATTACKS if attack in ATTACKS else attack for attack in setting.attacks))
    own = own.settled(table.rows)  # as the whole table would be published, also where a sample is compared
    tell("drawing questions", 0.0)
    choices = variations(requirement, own, setting.vary, table.schema.quasi)
    noisy = requirement.against == "insider"
    generated = noisy and not setting.spend
    if setting.spend and not noisy:
        raise PolicyError("spend: only draws against an insider are booked", hint="leave it out")
    people = _people(table, setting.people)
    used = _stand_in(people, own) if generated else people
    takers, left_out = candidates(used, requirement, own, methods=setting.methods, vary=choices, translate=setting.translate)
    if not takers:
        first = next(iter(left_out.items()), ("", "no method was named"))
        raise PolicyError(f"no method can take part; {first[0]}: {first[1]}", hint="translate compares the nearest requirement")
    tables = _tables(used, choices, reread, generated=generated)
    asked, name = _asked(used, setting.workload, reread if any(candidate.recode for candidate in choices) else None)
    kept = StudyDirectory.at(setting.out)
    key = identity(used, asked, setting.attacks, generated=generated, spent=setting.spend)
    runs = _run(takers, tables, asked, kept, key, setting, tell)
    study = Study(
        runs=ranked(runs),
        people=used.rows,
        sampled=used.rows < table.rows,
        workload=name,
        questions=len(asked.queries),
        dropped=asked.dropped,
        independence=float(np.median(np.abs(asked.alone - asked.truth) / asked.truth)),
        prior_exposure=used.prior_exposure(),
        left_out=left_out,
        generated=generated,
        spent=setting.spend,
        place=kept.place,
    )
    _write(study, kept)
    tell("done", 1.0)
    return study


def _run(
    takers: Sequence[Candidate],
    tables: Mapping[str, Table],
    asked: TrueAnswers,
    kept: StudyDirectory,
    study: str,
    setting: StudyOptions,
    tell: Progress,
) -> list[Run]:
    runs: dict[int, Run] = {}
    took: dict[str, list[float]] = {}
    for place, candidate in enumerate(takers):
        figures = kept.load(candidate.key(study))
        if figures is not None:
            runs[place] = _result(candidate, figures)
            if isinstance(seconds := figures.get("took"), float):
                took.setdefault(candidate.method.name, []).append(seconds)
    left = _in_turn([place for place in range(len(takers)) if place not in runs], takers)
    before, total = len(runs), len(takers)
    spending = _spending(setting)

    def task(number: int) -> RunTask:
        one = takers[left[number]]
        return RunTask(
            tables[_recoding(one.variation.recode)],
            asked,
            one.method.to_dict(),
            one.requirement.to_dict(),
            setting.attacks,
            spending,
        )

    def hear(done: int, time_left: str) -> None:
        words = f"{before + done} of {total} runs" + (f" ({before} from before)" if before else "")
        tell(f"{words}, {time_left}" if time_left else words, (before + done) / total)

    workers = setting.workers or os.cpu_count() or 1
    if left:
        kinds = [takers[place].method.name for place in left]
        for number, figures, seconds in run_all(kinds, task, workers=workers, tell=hear, before=took):
            candidate = takers[left[number]]
            if not figures.pop("failed", False):  # what failed for no reason of its own is tried again
                kept.save(candidate.key(study), {**figures, "of": _named(candidate), "took": seconds})
            runs[left[number]] = _result(candidate, figures)
    return [runs[place] for place in range(total)]


def _result(candidate: Candidate, figures: Mapping[str, Any]) -> Run:
    measured = {name: value for name, value in figures.items() if name not in ("of", "took")}
    return Run(
        method=candidate.method.name,
        varied=candidate.variation.varied,
        settings=candidate.method.to_dict(),
        requirement=candidate.requirement.to_dict(),
        translated=candidate.translated,
        own=candidate.own,
        policy=candidate.policy,
        **{"form": candidate.method.form, "against": candidate.requirement.against, **measured},
    )


def _named(candidate: Candidate) -> dict[str, Any]:
    """Return which run it is, for whoever looks at a study that is still under way."""
    return {
        "method": candidate.method.name,
        "varied": dict(candidate.variation.varied),
        "own": candidate.own,
        "policy": candidate.policy,
    }


def _in_turn(places: Sequence[int], takers: Sequence[Candidate]) -> list[int]:
    """Return the runs in the order in which they are begun: one of each method first, under the owner's own bounds where it can.

    So a study that is stopped early has seen every method, and the time left is known soon; the slow ones begin each round.
    """
    first: dict[str, int] = {}
    for place in sorted(places, key=lambda place: not takers[place].policy):
        first.setdefault(takers[place].method.name, place)
    begun = set(first.values())
    return sorted(places, key=lambda place: (place not in begun, not takers[place].method.slow))


def _people(table: Table, most: int | None) -> Table:
    """Return the table, or so many of its people, with somebody of every sensitive value."""
    if most is None or table.rows <= most:
        return table
    if most < 1:
        raise InputError(f"people: expected a whole number from 1 on, got {most}")
    return sample(table, most)


def _stand_in(table: Table, own: Any) -> Table:
    if not getattr(own, "declared", None):
        raise PolicyError(
            f"against an insider a study is made on generated people, which needs the shares that method {own.name!r} "
            "does not declare",
            hint='[method] name = "noisy-boxes" with shares, or values under the model differential',
        )
    return stand_in(table, own)


def _spending(setting: StudyOptions) -> DrawBudget | None:
    if not setting.spend:
        return None
    place = setting.register or open_register()
    if place is None:
        raise PolicyError("spend: no register can be written, so that draws cannot be booked", hint="name one")
    return DrawBudget(str(place), None if setting.budget is None else str(setting.budget))


def _recoding(rules: Mapping[str, Any]) -> str:
    return repr(sorted(rules.items(), key=str))


def _tables(table: Table, choices: Sequence[Any], reread: RereadTable | None, *, generated: bool) -> dict[str, Table]:
    """Return the table under every recoding that is compared."""
    tables = {_recoding({}): table}
    for candidate in choices:
        name = _recoding(candidate.recode)
        if name in tables:
            continue
        if reread is None or generated:
            raise PolicyError(
                "vary: another recoding needs the table as it came",
                hint="give a file or a frame with a policy; not against an insider, whose study is made on generated people",
            )
        changed = reread({column: recoded(rule) for column, rule in candidate.recode.items()})
        tables[name] = _like(changed, table)
    return tables


def _like(changed: Table, table: Table) -> Table:
    """Return the same people as in the study's table: all of them, or the same sample."""
    return changed if table.rows == changed.rows else _people(changed, table.rows)


def _asked(table: Table, workload: Workload | str, reread: RereadTable | None) -> tuple[TrueAnswers, str]:
    """Return the questions with their true answers; where recodings are compared, in terms of the values as they came."""
    original = table
    if reread is not None:
        original = _like(reread(dict.fromkeys(table.schema.recode, None)), table)
    if isinstance(workload, Workload):
        return asked_of(original, checked_workload(original, workload)), workload.name
    if workload not in WORKLOADS:
        raise PolicyError(f"workload: unknown {workload!r}", hint=did_you_mean(str(workload), WORKLOADS))
    if workload == "crosstabs":
        drawn, name = crosstab_workload(original), "cells of crosstabs with every quasi column"
    else:
        sets, ranges = random_workloads(original)
        drawn, name = Workload("random", (*sets, *ranges), ranges.dropped), "random sets and ranges of values"
    if reread is not None:
        drawn = replace(drawn, queries=tuple(replace(query, terms="original") for query in drawn))
    asked = asked_of(original, drawn)
    return replace(asked, dropped=asked.dropped + drawn.dropped), name


def _write(study: Study, kept: StudyDirectory) -> None:
    """Write the results, and the picture where charts can be drawn."""
    if kept.place is None or not study.runs:
        return
    stream = io.BytesIO()
    pq.write_table(study.to_arrow(), stream)
    kept.write("results.parquet", stream.getvalue())
    if not any(run.made for run in study.runs):
        return
    try:
        from sfumato.comparison.picture import picture_of

        kept.write("picture.svg", picture_of(study).encode())
    except InputError:
        return  # the extra is not installed; the command line says so
