"""The weight of a survey: for how many people of the population somebody stands, published in public bins only.

An exact weight may lead to a person, since few have the same. Published is one number for each bin, which has at least as many
people as the `floor`. Edges and numbers follow from weights alone, whoever has which secret.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
import pyarrow as pa

from sfumato.arrays import Array, Integers, counted
from sfumato.errors import InputError, PolicyError, did_you_mean
from sfumato.exact import Number, exact, plain, typed
from sfumato.table.bins import Bins, Edge, bins
from sfumato.table.classes import usual_floor
from sfumato.table.declared import declared_domain
from sfumato.table.recode import Recode

if TYPE_CHECKING:
    from sfumato.table.schema import Schema
    from sfumato.table.table import Table

STEPS = "1-2-5"
_TENTH = 10
"""A bin is at least a tenth of its lower edge wide: within it weights differ by little beside what sampling leaves open."""
_FIGURES = 4
_MOST = 200
_STATEMENT = "made_without_secrets = true says that no secret went into making it"


@dataclass(frozen=True, kw_only=True)
class WeightBins(Recode):
    """Weights in bins, each published as the number that stands for it."""

    needs: ClassVar[Any] = "numeric"
    called: ClassVar[str] = "a weight"
    edges: tuple[Edge, ...]
    values: tuple[Fraction, ...]

    def _published(self, values: pa.Array) -> pa.Array:
        place = Bins(self.edges).place(np.asarray(values.to_numpy(zero_copy_only=False), np.float64))
        if (place < 0).any():
            low, high = (float(self.edges[end]) for end in (0, -1))
            raise InputError(f"some weights lie outside the bins from {low:g} to {high:g}", hint="extend the edges of [weight]")
        return pa.array(np.array([float(value) for value in self.values])[place], pa.float64())


@dataclass(frozen=True, kw_only=True)
class Weight:
    """Which column is the weight, how it was made, and how it is published.

    `bins` are edges, or "1-2-5": multiples of a step of 1, 2 or 5 times a power of ten, each a tenth above the one before or
    more, so that every bin has `floor` people. `values` say what stands for a bin: the "mean" of the weights of its people, its
    "middle", or a number for each. `made_without_secrets` states that nothing secret went into making the weight, no calibration
    and no adjustment for non-response on a secret. `strata` and `cluster` name quasi columns of the sampling design.
    `from_table` says that edges or numbers follow from the weights of the table.
    """

    column: str
    made_without_secrets: bool = False
    bins: str | Sequence[Number] = STEPS
    values: str | Sequence[Number] = "mean"
    floor: int | None = None
    strata: str | None = None
    cluster: str | None = None
    from_table: bool = False

    def __post_init__(self) -> None:
        for name in ("column", "strata", "cluster"):
            given = getattr(self, name)
            if (given is not None or name == "column") and not (isinstance(given, str) and given):
                raise PolicyError(f"weight: {name}: expected a column, got {typed(given)}", hint=f'{name} = "…"')
        for name in ("made_without_secrets", "from_table"):
            if not isinstance(getattr(self, name), bool):
                problem = f"weight: {name}: expected true or false, got {typed(getattr(self, name))}"
                raise PolicyError(problem, hint=_STATEMENT)
        floor: Any = self.floor
        if floor is not None and (isinstance(floor, bool) or not isinstance(floor, int) or not 2 <= floor < 1 << 31):
            raise PolicyError(f"weight: floor: expected a number of people from 2 on, got {typed(floor)}", hint="floor = 20")
        self._read_bins()
        self._read_values()

    def _read_bins(self) -> None:
        given: Any = self.bins
        if given == STEPS:
            return
        if isinstance(given, str):
            raise PolicyError(f'weight: bins: expected edges or "{STEPS}", got {typed(given)}', hint="bins = [0, 50, 100, inf]")
        edges = cast(Bins, bins(given, self.column)).edges if not isinstance(given, Mapping) else ()
        if len(edges) < 2 or len(edges) > _MOST or edges[0] < 0 or any(low >= high for low, high in pairwise(edges)):
            raise PolicyError(
                f"weight: bins: expected from 2 to {_MOST} edges that ascend from 0 or more", hint="bins = [0, 50, 100, inf]"
            )
        object.__setattr__(self, "bins", edges)

    def _read_values(self) -> None:
        given: Any = self.values
        edges = None if self.bins == STEPS else cast("tuple[Edge, ...]", self.bins)
        if given == "mean":
            return
        if edges is None:
            raise PolicyError(
                'weight: values: what stands for a bin is its "mean" where edges follow from the table',
                hint="give edges: bins = [0, 50, 100, 500]",
            )
        if given == "middle":
            if isinstance(edges[-1], float):
                raise PolicyError('weight: values: a bin without an end has no "middle"', hint="bins = [0, 50, 100, 500]")
            numbers = tuple((exact(low) + exact(high)) / 2 for low, high in pairwise(cast("tuple[Fraction, ...]", edges)))
        elif isinstance(given, (str, bytes)) or not isinstance(given, Sequence):
            raise PolicyError(f'weight: values: expected "mean", "middle" or a list, got {typed(given)}', hint='values = "mean"')
        else:
            numbers = tuple(exact(number, "weight: values") for number in given)
        fits = len(numbers) == len(edges) - 1 and all(
            low <= number and number > 0 and (number < high or number == high == edges[-1])
            for number, (low, high) in zip(numbers, pairwise(edges), strict=True)
        )
        if not fits or len({float(number) for number in numbers}) < len(numbers):
            raise PolicyError(
                f"weight: values: expected a number above 0 inside each of the {len(edges) - 1} bins", hint='values = "mean"'
            )
        object.__setattr__(self, "values", numbers)

    @property
    def recode(self) -> WeightBins | None:
        """How weights are published; None until a table tells edges and means."""
        if isinstance(self.bins, str) or isinstance(self.values, str):
            return None
        return WeightBins(edges=cast(Any, self.bins), values=cast(Any, self.values))

    def over(self, numbers: Array, counts: Array) -> Weight:
        """Return the rule with edges and values, for these weights, ascending, each of which so many people have."""
        people = int(counts.sum())
        if not len(numbers) or float(numbers[0]) <= 0:
            raise InputError(
                f"column {self.column!r}: a weight is above 0, and some are not", hint="leave out who stands for nobody"
            )
        made = self if self.floor is not None else replace(self, floor=usual_floor(people))
        if made.bins == STEPS:
            made = replace(made, from_table=True, bins=_steps(numbers, counts, cast(int, made.floor)))
        if made.values != "mean":
            return made
        place = Bins(cast(Any, made.bins)).place(np.asarray(numbers, np.float64))
        means = [_mean(numbers[place == k], counts[place == k], *ends) for k, ends in enumerate(pairwise(cast(Any, made.bins)))]
        return replace(made, values=means, from_table=True)

    def to_dict(self) -> dict[str, Any]:
        """Return it in JSON types, as a policy writes it; what has its default is left out, but for how it was made."""
        written: dict[str, Any] = {key.name: getattr(self, key.name) for key in fields(self)}
        written |= {key: _plain(written[key]) for key in ("bins", "values")}
        return {key: value for key, value in written.items() if value not in (None, False) or key == "made_without_secrets"}


def weight(spec: Weight | Mapping[str, Any] | str) -> Weight:
    """Return what `[weight]` of a policy says; the name of a column alone is the rest as usual."""
    if isinstance(spec, Weight):
        return spec
    if isinstance(spec, str):
        return Weight(column=spec)
    if not isinstance(spec, Mapping) or "column" not in spec:
        raise PolicyError(f"weight: expected column = …, got {typed(spec)}", hint='column = "perwt"')
    known = [key.name for key in fields(Weight)]
    for name in spec:
        if name not in known:
            raise PolicyError(f"weight: {name}: unknown key", hint=did_you_mean(str(name), known))
    return Weight(**spec)


def weighed(schema: Schema) -> dict[str, Any]:
    """Return `weight` and `quasi` of a schema: the weight is published as a quasi column."""
    given = weight(cast(Any, schema.weight))
    for role in ("identifier", "sensitive", "other"):
        if given.column in getattr(schema, role):
            raise PolicyError(f"column {given.column!r} is listed as {role} and as weight", hint="every column has one role")
    bands = schema.people_rule.bands  # columns that no table has come last
    listed = [name for name in schema.quasi if name not in bands]
    return {"weight": given, "quasi": tuple(dict.fromkeys((*listed, given.column, *bands)))}


def check_weight(schema: Schema) -> None:
    """Refuse what is said of the weight beside its own rule, and a design of the sample that is not published."""
    given = cast(Weight, schema.weight)
    for option in ("recode", "bins"):
        if given.column in getattr(schema, option):
            raise PolicyError(f"{option}: {given.column!r} is the weight, which has bins of its own", hint="[weight] bins = …")
    if schema.types.get(given.column, "numeric") != "numeric":
        raise PolicyError(f"types: {given.column!r} is the weight, and weights are numbers", hint="leave it out")
    if schema.missing.get(given.column) == "value":
        raise PolicyError(f"missing: {given.column!r} is the weight, which everybody has", hint='"error" or "drop"')
    for name in (given.strata, given.cluster):
        if name is not None and (name not in schema.quasi or name == given.column):
            raise PolicyError(
                f"weight: {name!r} is no quasi column, and the design of a sample is told by published columns alone",
                hint=did_you_mean(name, schema.quasi),
            )


def domain_of_weights(schema: Schema) -> dict[str, Any]:
    """Return the domains of a schema under which not even quasi values may decide what is published: the weight's too."""
    given = cast(Weight, schema.weight)
    domain = declared_domain(_domain(given), given.column)
    if schema.domains.get(given.column, domain) != domain:
        raise PolicyError(f"domains: the values of [weight] are the domain of {given.column!r} already", hint="leave it out")
    return {**schema.domains, given.column: domain}


