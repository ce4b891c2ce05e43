"""Mutants of what comes with a table: hierarchies that a policy names, and workbooks instead of text."""

from __future__ import annotations

import io
import random
import re
import zipfile
from functools import cache
from typing import Any
from xml.sax.saxutils import escape

from sfumato import Policy, publication
from sfumato.policy import draft_policy
from tests.fuzz.bases import VALUES, frames
from tests.fuzz.input_kinds import POLICY, stored, tried
from tests.fuzz.noise import NUMBERS, TEXTS, mutate_bytes, mutate_text
from tests.fuzz.oracle import Wrong, false_claims
from tests.fuzz.release_kinds import Work

TOWNS = "1010;10;1;*\n1020;10;1;*\n8010;80;8;*\n8020;80;8;*\n"
ILLNESSES = "".join(f"{one};{kind};any\n" for one, kind in zip(VALUES, "llcivi", strict=True))
WITH_HIERARCHIES = (
    POLICY
    + """
[requirement.sets]
kinds = {{ hierarchy = "illnesses.csv", level = {kinds}, theta = 1, offset = "1/3" }}

[types]
town = "categorical"

[recode]
town = {{ hierarchy = "towns.csv", level = {towns}{other} }}
"""
)


def hierarchy_mutant(coins: random.Random, work: Work) -> str:
    """Publish by a policy that names a damaged or odd hierarchy; what is published is true, and readable from the receipt."""
    work.scratch.mkdir(exist_ok=True)
    data, path = work.scratch / "people.csv", work.scratch / "with.toml"
    data.write_bytes(stored(".csv"))
    for name, text in (("towns.csv", TOWNS), ("illnesses.csv", ILLNESSES)):
        (work.scratch / name).write_bytes(_odd_hierarchy(coins, text) if coins.random() < 0.7 else text.encode())
    levels = {key: coins.choice([1, 1, 1, 2, 3, 0, -1, 10**9, '"1"', "1.0"]) for key in ("towns", "kinds")}
    other = coins.choice(["", "", ', other = "elsewhere"', ', other = "10"', ", other = 1", ', other = ""'])
    path.write_text(WITH_HIERARCHIES.format(**levels, other=other), encoding="utf-8")
    tried(draft_policy, data)  # which looks for hierarchies beside the table
    policy = tried(lambda: Policy.load(path, data=data))
    table = None if policy is None else tried(policy.read_table, data)
    for name in ("towns.csv", "illnesses.csv"):
        (work.scratch / name).unlink()
    if policy is None or table is None:
        return "refused"
    again = Policy.parse(policy.kept_text(table)).read_table(data)
    if again.to_arrow() != table.to_arrow():
        raise Wrong("the policy in the receipt reads the table otherwise")
    made = tried(lambda: publication(table, policy.requirement, method=policy.method, random=1))
    if made is None:
        return "not published"
    place = work.fresh()
    made.release.save(place)
    faults = false_claims(place, table)
    if faults:
        raise Wrong(f"a release was published, but: {'; '.join(faults[:3])}")
    return "published"


def _odd_hierarchy(coins: random.Random, text: str) -> bytes:
    lines = text.splitlines(keepends=True)
    at = coins.randrange(len(lines))
    way = coins.choice(["bytes", "bytes", "twice", "lost", "otherwise", "cell", "delimiter", "marked", "long"])
    if way == "twice":
        lines.insert(at, coins.choice(lines))
    elif way == "lost":
        del lines[at]
    elif way == "otherwise":  # a value in two categories, or a category in two
        lines.append(lines[at].replace(";", f";{coins.choice(TEXTS)}", 1))
    elif way == "cell":
        cells = lines[at].rstrip("\n").split(";")
        cells[coins.randrange(len(cells))] = coins.choice(TEXTS)
        lines[at] = ";".join(cells) + "\n"
    elif way == "delimiter":
        lines = [line.replace(";", coins.choice([",", "\t", "|"])) for line in lines]
    elif way == "marked":
        lines.insert(0, coins.choice(["\ufeff", "value;level 1;level 2\n", "\n\n", '"']))
    elif way == "long":
        lines.append(";".join(["1010"] * coins.choice([1, 2, 500, 5000])) + "\n")
    data = "".join(lines).encode("utf-8", "surrogatepass")
    return mutate_bytes(coins, data) if way == "bytes" else data


