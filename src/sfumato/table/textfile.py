"""Reading delimited text. Every column comes as text with a dictionary, so that types are decided on the distinct values.

The first line of a file without a header is a person, who must not be shown: `looks_like_row` tells.
"""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt
from pyarrow import csv as arrow_csv

from sfumato.errors import InputError, PolicyError
from sfumato.table.parse import guess, parse_dates, parse_numbers
from sfumato.table.source import Source

DELIMITERS = (",", ";", "\t", "|")
_HEAD = 1 << 17  # no cell in it is longer than Python's own parser allows
_LONGEST_HEADER = 1 << 23
_BLOCK, _NARROW = 1 << 20, 1000
_WIDER, _WIDEST = 16, (1 << 31) - 1
"""By how much blocks grow where a row is longer than one, and the longest row, as of text in Arrow and Parquet."""
_LOOKED_AT = 1000
_TEXT = pa.string()
_CODED = pa.dictionary(pa.int32(), _TEXT)
_BYTES = pa.dictionary(pa.int32(), pa.binary())
_SHOWN = {"\t": "tab"}
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),  # before the mark of UTF-16, which it starts with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


Ragged = list[tuple[int | None, int]]
"""Rows with another number of values than there are columns: the number of each, where it is known, and how many it has."""


class EncodingError(InputError):
    """The bytes of a file are not text in the encoding it was read in; `suggestion` is one to try."""

    def __init__(self, message: str, *, suggestion: str, others: Sequence[str] = ()) -> None:
        also = f" (or {', '.join(map(_quoted, others))})" if others else ""
        super().__init__(message, hint=f"set [input] encoding = {_quoted(suggestion)}{also}")
        self.suggestion = suggestion


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """How to read a file: the `[input]` part of a policy. The delimiter is guessed from the first lines when None.

    Without a `header`, the first line is a person, and `names` says what the columns are called: column_1, column_2, … where
    it says nothing. `sheet` is one of a workbook's, the first one when None. `rename` numbers columns of one name, which are
    refused otherwise: score, score_2.
    """

    delimiter: str | None = None
    decimal: str = "."
    encoding: str = "utf-8"
    null: Sequence[str] = ("", "NA", "N/A", "#N/A", "NaN", "nan", "NULL", "null")
    header: bool = True
    names: Sequence[str] = ()
    sheet: str | None = None
    rename: bool = False

    def __post_init__(self) -> None:
        self._check_header()
        if self.delimiter is not None and (not isinstance(self.delimiter, str) or len(self.delimiter) != 1):
            raise PolicyError(f"delimiter: expected one character, got {self.delimiter!r}", hint='delimiter = ";"')
        if self.decimal not in (".", ","):
            raise PolicyError(f"decimal: expected '.' or ',', got {self.decimal!r}", hint='decimal = ","')
        if self.delimiter is not None and self.delimiter == self.decimal:
            raise PolicyError(f"delimiter and decimal are both {self.decimal!r}", hint='delimiter = ";"')
        if isinstance(self.null, str) or not all(isinstance(text, str) for text in self.null):
            raise PolicyError(f"null: expected a list of texts, got {self.null!r}", hint='null = ["", "NA"]')
        object.__setattr__(self, "null", tuple(self.null))
        try:
            codec = codecs.lookup(self.encoding)
        except (LookupError, TypeError, ValueError):
            raise PolicyError(f"encoding: unknown {self.encoding!r}", hint='"utf-8", "latin-1" or "cp1252"') from None
        if not getattr(codec, "_is_text_encoding", True):  # "hex" and "zip" are codecs too, from bytes to bytes
            raise PolicyError(f"encoding: {self.encoding!r} is no encoding of text", hint='"utf-8", "latin-1" or "cp1252"')

    def _check_header(self) -> None:
        if not isinstance(self.header, bool):
            raise PolicyError(f"header: expected true or false, got {self.header!r}", hint="header = false")
        named = not isinstance(self.names, str) and all(isinstance(name, str) and name.strip() for name in self.names)
        if not named or len(set(self.names)) < len(self.names):
            raise PolicyError("names: expected a list of different, non-empty texts", hint='names = ["age", "sex"]')
        if self.names and self.header:
            raise PolicyError("names: the file has a header, which names its columns", hint="header = false, or leave names out")
        if not isinstance(self.rename, bool) or (self.rename and not self.header):
            raise PolicyError("rename: true numbers columns that a header calls the same", hint="rename = true, with a header")
        if self.sheet is not None and not isinstance(self.sheet, str):
            raise PolicyError(f"sheet: expected the name of a sheet, got {self.sheet!r}", hint='sheet = "Sheet1"')
        object.__setattr__(self, "names", tuple(self.names))

    def headed(self, names: Sequence[str]) -> list[str]:
        """Return the names of a header; where `rename` says so, with a number after what an earlier column is called already."""
        if not self.rename:
            return list(names)
        taken: set[str] = set(names)
        made: list[str] = []
        for name in names:
            if name not in made:
                made.append(name)
                continue
            own = next(candidate for number in itertools.count(2) if (candidate := f"{name}_{number}") not in taken)
            taken.add(own)
            made.append(own)
        return made

    def columns_named(self, width: int, where: str) -> list[str]:
        """Return the names of the columns of a table without a header."""
        if self.names and len(self.names) != width:
            raise InputError(
                f"{where}: it has {width:,} columns, and [input] names has {len(self.names):,}", hint="name every column once"
            )
        return list(self.names) or [f"column_{place}" for place in range(1, width + 1)]


