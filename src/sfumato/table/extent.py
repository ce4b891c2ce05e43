"""How far the cells of a sheet reach, looked at before it is read.

The library that reads workbooks lays out everything between the first and the last filled cell of a sheet, and copies a text for
every cell that shares it. One stray cell in the last row and one in the last column then ask for half a terabyte, from a file of
a few kilobytes. What is accepted here takes memory in proportion to the file: cells between, and texts, are bounded by its size.
"""

from __future__ import annotations

import re
import struct
import xml.parsers.expat as expat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, Any

import numpy as np

from sfumato.errors import InputError
from sfumato.table.compound import workbook_stream
from sfumato.table.source import require_amount, require_bounded

_FEW = 1 << 22
"""So many cells a sheet may always lay out; more only where they are few for what is filled, and for the size of the file."""
_A_FILLED_CELL, _A_BYTE = 32, 16
_BLOCK = 1 << 20
_GIVEN = rb'((?: [A-Za-z:]+="[^"<>]*")*)'
_CELL = re.compile(
    rb'<c(?: r="([A-Z]{1,3})([0-9]{1,7})")?' + _GIVEN + rb" ?(/>|></c>|>(?:<v>([0-9]{1,9})</v>)?)|<row" + _GIVEN + rb" ?/?>"
)
_ANY_CELL = re.compile(rb"<(?:[^\s<>/!?]+:)?(?:c|row)[\s/>]")
_NUMBER = re.compile(rb' r="([0-9]{1,12})"')
_IRREGULAR = re.compile(rb"<!|\0")


@dataclass
class Extent:
    """The filled cells of a sheet: the corners of what they span, how many they are, and which shared texts they name."""

    top: int = 1 << 40
    bottom: int = -1
    left: int = 1 << 40
    right: int = -1
    filled: int = 0
    shared: list[Any] = field(default_factory=list)

    def add(self, row: int, column: int, last: int | None = None, *, down: int = 1) -> None:
        """Count the cells from a column to the `last` one, in so many rows."""
        last = column if last is None else last
        self.top, self.bottom = min(self.top, row), max(self.bottom, row + down - 1)
        self.left, self.right = min(self.left, column), max(self.right, last)
        self.filled += (last - column + 1) * down

    def span(self, rows: list[int], columns: list[int]) -> None:
        """Count cells at these places."""
        self.top, self.bottom = min(self.top, *rows), max(self.bottom, *rows)
        self.left, self.right = min(self.left, *columns), max(self.right, *columns)
        self.filled += len(rows)

    def require_compact(self, path: Path) -> None:
        """Raise an `InputError` unless what lies between the corners is bounded by what is filled and by the file's size."""
        rows, columns = self.bottom - self.top + 1, self.right - self.left + 1
        most = max(_FEW, min(_A_FILLED_CELL * self.filled, _A_BYTE * path.stat().st_size))
        if self.filled and rows * columns > most:
            raise InputError(
                f"{path.name}: the filled cells of a sheet span {rows:,} rows and {columns:,} columns, of which only "
                f"{self.filled:,} cells are filled, or which is too much for so small a file",
                hint="delete cells far away from the table (Ctrl+End shows the last one), or save the table as CSV",
            )


def require_compact(path: Path, ending: str, sheet: str | None) -> None:
    """Raise an `InputError` for a workbook whose sheet would lay out, or copy, far more than its file holds."""
    try:
        if ending == ".xls":
            for extent in _biff(workbook_stream(path)):
                extent.require_compact(path)
            return
        require_bounded(path)
        with zipfile.ZipFile(path) as archive:
            _require_compact_parts(archive, path, ending, sheet)
    except (
        zipfile.BadZipFile,
        OSError,
        ValueError,
        KeyError,
        RuntimeError,
        struct.error,
        expat.ExpatError,
        EOFError,
        zlib.error,
    ):
        raise InputError(f"{path.name}: the file is damaged or no workbook", hint="save it again, or as CSV") from None


def _require_compact_parts(archive: zipfile.ZipFile, path: Path, ending: str, sheet: str | None) -> None:
    if ending == ".ods":
        with archive.open("content.xml") as stream:
            for extent in _repeated(stream):
                extent.require_compact(path)
        return
    parts = [sheet_part] if (sheet_part := _part(archive, ending, sheet)) else _sheets(archive, ending)
    if not parts:
        raise ValueError("no sheets")
    lengths = None
    for name in parts:
        extent = _records(archive, name) if ending == ".xlsb" else _marked(archive, name)
        extent.require_compact(path)
        if extent.shared:
            if lengths is None:
                lengths = _shared_lengths(archive, ending)
            counted = np.bincount(np.concatenate(extent.shared), minlength=len(lengths))[: len(lengths)]
            require_amount(path, int(counted.astype(object) @ lengths.astype(object)))


# --- .xlsx and .xlsm: marked text


def _sheets(archive: zipfile.ZipFile, ending: str) -> list[str]:
    suffix = ".bin" if ending == ".xlsb" else ".xml"
    return [name for name in archive.namelist() if name.casefold().endswith(suffix) and "sheets/" in name.casefold()]


