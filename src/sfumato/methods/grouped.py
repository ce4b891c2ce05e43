"""What the methods that publish groups in either form have in common: checks before, checks after, and showing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from sfumato.errors import PolicyError
from sfumato.groups.grouping import Grouping, histograms, require_bounds
from sfumato.methods.base import Method
from sfumato.methods.forms import require_free_names, show_as_buckets
from sfumato.methods.show_ranges import require_free_range_names, show_as_ranges
from sfumato.privacy.bounds import Bounds
from sfumato.privacy.requirement import Requirement
from sfumato.randomness import Randomness
from sfumato.release.base import Release
from sfumato.table.table import Table

Form = Literal["ranges", "buckets"]
FORMS: tuple[Form, ...] = ("ranges", "buckets")


def require_names_for(table: Table, form: Form) -> None:
    """Raise `InputError` where a column has a name that the form gives to one of its own."""
    (require_free_names if form == "buckets" else require_free_range_names)(table)


def require_something_to_keep(bounds: Bounds) -> None:
    """Raise `PolicyError` where every value has a bound of 1."""
    if not bounds.protects:
        raise PolicyError("nothing to keep: every sensitive value has a bound of 1", hint="lower the bounds")


def show_groups(
    table: Table,
    grouping: Grouping,
    form: Form,
    *,
    bounds: Bounds,
    requirement: Requirement,
    method: Method,
    random: Randomness,
    locality: Literal["tight", "near", "annealed"] = "tight",
    parameters: Mapping[str, Any] | None = None,
) -> Release:
    """Return the groups in a form, every count checked against its bound once more.

    `locality` is how near people came together: by cuts or choices that look at values (`"tight"`, `"annealed"`), or matched
    (`"near"`). Ranges of near groups say it too, because the claim rests on it. `parameters` are further public ones.
    """
    shown = histograms(grouping.group, table.sensitive.codes, len(bounds.values))
    require_bounds(shown, grouping.sizes, bounds.limits)
    if form == "ranges":
        return show_as_ranges(
            table,
            grouping,
            bounds=bounds,
            requirement=requirement,
            method=method,
            random=random,
            parameters={**({} if locality == "tight" else {"locality": locality}), **(parameters or {})},
        )
    release = show_as_buckets(
        table, grouping, shown, bounds=bounds, requirement=requirement, method=method, random=random, locality=locality
    )
    manifest = replace(release.manifest, parameters={**release.manifest.parameters, **(parameters or {})})
    return replace(release, manifest=manifest)


def group_figures(grouping: Grouping) -> dict[str, int]:
    """Return the private figures of every grouping: how many groups, the smallest and the largest, and Σ(size − 1)²."""
    sizes = grouping.sizes
    return {
        "groups": grouping.groups,
        "smallest": int(sizes.min()),
        "largest": int(sizes.max()),
        "loss": int(((sizes - 1) ** 2).sum()),
    }