def _domain(given: Weight) -> list[str]:
    """Return the numbers that may stand for weights, where the table may tell nothing."""
    if given.recode is None:
        raise PolicyError(
            "weight: edges and means would follow from the table, and would be published without noise",
            hint='[weight] bins = [0, 50, 100, 500] and values = "middle", or a number for each bin',
        )
    numbers = [float(number) for number in given.recode.values]
    return [f"{number:g}" if float(f"{number:g}") == number else repr(number) for number in numbers]


def in_words(given: Weight | Mapping[str, Any] | str) -> str:
    """Return how the weight is published, as a sentence."""
    own = weight(given)
    many = 0 if own.recode is None else len(own.recode.values)
    people = "" if own.floor is None else f" of at least {own.floor} people"
    design = [f"{what} by {name!r}" for what, name in (("strata", own.strata), ("clusters", own.cluster)) if name is not None]
    return f"The weight {own.column!r} is published in {many} bins{people}{''.join(f', with {part}' for part in design)}."


def require_crowded_bins(table: Table, counts: Sequence[Integers] | None = None) -> None:
    """Raise an `InputError` where fewer people than the floor have the weight of a bin; `counts` as for `nearly_unique`.

    Not where no person's value may decide whether there is a release: synthetic records show declared weights only.
    """
    own = table.schema.weight
    if own is None or table.schema.by_cell:
        return
    floor = cast(Weight, own).floor or 0
    for j, column in enumerate(table.quasi):
        if column.name != cast(Weight, own).column:
            continue
        times = counted(column.codes, column.size) if counts is None else counts[j]
        few = [time for time in times[: len(column.values)].tolist() if 0 < time < floor]
        if few:
            raise InputError(
                f"weight: {len(few)} bins of {column.name!r} have fewer people than the floor of {floor}",
                hint=f'take wider bins, or bins = "{STEPS}", which joins neighbours',
            )


