"""Tables of columns and views releases, changed by chance but so that they keep their types: hostile, and not refused at once."""

import pyarrow as pa

NUMBERS = [-1, 0, 1, 2, 3, 59, 60, 61, 2**31 - 1]
COUNTS = [*NUMBERS, 2**31, 10**18, 2**63 - 1, -(2**63)]


def mutated(tables, rows, random):
    """Return the tables with one to three changes, and the number of people that the manifest shall speak of."""
    tables = dict(tables)
    for _ in range(random.choice([1, 1, 2, 3])):
        name = random.choice(sorted(tables))
        change = random.choice([_cell, _cell, _cell, _lost_row, _row_twice, _other_order, _groups])
        tables[name] = change(tables[name], random)
    counts = tables["st"]["count"].to_pylist()
    fitting = sum(counts) if random.random() < 0.7 else random.choice([rows, 1, 2**31 - 1])
    return tables, min(max(fitting, 1), 2**31 - 1)


def _cell(table, random):
    """Change one value: a number to a strange one, anything else to a neighbour's, or to nothing."""
    if not table.num_rows:
        return table
    place = random.randrange(table.num_columns)
    field, row = table.schema.field(place), random.randrange(table.num_rows)
    values = table.column(place).to_pylist()
    strange = {"group": NUMBERS, "count": COUNTS}.get(field.name, [*values, None])
    values[row] = random.choice(strange)
    return table.set_column(place, field.name, pa.array(values, _plain(field.type)))


def _lost_row(table, random):
    lost = random.randrange(max(table.num_rows, 1))
    return table.take(pa.array([row for row in range(table.num_rows) if row != lost], pa.int64()))


def _row_twice(table, random):
    if not table.num_rows:
        return table
    return pa.concat_tables([table, table.slice(random.randrange(table.num_rows), 1)]).unify_dictionaries()


def _other_order(table, random):
    return table.take(pa.array(random.sample(range(table.num_rows), table.num_rows), pa.int64()))


def _groups(table, random):
    """Number all groups anew: with gaps, all the same, far away."""
    place = table.column_names.index("group")
    change = random.choice([lambda g: g + 1, lambda g: 2 * g, lambda g: 1, lambda g: 10**9 + g % 7, lambda g: g % 2 + 1])
    numbers = [change(number) % 2**31 for number in table["group"].to_pylist()]
    return table.set_column(place, "group", pa.array(numbers, pa.int32()))


def _plain(kind):
    return kind.value_type if pa.types.is_dictionary(kind) else kind
