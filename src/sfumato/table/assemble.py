"""The steps from an Arrow table to a coded one: identifiers, codes, missing values, recoding, domains, sensitive values."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

from sfumato.arrays import Array, Integers, Unsigned, combine_codes, counted
from sfumato.errors import InputError, PolicyError
from sfumato.randomness import Randomness
from sfumato.table.bins import MOST_UNBINNED, Bins, EqualPeople
from sfumato.table.by_cell import in_declared_type, read_by_cell, refuse_outside
from sfumato.table.cells import cell_column
from sfumato.table.closed import ClosedAttribute
from sfumato.table.coding import Reading, build, code_column, rows_with, split, taken
from sfumato.table.column import Column, Domain, Sensitive, code_type, combined
from sfumato.table.fingerprint import hash_people, hash_rows
from sfumato.table.gather import Gathered, gather, stacked
from sfumato.table.people import Choice, PersonKey, choose, person_keys
from sfumato.table.schema import Schema
from sfumato.table.source import Memory, comparable, remembered
from sfumato.table.weight import Weight


@dataclass(frozen=True, eq=False)
class RawColumns:
    """What a fingerprint needs of the table as it came: coded columns before recoding, and hashes instead of identifiers."""

    columns: tuple[Column, ...]
    identity: Unsigned | None
    rows: int
    kept: Array | None = None
    """Which of the source's rows the coded table has, None for all of them."""
    person: Unsigned | None = None
    """A hash of who each row is about, whatever the spelling; None where no column tells."""
    times: Integers | None = None
    """How many rows each person has, where a person has all of hers."""

    def reordered(self, order: Array) -> RawColumns:
        """Return the source of the same coded table with its rows in this order; nothing is copied."""
        return replace(self, kept=order if self.kept is None else self.kept[order])

    def take(self, rows: Array) -> RawColumns:
        """Return the source of these rows of the coded table."""
        rows = rows if self.kept is None else self.kept[rows]
        columns = tuple(column.take(rows) for column in self.columns)
        identity, person = (None if column is None else column[rows] for column in (self.identity, self.person))
        times = None if self.times is None else self.times[rows]
        return RawColumns(columns, identity, len(rows), person=person, times=times)


class Assembled(NamedTuple):
    """A coded table: published quasi columns, sensitive attribute, and the columns behind them before anything was recoded.

    The schema has the edges of bins that follow from the table.
    """

    quasi: tuple[Column, ...]
    sensitive: Sensitive
    source: RawColumns
    schema: Schema


def assemble(data: pa.Table, schema: Schema, reading: Reading) -> Assembled:
    """Return the coded table of data that has the schema's columns."""
    rows = data.num_rows
    if rows == 0:
        raise InputError("the table has no rows", hint="expected one row per person")
    identity = _identity(data, schema, reading.known)
    every = [schema.only(name) for name in schema.sensitive] if schema.protects_each else [schema]
    closed = [secret.closed_attribute() for secret in every]
    quasi, sensitive = (
        [coded_column(data, name, schema, reading, cells=closed[0] is not None and role == "sensitive") for name in names]
        for role, names in (("quasi", schema.quasi), ("sensitive", schema.sensitive))
    )
    kept = kept_rows([*quasi, *sensitive], schema, rows)
    source = RawColumns((*quasi, *sensitive), identity, rows, kept, person_of(data, schema, reading.known))
    if kept is not None:
        quasi, sensitive = ([taken(column, kept) for column in columns] for columns in (quasi, sensitive))
    schema = settled(schema, [*quasi, *sensitive])
    published = tuple(recoded(column, schema) for column in quasi)
    values = [] if closed[0] else [few_values(column, schema) for column in sensitive]
    for column in (*published, *values):
        check_domain(column, schema)
    if closed[0] is None:
        attribute = sensitive_of(values)
    elif schema.protects_each:
        attribute = joined([closed_of([secret], own) for secret, own in zip(sensitive, closed, strict=True) if own is not None])
    else:
        attribute = closed_of(sensitive, closed[0])
    return Assembled(published, attribute, source, schema)


def sensitive_of(columns: Sequence[Column]) -> Sensitive:
    """Return the sensitive attribute: the column itself, or the observed combinations of several, in the order of their codes."""
    if len(columns) == 1:
        table, codes = {columns[0].name: columns[0].dictionary()}, columns[0].codes
    else:
        _, first, inverse = np.unique(combined(columns), return_index=True, return_inverse=True)
        table = {column.name: column.take(first).arrow() for column in columns}
        codes = inverse.astype(code_type(len(first)))
    domain = Domain(pa.table(table), tuple(column.kind for column in columns))
    if len(set(domain.labels)) < len(domain):
        raise InputError(
            f"sensitive values of {', '.join(map(repr, domain.names))}: two different ones are written the same way",
            hint='rename values that contain " / " or are called "(missing)"',
        )
    return Sensitive(domain, codes)


