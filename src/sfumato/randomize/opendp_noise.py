"""Noise that OpenDP draws, with what its own privacy map says it spends; it cannot be seeded."""

from __future__ import annotations

from fractions import Fraction
from importlib.util import find_spec
from typing import Any

import numpy as np

from sfumato.arrays import Floats, Integers
from sfumato.errors import PolicyError

_STEP = 1 + 1e-9


def opendp_installed() -> bool:
    """Return whether the extra `baselines` is there, without importing it."""
    return find_spec("opendp") is not None


def noisy_counts(counts: Integers, moved: int, epsilon: Fraction) -> tuple[Integers, float]:
    """Return counts with OpenDP's discrete Laplace noise, and its deviation; a person moves them by at most `moved` in all.

    The scale is the smallest of a fine grid for which OpenDP's privacy map, compared exactly, spends no more than ε.
    """
    dp = _library()
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    scale = moved / float(epsilon)
    mechanism = dp.m.make_laplace(*space, scale=scale)
    while Fraction(mechanism.map(moved)) > epsilon:
        scale *= _STEP
        mechanism = dp.m.make_laplace(*space, scale=scale)
    noisy = np.array(mechanism(counts.ravel().tolist()), dtype=np.int64).reshape(counts.shape)
    ratio = np.exp(-1 / scale)
    return noisy, float(np.sqrt(2 * ratio) / (1 - ratio))


def laplace_answers(count: float, scale: float, draws: int) -> Floats:
    """Return answers to one count with noise from OpenDP's Laplace mechanism, each drawn anew."""
    dp = _library()
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.l1_distance(T=float)
    return np.array(dp.m.make_laplace(*space, scale=scale)([float(count)] * draws), dtype=np.float64)


def _library() -> Any:
    """Return OpenDP with its mechanisms switched on, or say how to get it."""
    try:
        import opendp.prelude as dp
    except ImportError:
        raise PolicyError(
            "noise was to be drawn by OpenDP, which is not installed", hint="pip install 'sfumato[baselines]', or leave that out"
        ) from None
    dp.enable_features("contrib")
    return dp
