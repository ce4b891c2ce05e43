"""What an owner decides on: query error and exposure of blind groups, safe and tight boxes, measured on releases made in memory.

Nothing made here is written or returned. The figures are results on the original table, so they are private, and no method may
choose by them: a claim takes the policy as fixed in advance.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from sfumato.arrays import Floats, Integers
from sfumato.auditor import audit_release
from sfumato.errors import InputError, OneBox, QueryError, SfumatoError
from sfumato.explanation.room import variant
from sfumato.explanation.stand_in import stand_in
from sfumato.methods import Boxes, Method, MultiSize, NoisyBoxes
from sfumato.privacy import Against, Requirement
from sfumato.progress import Progress, silent
from sfumato.query import Estimate, Query, Workload, anatomy_workload, count_many, range_workload, true_answers
from sfumato.query.workload import exact_pieces, vocabulary_of
from sfumato.randomness import SeededRandomness
from sfumato.table import Table
from sfumato.utility.query_error import independence

QUESTIONS = 300
"""Random questions of each kind."""

MOST_PEOPLE = 300_000
"""A larger table is sampled for the random questions: the study then takes some seconds for any table."""

ONE_BOX = "no room for a first cut, so everybody is in one box"

NOBODY = "nobody"
"""Against whom a method with a weaker claim holds."""

_SEED = 0


@dataclass(frozen=True)
class MeasuredGrouping:
    """A way to group people: its median relative errors, one a workload, and its exposure; or why it cannot be used.

    `name` is blind, safe or tight, or a method of another kind. `note` says why there are no figures, or what is special.
    `against` is nobody for a method that claims less than a bound against a reader.
    """

    name: str
    against: str
    groups: int | None = None
    sizes: tuple[int, int] | None = None
    errors: tuple[float, ...] = ()
    exposure: float | None = None
    note: str = ""
    chosen: bool = False


@dataclass(frozen=True)
class GroupingStudy:
    """The measurements, and what somebody reaches who knows quasi values and shares but no link between them.

    `workloads` names the kinds of questions and `questions` says how many of each were counted; `unmet` were left out because
    nobody meets them. `people` is how many of the table's were used. `generated` says that their values were not the table's.
    """

    people: int
    sampled: bool
    workloads: tuple[str, ...]
    questions: tuple[int, ...]
    unmet: int
    independence: tuple[float, ...]
    prior_exposure: float
    rows: tuple[MeasuredGrouping, ...]
    generated: bool = False


@dataclass(frozen=True)
class _BaselineErrors:
    """Questions that somebody meets, with the truth and the relative errors of assuming independence."""

    name: str
    queries: tuple[Query, ...]
    truth: Floats
    alone: float


def study(
    table: Table,
    requirement: Requirement,
    method: Method,
    *,
    workload: Workload | None = None,
    workers: int | None = None,
    progress: Progress = silent,
) -> GroupingStudy:
    """Return the figures of blind groups, safe and tight boxes, and of the policy's own method where it is none of these.

    Questions are random sets and ranges of values, always the same ones, or the owner's `workload`. Releases are made with a
    fixed seed. Takes about 3 s for 100,000 people and seven columns on two cores.
    """
    progress("measuring: asking the table", 0.0)
    people = table if workload is not None else sample(table, MOST_PEOPLE)
    if method.bounds_declared:
        people = stand_in(people, cast(NoisyBoxes, method))  # a draw on the table would count against its people
    drawn = random_workloads(people) if workload is None else [checked_workload(people, workload)]
    asked = [workload for workload in (_ask(people, each) for each in drawn) if workload.queries]
    if workload is not None and not asked:
        raise QueryError("nobody in the table meets any question of the workload", hint="ask less selective questions")
    rows: list[MeasuredGrouping] = []
    ways = list(_ways(people, requirement, method))
    for done, (name, against, way, chosen) in enumerate(ways):
        progress(f"measuring: {name}", (done + 1) / (len(ways) + 1))
        try:
            figures = _measure(people, variant(requirement, against=against), way, asked, workers)
        except SfumatoError as error:
            if chosen and isinstance(error, InputError):
                raise  # nothing about the bounds: publishing would stop here too
            figures = MeasuredGrouping(name, against, note=error.message)
        rows.append(replace(figures, name=name, chosen=chosen))
    return GroupingStudy(
        people=people.rows,
        sampled=people.rows < table.rows,
        workloads=tuple(workload.name for workload in asked),
        questions=tuple(len(workload.queries) for workload in asked),
        unmet=sum(len(each) + each.dropped for each in drawn) - sum(len(workload.queries) for workload in asked),
        independence=tuple(workload.alone for workload in asked),
        prior_exposure=people.prior_exposure(),
        rows=tuple(rows),
        generated=method.bounds_declared,
    )


def sample(table: Table, most: int) -> Table:
    """Return the table, or so many people of it, with somebody of every sensitive value so that every bound has its value."""
    if table.rows <= most:
        return table
    somebody = _somebody(table)
    drawn = SeededRandomness(_SEED).permutation(table.rows)[:most]
    return table.take(np.union1d(drawn, somebody))


def _somebody(table: Table) -> Integers:
    """Return a person of every sensitive value; of bundles there are too many."""
    if table.bundles is None:
        return np.unique(table.sensitive.codes, return_index=True)[1]
    begin, value = table.bundles.incidence()
    return np.searchsorted(begin, np.unique(value, return_index=True)[1], side="right") - 1


def random_workloads(table: Table, queries: int = QUESTIONS) -> list[Workload]:
    """Return random questions about sets, and about ranges, of values: always the same ones."""
    sets = anatomy_workload(table, queries=queries, seed=_SEED)
    ranges = range_workload(table, queries=queries, lambda_=min(3, len(table.quasi)), seed=_SEED + 1)
    return [replace(sets, name="random sets"), replace(ranges, name="ranges")]


def checked_workload(table: Table, workload: Workload) -> Workload:
    """Return the owner's workload, or say which of its questions has no exact answer."""
    vocabulary = vocabulary_of(table)
    for number, query in enumerate(workload, 1):
        where = f"{workload.name}: question {number}"
        if query.group_by:
            raise QueryError(f"{where} has a GROUP BY", hint="write one question per cell")
        try:
            exact_pieces(query, vocabulary)
        except QueryError as error:
            raise QueryError(f"{where}: {error.message}", hint=error.hint) from None
    return workload


