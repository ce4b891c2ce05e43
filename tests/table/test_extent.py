"""Workbooks whose cells reach far beyond their table: refused before anything is laid out, in a sentence."""

from __future__ import annotations

import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest

from sfumato.errors import InputError
from sfumato.table import ReadOptions, read_arrow
from sfumato.table.extent import _biff, _bin_records, require_compact

pytest.importorskip("python_calamine")

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_LINKS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
_OPEN = "urn:oasis:names:tc:opendocument:xmlns:"
TABLE = (
    '<row r="1"><c r="A1" t="inlineStr"><is><t>age</t></is></c><c r="B1" t="inlineStr"><is><t>ill</t></is></c></row>'
    '<row r="2"><c r="A2"><v>1</v></c><c r="B2" t="inlineStr"><is><t>flu</t></is></c></row>'
)


def xlsx(path: Path, *sheets: str, shared: str = "") -> Path:
    """Write a workbook whose sheets S1, S2, … have these rows."""
    listed = "".join(f'<sheet name="S{k}" sheetId="{k}" r:id="rId{k}"/>' for k in range(1, len(sheets) + 1))
    linked = "".join(
        f'<Relationship Id="rId{k}" Type="{_LINKS}/worksheet" Target="worksheets/sheet{k}.xml"/>'
        for k in range(1, len(sheets) + 1)
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{_PACKAGE}"><Relationship Id="r" Type="{_LINKS}/officeDocument" Target="xl/workbook.xml"/>'
            "</Relationships>",
        )
        archive.writestr(
            "xl/workbook.xml",
            f'<?xml version="1.0"?><workbook xmlns="{_MAIN}" xmlns:r="{_LINKS}"><sheets>{listed}</sheets></workbook>',
        )
        archive.writestr("xl/_rels/workbook.xml.rels", f'<Relationships xmlns="{_PACKAGE}">{linked}</Relationships>')
        if shared:
            archive.writestr("xl/sharedStrings.xml", f'<sst xmlns="{_MAIN}">{shared}</sst>')
        for k, rows in enumerate(sheets, 1):
            archive.writestr(
                f"xl/worksheets/sheet{k}.xml", f'<worksheet xmlns="{_MAIN}"><sheetData>{rows}</sheetData></worksheet>'
            )
    return path


def ods(path: Path, rows: str) -> Path:
    spaces = " ".join(f'xmlns:{one}="{_OPEN}{one}:1.0"' for one in ("office", "table", "text"))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", "<manifest/>")
        archive.writestr(
            "content.xml",
            f"<office:document-content {spaces}><office:body><office:spreadsheet>"
            f'<table:table table:name="S">{rows}</table:table></office:spreadsheet></office:body></office:document-content>',
        )
    return path


FAR = {
    "the last row and column": '<row r="2"><c r="XFD2"><v>1</v></c></row><row r="1048576"><c r="A1048576"><v>1</v></c></row>',
    "some thousands of both": '<row r="9"><c r="IV65536"><v>1</v></c></row>',
    "by the number of a row": '<row r="4294967295"><c><v>1</v></c></row>',
    "by both": '<row r="1048576"><c><v>1</v></c></row><row r="3"><c r="XFD3"><v>1</v></c></row>',
    "in lower case": '<row r="9"><c r="iv65536"><v>1</v></c></row>',
    "in single quotes after others": "<row r='9'><c x='>' r='IV65536'><v>1</v></c></row>",
    "after other things": '<row r="9"><c s="1" r="IV65536"><v>1</v></c></row>',
    "with a prefix": f'<x:row xmlns:x="{_MAIN}" r="9"><x:c r="IV65536"><x:v>1</x:v></x:c></x:row>',
    "as texts": '<row r="9"><c r="IV65536" t="inlineStr"><is><t>x</t></is></c></row>',
}  # fmt: skip


@pytest.mark.parametrize("ending", ["xlsx", "xlsm"])
@pytest.mark.parametrize("name", FAR)
def test_a_stray_cell_far_from_the_table_is_refused_before_it_is_read(name: str, ending: str, tmp_path: Path) -> None:
    path = xlsx(tmp_path / f"t.{ending}", TABLE + FAR[name])
    with pytest.raises(InputError, match=r"[0-9,]+ rows and [0-9,]+ columns.*[0-9,]+ cells"):
        read_arrow(path)


NEAR = {
    "empty cells with a format": '<row r="2"><c r="XFD2" s="1"/></row><row r="1048576"><c r="A1048576" s="1"></c></row>',
    "a comment": '<!-- <c r="XFD1048576"><v>1</v></c> --><row r="3"><c r="A3"><v>2</v></c></row>',
    "a gap of some rows": '<row r="500"><c r="A500"><v>2</v></c></row>',
}


@pytest.mark.parametrize("name", NEAR)
def test_what_is_empty_or_near_is_read(name: str, tmp_path: Path) -> None:
    found = read_arrow(xlsx(tmp_path / "t.xlsx", TABLE + NEAR[name]))
    assert (found.column_names, found["ill"].to_pylist()[0]) == (["age", "ill"], "flu")


def test_only_the_sheet_that_is_read_is_looked_at(tmp_path: Path) -> None:
    path = xlsx(tmp_path / "t.xlsx", TABLE, TABLE + FAR["some thousands of both"])
    assert read_arrow(path).num_rows == 1
    with pytest.raises(InputError, match="span 65,536 rows and 256 columns"):
        read_arrow(path, ReadOptions(sheet="S2"))


