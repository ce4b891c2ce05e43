"""How a file probably has to be read: what was not said is tried, and what worked is written into the draft."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypedDict, Unpack

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from sfumato.errors import InputError
from sfumato.policy.profile import Profile, place_name, profiles
from sfumato.table.read import TablePath, is_text
from sfumato.table.textfile import EncodingError, HeaderlessError, ReadOptions

_NUMBER = r"^[+-]?[0-9]+(,[0-9]+)?$"
_NO_THOUSANDS = r",([0-9]{1,2}|[0-9]{4,})$"


@dataclass(frozen=True)
class Looked:
    """A file as it was read for the draft: its columns, the options that worked, and why they were chosen."""

    profiles: Sequence[Profile]
    columns: pa.Table
    options: ReadOptions
    why: dict[str, str]

    @cached_property
    def by_name(self) -> dict[str, Profile]:
        """The profile of every column."""
        return {column.name: column for column in self.profiles}


class StatedReading(TypedDict, total=False):
    """What is known of how a file is read; whatever is not stated is guessed.

    `names` are those of the columns of a file without a header; `rename` numbers columns of one name.
    """

    delimiter: str | None
    decimal: str | None
    encoding: str | None
    names: Sequence[str]
    rename: bool


def look(path: TablePath, **stated: Unpack[StatedReading]) -> Looked:
    """Return the columns of a file, read as stated; an encoding, a decimal sign or a header that nobody stated is guessed."""
    given = {"delimiter": stated.get("delimiter"), "decimal": stated.get("decimal"), "encoding": stated.get("encoding")}
    names, rename = stated.get("names", ()), stated.get("rename", False)
    known = {key: value for key, value in given.items() if value is not None}
    options = ReadOptions(**known, **({"header": False, "names": names} if names else {}), rename=rename)  # type: ignore[arg-type]
    if any(given.values()) and not is_text(path):
        raise InputError(
            f"{place_name(path)}: not a text file: it has no delimiter, decimal sign or encoding",
            hint="leave --delimiter, --decimal and --encoding out",
        )
    why = dict.fromkeys(known, "as asked for") | ({"header": "as asked for"} if names else {})
    why |= {"rename": "as asked for: columns of one name have numbers"} if rename else {}
    try:
        seen, columns = _without_header(path, options, why)
    except EncodingError as error:
        if "encoding" in known:
            raise
        options = replace(options, encoding=error.suggestion)
        try:
            seen, columns = _without_header(path, options, why)
        except EncodingError:
            raise error from None
        why["encoding"] = "a guess: the file is not UTF-8; look whether letters with accents are right"
    if "header" in why:
        options = replace(options, header=False, names=columns.column_names)
    if "decimal" not in known and is_text(path) and _decimal_comma(columns):
        options = replace(options, decimal=",")
        seen, columns = profiles(path, options)
        why["decimal"] = "a guess: some columns hold numbers such as 1,5"
    return Looked(seen, columns, options, why)


def _without_header(path: TablePath, options: ReadOptions, why: dict[str, str]) -> tuple[list[Profile], pa.Table]:
    """Return the columns of a file, also of one whose first line looks like data; `why` then says so."""
    try:
        return profiles(path, options)
    except HeaderlessError:
        columns = profiles(path, replace(options, header=False))
        why["header"] = "a guess: the first line looks like data"
        return columns


def _decimal_comma(columns: pa.Table) -> bool:
    """Return whether numbers have a decimal comma: some column shows it (1,5 and not only 1,500), and none has a point."""
    commas = False
    for column in columns.columns:
        kind = column.type.value_type if pt.is_dictionary(column.type) else column.type
        if pt.is_floating(kind):
            return False
        if not pt.is_string(kind):
            continue
        texts = pc.utf8_trim_whitespace(pc.unique(column.cast(kind)).drop_null())
        if len(texts) and pc.all(pc.match_substring_regex(texts, _NUMBER)).as_py():
            commas |= pc.any(pc.match_substring_regex(texts, _NO_THOUSANDS)).as_py()
    return commas