def _steps(numbers: Array, counts: Array, floor: int) -> list[Edge]:
    """Return edges from 0 to ∞, each at least a tenth above the one before, between which there are at least `floor` people.

    All others are in one bin where there are fewer than twice as many.
    """
    people = np.cumsum(counts)
    step = _step(Fraction(float(numbers[np.searchsorted(people, people[-1] / 100)])) / _TENTH)
    edges: list[Edge] = [Fraction(0)]
    below = 0
    while below + floor <= people[-1] and len(edges) < _MOST - 1:
        last = Fraction(float(numbers[np.searchsorted(people, below + floor)]))  # so many are not above it
        edge = max(last // step + 1, -(-exact(edges[-1]) * (_TENTH + 1) // _TENTH // step)) * step
        before = int(np.searchsorted(numbers, float(edge)))
        below = int(people[before - 1])
        if people[-1] - below < floor:
            break
        edges.append(edge)
    return [*edges, math.inf]


def _step(most: Fraction) -> Fraction:
    """Return the largest 1, 2 or 5 times a power of ten that is at most so wide."""
    power = Fraction(10) ** math.floor(math.log10(float(most)))
    return next(step for step in (10 * power, 5 * power, 2 * power, power, power / 2) if step <= most)


def _mean(numbers: Array, counts: Array, low: Edge, high: Edge) -> Fraction:
    """Return the mean weight of the people of a bin to four figures, inside the bin; of nobody its middle, or a number in it."""
    if not len(numbers):
        return (exact(low) + exact(high)) / 2 if isinstance(high, Fraction) else exact(low) + 1
    whole = sum(Fraction(number) * count for number, count in zip(numbers.tolist(), counts.tolist(), strict=True))
    mean = float(whole / int(counts.sum()))
    inside = (Fraction(f"{mean:.{figures}g}") for figures in (_FIGURES, 2 * _FIGURES, 4 * _FIGURES))
    return next((number for number in inside if low <= number < high), exact(numbers.tolist()[0]))


def _plain(given: Any) -> Any:
    if isinstance(given, str):
        return given
    return ["inf" if isinstance(number, float) else plain(number) for number in given]
