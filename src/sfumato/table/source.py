"""Where the bytes of a table are: a file, the one file of a zip archive, or standard input. Nothing is written anywhere."""

from __future__ import annotations

import functools
import os
import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from sfumato.errors import InputError, did_you_mean
from sfumato.table.regular import refusal

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
    if sum(entry.file_size for entry in entries) > max(_SMALL, _BLOWN_UP * path.stat().st_size):
        raise InputError(
            f"{path.name}: unpacked it would be more than {_BLOWN_UP} times as large; such archives are not opened",
            hint="unpack it yourself, if you trust it",
        )
    return entries


def _zipped(path: Path) -> Source:
    """Return the one table in a zip archive, which is unpacked while it is read and never put on a disk."""
    files = [one for one in require_bounded(path) if not one.is_dir() and not one.filename.startswith("__MACOSX/")]
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