def _ask(table: Table, workload: Workload) -> _BaselineErrors:
    truth = true_answers(table, workload).astype(float)
    kept = np.flatnonzero(truth > 0)
    queries = tuple(workload.queries[i] for i in kept)
    if not queries:
        return _BaselineErrors(workload.name, (), truth[kept], 0.0)
    return _BaselineErrors(
        workload.name, queries, truth[kept], _median(independence(table, Workload(workload.name, queries)), truth[kept])
    )


def _median(answers: Floats, truth: Floats) -> float:
    return float(np.median(np.abs(answers - truth) / truth))


def _ways(table: Table, requirement: Requirement, method: Method) -> Iterator[tuple[str, Against, Method, bool]]:
    """Give name, adversary and method of every way to group people, and whether it is the policy's own."""
    if requirement.presence is not None:
        yield method.name, requirement.against, method, True  # other forms do not hide who is in the table
        return
    if requirement.bounds_odds:
        yield method.name, requirement.against, method, True  # no group of people keeps odds
        return
    near = method.way == "boxes"
    own = cast(Boxes, method) if near else Boxes()
    blind = method if method.way == "setting" else MultiSize()
    soft = replace(own, weights=None) if own.weights == "association" else own
    cuts = "safe" if own.patience == 0 else "soft"
    if not table.schema.protects_each:
        yield "blind", "reader" if table.dropped else "engineer", blind, blind is method
    yield cuts, "engineer", soft, near and requirement.against != "reader"
    yield "tight", "reader", replace(own, patience=None), near and requirement.against == "reader"
    if not near and blind is not method:
        yield method.name, requirement.against, method, True


def _measure(
    table: Table, requirement: Requirement, method: Method, asked: Sequence[_BaselineErrors], workers: int | None
) -> MeasuredGrouping:
    """Return the figures of one way, under the name of its method."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OneBox)  # one box is a figure here
        made = method.run(table, requirement, random=_SEED)
    errors = []
    for workload in asked:
        answers = count_many(made.release, workload.queries, workers=workers)
        errors.append(_median(np.array([answer.value for answer in answers if isinstance(answer, Estimate)]), workload.truth))
    sizes = made.release.sizes
    spread = int(sizes.min()), int(sizes.max())
    note = ONE_BOX if method.way == "boxes" and len(sizes) == 1 else ""
    against = requirement.against if made.release.claims else NOBODY
    # Of generated people the draw may be looked at.
    audit = audit_release(made.release, table) if method.bounds_declared else made.audit
    return MeasuredGrouping(method.name, against, len(sizes), spread, tuple(errors), audit.exposure, note)
