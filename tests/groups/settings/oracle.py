"""Slow, obviously right versions of what the settings compute, in plain Python; and strategies that draw small problems."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations

from hypothesis import strategies as st

from sfumato.groups.settings._kernels import first_pair
from sfumato.privacy.bounds import Bounds

Classes = tuple[tuple[int, int], ...]


def bounds_of(counts: list[int], limits: list[Fraction]) -> Bounds:
    return Bounds.of(tuple(f"v{i:03d}" for i in range(len(counts))), tuple(counts), tuple(limits))


def linear_bounds(counts: list[int], theta: int | str, offset: str) -> Bounds:
    total = sum(counts)
    return bounds_of(counts, [min(Fraction(1), Fraction(theta) * Fraction(o, total) + Fraction(offset)) for o in counts])


def cap(bounds: Bounds, value: int, size: int, once: bool = False) -> int:
    held = int(bounds.limits[value] * size)
    return min(held, 1) if once else held


def is_valid(bounds: Bounds, classes: Classes, once: bool = False) -> bool:
    """Gale's condition, for every subset of size classes: what they need is no more than what may go there."""
    if sum(size * number for size, number in classes) != bounds.people:
        return False
    for count in range(1, len(classes) + 1):
        for chosen in combinations(classes, count):
            need = sum(size * number for size, number in chosen)
            offer = 0
            for value, have in enumerate(bounds.counts):
                offer += min(have, sum(cap(bounds, value, size, once) * number for size, number in chosen))
            if need > offer:
                return False
    # All records must find a place as well: the same condition for every single value.
    return all(
        have <= sum(cap(bounds, value, size, once) * number for size, number in classes)
        for value, have in enumerate(bounds.counts)
    )


def loss(classes: Classes) -> int:
    return sum(number * (size - 1) ** 2 for size, number in classes)


def all_settings(total: int, sizes: list[int]) -> Iterator[Classes]:
    if total == 0:
        yield ()
    elif sizes:
        for number in range(total // sizes[0] + 1):
            for rest in all_settings(total - number * sizes[0], sizes[1:]):
                yield (((sizes[0], number), *rest)) if number else rest


def best_loss(bounds: Bounds, max_size: int, *, kinds: int | None = None, once: bool = False) -> int | None:
    """The least loss of a valid setting of at most `kinds` sizes, by trying all."""
    smallest = min(-(-limit.denominator // limit.numerator) for limit in bounds.limits)
    sizes = list(range(smallest, max_size + 1))
    settings = sorted(all_settings(bounds.people, sizes), key=loss)
    for classes in settings:
        if (kinds is None or len(classes) <= kinds) and is_valid(bounds, classes, once):
            return loss(classes)
    return None


def max_flow(supply: list[int], capacity: list[list[int]], demand: list[int]) -> int:
    """Ford and Fulkerson, one record at a time."""
    rows, columns = len(supply), len(demand)
    flow = [[0] * columns for _ in range(rows)]
    rest, room = list(supply), list(demand)

    def push(row: int, seen: set[int]) -> bool:
        for column in range(columns):
            if column in seen or flow[row][column] >= capacity[row][column]:
                continue
            seen.add(column)
            if room[column] > 0:
                room[column] -= 1
                flow[row][column] += 1
                return True
            for other in range(rows):
                if flow[other][column] > 0 and push(other, seen):
                    flow[other][column] -= 1
                    flow[row][column] += 1
                    return True
        return False

    for row in range(rows):
        while rest[row] and push(row, set()):
            rest[row] -= 1
    return sum(supply) - sum(rest)


@st.composite
def small_bounds(draw: st.DrawFn, *, values: int = 5, most: int = 6) -> Bounds:
    """At most 5 values, at most 20 people, bounds not below the shares."""
    counts = draw(st.lists(st.integers(1, most), min_size=1, max_size=values).filter(lambda c: sum(c) <= 20))
    total = sum(counts)
    limits = []
    for count in counts:
        share = Fraction(count, total)
        limit = draw(st.sampled_from([Fraction(n, d) for d in (2, 3, 4, 5, 7) for n in range(1, d)] + [Fraction(1)]))
        limits.append(max(share, limit))
    return bounds_of(counts, limits)


def feasible_pairs(small: int, large: int, total: int) -> list[tuple[int, int]]:
    """Return Γ(S₁, S₂): every (b₁, b₂) with S₁·b₁ + S₂·b₂ = n, b₁ descending [F', Lemma 4]."""
    b_small, b_large, step_small, step_large = first_pair(small, large, total)
    if b_small < 0:
        return []
    return [(b_small - i * step_small, b_large + i * step_large) for i in range(b_small // step_small + 1)]