def joined(parts: Sequence[Sensitive]) -> Sensitive:
    """Return several attributes of the same people as one of observed combinations."""
    whole = combine_codes([(part.codes, len(part.domain)) for part in parts])
    _, first, inverse = np.unique(whole, return_index=True, return_inverse=True)
    table = {part.domain.names[0]: part.domain.table.column(0).take(pa.array(part.codes[first])) for part in parts}
    return Sensitive(
        Domain(pa.table(table), tuple(part.domain.kinds[0] for part in parts)), inverse.astype(code_type(len(first)))
    )


def closed_of(columns: Sequence[Column], closed: ClosedAttribute) -> Sensitive:
    """Return the sensitive attribute with everybody's declared value, in the domain those that somebody has."""
    _, first, inverse = np.unique(combined(columns), return_index=True, return_inverse=True)
    used, codes = np.unique(closed.codes([column.take(first) for column in columns]), return_inverse=True)
    domain = Domain(closed.domain.table.take(pa.array(used)), closed.domain.kinds)
    return Sensitive(domain, codes.astype(code_type(len(used)))[inverse])


def coded_column(data: pa.Table, name: str, schema: Schema, reading: Reading, *, cells: bool = False) -> Column:
    """Return a column as codes, or as the texts of its cells."""
    kind, show = schema.types.get(name), name in schema.quasi

    def made() -> Column:
        column = data.column(name)
        if cells:
            return cell_column(name, column, reading.decimal)
        if schema.by_cell:
            return read_by_cell(name, column, schema, reading.decimal)
        return code_column(name, column, kind=kind, show=show, reading=reading)

    if schema.by_cell:  # what is remembered does not know the declaration
        return made()
    return remembered(reading.known, ("coded", name, kind, cells, data.schema.field(name).type), made)


def _identity(data: pa.Table, schema: Schema, known: Memory | None) -> Unsigned | None:
    """Return row hashes of the identifiers, after checking that nobody has several rows."""
    hashes = identity_of(data, schema, schema.identifier, known)
    if hashes is None:
        return None
    ordered = np.sort(hashes)
    if not schema.people_rule.key and (ordered[1:] == ordered[:-1]).any():
        require_one_row(data, schema)
    return hashes


def require_one_row(data: pa.Table, schema: Schema) -> None:
    """Raise where identifiers say that somebody has several rows, and every row is to be a person."""
    if schema.one_row_per_person and schema.identifier:
        _refuse_repeated([data.column(name) for name in schema.identifier], schema)


def identity_of(data: pa.Table, schema: Schema, among: Sequence[str], known: Memory | None = None) -> Unsigned | None:
    """Return row hashes of the identifiers among these columns, None where there are none."""
    names = [name for name in schema.identifier if name in among]
    if not names:
        return None
    columns = [(name, data.column(name)) for name in names]
    try:
        return remembered(known, ("identity", *names), lambda: hash_rows(columns, data.num_rows))
    except pa.ArrowException:
        raise InputError(
            f"identifier {', '.join(map(repr, names))}: expected text, numbers or dates",
            hint="convert the column to text, or drop it as other",
        ) from None


def person_of(data: pa.Table, schema: Schema, known: Memory | None = None) -> Unsigned | None:
    """Return a hash of who each row is about, None where no column tells."""
    if not schema.identified_by:
        return None
    columns = {name: data.column(name) for name in schema.identified_by}
    try:
        return remembered(known, ("person", *schema.identified_by), lambda: hash_people(columns, data.num_rows))
    except pa.ArrowException:
        raise InputError(
            f"{', '.join(map(repr, schema.identified_by))}: a key of people must hold text, numbers or dates",
            hint="convert the column to text",
        ) from None


def _refuse_repeated(columns: Sequence[pa.ChunkedArray], schema: Schema) -> None:
    """Raise if a combination of identifiers repeats; rows without any identifier are not compared."""
    coded = [(codes, len(values)) for values, codes in (split(column) for column in columns)]
    absent = np.logical_and.reduce([codes == size for codes, size in coded])
    whole = combine_codes([(codes[~absent], size + 1) for codes, size in coded])
    _, counts = np.unique(whole, return_counts=True)
    several = int((counts > 1).sum())
    if several:
        refuse_repeated(several, int(counts[counts > 1].sum()), schema)


