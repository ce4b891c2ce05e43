"""An audit with the table finds everything that one without it finds: manifests of every form are changed at every place."""

import copy
import dataclasses
import itertools
import json

import numpy as np
import pyarrow as pa
import pytest

from sfumato import (
    Ambiguity,
    Anatomy,
    BetaLikeness,
    Boxes,
    BuReLPerturbation,
    FPrivacy,
    LDiversity,
    Mondrian,
    PresenceAssociation,
    PriView,
    RhoPrivacy,
    Schema,
    SmallDomain,
    Table,
    UniformPerturbation,
)
from sfumato.auditor import audit_release
from sfumato.errors import FormatError
from tests.makers import closed_for
from tests.release._forge import unchecked

COINS = np.random.default_rng(8)
FRAME = pa.table(
    {
        "age": COINS.integers(20, 60, 120),
        "sex": COINS.choice(["f", "m"], 120),
        "value": COINS.choice(["u", "v", "w", "x", "y"], 120),
    }
)
TABLE = Table.from_frame(
    FRAME,
    Schema(quasi=["age", "sex"], sensitive=["value"], recode={"age": {"width": 5, "top": 50}}, types={"value": "categorical"}),
)
SHARES = {"u": 3, "v": 3, "w": 2, "x": 2, "y": 1}
DECLARED = SmallDomain(parameters="declared", shares=SHARES, otherwise="y")
HIDDEN = PresenceAssociation(1, LDiversity(2, against="reader"), against="reader")
CASES = {
    "buckets": (Boxes(), LDiversity(3), TABLE),
    "anatomy": (Anatomy(), LDiversity(3), TABLE),
    "mondrian": (Mondrian(), LDiversity(2, against="reader"), TABLE),
    "columns": (Ambiguity(), HIDDEN, TABLE),
    "views": (PriView(), PresenceAssociation(1, "999/1000", against="reader"), TABLE),
    "uniform": (UniformPerturbation(), LDiversity(2), TABLE),
    "parts": (SmallDomain(), RhoPrivacy("1/3", "2/3"), TABLE),
    "per value": (SmallDomain(), FPrivacy(theta=1, offset="0.2"), TABLE),
    "likeness": (BuReLPerturbation(), BetaLikeness(1), TABLE),
    "declared": (DECLARED, LDiversity(2, against="insider"), closed_for(DECLARED, TABLE)),
}
OTHER = ("2", "0", "1/1000", "999/1000", "declared", 7, None, True, {})


def places(document, path=()):
    """Return the path of every entry of a JSON document."""
    pairs = document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    for key, value in pairs:
        yield (*path, key)
        yield from places(value, (*path, key))


def changed(document, path, value):
    document = copy.deepcopy(document)
    place = document
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return document


def verdict(release, table):
    """Return what an audit says; a manifest that is none at all says False, as an audit of a directory would."""
    try:
        return audit_release(release, table).holds
    except FormatError:
        return False


@pytest.mark.parametrize("name", CASES)
def test_what_an_audit_refuses_without_the_table_it_refuses_with_it(name):
    method, requirement, table = CASES[name]
    release = method.run(table, requirement, random=1).release
    document = json.loads(release.manifest.to_json())
    assert audit_release(release, table).holds is True
    refused = 0
    others = itertools.cycle(OTHER)
    for path, value in ((path, next(others)) for path in places(document) for _ in range(4)):  # by turns: each type somewhere
        if path[0] in ("tables", "format", "version", "software"):
            continue
        if len(path) == 1 and type(value) is not type(document[path[0]]):
            continue  # no manifest at all
        try:
            manifest = unchecked(changed(document, path, value))
            forged = dataclasses.replace(release, manifest=manifest)
            alone = verdict(forged, None)
        except (FormatError, TypeError, AttributeError, KeyError, ValueError):
            continue  # no manifest at all
        if alone is False:
            refused += 1
            assert verdict(forged, table) is False, (path, value)
    assert refused > 20


@pytest.mark.parametrize("name", CASES)
def test_another_schema_than_the_tables_is_found(name):
    method, requirement, table = CASES[name]
    release = method.run(table, requirement, random=1).release
    told = release.manifest.schema
    others = [
        {**told, "declared": {**told["declared"], "recode": {"age": {"width": 5, "top": 19}}}},
        {**told, "declared": {**told["declared"], "types": {"age": "numeric"}}},
        {key: value for key, value in told.items() if key != "declared"},
        {**told, "declared": {**told["declared"], "note": "Ana has HIV"}},
        {**told, "quasi": [{**one, "kind": "date"} for one in told["quasi"]]},
    ]
    for schema in others:
        forged = dataclasses.replace(release, manifest=dataclasses.replace(release.manifest, schema=schema))
        assert verdict(forged, table) is False