def _part(archive: zipfile.ZipFile, ending: str, sheet: str | None) -> str | None:
    """Return the part that holds the sheet, the first one where none is named; None where that cannot be told."""
    if ending == ".xlsb" or "xl/workbook.xml" not in archive.namelist():
        return None
    sheets = [
        given for tag, given in _elements(archive, "xl/workbook.xml") if tag == "sheet" and sheet in (None, given.get("name"))
    ]
    relation = next((value for key, value in (sheets or [{}])[0].items() if key.rpartition(":")[2] == "id"), None)
    targets = {given.get("Id"): given.get("Target", "") for _, given in _elements(archive, "xl/_rels/workbook.xml.rels")}
    target = targets.get(relation, "").lstrip("/").removeprefix("xl/")
    place = str(PurePosixPath("xl") / target).casefold()
    return next((name for name in archive.namelist() if target and name.casefold() == place), None)


def _elements(archive: zipfile.ZipFile, part: str) -> list[tuple[str, dict[str, str]]]:
    elements: list[tuple[str, dict[str, str]]] = []
    with archive.open(part) as stream:
        _parse(stream, lambda name, given: elements.append((name, given)))
    return elements


def _parse(
    stream: IO[bytes],
    begin: Callable[[str, dict[str, str]], object],
    end: Callable[[str], object] | None = None,
    data: Callable[[str], object] | None = None,
) -> None:
    """Call these for the elements of a marked text, by their names without what stands before a colon, and for texts."""
    parser = expat.ParserCreate()
    parser.buffer_text = True

    def refuse(*_: object) -> None:
        raise ValueError("a workbook declares no entities")

    parser.EntityDeclHandler = refuse
    parser.StartElementHandler = lambda name, given: begin(name.rpartition(":")[2], given)
    parser.EndElementHandler = None if end is None else lambda name: end(name.rpartition(":")[2])
    parser.CharacterDataHandler = data
    while block := stream.read(_BLOCK):
        parser.Parse(block, False)
    parser.Parse(b"", True)


def _marked(archive: zipfile.ZipFile, part: str) -> Extent:
    with archive.open(part) as stream:
        extent = _regular(stream)
    if extent is None:
        with archive.open(part) as stream:
            extent = _irregular(stream)
    return extent


class _Regular:
    """The extent of a sheet as programs write it, found piece by piece without taking its marks apart."""

    def __init__(self) -> None:
        self.extent, self.row, self.column = Extent(), -1, -1
        self._columns: dict[bytes, int] = {}

    def look(self, text: bytes) -> bool:
        """Count the cells in a piece of text; False where one is written in another way."""
        cells = _CELL.findall(text)
        if len(cells) != len(_ANY_CELL.findall(text)) or _IRREGULAR.search(text):
            return False
        rows, columns, shared = [], [], []
        for letters, digits, given, closing, value, row in cells:
            if not closing:
                number = _NUMBER.search(row)
                self.row, self.column = int(number[1]) - 1 if number else self.row + 1, -1
                continue
            if letters:
                self.row, self.column = int(digits) - 1, self._place(letters)
            elif b' r="' in given:  # a place in lower case, or after other things
                return False
            else:
                self.column += 1
            if closing in (b"/>", b"></c>"):
                continue
            rows.append(self.row)
            columns.append(self.column)
            if b' t="s"' in given:
                if not value:
                    return False
                shared.append(int(value))
        if rows:
            self.extent.span(rows, columns)
        if shared:
            self.extent.shared.append(np.array(shared, np.int64))
        return True

    def _place(self, letters: bytes) -> int:
        if letters not in self._columns:
            self._columns[letters] = _column(letters.decode())
        return self._columns[letters]


def _regular(stream: IO[bytes]) -> Extent | None:
    """Return the extent of a sheet whose cells are written as all programs write them; None for others."""
    sheet, rest = _Regular(), b""
    while block := stream.read(_BLOCK):
        text = rest + block
        # Up to the last row or cell, which may go on in the next block.
        end = max(text.rfind(b"<c"), text.rfind(b"<row"))
        text, rest = (text[:end], text[end:]) if end > 0 else (b"", text)
        if len(rest) > 8 * _BLOCK or not sheet.look(text):
            return None
    return sheet.extent if sheet.look(rest) else None


def _column(letters: str) -> int:
    number = 0
    for letter in letters.upper():
        number = 26 * number + ord(letter) - 64
    return number - 1


def _irregular(stream: IO[bytes]) -> Extent:
    """Return the extent of a sheet that is written in any other way; a cell without a place is beside or below the one before."""
    extent = Extent()
    row = column = -1
    kind = within = ""

    def begin(name: str, given: dict[str, str]) -> None:
        nonlocal row, column, kind, within
        within = name
        if name == "row":
            row, column = int(given["r"]) - 1 if "r" in given else row + 1, -1
        elif name == "c":
            kind, match = given.get("t", ""), re.fullmatch(r"([A-Za-z]{1,6})([0-9]{1,12})", given.get("r", ""))
            row, column = (int(match[2]) - 1, _column(match[1])) if match else (row, column + 1)
        elif name in ("v", "is"):
            extent.add(row, column)

    def data(text: str) -> None:
        if within == "v" and kind == "s" and text.strip().isdigit():
            extent.shared.append(np.array([int(text)], np.int64))

    def end(_: str) -> None:
        nonlocal within
        within = ""

    _parse(stream, begin, end, data)
    return extent