def refuse_repeated(several: int, rows: int, schema: Schema) -> None:
    """Raise the error for so many people who have so many rows together."""
    names = ", ".join(map(repr, schema.identifier))
    raise InputError(
        f"identifier {names}: {several:,} {'person has' if several == 1 else 'people have'} several rows "
        f"({rows:,} rows together), and a bound per row is no bound per person",
        hint='people={"key": "COLUMN", "keep": "all"} publishes a person with all her rows, "first by COLUMN" with one of them; '
        "or one_row_per_person=False, knowing that the claims then speak of rows",
    )


def refuse_missing(column: str, many: int, rows: int) -> NoReturn:
    """Raise the error for so many missing values in a column that may have none."""
    raise InputError(
        f"column {column!r}: {many:,} of {rows:,} values are missing",
        hint=f'missing={{{quoted_name(column)}: "value"}} makes them a value of their own; "drop" leaves these people out, and '
        "the claim then holds against a reader only",
    )


def kept_rows(columns: Sequence[Column], schema: Schema, rows: int) -> Integers | None:
    """Return the rows that stay under the missing-value rules, None when all do."""
    drop = np.zeros(rows, bool)
    for column in columns:
        rule = schema.missing_rule(column.name)
        if not column.has_missing or rule == "value":
            continue
        missing = column.codes == len(column.values)
        if rule == "error":
            refuse_missing(column.name, int(missing.sum()), rows)
        drop |= missing
    if not drop.any():
        return None
    if drop.all():
        raise InputError(
            "every row has a missing value in a column whose rule is drop", hint='use the rule "value" where possible'
        )
    return np.flatnonzero(~drop)


def recoded(column: Column, schema: Schema) -> Column:
    """Return a column as the schema recodes it."""
    recode = schema.recoding(column.name)
    if recode is not None:
        values, kind = recode.apply(column.values, column.kind, column.name)
        column = build(column.name, kind, values, column.codes)
    binned = column.name in schema.bins  # of these what is declared are the bins, not their numbers
    return in_declared_type(column, schema) if schema.by_cell and not binned else column


def settled(schema: Schema, columns: Sequence[Column], counts: Sequence[Array] | None = None) -> Schema:
    """Return the schema in which bins of equally many people, and those of the weight, have their edges.

    `counts` say how often each code of a column occurs, where columns have no rows, or a row is not a person.
    """
    bins, weight = dict(schema.bins), schema.weight
    for j, column in enumerate(columns):
        rule = schema.bins.get(column.name)
        weighs = isinstance(weight, Weight) and column.name == weight.column and not schema.by_cell
        if not weighs and not isinstance(rule, EqualPeople):
            continue
        if column.kind != "numeric" or not len(column.values):
            raise _no_weights(column) if weighs else _no_numbers(column)
        times = counted(column.codes, column.size) if counts is None else counts[j]
        numbers, people = column.values.to_numpy(zero_copy_only=False), times[: len(column.values)]
        if isinstance(rule, EqualPeople):
            bins[column.name] = rule.over(numbers, people, column.name)
        elif isinstance(weight, Weight):
            weight = weight.over(numbers, people)
    same = bins == dict(schema.bins) and weight == schema.weight
    return schema if same else replace(schema, bins=bins, weight=weight)


def few_values(column: Column, schema: Schema) -> Column:
    """Return a sensitive column with the values that bounds speak of: bins or coarser categories where the policy has them."""
    column = recoded(column, schema)
    bins = schema.bins_of(column.name)
    if bins is not None:
        return _binned(column, bins)
    if column.kind == "numeric" and len(column.values) > MOST_UNBINNED and not schema.by_cell:
        raise InputError(
            f"sensitive column {column.name!r}: {len(column.values):,} different numbers; a bound on each would say little",
            hint=f'bins={{{quoted_name(column.name)}: [edge, edge, …]}}; or types={{{quoted_name(column.name)}: "categorical"}}',
        )
    return column


def _binned(column: Column, bins: Bins) -> Column:
    """Return the column with each number replaced by its bin's text, in the order that texts have in every release."""
    if column.kind != "numeric":
        raise _no_numbers(column)
    places = bins.place(column.values.to_numpy(zero_copy_only=False))
    outside = places < 0
    if outside.any():
        labels = bins.labels
        raise InputError(
            f"sensitive column {column.name!r}: {rows_with(column.codes, outside):,} of {len(column):,} values lie outside "
            f"the bins {labels[0]} … {labels[-1]}",
            hint="extend the edges; the first may be -inf and the last inf",
        )
    used, new = np.unique(places, return_inverse=True)
    ascending = np.array(sorted(range(len(used)), key=lambda place: bins.labels[used[place]].encode()))
    used, new = used[ascending], np.argsort(ascending)[new]
    kind_of_code = code_type(len(used) + int(column.has_missing))
    codes = np.append(new, len(used) * column.has_missing).astype(kind_of_code)[column.codes]
    labels = pa.array([bins.labels[place] for place in used], pa.string())
    return Column(column.name, "categorical", labels, codes, column.has_missing)


