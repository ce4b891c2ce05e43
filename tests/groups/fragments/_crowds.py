"""Tables for tests of groups that hide presence, and what a group of them shows."""

from fractions import Fraction
from math import prod

import numpy as np
from hypothesis import strategies as st

from sfumato.errors import Infeasible
from tests.makers import people

ALPHAS = [Fraction(1), Fraction(1, 2), Fraction(1, 3), Fraction(2, 7), Fraction(1, 10)]


def crowd(rows, columns, *, values=6, seed=0, widths=(9, 4, 5, 3)):
    """Return a table of random people with so many quasi columns, numeric and categorical ones in turn."""
    coins = np.random.default_rng(seed)
    quasi = {}
    for j in range(columns):
        codes = coins.integers(0, widths[j % len(widths)], rows)
        quasi[f"q{j}"] = codes.tolist() if j % 2 == 0 else [f"c{code}" for code in codes]
    return people([f"v{k}" for k in coins.integers(0, values, rows)], **quasi)


@st.composite
def crowds(draw, least=2):
    """Draw a table of 2 to 70 people."""
    rows = draw(st.integers(least, 70))
    return crowd(rows, draw(st.integers(2, 4)), values=draw(st.integers(2, 7)), seed=draw(st.integers(0, 10_000)))


def attempt(make):
    """Return what is made and None, or None and why it cannot be."""
    try:
        return make(), None
    except Infeasible as error:
        return None, error


def groups_of(grouping):
    """Return the rows of every group."""
    return [np.flatnonzero(grouping.group == g) for g in range(grouping.groups)]


def covered(table, rows):
    """Return how many combinations the values of these rows make up."""
    return prod(len(set(column.codes[rows].tolist())) for column in table.quasi)


def keeps_bounds(table, bounds, rows):
    """Return whether no value has a larger share of these rows than its bound."""
    counts = np.bincount(table.sensitive.codes[rows], minlength=len(bounds.limits))
    return all(Fraction(int(count), len(rows)) <= limit for count, limit in zip(counts, bounds.limits, strict=True))


def places(table, rows):
    """Return the set of values of these rows in every column."""
    return [set(column.codes[rows].tolist()) for column in table.quasi]
