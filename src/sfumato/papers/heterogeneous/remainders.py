"""Packing what is left of values into buckets, each value in at most so many pieces."""

from __future__ import annotations

from collections.abc import Sequence

_TRIES = 20_000

Piece = tuple[int, int, int]
"""Which item, into which bin, how much of it."""


def pack_remainders(items: Sequence[tuple[int, int]], size: int, bins: int) -> list[Piece] | None:
    """Return the pieces of items (amount, most pieces) in bins of one size, or None if no packing was found.

    Items that may not be split come first, by a search over where they fit best that gives up after a fixed number of steps; the
    others, tightest first, fill the smallest rooms that leave enough for their last piece.
    """
    wanted = [place for place, (amount, _) in enumerate(items) if amount]
    if any(items[place][1] < 1 for place in wanted) or sum(items[place][0] for place in wanted) > size * bins:
        return None
    whole = sorted((place for place in wanted if items[place][1] == 1), key=lambda place: (-items[place][0], place))
    split = sorted(
        (place for place in wanted if items[place][1] > 1), key=lambda place: (items[place][1], -items[place][0], place)
    )
    room = [size] * bins
    homes = _place_whole([items[place][0] for place in whole], room)
    if homes is None:
        return None
    pieces: list[Piece] = []
    for place, home in zip(whole, homes, strict=True):
        room[home] -= items[place][0]
        pieces.append((place, home, items[place][0]))
    for place in split:
        parts = _split(items[place][0], items[place][1], room)
        if parts is None:
            return None
        for home, part in parts:
            room[home] -= part
            pieces.append((place, home, part))
    return pieces


def _place_whole(amounts: Sequence[int], room: Sequence[int]) -> list[int] | None:
    """Return a bin for every amount (falling): depth first, tightest fit first, bins with equal room tried once."""
    left = list(room)
    homes: list[int] = []
    tries = 0
    choices = [_fits(left, amounts[0])] if amounts else []
    while len(homes) < len(amounts):
        tries += 1
        if not choices[-1]:
            choices.pop()
            if not homes or tries > _TRIES:
                return None
            left[homes[-1]] += amounts[len(homes) - 1]
            homes.pop()
            continue
        home = choices[-1].pop()
        left[home] -= amounts[len(homes)]
        homes.append(home)
        if len(homes) < len(amounts):
            choices.append(_fits(left, amounts[len(homes)]))
    return homes


def _fits(left: Sequence[int], amount: int) -> list[int]:
    """Return bins with room for the amount, one for each different room, the tightest last."""
    found = {room: place for place, room in reversed(list(enumerate(left))) if room >= amount}
    return [found[room] for room in sorted(found, reverse=True)]


def _split(amount: int, most: int, room: Sequence[int]) -> list[tuple[int, int]] | None:
    """Return at most `most` parts of an amount in different bins: small rooms filled as long as the last piece still fits."""
    free = sorted((space, place) for place, space in enumerate(room) if space)
    parts: list[tuple[int, int]] = []
    while amount:
        fitting = [(space, place) for space, place in free if space >= amount]
        if fitting:
            parts.append((fitting[0][1], amount))
            return parts
        later = sum(space for space, _ in free[len(free) - (most - len(parts) - 1) :]) if most - len(parts) > 1 else 0
        chosen = next(((space, place) for space, place in free if space + later >= amount), None)
        if chosen is None or len(parts) == most:
            return None
        parts.append((chosen[1], chosen[0]))
        free.remove(chosen)
        amount -= chosen[0]
    return parts
