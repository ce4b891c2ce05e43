"""Arrow data that is safe to use: offsets, indices and texts have been checked, and types are those of a table of people.

Arrow does not check what a file says about itself. One flipped bit makes an offset point past the end of its buffer, and the
first function that follows it ends the process.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.types as pt

from sfumato.errors import InputError

_PLAIN = (
    pt.is_null, pt.is_boolean, pt.is_string, pt.is_large_string, pt.is_integer, pt.is_floating, pt.is_decimal128,
    pt.is_decimal256, pt.is_date, pt.is_timestamp,
)  # fmt: skip
_OTHERS = (
    (pt.is_map, "maps"),
    (pt.is_struct, "records"),
    (pt.is_union, "values of several types"),
    (pt.is_run_end_encoded, "runs of values"),
    (pt.is_nested, "lists"),
    (pt.is_duration, "durations"),
    (pt.is_time, "times of day"),
    (pt.is_interval, "intervals of time"),
    (lambda kind: "binary" in str(kind), "bytes"),
)


def require_sound(table: pa.Table, where: str) -> pa.Table:
    """Return the table if every offset, index and text in it is what Arrow says it is; raise `InputError` if not."""
    try:
        table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError):
        # Arrow's own message may quote a cell.
        raise InputError(f"{where}: the data are damaged", hint="write the table again") from None
    return table


def comparable(kind: Any) -> bool:
    """Return whether values of a type are numbers, text or dates: a column that is not published may hold anything."""
    plain = kind.value_type if pt.is_dictionary(kind) else kind
    return any(test(plain) for test in _PLAIN) or str(plain) in ("string_view", "binary")


def require_publishable(name: str, kind: Any) -> None:
    """Raise an `InputError` unless a column of this type can hold numbers, text or dates."""
    if pt.is_dictionary(kind):
        kind = kind.value_type
    if any(test(kind) for test in _PLAIN) or str(kind) == "string_view":
        return
    # Not the type's own text: it names fields and zones, which come from the file and not from the policy.
    what = next((word for test, word in _OTHERS if test(kind)), "values of a type")
    raise InputError(
        f"column {name!r}: it holds {what} that cannot be published",
        hint=f'convert it to numbers, text or dates, or drop it: other = ["{name}"]',
    )
