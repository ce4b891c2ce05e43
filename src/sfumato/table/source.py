"""Where the bytes of a table are: a file, the one file of a zip archive, or standard input. Nothing is written anywhere.

Only regular files are opened: a pipe would block, a device has no end, and a directory is no table. Arrow does not check what a
file says about itself: one flipped bit makes an offset point past the end of its buffer, and the first function that follows it
ends the process. So offsets, indices and texts are checked first (`require_sound`), and types are those of a table of people.
"""

from __future__ import annotations

import functools
import os
import stat
import sys
import zipfile
from collections.abc import Callable, Hashable, MutableMapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.types as pt

from sfumato.errors import InputError, SfumatoError, did_you_mean

TEXT_ENDINGS = (".csv", ".tsv", ".txt", ".data")
ARROW_ENDINGS = (".parquet", ".arrow", ".feather", ".ipc")
SHEET_ENDINGS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
LABELLED_ENDINGS = (".dta", ".sav", ".zsav", ".por", ".sas7bdat", ".xpt")
DATABASE_ENDINGS = (".db", ".sqlite", ".sqlite3", ".duckdb")
ENDINGS = (*TEXT_ENDINGS, *ARROW_ENDINGS, *SHEET_ENDINGS, *LABELLED_ENDINGS, ".zip")
STANDARD_INPUT = "-"

_COMPRESSIONS = (".gz", ".bz2", ".zst")
_MAGIC = ((b"PAR1", ".parquet"), (b"ARROW1", ".arrow"), (b"\xff\xff\xff\xff", ".arrow"))
_BLOWN_UP, _SMALL = 300, 64 << 20
"""What is unpacked may be so many times as large as the archive; up to so many bytes it may be more."""


@dataclass(frozen=True, eq=False)
class Source:
    """A table's bytes: what messages call it, how it ends, and a way to open it."""

    name: str
    ending: str
    open: Callable[[], pa.NativeFile]
    path: Path | None = None
    """The file itself, where the bytes are those of a file."""

    @property
    def is_text(self) -> bool:
        """True for delimited text, whose types are guessed."""
        return self.ending in TEXT_ENDINGS


def find(path: str | os.PathLike[str]) -> Source:
    """Return where a table's bytes are, after checking that it is a file (or "-", standard input) of a kind that is known."""
    if os.fspath(path) == STANDARD_INPUT:
        return _standard_input()
    path = Path(path)
    refused = refusal(path)
    if refused is not None:
        near = _neighbours(path) if "no such" in refused else []
        hint = did_you_mean(path.name, near) if near else None
        if "directory" in refused:
            hint = "give the path of a CSV or Parquet file"
        raise InputError(f"{path.name or path}: {refused}", hint=hint if hint and "known" not in hint else None)
    ending = ending_of(path)
    if ending in DATABASE_ENDINGS:
        raise InputError(f"{path.name}: this is a database", hint=f'--from {path.name} --sql "SELECT … FROM …"')
    if ending not in ENDINGS:
        raise InputError(
            f"{path.name}: unknown file ending {ending!r}",
            hint=f"known endings: {', '.join(ENDINGS)} (text also with .gz), and - for standard input",
        )
    if path.stat().st_size == 0:
        raise InputError(f"{path.name}: the file is empty", hint="expected a header line and one line per person")
    if ending == ".zip":
        return _zipped(path)
    return Source(path.name, ending, functools.partial(pa.input_stream, str(path), compression="detect"), path)