def _shared_lengths(archive: zipfile.ZipFile, ending: str) -> Any:
    """Return how many bytes each shared text has at most, with its marks."""
    name = "xl/sharedStrings.bin" if ending == ".xlsb" else "xl/sharedStrings.xml"
    part = next((member for member in archive.namelist() if member.casefold() == name.casefold()), None)
    if part is None:
        return np.zeros(1, np.int64)
    if ending == ".xlsb":
        return np.array([len(data) for kind, data in _bin_records(archive.read(part)) if kind == _SHARED_TEXT], np.int64)
    lengths: list[int] = []
    depth = 0

    def begin(tag: str, _: dict[str, str]) -> None:
        nonlocal depth
        if tag == "si":
            lengths.append(0)
        depth += tag == "t"

    def end(tag: str) -> None:
        nonlocal depth
        depth -= tag == "t"

    def data(text: str) -> None:
        if lengths and depth:
            lengths[-1] += len(text.encode())

    with archive.open(part) as stream:
        _parse(stream, begin, end, data)
    return np.array(lengths, np.int64)


# --- .ods: cells and rows that stand for many


def _repeated(stream: IO[bytes]) -> list[Extent]:
    """Return the extents of the sheets of an OpenDocument file."""
    sheets: list[Extent] = []
    spans: list[tuple[int, int]] = []
    row = column = width = 0
    down = 1
    filled = False

    def begin(name: str, given: dict[str, str]) -> None:
        nonlocal row, column, width, down, filled
        plain = {key.rpartition(":")[2]: value for key, value in given.items()}
        if name == "table":
            sheets.append(Extent())
            row = 0
        elif name == "table-row":
            down, column = int(plain.get("number-rows-repeated", 1)), 0
            spans.clear()
        elif name in ("table-cell", "covered-table-cell"):
            width, filled = int(plain.get("number-columns-repeated", 1)), "value-type" in plain or "formula" in plain
        elif name == "p":
            filled = True

    def end(name: str) -> None:
        nonlocal row, column
        if name in ("table-cell", "covered-table-cell"):
            if filled:
                spans.append((column, column + width - 1))
            column += width
        elif name == "table-row" and sheets:
            for first, last in spans:
                sheets[-1].add(row, first, last, down=down)
            row += down

    _parse(stream, begin, end)
    return sheets


# --- .xlsb and .xls: records

_ROW, _SHARED_CELL, _SHARED_TEXT = 0, 7, 19


def _records(archive: zipfile.ZipFile, part: str) -> Extent:
    """Return the extent of a sheet of binary records: a row says its number, a cell its column."""
    extent, row, shared = Extent(), 0, []
    for kind, data in _bin_records(archive.read(part)):
        if kind == _ROW:
            (row,) = struct.unpack_from("<I", data)
        elif 2 <= kind <= 11:  # 1 is an empty cell
            extent.add(row, struct.unpack_from("<I", data)[0])
            if kind == _SHARED_CELL:
                shared.append(struct.unpack_from("<I", data, 8)[0])
    if shared:
        extent.shared.append(np.array(shared, np.int64))
    return extent


def _bin_records(content: bytes) -> Iterator[tuple[int, memoryview]]:
    """Yield the records of a part: kind and length are numbers of seven bits a byte, then the data follow."""
    view, at = memoryview(content), 0

    def number(most: int) -> int:
        nonlocal at
        value = 0
        for k in range(most):
            byte = view[at]
            at += 1
            value |= (byte & 0x7F) << 7 * k
            if byte < 0x80:
                break
        return value

    try:
        while at < len(view):
            # Of the kind all bits are kept, also the one that says that a second byte follows; small kinds have none.
            kind, length = number(2), number(4)
            yield kind, view[at : at + length]
            at += length
    except IndexError:
        raise ValueError("a record goes on beyond its part") from None


_BEGIN, _CELLS, _RUNS = 0x809, {0x6, 0x206, 0x406, 0xD6, 0xFD, 0x203, 0x204, 0x205, 0x27E, 0x3, 0x4, 0x2, 0x5}, {0xBD}


def _biff(content: bytes) -> list[Extent]:
    """Return the extents of the sheets of an old workbook: records of a kind, a length, and data, of cells row and column."""
    sheets, at = [Extent()], 0
    while at + 4 <= len(content):
        kind, length = struct.unpack_from("<HH", content, at)
        if kind in (_BEGIN, 0x9, 0x209, 0x409):
            sheets.append(Extent())
        elif kind in _CELLS and length >= 4:
            sheets[-1].add(*struct.unpack_from("<HH", content, at + 4))
        elif kind in _RUNS and length >= 6:
            row, first = struct.unpack_from("<HH", content, at + 4)
            sheets[-1].add(row, first, max(first, struct.unpack_from("<H", content, at + 2 + length)[0]))
        at += 4 + length
    return sheets
