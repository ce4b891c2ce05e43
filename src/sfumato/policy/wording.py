"""Errors of the Python objects behind a policy, said in the words of the policy file."""

from __future__ import annotations

import re
from collections.abc import Callable


def _in_brackets(match: re.Match[str]) -> str:
    return ", ".join(f"[{option}]" for option in (match[1] + match[2]).split(", ")) + " "


_TRANSLATIONS: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (r"^\w+\(bounds=…\): ", "[requirement.bounds] "),
    (r"^bounds\['(.*?)'\]: ", r"[requirement.bounds] \1: "),
    (r"^\w+\((\w+)=…\): ", r"\1: "),
    (r"^\w+\((\w+)=(\w+), (\w+)=(\w+)\) ", r"\1 = \2 with \3 = \4 "),
    (r"^(types|recode|bins|domains|missing)((?:, (?:types|recode|bins|domains|missing))*): ", _in_brackets),
    (r"^(recode|bins) of '(.*?)': ", r"[\1] \2: "),
    (r"^domain of '(.*?)': ", r"[domains] \1: "),
    (r"^(identifier|quasi|sensitive|other): ", r"[columns] \1: "),
    (r"^the schema names no (\w+) column", r"[columns] \1: no column is named"),
    (r"^column (?='.*' is listed )", "[columns] "),
    (r"^people: (key|keep|rows|quasi|alike|shares|without_key|most): ", r"[people] \1: "),
    (r"^unit: (household|quasi|alike|shares|without_key|most): ", r"[unit] \1: "),
    (r"^unit: ", "[unit] "),
    (r"^secrets: ", "[secrets] "),
    (r"^people: ", "[people] "),
    (r"^allow_unique: ", "[columns] allow_unique: "),
    (r"^protect: ", "[requirement] protect: "),
)
_PYTHON_WORDS = (
    (r"\bgot True$", "got true"),
    (r"\bgot False$", "got false"),
    (r"\bin the schema$", "under [columns]"),
    (r"^\[(\w+)\] '(.*?)' is ('.*'), expected", r"[\1] \2: got \3, expected"),
)


def in_toml(message: str, where: str = "") -> str:
    """Return the message with the section and key of the file instead of Python's call: "[method] max_size: expected …".

    `where` is the section the figures come from, for messages that do not name one themselves.
    """
    for old, new in _TRANSLATIONS:
        changed = re.sub(old, new, message)
        if changed != message:
            message = changed
            break
    for old, new in _PYTHON_WORDS:
        message = re.sub(old, new, message)
    return message if message.startswith("[") or not where else f"{where} {message}"


_HINTS: tuple[tuple[str, str], ...] = (
    (r"\bpeople=\{\"(\w+)\": (\".*?\"), \"(\w+)\": (\".*?\")\}", r"[people] \1 = \2 and \3 = \4"),
    (r"\b(people|unit)=\{\"(\w+)\": (\".*?\"|\[.*?\]|\d+)\}", r"[\1] \2 = \3"),
    (r"\bone_row_per_person=False\b", "[input] one_row_per_person = false"),
    (r"\bReadOptions\((\w+)=(.*?)\)", r"[input] \1 = \2"),
    (r"\b(types|recode|bins|domains|missing)=\{\"((?:[^\"\\]|\\.)*)\": (\{.*?\}|\[.*?\]|\"[^\"]*\")\}", r'[\1] "\2" = \3'),
    (r"\b(identifier|quasi|sensitive|other|allow_unique)=\[", r"[columns] \1 = ["),
    (r"\"(\w+)\": ", r"\1 = "),
    (r"\{(?=\w)", "{ "),
    (r"(?<=[\w\"])\}", " }"),
    (r"\] \"([A-Za-z0-9_-]+)\" = ", r"] \1 = "),
    (r"\bwith (bins|recode)$", r"with [\1]"),
    (r"\bfrom (bins|types|recode|domains|missing)$", r"from [\1]"),
)


def hint_in_toml(hint: str | None) -> str | None:
    """Return a hint of the Python objects as a policy file writes it: `missing={"age": "value"}` is `[missing] age = "value"`."""
    if hint is not None:
        for old, new in _HINTS:
            hint = re.sub(old, new, hint)
    return hint