class TextFile:
    """A delimited text file whose first lines have been read: `names`, the delimiter, and then `read`.

    `headerless` says that what should be the names looks like one more row.
    """

    def __init__(self, source: Source, options: ReadOptions) -> None:
        self.source, self.options = source, options
        self.name = source.name
        head = self._head()
        if not head.strip():
            raise InputError(f"{self.name}: the file is empty", hint="expected a header line and one line per person")
        self.delimiter = options.delimiter or ("\t" if source.ending == ".tsv" else guess_delimiter(head, options))
        first, body = self._first_rows(head)
        self._written = first
        names = [name.strip() for name in first]
        self.headerless = options.header and looks_like_row(names, body, options.decimal)
        self.names = options.headed(names) if options.header else options.columns_named(len(first), self.name)
        self._check_header()

    def require_header(self) -> None:
        """Raise a `HeaderlessError` where the first line looks like data."""
        if self.headerless:
            raise HeaderlessError(f"{self.name}: {HEADERLESS}", width=len(self.names))

    def _first_rows(self, head: str) -> tuple[list[str], list[list[str]]]:
        """Return the first line as it is written, and some of those below it without blanks around their values."""
        rows = (row for row in csv.reader(io.StringIO(head, newline=""), delimiter=self.delimiter) if row)
        try:
            first = next(rows, [])
        except csv.Error:
            raise InputError(
                f"{self.name}: the first line cannot be read as names of columns (delimiter {self._delimiter()})",
                hint='set [input] delimiter = "…"; quotes must be closed',
            ) from None
        body = []
        with contextlib.suppress(csv.Error):
            for row in itertools.islice(rows, _LOOKED_AT):
                body.append([cell.strip() for cell in row])
        return first, body[:-1] if len(head) >= _HEAD and len(body) < _LOOKED_AT else body

    def read(self, columns: Sequence[str], plain: Sequence[str], unread: Sequence[str] = ()) -> pa.Table:
        """Return these columns as text: dictionary-coded, except the `plain` ones, whose values hardly repeat.

        The `unread` ones come as bytes, which are compared and need not be text.
        """
        kinds = {name: _TEXT if name in plain else _BYTES if name in unread else _CODED for name in columns}
        table, ragged = self._read(kinds)
        if ragged:
            raise self._ragged(ragged[0], len(ragged))
        if table.num_rows == 0:
            raise InputError(
                f"{self.name}: the file has a header and no rows", hint="expected one line per person after the header"
            )
        return table

    def _read(self, kinds: Mapping[str, pa.DataType]) -> tuple[pa.Table, Ragged]:
        with self._telling():
            for size in self._sizes():
                ragged: Ragged = []
                try:
                    table = arrow_csv.read_csv(self.source.open(), **self._options(kinds, ragged, size))
                    break
                except pa.ArrowInvalid as problem:
                    self._require_longer(problem, size)
        return pa.table([self._without_blanks(column) for column in table.columns], names=list(kinds)), ragged

    def batches(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        """Yield these columns as plain text, some rows at a time, so that no file is too large."""
        kinds, done = dict.fromkeys(columns, _TEXT), 0
        with self._telling():
            for size in self._sizes():
                skip, ragged = done, cast("Ragged", [])
                try:
                    for batch in arrow_csv.open_csv(self.source.open(), **self._options(kinds, ragged, size)):
                        if ragged:
                            raise self._ragged(ragged[0], 1)
                        fresh = batch.slice(min(skip, batch.num_rows))  # those before came in smaller blocks
                        skip, done = max(0, skip - batch.num_rows), done + fresh.num_rows
                        some = pa.Table.from_batches([fresh])
                        yield pa.table([self._without_blanks(column) for column in some.columns], names=list(kinds))
                    break
                except pa.ArrowInvalid as problem:
                    self._require_longer(problem, size)
        if ragged:
            raise self._ragged(ragged[0], 1)

    def _sizes(self) -> Iterator[int]:
        """Yield how many bytes are read at once: a row must fit. A person's long cell is no reason to publish nobody."""
        size = _BLOCK * (1 + len(self.names) // _NARROW)
        while size < _WIDEST:
            yield size
            size *= _WIDER
        yield _WIDEST

    def _require_longer(self, problem: pa.ArrowInvalid, size: int) -> None:
        """Raise a problem again that longer blocks would not solve; an open quote would make one cell of all that follows."""
        if "straddl" not in str(problem) or size == _WIDEST or self._unclosed():
            raise problem

    def _unclosed(self) -> bool:
        decoder, quotes = codecs.getincrementaldecoder(self.options.encoding)("replace"), 0
        with self.source.open() as stream:
            while raw := stream.read(_BLOCK):
                quotes += decoder.decode(raw).count('"')
        return quotes % 2 == 1

    def _options(self, kinds: Mapping[str, pa.DataType], ragged: Ragged, size: int) -> dict[str, Any]:
        """Return how Arrow reads these columns of the file; rows with another number of values go to `ragged`.

        With one thread: only that one knows the number of a row, and with several a read that fails (a row longer than a block,
        bytes that are no text) was seen to wait for itself forever, in Arrow 18 and 26.
        """

        def note(row: arrow_csv.InvalidRow) -> str:
            ragged.append((row.number, row.actual_columns))
            return "skip"

        kept = self.options.header and not self.options.rename
        written = dict(zip(self.names, self._written if kept else self.names, strict=True))
        return {
            "read_options": arrow_csv.ReadOptions(
                column_names=None if kept else self.names,
                skip_rows_after_names=int(self.options.rename),  # the header itself
                encoding=self.options.encoding,
                use_threads=False,
                block_size=size,
            ),
            "parse_options": arrow_csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=True, invalid_row_handler=note),
            "convert_options": arrow_csv.ConvertOptions(
                column_types={written[name]: kind for name, kind in kinds.items()},
                include_columns=[written[name] for name in kinds],
                null_values=list(self.options.null),
                strings_can_be_null=True,
            ),
        }

    def _ragged(self, row: tuple[int | None, int], rows: int) -> InputError:
        first = "header" if self.options.header else "first line"
        return InputError(
            f"{self.name}: the {first} has {len(self.names)} values, but row {row[0]} has {row[1]}"
            f"{f'; {rows:,} rows in all do not fit' if rows > 1 else ''} (delimiter {self._delimiter()})",
            hint='put values that contain the delimiter in double quotes, or set [input] delimiter = "…"',
        )

    @contextlib.contextmanager
    def _telling(self) -> Iterator[None]:
        """Turn what Arrow says of a file into one sentence: its own messages may quote cells."""
        try:
            yield
        except UnicodeError:
            raise self._encoding_problem() from None
        except (pa.ArrowException, OSError) as problem:
            if "UTF8" in str(problem) or "UTF-8" in str(problem):
                raise self._encoding_problem() from None
            raise InputError(
                f"{self.name}: cannot be read as delimited text (delimiter {self._delimiter()})",
                hint='set [input] delimiter = "…"; quotes must be closed',
            ) from None

    def _without_blanks(self, column: pa.ChunkedArray) -> pa.ChunkedArray:
        """Return a column without blanks around its values; what is then written like a missing value is one."""
        if column.type == _BYTES:
            return column
        if not pt.is_dictionary(column.type):
            return pa.chunked_array([self._bare(chunk) for chunk in column.chunks], column.type)
        return pa.chunked_array([self._bare_codes(chunk) for chunk in column.chunks], column.type)

    def _bare(self, texts: pa.Array) -> pa.Array:
        trimmed = pc.utf8_trim_whitespace(texts)
        changed = pc.not_equal(trimmed, texts)
        if not pc.any(changed).as_py():
            return texts
        # A quote after a blank is no quote to a parser, but it is to whoever wrote it.
        quoted = pc.and_(changed, pc.match_substring_regex(trimmed, '^".*"$'))
        bare = pc.replace_substring(pc.utf8_slice_codeunits(trimmed, 1, -1), '""', '"')
        trimmed = pc.if_else(quoted, bare, trimmed)
        absent = pc.is_in(trimmed, value_set=pa.array(self.options.null, pa.string()))
        return pc.if_else(pc.and_(changed, absent), pa.scalar(None, pa.string()), trimmed)

    def _bare_codes(self, coded: pa.DictionaryArray) -> pa.DictionaryArray:
        values = self._bare(coded.dictionary)
        if values.equals(coded.dictionary):
            return coded
        again = values.dictionary_encode()
        return pa.DictionaryArray.from_arrays(again.indices.take(coded.indices), again.dictionary)

    def _head(self) -> str:
        try:
            with self.source.open() as stream:
                raw = stream.read(_HEAD)
                while b"\n" not in raw and len(raw) < _LONGEST_HEADER and (more := stream.read(_HEAD)):
                    raw += more
        except PermissionError:
            raise InputError(f"{self.name}: no permission to read the file") from None
        except OSError:
            raise InputError(f"{self.name}: the file cannot be read; is it damaged?") from None
        if b"\n" not in raw and len(raw) >= _LONGEST_HEADER:
            raise InputError(
                f"{self.name}: the first line has no end within {_LONGEST_HEADER:,} bytes",
                hint="expected a header line and one line per person",
            )
        encoding = self.options.encoding
        if raw.startswith(codecs.BOM_UTF8) and codecs.lookup(encoding).name == "utf-8":
            encoding = "utf-8-sig"
        marked = next((name for mark, name in _MARKS if raw.startswith(mark)), None)
        if marked is not None and not codecs.lookup(encoding).name.startswith(marked):
            raise EncodingError(
                f"{self.name}: the file is {marked.upper()} text, as its first bytes say, and was read as {encoding}",
                suggestion=marked,
            )
        try:
            return codecs.getincrementaldecoder(encoding)().decode(raw)
        except UnicodeError:
            raise self._encoding_problem() from None

    def _check_header(self) -> None:
        if len(self.names) < 2:
            others = ", ".join(_quoted(delimiter) for delimiter in DELIMITERS if delimiter != self.delimiter)
            raise InputError(
                f"{self.name}: only one column was found with the delimiter {self._delimiter()}",
                hint=f"a table needs a quasi and a sensitive column; another [input] delimiter may find them: {others}",
            )
        unnamed = [str(i + 1) for i, name in enumerate(self.names) if not name.strip()]
        if unnamed:
            raise InputError(
                f"{self.name}: column {', '.join(unnamed)} has no name in the header",
                hint="name it; a column of row numbers can then be dropped as other",
            )

    def _delimiter(self) -> str:
        return _SHOWN.get(self.delimiter, repr(self.delimiter))

    def _encoding_problem(self) -> EncodingError:
        tried = codecs.lookup(self.options.encoding).name
        others = [name for name in ("utf-8", "cp1252", "latin-1", "utf-16") if codecs.lookup(name).name != tried]
        return EncodingError(
            f"{self.name}: the file is not valid {self.options.encoding}", suggestion=others[0], others=others[1:]
        )


def _quoted(text: str) -> str:
    return '"' + text.replace("\t", "\\t") + '"'


def guess_delimiter(head: str, options: ReadOptions) -> str:
    """Return the delimiter that splits the first lines most evenly into more than one value; a comma when none does."""
    lines = head.splitlines(keepends=True)[:50]
    if len(lines) > 1 and not lines[-1].endswith(("\n", "\r")):
        lines = lines[:-1]
    best, best_score = ",", (0.0, 0)
    for delimiter in DELIMITERS:
        if delimiter == options.decimal:
            continue
        try:
            widths = Counter(len(row) for row in csv.reader(lines, delimiter=delimiter) if row)
        except csv.Error:
            continue
        width, often = widths.most_common(1)[0] if widths else (0, 0)
        score = (often / widths.total(), width) if width > 1 else (0.0, 0)
        if score > best_score:
            best, best_score = delimiter, score
    return best


HEADERLESS = "the first line looks like data, and not like the names of columns"

_FEW = 2
"""From this many names that are also values of their own columns on, the names are a row; one may be chance ("pregnant")."""


class HeaderlessError(InputError):
    """A file whose first line looks like a person: it has no header, and `width` columns."""

    def __init__(self, message: str, *, width: int) -> None:
        super().__init__(
            message,
            hint='[input] header = false and names = ["…", …] for a file without names; a column that is really called '
            "by a number or a date needs a letter (y2020)",
        )
        self.width = width


def looks_like_row(names: Sequence[str], body: Sequence[Sequence[str]], decimal: str = ".") -> bool:
    """Return whether the first line of a text file looks like one more of the lines below it."""
    rows = [row for row in body if len(row) == len(names)]
    if not rows or len(names) < 2:
        return False
    columns = [pa.array([cell or None for cell in cells], pa.string()).drop_null() for cells in zip(*rows, strict=True)]
    typed = [guess(column.unique(), decimal).values if len(column) else column for column in columns]
    return _is_row(names, [pa.chunked_array([column]) for column in typed], decimal)


def is_row(names: Sequence[str], table: pa.Table, *, decimal: str = ".") -> bool:
    """Return whether these "names" look like one more row of the table.

    They do if one is a number or a date above a column of such, or if several of them occur in their own columns.
    """
    return _is_row(names, table.columns, decimal)


def _is_row(names: Sequence[str], columns: Sequence[pa.ChunkedArray], decimal: str) -> bool:
    kinds = [column.type.value_type if pt.is_dictionary(column.type) else column.type for column in columns]
    texts = pa.array(names, pa.string())
    number, day = ~parse_numbers(texts, decimal).bad, ~parse_dates(texts).bad
    numeric = np.array([pt.is_integer(kind) or pt.is_floating(kind) for kind in kinds])
    dated = np.array([pt.is_temporal(kind) for kind in kinds])
    if (number & numeric).any() or (day & dated).any():
        return True
    repeated = sum(_holds(column, name) for name, column in zip(names, columns, strict=True))
    return repeated >= min(_FEW, (len(names) + 1) // 2)


def _holds(column: pa.ChunkedArray, text: str) -> bool:
    """Return whether a column of texts has this one among its values."""
    chunks = [chunk.dictionary if pt.is_dictionary(column.type) else chunk for chunk in column.chunks]
    texts = [chunk for chunk in chunks if pt.is_string(chunk.type) or pt.is_large_string(chunk.type)]
    return any(pc.index(chunk, pa.scalar(text, chunk.type)).as_py() >= 0 for chunk in texts)
