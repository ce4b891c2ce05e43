"""One ε, one table, the same questions: noisy boxes alone, with tables, tables alone, and synthetic records of other tools.

Quasi counts are public to noisy boxes, so all others are told them: a synthesizer answers with the share of the wanted values
among its records that meet the quasi condition (among all where none does), times the people who really meet it. MST and AIM are
SmartNoise's, with δ = 1e-9 beside ε, from an environment of their own (`make peers`); PrivBayes is this package's. They hide
quasi values too, which noisy boxes do not.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import sfumato
from benchmarks._noisy_tables import asked_of_chances, noisy_tables
from benchmarks._show import Show
from benchmarks.estimators import asked_of
from sfumato.arrays import Floats
from sfumato.query import And, Query, true_answers
from sfumato.table.column import Column

SCRIPT = Path(__file__).with_name("_peer_tables.py")
PLACE = Path(os.environ.get("PEERS", "build/peers"))
PEERS = {"MST": "smartnoise", "AIM": "aim"}
LONGEST = 3600
"""Seconds that a tool may take for one table."""

Answering = Callable[[Sequence[Query]], Floats]
BOXES, JOINED, TABLES, BAYES = "boxes alone", "boxes with tables", "tables alone", "PrivBayes"


def answering(
    own: sfumato.Table, epsilon: float, seed: int, show: Show, *, ways: Sequence[str] = (BOXES, JOINED, TABLES, BAYES, *PEERS)
) -> dict[str, tuple[Answering, float]]:
    """Return by name what answers questions [value, low, high], NaN for no interval, and the processor time of its making."""
    made: dict[str, tuple[Answering, float]] = {}
    for way in ways:
        start = time.process_time()
        found = _of_peer(own, way, epsilon, seed, show) if way in PEERS else (_of_ours(own, way, epsilon, seed), None)
        if found is not None:
            used = time.process_time() - start if found[1] is None else found[1]
            made[way] = found[0], used
    return made


def _of_ours(own: sfumato.Table, way: str, epsilon: float, seed: int) -> Answering:
    if way == TABLES:
        chances = noisy_tables(own, epsilon, seed)
        return lambda asked: _alone(asked_of_chances(own, asked, chances))
    values, asks = list(own.sensitive.labels), sfumato.Differential(f"{epsilon:g}")
    if way == BAYES:
        method = sfumato.PrivBayes()
        people = sfumato.Table.from_frame(own.to_arrow(), method.close(_with_domains(own)))
        records: Any = method.run(people, asks, random=seed).release
        return _told_quasi(own, records.tables()["records"])
    boxes = sfumato.NoisyBoxes(values=values, otherwise=values[0], margins=Fraction(7, 10) if way == JOINED else Fraction(0))
    release = boxes.run(sfumato.Table.from_frame(own.to_arrow(), boxes.close(own.schema)), asks, random=seed).release
    return lambda asked: asked_of(release, list(asked), None)


def _alone(values: Floats) -> Floats:
    """Return values without intervals."""
    return np.column_stack([values, np.full((len(values), 2), np.nan)])


def _with_domains(own: sfumato.Table) -> sfumato.Schema:
    """Return the schema with every column's values declared."""
    schema = own.schema
    domains = {column.name: _values(column) for column in own.quasi}
    missing = {column.name: "value" for column in own.quasi if column.has_missing}
    domains[schema.sensitive[0]] = list(own.sensitive.labels)
    return sfumato.Schema(
        quasi=schema.quasi,
        sensitive=schema.sensitive,
        types=schema.types,
        domains=domains,
        missing=missing,  # type: ignore[arg-type]
    )


def _values(column: Column) -> list[Any]:
    return sorted(value for value in column.values.to_pylist() if value is not None)


def _of_peer(own: sfumato.Table, way: str, epsilon: float, seed: int, show: Show) -> tuple[Answering, float] | None:
    """Return what another tool's records answer, and its seconds; None where it is missing or fails, which is said."""
    python = PLACE / "smartnoise" / "bin" / "python"
    if not python.exists():
        show.note(f"- {way}: not installed (make peers)")
        return None
    frame = own.to_arrow()
    with tempfile.TemporaryDirectory() as folder:
        given, made = Path(folder) / "given.parquet", Path(folder) / "made.parquet"
        pq.write_table(frame.replace_schema_metadata(None), given)
        options = json.dumps({"secret": own.schema.sensitive[0], "seed": seed, "epsilon": epsilon})
        words = [str(python), str(SCRIPT), PEERS[way], str(given), str(made), options]
        try:
            done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=LONGEST)
        except subprocess.TimeoutExpired:
            show.note(f"- {way}: stopped after {LONGEST} s")
            return None
        if done.returncode:
            show.note(f"- {way}: failed: {done.stderr.strip().splitlines()[-1][:120]}")
            return None
        told = json.loads(done.stdout.strip().splitlines()[-1])
        return _told_quasi(own, pq.read_table(made)), float(told["seconds"])


def _told_quasi(own: sfumato.Table, records: pa.Table) -> Answering:
    """Return what synthetic records answer that are told how many people meet a quasi condition."""
    schema = own.to_arrow().replace_schema_metadata(None).schema
    copy = sfumato.Table.from_frame(records.replace_schema_metadata(None).select(schema.names).cast(schema), own.schema)
    secret = own.schema.sensitive[0]

    def part(query: Query, *, sensitive: bool) -> Query:
        kept = [one for one in query.condition.parts if (one.column == secret) == sensitive]  # type: ignore[union-attr]
        return Query(And(tuple(kept)), terms=query.terms)

    def answer(asked: Sequence[Query]) -> Floats:
        quasi, values = ([part(query, sensitive=sensitive) for query in asked] for sensitive in (False, True))
        there, both, people = true_answers(copy, quasi), true_answers(copy, asked), true_answers(own, quasi)
        share = np.where(there > 0, both / np.maximum(there, 1), true_answers(copy, values) / copy.rows)
        return _alone(np.asarray(people * share, np.float64))

    return answer
