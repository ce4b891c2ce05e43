"""Text from a table, made safe for a screen: nothing in it can move the cursor, colour the line or reverse the reading order."""

from __future__ import annotations

import unicodedata

_JOINERS = "\u200c\u200d"  # part of how some scripts are written
_NAMED = {"\n": "⏎", "\x7f": "␡"}


def visible(text: str) -> str:
    """Return the text with every control character shown instead of obeyed: an escape as ␛, a line break as ⏎."""
    return text if text.isprintable() else "".join(map(_shown, text))


def escape_json(document: str) -> str:
    """Return a JSON document in which the control characters that JSON leaves as they are, are escaped too."""
    return "".join(sign if sign == "\n" or not _hidden(sign) else f"\\u{ord(sign):04x}" for sign in document)


def _shown(sign: str) -> str:
    if not _hidden(sign):
        return sign
    if sign in _NAMED:
        return _NAMED[sign]
    code = ord(sign)
    return chr(0x2400 + code) if code < 0x20 else f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def _hidden(sign: str) -> bool:
    return unicodedata.category(sign) in ("Cc", "Cf", "Cs", "Zl", "Zp") and sign not in _JOINERS
