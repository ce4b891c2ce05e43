"""What a release of groups teaches, as one JSON file that any language can answer counts from: formulas are in `docs/formats.md`.

Rows of `qit` and of `st` are referred to by their place in the published tables, so that no reader has to compare values. Numbers
stand as base64 of their little-endian bytes. A file is bound to its release by the sha-256 of the manifest.
"""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path
from typing import Any, cast

import numpy as np

from sfumato import __version__
from sfumato.arrays import Array, Integers
from sfumato.errors import QueryError
from sfumato.query.answering import FACTOR
from sfumato.query.buckets import BucketsEngine
from sfumato.query.count import engine_of
from sfumato.query.engine import one_thread
from sfumato.query.models import likelihood, reach
from sfumato.query.models.average import MULTIPLYING, NEAR
from sfumato.query.models.cells import Cells, levels_of
from sfumato.query.models.inside import FEW_VALUES, UNTOLD, WIDER, Inside, cells_of
from sfumato.query.models.likelihood import Association
from sfumato.query.models.softmax import MAX_VALUES
from sfumato.query.models.trend import FEWEST_BOXES, GRID, Trend
from sfumato.release.atomic import new_file, refuse_taken
from sfumato.release.base import Release

FORMAT, VERSION = "sfumato-model", 2

_WHY_NOT = "only releases of the form buckets, which show each person's quasi values, have a model file"


def write_model(release: Release, path: str | Path, *, manifest: str) -> int:
    """Write what a release teaches to a new file, whole or not at all, and return its size; gzip where it ends in .gz.

    `manifest` is the sha-256 of the release's manifest.json.
    """
    target = Path(path)
    refuse_taken(target)
    content = json.dumps(model_document(release, manifest), allow_nan=False, ensure_ascii=False, indent=1).encode() + b"\n"
    if target.suffix == ".gz":
        content = gzip.compress(content, mtime=0)
    with new_file(target) as draft:
        draft.write_bytes(content)
    return len(content)


def model_document(release: Release, manifest: str) -> dict[str, Any]:
    """Return the content of the file; `QueryError` for a release that has no such model."""
    if release.manifest.bundled:
        raise QueryError(
            "people of this release may have several values of a secret: its model cannot be exported", hint=_WHY_NOT
        )
    parts: list[Any] = list(cast("Any", release).each)
    engines = [engine_of(part) for part in parts]
    if not all(isinstance(engine, BucketsEngine) for engine in engines):
        raise QueryError(f"a release of the form {release.form!r} has no model to export", hint=_WHY_NOT)
    if any(getattr(engine, "margins", None) is not None for engine in engines):
        raise QueryError("the joint model of boxes and margins cannot be exported", hint="ask the release itself")
    with one_thread():
        secrets = [_secret(part, cast("BucketsEngine", engine)) for part, engine in zip(parts, engines, strict=True)]
    return {
        "format": FORMAT,
        "version": VERSION,
        "software": f"sfumato {__version__}",
        "release": manifest,
        "people": release.rows,
        "groups": cast("BucketsEngine", engines[0]).index.groups,
        "quasi": [column.name for column in parts[0].quasi],
        "factor": FACTOR,
        "secrets": secrets,
    }


def _secret(release: Any, engine: BucketsEngine) -> dict[str, Any]:
    """Return what is known of one secret: its values, the noise in its counts, and the model that answers by default."""
    index = engine.index
    noise = engine.noise_variance
    document: dict[str, Any] = {
        "columns": list(release.domain.names),
        "values": index.values,
        "value": _array(index.st_value, "<i4"),
        "few": engine.few,
        "fewest": FEWEST_BOXES,
        "noise": _array(noise, "<f8") if release.noisy else None,
        "model": "paper",
        "why": engine.no_likelihood,
    }
    if engine.no_likelihood:
        return document
    if engine.model_error is None:
        return {**document, "model": "blind", "blind": _blind(engine.association)}
    inside = engine.inside if index.values <= MAX_VALUES else None
    cells = cells_of(index, engine.columns)[0] if inside is None else inside.cells
    return {
        **document,
        "model": "boxes",
        "covers": engine.model_error.cover,
        "near": "" if engine.model_error.cover else NEAR,
        "multiplying_weight": MULTIPLYING,
        "cells": _cells(engine, cells),
        "adding": _adding(engine.trend),
        "multiplying": None if inside is None else _multiplying(inside),
    }


