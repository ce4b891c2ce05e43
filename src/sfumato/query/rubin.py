"""One result from the results of several completed tables, by Rubin's rules.

Each of m tables gives estimates q and their covariance U, as any tool computes them. Together: the mean of q; the covariance
T = mean(U) + (1 + 1/m)·B, B the covariance of q between tables; and Student's t with the degrees of freedom of Barnard and
Rubin (Biometrika 86, 1999), which those of the complete table bound where they are known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato import notebook
from sfumato.arrays import Floats
from sfumato.errors import QueryError
from sfumato.query.answer import require_confidence, text_table
from sfumato.table.frames import Native, to_native

_GIVE = "give results that have .params and .cov_params(), or pairs of estimates and covariances"


@dataclass(frozen=True, eq=False, repr=False)
class Combined:
    """Estimates combined over completed tables.

    >>> import sfumato as sf
    >>> combined = sf.combine([([1.0], [[0.5]]), ([2.0], [[0.5]]), ([3.0], [[0.5]])], names=["age"])
    >>> combined.estimates, combined.covariance
    (array([2.]), array([[1.83333333]]))
    """

    names: tuple[str, ...]
    estimates: Floats
    covariance: Floats
    within: Floats
    """The mean of the tables' own covariances: what a sample of these people leaves open."""
    between: Floats
    """The covariance between tables: what the release leaves open."""
    freedom: Floats
    """Degrees of freedom of each estimate."""
    tables: int
    confidence: float = 0.95

    @property
    def std_errors(self) -> Floats:
        """The standard error of each estimate."""
        return np.sqrt(np.diag(self.covariance))

    @cached_property
    def intervals(self) -> Floats:
        """[estimates × 2]: the ends of an interval with the stated confidence."""
        from scipy.stats import t

        reach = t.ppf(0.5 + self.confidence / 2, self.freedom) * self.std_errors
        return np.stack([self.estimates - reach, self.estimates + reach], axis=1)

    @cached_property
    def p_values(self) -> Floats:
        """How likely an estimate so far from 0 would be if the truth were 0."""
        from scipy.stats import t

        error = self.std_errors
        with np.errstate(divide="ignore", invalid="ignore"):
            p: Floats = 2 * t.sf(np.abs(self.estimates) / error, self.freedom)
        return p

    @property
    def missing(self) -> Floats:
        """The share of each estimate's variance that is there because the release leaves values open."""
        with np.errstate(divide="ignore", invalid="ignore"):
            share: Floats = (1 + 1 / self.tables) * np.diag(self.between) / np.diag(self.covariance)
        return share

    def to_arrow(self) -> pa.Table:
        """Return a row for each estimate: name, estimate, std_error, low, high, p_value, freedom, missing."""
        columns = {
            "estimate": self.estimates,
            "std_error": self.std_errors,
            "low": self.intervals[:, 0],
            "high": self.intervals[:, 1],
            "p_value": self.p_values,
            "freedom": self.freedom,
            "missing": self.missing,
        }
        return pa.table(
            {"name": pa.array(self.names, pa.string()), **{name: pa.array(figures) for name, figures in columns.items()}}
        )

    def frame(self, kind: Native = "pandas") -> Any:
        """Return the same table as a frame of the kind asked for (pandas, polars, pyarrow)."""
        return to_native(self.to_arrow(), kind)

    def __str__(self) -> str:
        return "\n".join([*text_table([self._headings, *self._rows()]), f"combined over {self.tables} completed tables"])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        shown = notebook.table(self._headings, self._rows(), right=range(1, len(self._headings)))
        return notebook.card(f"{len(self.names)} estimates", shown, under=f"combined over {self.tables} completed tables")

    @property
    def _headings(self) -> tuple[str, ...]:
        return ("", "estimate", "std. error", f"{100 * self.confidence:g} % interval", "p", "missing")

    def _rows(self) -> list[tuple[str, ...]]:
        figures = zip(self.names, self.estimates, self.std_errors, self.intervals, self.p_values, self.missing, strict=True)
        return [
            (name, f"{q:.4g}", f"{error:.2g}", f"{low:.4g} to {high:.4g}", f"{p:.3f}", f"{share:.2f}")
            for name, q, error, (low, high), p, share in figures
        ]


