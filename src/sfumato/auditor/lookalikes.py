"""Values that a reader would take for one another: two spellings of one value can tell two people apart."""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

import pyarrow as pa

from sfumato.release.careful import value_type

_CAPITALS = str.maketrans("АВЕЗІЈКМНОРСТУХЅԚԜҺ" + "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABE3IJKMHOPCTYXSQWh" + "ABEZHIKMNOPTYX")
"""Cyrillic, then Greek capitals, and the Latin ones they look like."""
_SMALL = str.maketrans("авезікмнорстухѕјԛԝһѵ" + "αιкνορτυχω" + "ıɑɡɩʋøłđħŧ", "abe3ikmhopctyxsjqwhv" + "aiknoptuxw" + "iagivoldht")
"""Cyrillic, Greek and other small letters, and the Latin ones they look like."""
_DIGITS = str.maketrans("1I|0", "lllo")
_UNSEEN = ("Mn", "Me", "Cf", "Cc", "Zs", "Zl", "Zp")


def skeletons(text: str) -> tuple[str, str]:
    """Return what is left of a text without case, blanks, accents and scripts, and the same with digits taken for letters."""
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text)).translate(_CAPITALS)
    kept = "".join(one for one in plain if unicodedata.category(one) not in _UNSEEN)
    return kept.casefold().translate(_SMALL), kept.translate(_DIGITS).casefold().translate(_SMALL)


def look_alikes(texts: Iterable[str]) -> int:
    """Return how many of these texts look like another one of them."""
    marks = {text: skeletons(text) for text in texts}
    times = [Counter(found[k] for found in marks.values()) for k in (0, 1)]
    return sum(any(times[k][found[k]] > 1 for k in (0, 1)) for found in marks.values())


def look_alike_warnings(tables: Mapping[str, pa.Table]) -> tuple[str, ...]:
    """Return a sentence for every published text column whose values differ only by case, blanks or look-alike letters."""
    texts: dict[str, set[str]] = defaultdict(set)
    for table in tables.values():
        for field in table.schema:
            kind = value_type(field.type)
            column = table[field.name]
            if pa.types.is_list(kind) and pa.types.is_string(kind.value_type):
                column, kind = pa.chunked_array([chunk.flatten() for chunk in column.chunks], kind.value_type), kind.value_type
            if pa.types.is_string(kind):
                texts[field.name].update(text for text in column.unique().to_pylist() if text is not None)
    return tuple(
        f"column {name!r}: {many} values differ from another one only by case, blanks, accents or look-alike letters; such "
        "spellings can mark people, and only the table can tell whether they are its own"
        for name, values in texts.items()
        if (many := look_alikes(values))
    )
