"""The sensitive attribute's noisy table with each quasi column, and the model of largest entropy that `mbi` fits to them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from fractions import Fraction
from importlib import import_module
from typing import Any, Literal

import numpy as np

from sfumato.arrays import Floats, Integers
from sfumato.errors import PolicyError
from sfumato.randomize.noise import two_sided
from sfumato.randomize.opendp_noise import noisy_counts
from sfumato.randomness import Randomness
from sfumato.synthetic.network import CodedPeople
from sfumato.synthetic.records import Given, whole_weights
from sfumato.synthetic.spending import table_ratio

STEPS = 1000
"""Steps of mirror descent, `mbi`'s usual number."""


Noise = Literal["opendp", "sfumato"]
"""Whose noise it is."""


def star_law(people: CodedPeople, epsilon: Fraction, random: Randomness, noise: Noise) -> tuple[list[Given], float]:
    """Return what records are drawn from, and the deviation of the noise; d tables spend ε together.

    Given the sensitive value, quasi columns are independent in the fitted model: nothing was measured of two of them together.
    So records are drawn one by one from it; `mbi`'s own rounding to whole records would make up links between them.
    """
    quasi, secret = range(len(people.sizes) - 1), len(people.sizes) - 1
    tables = [people.table((secret, column)) for column in quasi]
    noisy, deviation = _by_opendp(tables, epsilon) if noise == "opendp" else _by_coins(tables, epsilon, random)
    fitted = fit(noisy, people.people, deviation)
    law = [Given(secret, (), whole_weights(fitted[0].sum(axis=1)))]
    return [*law, *(Given(column, (secret,), whole_weights(fitted[column])) for column in quasi)], deviation


def _by_coins(tables: Sequence[Integers], epsilon: Fraction, random: Randomness) -> tuple[list[Integers], float]:
    """Return the tables with two-sided geometric noise of our own coins, which a seed repeats."""
    ratio = table_ratio(epsilon, len(tables))
    noisy = [
        counts + two_sided(ratio, counts.size, random.spawn(column)).reshape(counts.shape) for column, counts in enumerate(tables)
    ]
    return noisy, float(2 * ratio / (1 - ratio) ** 2) ** 0.5


def _by_opendp(tables: Sequence[Integers], epsilon: Fraction) -> tuple[list[Integers], float]:
    """Return the tables with OpenDP's noise: another record in the place of one moves two cells of each by one."""
    both, deviation = noisy_counts(np.concatenate([counts.ravel() for counts in tables]), 2 * len(tables), epsilon)
    ends = np.cumsum([counts.size for counts in tables])[:-1]
    return [part.reshape(counts.shape) for part, counts in zip(np.split(both, ends), tables, strict=True)], deviation


def fit(noisy: Sequence[Integers], people: int, deviation: float) -> list[Floats]:
    """Return the tables [sensitive values × quasi values] of the model nearest to the noisy ones, all with the same totals."""
    mbi = _library()
    names = [f"q{k}" for k in range(len(noisy))]
    domain = mbi.Domain(("s", *names), (noisy[0].shape[0], *(counts.shape[1] for counts in noisy)))
    measured = [
        mbi.LinearMeasurement(counts.ravel().astype(np.float64), ("s", name), deviation)
        for name, counts in zip(names, noisy, strict=True)
    ]
    model = mbi.estimation.MirrorDescent().estimate(domain, measured, known_total=float(people), iters=STEPS)
    return [
        np.asarray(model.project(("s", name)).datavector(), np.float64).reshape(counts.shape)
        for name, counts in zip(names, noisy, strict=True)
    ]


def _library() -> Any:
    """Return `mbi`, which works in 64 bits here, or say how to get it."""
    try:
        import_module("jax").config.update("jax_enable_x64", True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about settings of jax that change nothing in a single fit
            return import_module("mbi")
    except ImportError:
        raise PolicyError(
            "noisy-tables: the model is fitted by mbi, which is not installed", hint="pip install 'sfumato[baselines]'"
        ) from None