def _cells(engine: BucketsEngine, cells: Cells) -> dict[str, Any]:
    """Return the cell of every row of `qit`, and the lines of each cell: levels, numbered column by column."""
    table = engine.index.table
    known = zip(engine.columns, table.counts, strict=True)
    lines = [int(levels_of(column, times).max(initial=0)) + 1 for column, times in known]
    return {
        "cell": _array(np.repeat(cells.cell, table.heads()), "<i4"),
        "levels": lines,
        "line": _array(cells.levels, "<u2"),
    }


def _adding(trend: Trend) -> dict[str, Any]:
    posterior, error = trend.posterior, trend.model_error
    blocks = [
        {"left": block.left, "right": block.right, "width": block.width, "features": _array(block.features, "<f8")}
        for block in trend.blocks
    ]
    return {
        "noise": trend.noise,
        "share2": error.share2,
        "cluster": error.cluster,
        "drift": error.drift,
        "blocks": blocks,
        "grid": _array(GRID, "<f8"),
        "scale": _array(posterior.scale, "<f8"),
        "turn": _array(posterior.turn, "<f8"),
        "score": _array(posterior.score, "<f8"),
        "gain": _array(posterior.gain, "<f8"),
        "evidence": _array(posterior.evidence, "<f8"),
    }


def _multiplying(inside: Inside) -> dict[str, Any]:
    fit, goals = inside.softmax, inside.goals
    upper = np.triu_indices(fit.precision.shape[1])
    own = np.zeros((len(inside.index.table.codes), inside.index.values))
    for column, sharing in inside.sharing.items():
        own[column] = sharing.tau2
    document = {
        "error2": inside.model_error.tolist(),
        "wider": WIDER,
        "few_values": FEW_VALUES,
        "untold": UNTOLD,
        "directions": _array(inside.directions.matrix, "<f8"),
        "unit": _array(inside.scale, "<f4"),
        "chance": _array(inside.small, "<u2"),
        "tau2": _array(fit.tau2, "<f8"),
        "own": _array(own, "<f8"),
        "chi2": _array(fit.chi2, "<f8"),
        "information": _array(fit.precision[:, upper[0], upper[1]], "<f4"),
        "which": _array(fit.which, "<i4"),
        "part": _array(fit.scale, "<f8"),
        "expected": _array(fit.expected, "<f8"),
        "reach": {"few": reach.FEW, "drop": reach.DROP, "step": reach.STEP, "steps": reach.STEPS},
    }
    if goals.noise_variance.any() or goals.shrinkage.any():
        named = {"goal": goals.people, "goal_variance": goals.noise_variance, "shrinkage": goals.shrinkage}
        document |= {name: _array(part, "<f8") for name, part in named.items()}
    return document


def _blind(found: Association) -> dict[str, Any]:
    axes = found.axes
    return {
        "correlation": axes.correlation,
        "grid": _array(likelihood.GRID, "<f8"),
        "quantiles": _array(likelihood.QUANTILES, "<f8"),
        "rare": likelihood.RARE,
        "mu": _array(axes.mu, "<f8"),
        "f": _array(axes.f, "<f8"),
        "to_t": _array(axes.to_t, "<f8"),
    }


def _array(numbers: Array | Integers, kind: str) -> dict[str, Any]:
    """Return an array as JSON has it: type, shape, and its bytes in row-major order as base64."""
    laid = np.ascontiguousarray(numbers, dtype=kind)
    return {"type": kind, "shape": list(laid.shape), "data": base64.b64encode(laid.tobytes()).decode("ascii")}
