"""Columns and views releases made by hand, without any of the code that makes real ones."""

from collections import Counter

import pyarrow as pa

from sfumato import __version__
from sfumato.privacy import LDiversity
from sfumato.release.columns import ColumnsRelease
from sfumato.release.manifest import Manifest
from sfumato.release.paper_claims import PAPER_CLAIMS
from sfumato.release.views import ViewsRelease
from sfumato.table import Schema


def columns_of(table, groups, **options):
    """Return the columns release of a table with these groups (0, 1, …)."""
    rows = _rows(table)
    tables = {}
    for column in table.quasi:
        pairs = list(dict.fromkeys((row[column.name], g + 1) for row, g in zip(rows, groups, strict=True)))
        tables[f"at_{column.name}"] = pa.table(
            {
                column.name: pa.array([value for value, _ in pairs], column.values.type),
                "group": pa.array([g for _, g in pairs], pa.int32()),
            }
        )
    tables["st"] = _st(table, rows, groups, ())
    return ColumnsRelease.from_tables(_manifest(table, "columns", len(set(groups)), **options), tables, in_any_order=True)


def views_of(table, groups, moved, **options):
    """Return the views release of a table with these groups, the moved columns standing with the sensitive ones."""
    rows = _rows(table)
    at = {
        column.name: pa.array([row[column.name] for row in rows], column.values.type)
        for column in table.quasi
        if column.name not in moved
    }
    at["group"] = pa.array([int(g) + 1 for g in groups], pa.int32())
    tables = {"at": pa.table(at), "st": _st(table, rows, groups, moved)}
    manifest = _manifest(table, "views", len(set(groups)), parameters={"moved": list(moved)}, **options)
    return ViewsRelease.from_tables(manifest, tables, in_any_order=True)


def _rows(table):
    quasi = {column.name: column.arrow() for column in table.quasi}
    domain = table.sensitive.domain.table.take(pa.array(table.sensitive.codes))
    return pa.table({**quasi, **{name: domain[name] for name in domain.column_names}}).to_pylist()


def _st(table, rows, groups, moved):
    domain = table.sensitive.domain
    names = [*moved, *domain.names]
    types = {column.name: column.values.type for column in table.quasi}
    types |= {name: domain.table[name].type for name in domain.names}
    counted = Counter((int(g) + 1, *(row[name] for name in names)) for row, g in zip(rows, groups, strict=True))
    st = {"group": pa.array([key[0] for key in counted], pa.int32())}
    st |= {name: pa.array([key[1 + k] for key in counted], types[name]) for k, name in enumerate(names)}
    return pa.table({**st, "count": pa.array(list(counted.values()), pa.int64())})


def _manifest(table, form, groups, *, parameters=None, method=None, declared=None):
    domain = table.sensitive.domain
    schema = {
        "quasi": [{"name": column.name, "kind": column.kind} for column in table.quasi],
        "sensitive": [{"name": name, "kind": kind} for name, kind in zip(domain.names, domain.kinds, strict=True)],
    }
    names = {role: [column["name"] for column in schema[role]] for role in ("quasi", "sensitive")}
    schema["declared"] = declared or Schema(**names, protect=table.schema.protect).to_dict()
    own = {"floor": 2, "patience": None, "weights": None} if form == "columns" else {"column": None}
    maker = {"name": "ambiguity" if form == "columns" else "priview", "grouping": "paper", **(method or {})}
    public = {"one_row_per_person": True, "groups": groups, **(parameters or {})}
    if maker["grouping"] == "paper":
        public["weaker_claim"] = PAPER_CLAIMS[maker["name"]]
    counts = table.sensitive.histogram()
    return Manifest(
        form=form,
        basis="paper" if maker["grouping"] == "paper" else "tight",
        schema=schema,
        rows=len(table.sensitive.codes),
        requirement=LDiversity(1, against="reader").to_dict(),
        method={"accept_weaker_claim": True, "pick": "sampled", "suppress": False, **own, **maker},
        claims=(),
        values=tuple({"value": value, "count": count, "bound": "1"} for value, count in counts.items()),
        parameters=public,
        software=f"sfumato {__version__}",
    )
