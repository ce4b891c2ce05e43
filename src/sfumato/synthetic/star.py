"""The sensitive attribute's noisy table with each quasi column, and the model of largest entropy that `mbi` fits to them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from fractions import Fraction
from importlib import import_module
from typing import Any

import numpy as np

from sfumato.arrays import Floats, Integers
from sfumato.errors import PolicyError
from sfumato.randomize.noise import two_sided
from sfumato.randomness import Randomness
from sfumato.synthetic.network import Counted
from sfumato.synthetic.records import Given, whole_weights
from sfumato.synthetic.spending import table_ratio

STEPS = 1000
"""Steps of mirror descent, `mbi`'s usual number."""


def star_law(people: Counted, epsilon: Fraction, random: Randomness) -> tuple[list[Given], Fraction]:
    """Return what records are drawn from, and the ratio of the noise; d tables spend ε together.

    Given the sensitive value, quasi columns are independent in the fitted model: nothing was measured of two of them together.
    So records are drawn one by one from it; `mbi`'s own rounding to whole records would make up links between them.
    """
    quasi, secret = range(len(people.sizes) - 1), len(people.sizes) - 1
    ratio = table_ratio(epsilon, len(quasi))
    noisy = []
    for column in quasi:
        counts = people.table((secret, column))
        noisy.append(counts + two_sided(ratio, counts.size, random.spawn(column)).reshape(counts.shape))
    fitted = fit(noisy, people.people, float(2 * ratio / (1 - ratio) ** 2) ** 0.5)
    law = [Given(secret, (), whole_weights(fitted[0].sum(axis=1)))]
    return [*law, *(Given(column, (secret,), whole_weights(fitted[column])) for column in quasi)], ratio


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