def combine(
    fits: Iterable[Any], *, names: Sequence[str] | None = None, freedom: float | None = None, confidence: float = 0.95
) -> Combined:
    """Return one result from the results of completed tables, by Rubin's rules.

    Each of `fits` is a result of statsmodels, or of anything else with `.params` and `.cov_params()`; or a pair: estimates (a
    sequence, a mapping or a pandas series) and their covariance (a matrix, or one variance for each). All must be of the same
    model, its terms in the same order. `freedom` are the degrees of freedom that the complete table would have left; those of
    the results (`df_resid`) where they say so.
    """
    require_confidence(confidence)
    listed = list(fits)
    if len(listed) < 2:
        raise QueryError(f"combine: {len(listed)} results; variance between tables needs at least two", hint="5 to 20 are usual")
    parts = [_part(fit, number) for number, fit in enumerate(listed, 1)]
    own = parts[0].names if names is None else tuple(map(str, names))
    for number, part in enumerate(parts, 1):
        if part.names != parts[0].names or len(own) != len(part.estimates):
            raise QueryError(
                f"combine: result {number} has other terms than the first, or than `names`",
                hint="fit the same model to every table; give categories the same levels in all of them",
            )
    estimates = np.stack([part.estimates for part in parts])
    within = np.mean([part.covariance for part in parts], axis=0)
    between = np.atleast_2d(np.cov(estimates, rowvar=False))
    total = within + (1 + 1 / len(parts)) * between
    known = [part.freedom for part in parts if part.freedom is not None]
    complete = freedom if freedom is not None else min(known) if known else None
    degrees = _degrees(np.diag(between), np.diag(total), len(parts), complete)
    return Combined(own, estimates.mean(axis=0), total, within, between, degrees, len(parts), confidence)


def _degrees(between: Floats, total: Floats, tables: int, complete: float | None) -> Floats:
    """Return the degrees of freedom of Barnard and Rubin; infinite where tables agree and nothing else bounds them."""
    share = np.divide((1 + 1 / tables) * between, total, out=np.zeros_like(total), where=total > 0)
    with np.errstate(divide="ignore"):
        degrees: Floats = (tables - 1) / share**2
        if complete is None or np.isinf(complete):
            return degrees
        observed = (complete + 1) / (complete + 3) * complete * (1 - share)
        both: Floats = 1 / (1 / degrees + 1 / np.maximum(observed, 1e-9))
    return both


@dataclass(frozen=True, eq=False)
class _Part:
    names: tuple[str, ...]
    estimates: Floats
    covariance: Floats
    freedom: float | None


def _part(fit: Any, number: int) -> _Part:
    where, left = f"combine: result {number}", None
    if hasattr(fit, "params") and hasattr(fit, "cov_params"):
        estimates, covariance, left = fit.params, fit.cov_params(), getattr(fit, "df_resid", None)
    else:
        try:
            estimates, covariance = fit
        except (TypeError, ValueError):
            raise QueryError(f"{where}: a {type(fit).__name__} is not a result", hint=_GIVE) from None
    given = list(estimates) if isinstance(estimates, Mapping) else getattr(estimates, "index", None)
    if isinstance(estimates, Mapping):
        estimates = list(estimates.values())
    try:
        q = np.asarray(estimates, np.float64).ravel()
        u = np.asarray(covariance, np.float64)
    except (TypeError, ValueError):
        raise QueryError(f"{where}: its estimates or covariances are not numbers", hint=_GIVE) from None
    u = np.diag(u) if u.ndim == 1 else u.reshape(1, 1) if u.ndim == 0 else u
    if not len(q) or u.shape != (len(q), len(q)):
        raise QueryError(f"{where}: {len(q)} estimates with a covariance of shape {u.shape}", hint=_GIVE)
    if not (np.isfinite(q).all() and np.isfinite(u).all()):
        raise QueryError(f"{where}: an estimate or variance is not finite", hint="did the fit converge in every table?")
    listed = tuple(map(str, given)) if given is not None and not callable(given) else tuple(f"x{k}" for k in range(1, len(q) + 1))
    return _Part(listed, q, u, None if left is None else float(left))
