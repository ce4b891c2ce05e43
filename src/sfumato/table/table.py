"""A table about people, coded and ready to publish."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato import notebook
from sfumato.arrays import Array, Integers, combine_codes
from sfumato.errors import InputError
from sfumato.randomness import Randomness, coins_of
from sfumato.table.assemble import RawColumns, Rows, assemble
from sfumato.table.bundles import Bundles, assemble_bundles
from sfumato.table.by_cell import require_named_people
from sfumato.table.classes import Classes
from sfumato.table.coding import Reading, ascending, build, taken
from sfumato.table.column import Column, Domain, Events, Kind, Sensitive, combined
from sfumato.table.fingerprint import Fingerprint, fingerprint, quasi_hashes
from sfumato.table.frames import Native, from_native
from sfumato.table.gaps import missing_suspects
from sfumato.table.marks import Marks
from sfumato.table.people import Choice, PersonKey
from sfumato.table.read import is_text, read_arrow
from sfumato.table.recode import Recode
from sfumato.table.schema import Schema
from sfumato.table.source import SharedFile
from sfumato.table.textfile import ReadOptions
from sfumato.table.weight import in_words

_SHOWN = 5


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Table:
    """One row per person: the quasi columns as they will be published (recoded), and the sensitive attribute.

    >>> import pyarrow as pa
    >>> from sfumato import Schema, Table
    >>> people = pa.table({"age": [31, 44, 58, 62], "illness": ["Flu", "Gout", "Flu", "Asthma"]})
    >>> Table.from_frame(people, Schema(quasi=["age"], sensitive=["illness"]))
    Table(4 rows; quasi: age; sensitive: illness with 3 values)

    Made by `Table.read` or `Table.from_frame`. Identifiers have been compared and dropped, `other` columns never read. `dropped`
    rows had a missing value in a column whose rule is "drop". `choice` says which of several rows of a person were kept, and
    `suspects` are columns that look like keys of people although the schema does not say so. `native` is the kind of frame the
    caller uses.
    """

    schema: Schema
    quasi: tuple[Column, ...]
    sensitive: Sensitive
    rows: int
    dropped: int = 0
    choice: Choice | None = None
    suspects: tuple[PersonKey, ...] = ()
    native: Native = "pyarrow"
    _source: RawColumns

    @classmethod
    def read(
        cls,
        path: str | os.PathLike[str],
        schema: Schema,
        *,
        options: ReadOptions | None = None,
        seed: int | None = None,
        random: Randomness | int | bytes | None = None,
    ) -> Table:
        """Return the table in a file of any kind that `docs/input.md` knows, in a `Database`, or from standard input ("-").

        Coins decide which of a person's rows is kept where several are equally early: the operating system's, those of a `seed`
        for experiments, or `random`: a `Randomness`, or the `choice.coins` of a table that was read before.
        """
        options = options or ReadOptions()
        reading = Reading(decimal=options.decimal, guessed=is_text(path))
        rows = Rows(schema, coins_of(seed, random))
        data = read_arrow(path, options, schema=schema, rows=rows)
        if isinstance(path, SharedFile) and not rows.chose:
            reading = replace(reading, known=path.memory)
        table = cls.of_rows(data, rows, reading, "pyarrow")
        del data
        pa.default_memory_pool().release_unused()  # the parser's buffers, several times the coded table
        return table

    @classmethod
    def from_frame(
        cls, frame: Any, schema: Schema, *, seed: int | None = None, random: Randomness | int | bytes | None = None
    ) -> Table:
        """Return the table in a pandas, polars or pyarrow frame. Types are the frame's own: text stays text unless declared.

        `seed` and `random` are what they are for `read`.
        """
        rows = Rows(schema, coins_of(seed, random))
        data, native = from_native(frame, rows)
        return cls.of_rows(data, rows, Reading(), native)

    @classmethod
    def of_rows(cls, data: pa.Table, rows: Rows, reading: Reading, native: Native = "pyarrow") -> Table:
        """Return the table of what `Rows.pick` gave; `read` and `from_frame` are what to call."""
        sensitive: Sensitive
        if rows.gathered is None:
            quasi, sensitive, source, schema = assemble(data, rows.schema, reading)
        else:
            quasi, sensitive, source, schema = assemble_bundles(data, rows, rows.gathered, reading)
        many = len(sensitive.codes)
        choice = rows.choice
        if choice is not None and isinstance(sensitive, Bundles):
            choice = replace(choice, facts=sensitive.facts)
        return cls(
            schema=schema,
            quasi=quasi,
            sensitive=sensitive,
            rows=many,
            dropped=source.rows - many,
            choice=choice,
            suspects=rows.suspects,
            native=native,
            _source=source,
        )

    def about_people(self) -> tuple[str, ...]:
        """Return what the publisher should know of who a row is, and of values that may mean "missing", as sentences."""
        said = [] if self.choice is None else [self.choice.sentence]
        if self.choice is None and self.bundles is not None:
            said = [f"{self.rows:,} people, {self.bundles.facts:,} facts."]
        whom = "person" if self.schema.people_rule.unit is None else "household"
        for name in self.schema.people_rule.bands:
            exact = self.schema.people_rule.alike == "exact"
            what = f"How many {name} a {whom} has" if exact else f"In which band the number of {name} of a {whom} lies"
            said.append(f"{what} is published ({name!r}): it is shown, and not protected.")
        said += [] if self.schema.weight is None else [in_words(self.schema.weight)]
        if self.suspects:
            said.append(f"Nothing is published until the policy says what this is: {self.suspects[0]}, a likely key of people.")
        columns = self._source.columns
        kinds = [pa.DictionaryArray.from_arrays(pa.array(column.codes, pa.int32()), column.dictionary()) for column in columns]
        gaps = missing_suspects(pa.table(kinds, names=[column.name for column in columns]))
        if gaps:
            shown = ", ".join(f"{gap.value} in {gap.column} ({gap.rows:,})" for gap in gaps[:_SHOWN])
            more = f" and {len(gaps) - _SHOWN} more" if len(gaps) > _SHOWN else ""
            said.append(f'Do these mean "missing"? Until [input] null lists them they are values: {shown}{more}.')
        return tuple(said)

    def require_people(self) -> None:
        """Raise an `InputError` where a column looks like a key of people with several rows and the schema says nothing of it."""
        if self.schema.by_cell:
            require_named_people(self.schema)
        if not self.suspects:
            return
        key = self.suspects[0]
        more = f", and {', '.join(repr(suspect.column) for suspect in self.suspects[1:4])}" if len(self.suspects) > 1 else ""
        raise InputError(
            f"the column {key} looks like a key of people with several rows{more}; a bound per row is no bound per person",
            hint=f'people={{"key": "{key.column}", "keep": "first by COLUMN"}} keeps one row of each; people={{"rows": "people"}}'
            " says that every row is a person; one_row_per_person=False, that the claims are to speak of rows",
        )

    def __len__(self) -> int:
        return self.rows

    def __repr__(self) -> str:
        # Names and sizes only: a table that lands in a log must not show people.
        sensitive = ", ".join(self.sensitive.domain.names)
        quasi = ", ".join(column.name for column in self.quasi)
        return f"Table({self.rows:,} rows; quasi: {quasi}; sensitive: {sensitive} with {len(self.sensitive.domain)} values)"

    def _repr_html_(self) -> str:
        """Return names, roles and numbers of values: no row and no value, since a notebook is handed on."""
        domain = self.sensitive.domain
        rows = [(column.name, "quasi", column.kind, f"{len(column.values):,}") for column in self.quasi]
        rows += [
            (name, "sensitive", kind, f"{len(domain.table.column(name).unique()) if self.bundles is None else len(domain):,}")
            for name, kind in zip(domain.names, domain.kinds, strict=True)
        ]
        left_out = f"{self.dropped:,} rows left out because a value is missing" if self.dropped else ""
        shown = notebook.table(("column", "role", "kind", "values"), rows, right=(3,))
        return notebook.card(f"Table of {self.rows:,} rows", shown, under=left_out)

    @property
    def kinds(self) -> dict[str, Kind]:
        """The kind of every published column, guessed or declared."""
        domain = self.sensitive.domain
        return {column.name: column.kind for column in self.quasi} | dict(zip(domain.names, domain.kinds, strict=True))

    def column(self, name: str) -> Column:
        """Return a quasi column by its name."""
        return next(column for column in self.quasi if column.name == name)

    def recoded(self, name: str, recode: Recode) -> Column:
        """Return a quasi column of the same people under another recoding than the schema's."""
        column = next(column for column in self._source.columns if column.name == name)
        kept = self._source.kept
        values, kind = recode.apply(column.values, column.kind, name)
        return build(name, kind, values, column.codes if kept is None else column.codes[kept])

    def quasi_ids(self) -> Integers:
        """Return for every row the number of its quasi combination: 0, 1, … in ascending order of the combinations."""
        return self._ids

    def unique_share(self) -> Fraction:
        """Return the share of people whose quasi values, as published, nobody else has."""
        return Fraction(self.classes.alone, self.rows)

    def prior_exposure(self, column: str | None = None) -> float:
        """Return Σ share²: the mean belief in people's true values of somebody who knows only shares.

        Of people with several values it is the mean over these.

        Where each of several columns is protected by itself, of this column, or of the one of which shares tell most.
        """
        asked = [part for part in self.each() if column is None or part.schema.sensitive == (column,)]
        exposures = [float(((part.sensitive.counts / part.rows) ** 2).sum()) for part in asked]
        if self.bundles is not None:
            exposures = [
                exposure * each.rows / max(1, int(each.sensitive.counts.sum()))
                for exposure, each in zip(exposures, asked, strict=True)
            ]
        return max(exposures)

    @cached_property
    def classes(self) -> Classes:
        """People with the same quasi values as published, counted."""
        return Classes.of(self.quasi)

    @cached_property
    def fingerprint(self) -> Fingerprint:
        """The fingerprint of the table as it came: before recoding, dropping and binning, with identifiers, in any row order."""
        return fingerprint(self._source.columns, self._source.rows, identity=self._source.identity)

    @cached_property
    def people_fingerprint(self) -> Fingerprint:
        """The fingerprint of identifiers and quasi values alone: who is in the table, whatever they have."""
        columns = self._source.columns[: len(self.schema.quasi)]
        return fingerprint(columns, self._source.rows, identity=self._source.identity)

    @property
    def marks(self) -> Marks:
        """What tells the people of this table in a later one: by whom a row is about, and by their quasi values."""
        source, quasi = self._source, self._source.columns[: len(self.schema.quasi)]
        rows = [(source.person, quasi_hashes(quasi, source.rows))]
        return Marks(self.people_fingerprint, self.schema.identified_by, self.schema.one_row_per_person, rows)

    @property
    def times(self) -> Integers | None:
        """How many rows everybody has where a person has all of hers; None where everybody has one. It is never published."""
        source = self._source
        return source.times if source.times is None or source.kept is None else source.times[source.kept]

    def to_arrow(self) -> pa.Table:
        """Return the coded table decoded: quasi columns as published, then the sensitive columns (binned)."""
        columns = {column.name: column.arrow() for column in self.quasi}
        if self.bundles is not None:
            each = zip(self.schema.sensitive, self.bundles.each(), strict=True)
            return pa.table(columns | {name: secret.lists() for name, secret in each})
        codes = pa.array(self.sensitive.codes)
        domain = self.sensitive.domain.table
        return pa.table(columns | {name: domain.column(name).take(codes) for name in domain.column_names})

    def each(self) -> tuple[Table, ...]:
        """Return the table with one sensitive column after the other, where each is protected by itself; else this one alone."""
        if not self.schema.protects_each:
            return (self,)
        return tuple(
            replace(self, schema=self.schema.only(name), sensitive=secret)
            for name, secret in zip(self.sensitive.domain.names, self.sensitive.each(), strict=True)
        )

    @property
    def bundles(self) -> Bundles | None:
        """What people have where they may have several values of a secret, or none; None where everybody has one of each."""
        return self.sensitive if isinstance(self.sensitive, Bundles) else None

    @property
    def events(self) -> Domain | Events:
        """The values of all secrets in one list; of one secret its values."""
        each = list(self.sensitive.domain.secrets) if self.bundles else [part.sensitive.domain for part in self.each()]
        return each[0] if len(each) == 1 else Events(tuple(each))

    def take(self, rows: Array) -> Table:
        """Return the table of these rows (positions or a mask), without the values that none of them has."""
        rows = np.asarray(rows)
        chosen = np.flatnonzero(rows) if rows.dtype == bool else rows
        if len(chosen) == 0:
            raise InputError("no row was chosen, and a table needs at least one", hint="check the rows or the condition")
        quasi = tuple(taken(column, chosen) for column in self.quasi)
        sensitive = self.sensitive.at(chosen).only_used()
        return replace(self, quasi=quasi, sensitive=sensitive, rows=len(chosen), _source=self._source.take(chosen))

    def shuffled(self, random: Randomness) -> tuple[Table, Array]:
        """Return the same people in an order of coins, whatever the order of the rows, and the row of each of them here.

        They are first sorted by quasi values, then by the sensitive one, so that the same coins give the same table.
        """
        return self._reordered(self.order_of_values()[random.permutation(self.rows)])

    def by_values(self) -> Table:
        """Return the same people sorted by quasi values, then by the sensitive one."""
        return self._reordered(self.order_of_values())[0]

    def order_of_values(self) -> Array:
        """Return which row here is the first, the second, … of the people sorted by their values."""
        values = int(self.sensitive.codes.max()) + 1
        coded = [(column.codes, column.size) for column in self.quasi] + [(self.sensitive.codes, values)]
        return ascending(combine_codes(coded), used_up=True)

    def _reordered(self, order: Array) -> tuple[Table, Array]:
        quasi = tuple(column.take(order) for column in self.quasi)
        return replace(self, quasi=quasi, sensitive=self.sensitive.at(order), _source=self._source.reordered(order)), order

    @cached_property
    def _ids(self) -> Integers:
        _, ids = np.unique(combined(self.quasi), return_inverse=True)
        ids = ids.astype(np.int64, copy=False)
        ids.setflags(write=False)
        return ids