def ending_of(path: Path) -> str:
    """Return how a file's name ends, without what says that text is compressed."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if len(suffixes) > 1 and suffixes[-1] in _COMPRESSIONS and suffixes[-2] in TEXT_ENDINGS:
        return suffixes[-2]
    return suffixes[-1] if suffixes else ""


def require_bounded(path: Path) -> list[zipfile.ZipInfo]:
    """Return what a zip archive holds, after refusing one that would unpack to far more than it is."""
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        raise InputError(f"{path.name}: the file is damaged or no zip archive", hint="write it again") from None
    require_amount(path, sum(entry.file_size for entry in entries))
    return entries


def require_amount(path: Path, size: int) -> None:
    """Refuse a file that unpacks to so many bytes, or names its texts so often, where that is far more than it is."""
    if size > max(_SMALL, _BLOWN_UP * path.stat().st_size):
        raise InputError(
            f"{path.name}: unpacked it would be more than {_BLOWN_UP} times as large; such archives are not opened",
            hint="unpack it yourself, if you trust it",
        )


def _zipped(path: Path) -> Source:
    """Return the one table in a zip archive, which is unpacked while it is read and never put on a disk."""
    files = [member for member in require_bounded(path) if not member.is_dir() and not member.filename.startswith("__MACOSX/")]
    if len(files) != 1:
        raise InputError(
            f"{path.name}: the archive holds {len(files):,} files, expected one", hint="unpack it, and give the table"
        )
    entry = files[0]
    ending = ending_of(Path(entry.filename))
    if ending not in TEXT_ENDINGS or Path(entry.filename).suffix.lower() in _COMPRESSIONS:
        raise InputError(
            f"{path.name}: the file in the archive is no text ({', '.join(TEXT_ENDINGS)})", hint="unpack it, and give the table"
        )
    if entry.flag_bits & 1:
        raise InputError(f"{path.name}: the archive has a password", hint="unpack it, and give the table")

    def opened() -> pa.NativeFile:
        return pa.PythonFile(_Member(zipfile.ZipFile(path), entry), mode="r")

    return Source(path.name, ending, opened)


class _Member:
    """One file of an archive as a stream; whatever is wrong with the archive is an `OSError`, as for other files."""

    def __init__(self, archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> None:
        self._archive = archive
        try:
            self._stream = archive.open(entry)
        except (zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError) as problem:
            archive.close()
            raise OSError(f"the archive cannot be unpacked ({type(problem).__name__})") from None

    @property
    def closed(self) -> bool:
        return self._stream.closed

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        try:
            return self._stream.read(size)
        except Exception as problem:  # zlib's own errors too
            raise OSError(f"the archive cannot be unpacked ({type(problem).__name__})") from None

    def close(self) -> None:
        self._stream.close()
        self._archive.close()


def _standard_input() -> Source:
    data = _read_standard_input()
    if not data.strip():
        raise InputError("standard input: nothing came", hint="sfumato … - < table.csv")
    if data[:2] == b"\x1f\x8b":
        opened = functools.partial(_unpacked, data)
        return Source("standard input", ".csv", opened)
    ending = next((ending for magic, ending in _MAGIC if data.startswith(magic)), ".csv")
    return Source("standard input", ending, functools.partial(pa.BufferReader, data))


def _unpacked(data: bytes) -> pa.NativeFile:
    return pa.input_stream(pa.BufferReader(data), compression="gzip")


@functools.cache
def _read_standard_input() -> bytes:
    """Return all of standard input, which can be read once only."""
    if sys.stdin is None or sys.stdin.isatty():
        raise InputError("standard input: a table was expected there", hint="sfumato … - < table.csv")
    return sys.stdin.buffer.read()


def _neighbours(path: Path) -> list[str]:
    try:
        return [each.name for each in path.parent.iterdir() if each.is_file()]
    except OSError:
        return []


_KINDS = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def refusal(path: str | os.PathLike[str]) -> str | None:
    """Return why a path cannot be read as a file ("this is a pipe, expected a file"), None where it can.

    Links are followed. Nothing is opened, so that nothing can block.
    """
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return "this link leads nowhere" if Path(path).is_symlink() else "there is no such file"
    except PermissionError:
        return "no permission to read the file"
    except (OSError, ValueError):
        return "this is no path of a file"
    if stat.S_ISREG(mode):
        return None
    kind = next((name for test, name in _KINDS if test(mode)), "something else")
    return f"this is {kind}, expected a file"


def read_text(
    path: str | os.PathLike[str], named: str, *, most: int, error: type[SfumatoError], check: str, expected: str
) -> str:
    """Return the text of a small UTF-8 file, at most so many bytes; what is wrong with it is an `error` that calls it `named`.

    The hint is `check` where the path is wrong, and says what is `expected` where the text is.
    """
    refused = refusal(path)
    if refused is not None:
        raise error(f"{named}: {refused}", hint=check)
    try:
        with open(path, "rb") as file:
            return small_text(file.read(most + 1), named, most=most, error=error, expected=expected)
    except OSError as failed:
        raise error(f"{named}: cannot be read: {failed.strerror or 'the disk refused'}", hint=check) from None


def small_text(content: bytes, named: str, *, most: int, error: type[SfumatoError], expected: str) -> str:
    """Return what at most so many bytes say in UTF-8, as `read_text` does."""
    if len(content) > most:
        raise error(f"{named}: expected at most {most:,} bytes", hint="did you give the table instead?")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise error(f"{named}: not UTF-8 text", hint=expected) from None


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


T = TypeVar("T")

Memory = MutableMapping[Hashable, Any]
"""What was made of the rows of a table before, by what it is."""


class SharedFile(os.PathLike[str]):
    """A file of which many tables are made; it stands wherever a path may, and is read again when it was written to.

    Its `memory` is of the columns as they were read last. It is for one thread at a time. `forget` gives the memory back.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._of: Hashable = None
        self.memory: Memory = {}

    def __fspath__(self) -> str:
        return str(self.path)

    def columns(self, options: Hashable, read: Callable[[], pa.Table]) -> pa.Table:
        """Return all columns as they are read with these options, each in one piece and with one dictionary."""
        status = self.path.stat()
        now = (options, status.st_mtime_ns, status.st_size, status.st_ino)
        if self._of != now:
            self._of, self.memory = None, {}
            table = read()
            self.memory["columns"] = pa.table([_whole(column) for column in table.columns], names=table.column_names)
            self._of = now
        return self.memory["columns"]


def remembered(memory: Memory | None, key: Hashable, make: Callable[[], T]) -> T:
    """Return what is remembered under a key, or is made now and remembered; without a memory it is made."""
    if memory is None:
        return make()
    if key not in memory:
        memory[key] = make()
    return memory[key]  # type: ignore[no-any-return]


def _whole(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pt.is_dictionary(column.type):
        column = column.unify_dictionaries()
    return pa.chunked_array([column.combine_chunks()], column.type)
