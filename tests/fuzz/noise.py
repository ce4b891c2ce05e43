"""Small changes to bytes, to text and to JSON that no program would make."""

from __future__ import annotations

import random
import re
from typing import Any

NUMBERS = (
    0,
    1,
    -1,
    2,
    7,
    127,
    128,
    255,
    256,
    32767,
    65536,
    2**31 - 1,
    2**31,
    -(2**31),
    2**32,
    2**53 + 1,
    2**62,
    2**63 - 1,
    10**30,
)
FLOATS = (0.0, -0.0, 0.5, 1.0, 1e-320, 1e308, -1e308, 3.0000000000000004)
TEXTS = (
    "", " ", "0", "1", "-1", "1/2", "2/4", "1/0", "0/1", "1e999999999", "1e999", "0.5", "nan", "inf", "null", "true", "\x00",
    "\n", '"', "\\", "../x", "/etc/passwd", "é", "e\u0301", "\u202e", "\N{GRINNING FACE}",
    "HIV", "hiv", "flu ", "(missing)", "a" * 2000, "9" * 500, "1/" + "3" * 399,
)  # fmt: skip
TOKENS = (
    b"",
    b"\x00",
    b"\xff\xff\xff\xff",
    b"\x7f\xff\xff\xff",
    b"PAR1",
    b",",
    b"\n",
    b'"',
    b";",
    b"\r\n",
    b"\xef\xbb\xbf",
    b"NaN",
    b"1e999",
)


def mutate_bytes(coins: random.Random, data: bytes) -> bytes:
    """Return the bytes with one to four small changes."""
    for _ in range(coins.choice([1, 1, 1, 2, 4])):
        data = _one(coins, data)
    return data


def _one(coins: random.Random, data: bytes) -> bytes:
    if not data:
        return coins.choice(TOKENS)
    anywhere, late = coins.randrange(len(data)), max(0, len(data) - 1 - coins.randrange(64))
    at = coins.choice([anywhere, anywhere, late])
    end = min(len(data), at + coins.choice([1, 1, 2, 4, 8, 50]))
    way = coins.randrange(9)
    if way <= 1:
        return data[:at] + bytes([data[at] ^ (1 << coins.randrange(8))]) + data[at + 1 :]
    if way == 2:
        return data[:at] + bytes([coins.randrange(256)]) + data[at + 1 :]
    if way == 3:
        return data[:at] + coins.choice(TOKENS) + data[at:]
    if way == 4:
        return data[:at] + data[end:]
    if way == 5:
        return data[:end] + data[at:]
    if way == 6:
        return data[:at] if coins.random() < 0.5 else data + coins.choice(TOKENS)
    if way == 7:
        number = coins.choice(NUMBERS) % 2**32
        return data[:at] + number.to_bytes(4, "little") + data[at + 4 :]
    other = coins.randrange(len(data))
    return data[:at] + data[other : other + end - at] + data[end:]


def mutate_text(coins: random.Random, text: str) -> str:
    """Return the text with small changes, as far as it is still text."""
    return mutate_bytes(coins, text.encode()).decode("utf-8", "replace")


def odd_value(coins: random.Random) -> Any:
    """Return something that JSON can say and nobody expects."""
    plain = [None, True, False, [], {}, [[]], {"": ""}, {"model": "l-diversity", "l": 2}]
    return coins.choice(
        [coins.choice(plain), coins.choice(NUMBERS), coins.choice(FLOATS), coins.choice(TEXTS), [coins.choice(TEXTS)]]
    )


def mutate_json(coins: random.Random, document: Any) -> Any:
    """Return the document with one value changed, removed, added or put elsewhere, at any depth."""
    places = list(_places(document))
    container, key = coins.choice(places)
    value = container[key]
    way = coins.randrange(8)
    if way == 0:
        del container[key]
    elif way == 1 and isinstance(container, dict):
        container[coins.choice([*TEXTS, "note", "values", "shares"])] = coins.choice([odd_value(coins), value])
    elif way == 1:
        container.insert(key, coins.choice([odd_value(coins), value]))
    elif way == 2:
        other, place = coins.choice(places)
        if place in (other if isinstance(other, dict) else range(len(other))):
            container[key] = _copy(other[place])
    elif way == 3 and isinstance(value, bool):
        container[key] = not value
    elif way in (3, 4) and isinstance(value, int):
        container[key] = coins.choice([value + 1, value - 1, -value, value * 2, float(value), str(value)])
    elif way in (3, 4) and isinstance(value, str):
        container[key] = coins.choice([value.upper(), value + " ", value[:-1], mutate_text(coins, value), value * 2, [value]])
    elif way in (3, 4) and isinstance(value, list) and value:
        container[key] = coins.choice([value[::-1], value + value[:1], value[1:], value[0]])
    elif way == 5:
        container[key] = [value] if coins.random() < 0.5 else {"value": value}
    else:
        container[key] = odd_value(coins)
    return document


BEYOND = (
    "0", "1", "2", "3/2", "1000001/1000000", "999999/1000000", "21", "1000000000000", "1000000000001", "1/1000000000000",
    "9" * 399, "1/" + "9" * 399, "-1", "-1/2", "0/1", "2/1", "1/0", "1.5", "1e3",
)  # fmt: skip
"""Numbers as manifests write them, at the ends of the ranges that they have and beyond; and some that no manifest writes."""
_EXACT = re.compile(r"-?[0-9]+(/[0-9]+)?")


def number_beyond(coins: random.Random, documents: list[Any]) -> None:
    """Put one to three numbers of some documents, of which one is chosen for each, to the ends of their ranges or beyond."""
    for _ in range(coins.choice([1, 1, 1, 2, 3])):
        document = coins.choice([one for one in documents if isinstance(one, (dict, list))])
        places = [(where, key) for where, key in _places(document) if _is_number(where[key])]
        if places:
            where, key = coins.choice(places)
            exact = isinstance(where[key], str) or coins.random() < 0.1
            where[key] = coins.choice(BEYOND) if exact else coins.choice([*NUMBERS, *FLOATS, where[key] + 1, where[key] - 1])


def _is_number(value: Any) -> bool:
    if isinstance(value, str):
        return _EXACT.fullmatch(value) is not None
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copy(one) for key, one in value.items()}
    return [_copy(one) for one in value] if isinstance(value, list) else value


def _places(node: Any) -> Any:
    """Yield every place of a document, as a container and a key."""
    for key in list(node) if isinstance(node, dict) else range(len(node)):
        yield node, key
        if isinstance(node[key], (dict, list)):
            yield from _places(node[key])