def test_a_long_text_that_many_cells_share_is_refused(tmp_path: Path) -> None:
    """A cell that names a text of a megabyte takes a megabyte: 18 KB would be 3 GB."""
    rows = "".join(f'<row r="{i}"><c r="A{i}" t="s"><v>0</v></c><c r="B{i}" t="s"><v>1</v></c></row>' for i in range(1, 3000))
    long = xlsx(tmp_path / "t.xlsx", rows, shared=f"<si><t>{'x' * 1_000_000}</t></si><si><t>b</t></si>")
    with pytest.raises(InputError, match="300 times as large"):
        read_arrow(long)
    require_compact(xlsx(tmp_path / "u.xlsx", rows, shared="<si><t>age</t></si><si><t>b</t></si>"), ".xlsx", None)


_ONE = '<table:table-cell office:value-type="float" office:value="1"/>'
_NAMES = "".join(
    f'<table:table-cell office:value-type="string"><text:p>{name}</text:p></table:table-cell>' for name in ("a", "b")
)
REPEATED = {
    "rows": f'<table:table-row table:number-rows-repeated="1000000000">{_ONE}</table:table-row>',
    "cells": '<table:table-row><table:table-cell table:number-columns-repeated="90000000" office:value-type="float" '
    'office:value="1"/></table:table-row>',
    "gaps": f'<table:table-row><table:table-cell table:number-columns-repeated="16000"/>{_ONE}</table:table-row>'
    '<table:table-row table:number-rows-repeated="100000"><table:table-cell/></table:table-row>'
    f"<table:table-row>{_ONE}</table:table-row>",
}  # fmt: skip


@pytest.mark.parametrize("name", REPEATED)
def test_rows_and_cells_that_stand_for_millions_are_refused(name: str, tmp_path: Path) -> None:
    head = f"<table:table-row>{_NAMES}</table:table-row>"
    with pytest.raises(InputError, match="cells of a sheet"):
        read_arrow(ods(tmp_path / "t.ods", head + REPEATED[name]))
    cells = '<table:table-cell table:number-columns-repeated="16384"/>'
    blank = f'<table:table-row table:number-rows-repeated="1048000">{cells}</table:table-row>'
    row = f'<table:table-row>{_ONE}{_ONE}<table:table-cell table:number-columns-repeated="16382"/></table:table-row>'
    assert read_arrow(ods(tmp_path / "u.ods", head + row + blank)).num_rows == 1


def _record(kind: int, data: bytes) -> bytes:
    return bytes([kind, len(data)]) + data


def test_binary_sheets_say_where_their_cells_are(tmp_path: Path) -> None:
    def sheet(*cells: tuple[int, int]) -> bytes:
        rows = (_record(0, struct.pack("<I", r)) + _record(5, struct.pack("<IId", c, 0, 1.0)) for r, c in cells)
        return b"\x81\x01\x00" + b"".join(rows)  # a kind of two bytes comes first

    assert [kind for kind, _ in _bin_records(sheet((0, 0)))] == [129, 0, 5]
    for name, cells, fits in (("near", [(0, 0), (9, 3)], True), ("far", [(0, 16383), (1048575, 0)], False)):
        path = tmp_path / f"{name}.xlsb"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("xl/worksheets/sheet1.bin", sheet(*cells))
        if fits:
            require_compact(path, ".xlsb", None)
        else:
            with pytest.raises(InputError, match="span 1,048,576 rows and 16,384 columns"):
                require_compact(path, ".xlsb", None)


def compound(stream: bytes) -> bytes:
    """Return a compound file of sectors of 512 bytes that holds this stream as its workbook."""
    count = -(-len(stream) // 512)
    fats = -(-(count + 2) // 127)
    table = np.full(fats * 128, 0xFFFFFFFF, "<u4")
    table[:fats] = 0xFFFFFFFD
    table[fats] = 0xFFFFFFFE  # the directory
    table[fats + 1 : fats + 1 + count] = np.arange(fats + 2, fats + 2 + count)
    table[fats + count] = 0xFFFFFFFE
    head = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6) + bytes(10)
    head += struct.pack("<IIIIIIII", fats, fats, 0, 0, 0xFFFFFFFE, 0, 0xFFFFFFFE, 0)
    head += np.concatenate([np.arange(fats), np.full(109 - fats, 0xFFFFFFFF)]).astype("<u4").tobytes()

    def entry(name: str, kind: int, start: int, size: int) -> bytes:
        text = (name + "\0").encode("utf-16-le")
        return text.ljust(64, b"\0") + struct.pack("<HBB", len(text), kind, 1) + bytes(48) + struct.pack("<IQ", start, size)

    entries = entry("Root Entry", 5, 0xFFFFFFFE, 0) + entry("Workbook", 2, fats + 1, len(stream)) + bytes(256)
    return head + table.tobytes() + entries + stream.ljust(count * 512, b"\0")


def test_old_workbooks_say_where_their_cells_are(tmp_path: Path) -> None:
    def sheet(*cells: tuple[int, int]) -> bytes:
        begin = struct.pack("<HHI", 0x809, 4, 0x100600)
        filled = b"".join(struct.pack("<HHHHHd", 0x203, 14, r, c, 0, 1.0) for r, c in cells)
        return (begin + filled + struct.pack("<HH", 0x0A, 0)).ljust(8192, b"\0")

    assert [(one.bottom, one.right) for one in _biff(sheet((3, 2), (7, 1)))][1] == (7, 2)
    near, far = tmp_path / "near.xls", tmp_path / "far.xls"
    near.write_bytes(compound(sheet((0, 0), (9, 3))))
    require_compact(near, ".xls", None)
    far.write_bytes(compound(sheet((0, 60000), (65535, 0))))
    with pytest.raises(InputError, match="span 65,536 rows and 60,001 columns"):
        read_arrow(far)
