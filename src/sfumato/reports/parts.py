"""What a page is made of: sections of paragraphs, tables, figures and lists, all of it plain text until it is shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, TypeAlias

Mood = Literal["good", "bad", "careful"]


@dataclass(frozen=True)
class Prose:
    """Paragraphs."""

    paragraphs: Sequence[str]
    kind: ClassVar[str] = "words"


@dataclass(frozen=True)
class Note:
    """A sentence that must not be overlooked."""

    text: str
    mood: Mood
    kind: ClassVar[str] = "note"


@dataclass(frozen=True)
class Grid:
    """A table; the columns numbered in `right` hold figures."""

    caption: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    right: Sequence[int] = ()
    kind: ClassVar[str] = "grid"


@dataclass(frozen=True)
class ChartFigure:
    """A chart as SVG, what it shows, and its numbers for whoever does not see it."""

    svg: str
    caption: str
    numbers: Grid | None = None
    kind: ClassVar[str] = "figure"


@dataclass(frozen=True)
class Definitions:
    """Words and what they mean."""

    pairs: Sequence[tuple[str, str]]
    kind: ClassVar[str] = "terms"


@dataclass(frozen=True)
class Listing:
    """Text to be copied, closed until somebody opens it where it is long."""

    title: str
    text: str
    kind: ClassVar[str] = "listing"


@dataclass(frozen=True)
class Heading:
    """A heading inside of a section."""

    text: str
    kind: ClassVar[str] = "heading"


@dataclass(frozen=True)
class Blanks:
    """What only people can say: what is asked, and what is meant by it, each with room to write."""

    pairs: Sequence[tuple[str, str]]
    kind: ClassVar[str] = "blanks"


@dataclass(frozen=True)
class Signatures:
    """Who signs, each with room for name, date and signature."""

    roles: Sequence[str]
    kind: ClassVar[str] = "signatures"


PageBlock: TypeAlias = Prose | Note | Grid | ChartFigure | Definitions | Listing | Heading | Blanks | Signatures


@dataclass(frozen=True)
class Section:
    """A heading, and what stands under it."""

    name: str
    title: str
    blocks: Sequence[PageBlock]


@dataclass(frozen=True)
class Card:
    """A figure at the top of the page, with what it is."""

    figure: str
    label: str
    mood: Mood | Literal[""] = ""


@dataclass(frozen=True)
class Page:
    """A report before it is shown."""

    title: str
    private: bool
    about: str
    cards: Sequence[Card]
    sections: Sequence[Section] = field(default_factory=tuple)
