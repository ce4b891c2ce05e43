"""Small HTML for notebooks: everything that is shown is escaped, and nothing in it runs or loads anything."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

_CELL = "padding:2px 10px;text-align:{};vertical-align:top"


def text(value: object) -> str:
    """Return any value as HTML text; characters that nobody sees, or that turn the reading order, are shown as �."""
    return html.escape("".join(letter if letter.isprintable() or letter == "\n" else "�" for letter in str(value)))


def table(headings: Sequence[object], rows: Iterable[Sequence[object]], *, right: Sequence[int] = ()) -> str:
    """Return a table; the columns numbered in `right` hold figures."""
    sides = ["right" if place in right else "left" for place in range(len(headings))]

    def row(kind: str, cells: Sequence[object]) -> str:
        shown = (f'<{kind} style="{_CELL.format(side)}">{text(cell)}</{kind}>' for cell, side in zip(cells, sides, strict=True))
        return f"<tr>{''.join(shown)}</tr>"

    body = "".join(row("td", cells) for cells in rows)
    return f'<table style="border-collapse:collapse"><thead>{row("th", headings)}</thead><tbody>{body}</tbody></table>'


def card(title: object, *parts: str, under: object = "") -> str:
    """Return a heading with what belongs under it; `parts` are HTML already."""
    small = f'<div style="opacity:.7">{text(under)}</div>' if under else ""
    return f"<div><strong>{text(title)}</strong>{small}{''.join(parts)}</div>"


def paragraphs(sentences: Iterable[object]) -> str:
    """Return one paragraph a sentence."""
    return "".join(f'<p style="margin:4px 0">{text(sentence)}</p>' for sentence in sentences)
