"""Errors of the Python objects behind a policy, said in the words of the policy file."""

from __future__ import annotations

import re

_TRANSLATIONS: tuple[tuple[str, str], ...] = (
    (r"^\w+\(bounds=…\): ", "[requirement.bounds] "),
    (r"^bounds\['(.*?)'\]: ", r"[requirement.bounds] \1: "),
    (r"^\w+\((\w+)=…\): ", r"\1: "),
    (r"^\w+\((\w+)=(\w+), (\w+)=(\w+)\) ", r"\1 = \2 with \3 = \4 "),
    (r"^(types|recode|bins|domains|missing): ", r"[\1] "),
    (r"^(recode|bins) of '(.*?)': ", r"[\1] \2: "),
    (r"^domain of '(.*?)': ", r"[domains] \1: "),
    (r"^(identifier|quasi|sensitive|other): ", r"[columns] \1: "),
    (r"^the schema names no (\w+) column", r"[columns] \1: no column is named"),
    (r"^column (?='.*' is listed )", "[columns] "),
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
