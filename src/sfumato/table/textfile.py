"""Reading delimited text. Every column comes as text with a dictionary, so that types are decided on the distinct values."""

from __future__ import annotations

import codecs
import csv
import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyarrow import csv as arrow_csv

from sfumato.errors import InputError, PolicyError

DELIMITERS = (",", ";", "\t", "|")
_HEAD = 1 << 18
_LONGEST_HEADER = 1 << 23
_BLOCK, _NARROW = 1 << 20, 1000
_SHOWN = {"\t": "tab"}
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),  # before the mark of UTF-16, which it starts with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


class EncodingError(InputError):
    """The bytes of a file are not text in the encoding it was read in; `suggestion` is one to try."""

    def __init__(self, message: str, *, suggestion: str, others: Sequence[str] = ()) -> None:
        also = f" (or {', '.join(map(_quoted, others))})" if others else ""
        super().__init__(message, hint=f"set [input] encoding = {_quoted(suggestion)}{also}")
        self.suggestion = suggestion


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """How to read a text file: the `[input]` part of a policy. The delimiter is guessed from the first lines when None."""

    delimiter: str | None = None
    decimal: str = "."
    encoding: str = "utf-8"
    null: Sequence[str] = ("", "NA", "N/A", "#N/A", "NaN", "nan", "NULL", "null")

    def __post_init__(self) -> None:
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


class TextFile:
    """A delimited text file whose header has been read: `names`, the delimiter, and then `read`."""

    def __init__(self, path: Path, options: ReadOptions) -> None:
        self.path, self.options = path, options
        head = self._head()
        if not head.strip():
            raise InputError(f"{path.name}: the file is empty", hint="expected a header line and one line per person")
        self.delimiter = options.delimiter or ("\t" if ".tsv" in path.name.lower() else guess_delimiter(head, options))
        self.names = self._header(head)
        self._check_header()

    def _header(self, head: str) -> list[str]:
        try:
            return next((row for row in csv.reader(io.StringIO(head, newline=""), delimiter=self.delimiter) if row), [])
        except csv.Error:
            raise InputError(
                f"{self.path.name}: the first line cannot be read as names of columns (delimiter {self._delimiter()})",
                hint='set [input] delimiter = "…"; quotes must be closed',
            ) from None

    def read(self, columns: Sequence[str], plain: Sequence[str]) -> pa.Table:
        """Return these columns as text: dictionary-coded, except the `plain` ones, whose values hardly repeat."""
        table, ragged = self._read(columns, plain, threads=True)
        if ragged:
            # Only a single thread knows the number of a row.
            _, ragged = self._read(columns, plain, threads=False)
            row, width = ragged[0]
            raise InputError(
                f"{self.path.name}: the header has {len(self.names)} values, but row {row} has {width}"
                f"{f'; {len(ragged):,} rows in all do not fit' if len(ragged) > 1 else ''} (delimiter {self._delimiter()})",
                hint='put values that contain the delimiter in double quotes, or set [input] delimiter = "…"',
            )
        if table.num_rows == 0:
            raise InputError(
                f"{self.path.name}: the file has a header and no rows", hint="expected one line per person after the header"
            )
        return table

    def _read(
        self, columns: Sequence[str], plain: Sequence[str], *, threads: bool
    ) -> tuple[pa.Table, list[tuple[int | None, int]]]:
        ragged: list[tuple[int | None, int]] = []

        def note(row: arrow_csv.InvalidRow) -> str:
            ragged.append((row.number, row.actual_columns))
            return "skip"

        coded = pa.dictionary(pa.int32(), pa.string())
        try:
            table = arrow_csv.read_csv(
                self.path,
                read_options=arrow_csv.ReadOptions(
                    encoding=self.options.encoding,
                    use_threads=threads,
                    block_size=_BLOCK * (1 + len(self.names) // _NARROW),  # a row must fit in a block
                ),
                parse_options=arrow_csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=True, invalid_row_handler=note),
                convert_options=arrow_csv.ConvertOptions(
                    column_types={name: pa.string() if name in plain else coded for name in columns},
                    include_columns=list(columns),
                    null_values=list(self.options.null),
                    strings_can_be_null=True,
                ),
            )
        except UnicodeError:
            raise self._encoding_problem() from None
        except (pa.ArrowException, OSError) as problem:
            if "UTF8" in str(problem) or "UTF-8" in str(problem):
                raise self._encoding_problem() from None
            raise InputError(
                f"{self.path.name}: cannot be read as delimited text (delimiter {self._delimiter()})",
                hint='set [input] delimiter = "…"; quotes must be closed',
            ) from None
        return table, ragged

    def _head(self) -> str:
        try:
            with pa.input_stream(str(self.path), compression="detect") as stream:
                raw = stream.read(_HEAD)
                while b"\n" not in raw and len(raw) < _LONGEST_HEADER and (more := stream.read(_HEAD)):
                    raw += more
        except PermissionError:
            raise InputError(f"{self.path.name}: no permission to read the file") from None
        except OSError:
            raise InputError(f"{self.path.name}: the file cannot be read; is it damaged?") from None
        if b"\n" not in raw and len(raw) >= _LONGEST_HEADER:
            raise InputError(
                f"{self.path.name}: the first line has no end within {_LONGEST_HEADER:,} bytes",
                hint="expected a header line and one line per person",
            )
        encoding = self.options.encoding
        if raw.startswith(codecs.BOM_UTF8) and codecs.lookup(encoding).name == "utf-8":
            encoding = "utf-8-sig"
        marked = next((name for mark, name in _MARKS if raw.startswith(mark)), None)
        if marked is not None and not codecs.lookup(encoding).name.startswith(marked):
            raise EncodingError(
                f"{self.path.name}: the file is {marked.upper()} text, as its first bytes say, and was read as {encoding}",
                suggestion=marked,
            )
        try:
            return codecs.getincrementaldecoder(encoding)().decode(raw)
        except UnicodeError:
            raise self._encoding_problem() from None

    def _check_header(self) -> None:
        if len(self.names) < 2:
            others = ", ".join(_quoted(one) for one in DELIMITERS if one != self.delimiter)
            raise InputError(
                f"{self.path.name}: only one column was found with the delimiter {self._delimiter()}",
                hint=f"a table needs a quasi and a sensitive column; another [input] delimiter may find them: {others}",
            )
        unnamed = [str(i + 1) for i, name in enumerate(self.names) if not name.strip()]
        if unnamed:
            raise InputError(
                f"{self.path.name}: column {', '.join(unnamed)} has no name in the header",
                hint="name it; a column of row numbers can then be dropped as other",
            )

    def _delimiter(self) -> str:
        return _SHOWN.get(self.delimiter, repr(self.delimiter))

    def _encoding_problem(self) -> EncodingError:
        tried = codecs.lookup(self.options.encoding).name
        others = [name for name in ("utf-8", "cp1252", "latin-1", "utf-16") if codecs.lookup(name).name != tried]
        return EncodingError(
            f"{self.path.name}: the file is not valid {self.options.encoding}", suggestion=others[0], others=others[1:]
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