def _no_numbers(column: Column) -> PolicyError:
    problem = f"bins: {column.name!r} is {column.kind}, and only numbers have bins"
    return PolicyError(problem, hint=f"remove {column.name!r} from bins")


def _no_weights(column: Column) -> PolicyError:
    problem = f"weight: {column.name!r} is {column.kind}, and weights are numbers"
    return PolicyError(problem, hint="name the column of weights, or say under [input] how its numbers are written")


def quoted_name(name: str) -> str:
    """Return a column's name as a policy writes it."""
    return json.dumps(name, ensure_ascii=False)


def check_domain(column: Column, schema: Schema) -> None:
    """Raise an `InputError` where a published column has values outside its declared domain."""
    domain = schema.domain(column.name)
    if domain is None:
        return
    outside = domain.outside(column.values, column.kind, column.name)
    if outside.any():
        refuse_outside(column, outside)


@dataclass
class Rows:
    """The rows of a table as they come, before types are guessed; `pick` keeps one row a person and remembers what it saw."""

    schema: Schema
    random: Randomness | int | bytes | None = None
    choice: Choice | None = field(default=None, init=False)
    suspects: tuple[PersonKey, ...] = field(default=(), init=False)
    gathered: Gathered | None = field(default=None, init=False)

    @property
    def used(self) -> list[str]:
        """The columns that a table keeps something of."""
        return self.schema.used

    @property
    def named(self) -> list[str]:
        """The same as `pick` returns them: a secret may be several columns of the table."""
        return self.schema.used if not self.schema.bundled else [*self.schema.beside_secrets, *self.schema.sensitive]

    @property
    def beside(self) -> list[str]:
        """The further columns that are looked at: what the rule of people names, and where a key of people could hide."""
        names = [*self.schema.people_rule.looked_at, *(self.schema.other if self.in_doubt else ())]
        return [name for name in dict.fromkeys(names) if name not in self.used]

    @property
    def in_doubt(self) -> bool:
        """True unless the policy says what a row is, or no value may decide whether there is a release."""
        return self.schema.one_row_per_person and self.schema.people_rule.rows is None and not self.schema.by_cell

    @property
    def chose(self) -> bool:
        """Whether rows were left out, because somebody had several."""
        return self.gathered is not None or (self.choice is not None and self.choice.people < self.choice.rows)

    def pick(self, data: pa.Table) -> pa.Table:
        """Return the used columns of the rows that are kept; of the others not even a value is left.

        Where a person may have several values of a secret, the columns of each secret are stacked, and `gathered` says whose
        each entry is.
        """
        rule, schema = self.schema.people_rule, self.schema
        for name in rule.looked_at:
            if name not in data.column_names or not comparable(data.schema.field(name).type):
                raise InputError(f"column {name!r}: its values cannot be compared", hint="make them numbers, text or dates")
        if schema.bundled:
            shown = [name for name in schema.quasi if name in data.column_names]
            data, self.gathered, choice = gather(data, rule, shown, schema.secrets, self.random)
            self.choice = choice if rule.key or rule.unit is not None else None
            every_row = rule.unit is not None and not rule.several  # then a row is a member, and may be a visit of one
            self.suspect(data if every_row else data.take(pa.array(self.gathered.first)))
            by_cell = schema.closed is not None
            return stacked(data, self.gathered, schema.beside_secrets, schema.secrets, by_cell=by_cell)
        if rule.key:
            kept, self.choice = choose(data, rule, [*self.schema.quasi, *self.schema.sensitive], self.random)
            if len(kept) < data.num_rows:
                places = pa.array(kept)
                data = pa.table({name: _without_unused(data.column(name).take(places)) for name in data.column_names})
        self.suspect(data)
        return data.select(self.used)

    def suspect(self, data: pa.Table) -> None:
        """Look for further keys of people, in no sensitive column."""
        if self.in_doubt:
            role = self.schema.role
            looked = [field.name for field in data.schema if role(field.name) != "sensitive" and comparable(field.type)]
            keys = self.schema.people_rule.key
            self.suspects = tuple(person_keys({name: data.column(name) for name in looked}, known=keys))


def _without_unused(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a coded column with only the values that occur."""
    if not pt.is_dictionary(column.type):
        return column
    values, codes = split(column)
    used, new = np.unique(codes, return_inverse=True)
    present = used < len(values)
    indices = pa.array(new, pa.int32(), mask=~present[new])
    return pa.chunked_array([pa.DictionaryArray.from_arrays(indices, values.take(pa.array(used[present])))])