_PACKED = {
    "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/>'
    '<Override PartName="/xl/workbook.xml" '
    'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>'
    '<Override PartName="/xl/worksheets/sheet1.xml" '
    'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>',
    "_rels/.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" '
    'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/>'
    "</Relationships>",
    "xl/workbook.xml": '<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets>'
    '<sheet name="s1" sheetId="1" r:id="r1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" '
    'Target="worksheets/sheet1.xml"/></Relationships>',
}
SHEET = "xl/worksheets/sheet1.xml"


@cache
def workbook() -> dict[str, bytes]:
    """Return the table of people as the files in a workbook."""
    table = frames()["plain"][0]
    lines = []
    for number, row in enumerate([table.column_names, *(list(one.values()) for one in table.to_pylist())], 1):
        cells = "".join(_cell(f"{chr(65 + place)}{number}", value) for place, value in enumerate(row))
        lines.append(f'<row r="{number}">{cells}</row>')
    sheet = '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>{}</sheetData></worksheet>'
    return {name: text.encode() for name, text in (_PACKED | {SHEET: sheet.format("".join(lines))}).items()}


def _cell(place: str, value: Any) -> str:
    if isinstance(value, int):
        return f'<c r="{place}"><v>{value}</v></c>'
    return f'<c r="{place}" t="inlineStr"><is><t>{escape(str(value))}</t></is></c>'


def workbook_mutant(coins: random.Random, work: Work) -> str:
    """Give a damaged or odd workbook to all that reads tables."""
    work.scratch.mkdir(exist_ok=True)
    path = work.scratch / f"people{coins.choice(['.xlsx', '.xlsx', '.xlsx', '.xlsm', '.xls', '.ods', '.xlsb'])}"
    files = dict(workbook())
    if coins.random() < 0.8:
        name = coins.choice([SHEET, SHEET, SHEET, *files])
        text = files[name].decode()
        files[name] = (_odd_sheet(coins, text) if name == SHEET else mutate_text(coins, text)).encode("utf-8", "surrogatepass")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", coins.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    path.write_bytes(packed.getvalue() if coins.random() < 0.8 else mutate_bytes(coins, packed.getvalue()))
    drafted, table = tried(draft_policy, path), tried(Policy.parse(POLICY).read_table, path)
    if drafted is not None:
        Policy.parse(drafted)
    return "refused" if drafted is None and table is None else "read"


ELSEWHERE = ("A1", "B2", "A50", "Z9", "AA3", "C900", "a1", "A0", "1A", "", "$A$1", "A-1", "A99999999999", "XFD2", "A1048576")
"""Where cells are said to be. A sheet has 16,384 columns, to XFD, and 1,048,576 rows."""


def _odd_sheet(coins: random.Random, text: str) -> str:
    way = coins.choice(["text", "text", "place", "type", "value", "row", "twice", "more"])
    cells = list(re.finditer(r"<c .*?</c>", text))
    one = coins.choice(cells)
    cell = one[0]
    if way == "text":
        return mutate_text(coins, text)
    if way == "place":
        cell = re.sub(r'r="[^"]*"', f'r="{coins.choice(ELSEWHERE)}"', cell)
    elif way == "type":
        kind = coins.choice(["s", "str", "b", "e", "d", "n", "x", "inlineStr"])
        value = coins.choice(["0", "1", "-1", "99999999", "#N/A", "2020-01-01T00:00:00", "x", "1e999", "nan", ""])
        cell = f'<c r="A2" t="{kind}"><v>{value}</v></c>'
    elif way == "value":
        value = coins.choice([*map(str, NUMBERS), "1e308", "-0.0", "1e-320", *map(escape, TEXTS[:20])])
        cell = re.sub(r"<(v|t)>.*?</", lambda found: f"<{found[1]}>{value}</", cell)
    elif way == "row":
        return re.sub(r'<row r="2">', f'<row r="{coins.choice(["0", "-1", "1", "40", "x", ""])}">', text, count=1)
    elif way == "twice":
        cell += cell
    else:
        cell += f'<c r="{coins.choice(ELSEWHERE)}" t="inlineStr"><is><t>{escape(coins.choice(TEXTS[:20]))}</t></is></c>'
    return text[: one.start()] + cell + text[one.end() :]
