"""What a manifest may state beside the name of each of sfumato's own methods: the one place that asks for such a name.

A statement that nothing else fixes could leak information. Methods of other packages have their package's word for what they do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sfumato.basis import BasisName

MethodDocument = Mapping[str, Any]
"""A method as a manifest states it: its name and its parameters."""


def _cuts(method: MethodDocument, against: str) -> BasisName:
    if method.get("grouping") == "paper":
        return "paper"
    if against == "reader":
        return "tight"
    return "safe" if method.get("patience") == 0 or method.get("grouping") == "halves" else "soft"


def _always(answer: Any) -> Callable[[MethodDocument, str], Any]:
    return lambda method, against: answer


def _unless_published(method: MethodDocument, against: str) -> bool:
    return method.get("grouping") != "paper"


def _constraint_note(method: MethodDocument) -> str:
    """Return what a release of Mondrian may say whose bounds are all 1."""
    constraint = method.get("constraint")
    kept = "k-anonymity" if constraint == "bounds" else f"the constraint {constraint!r}, kept in every group,"
    return f"{kept} makes no claim about sensitive values"


@dataclass(frozen=True, kw_only=True)
class Program:
    """What a manifest may state beside the name of a method, for its parameters and an adversary.

    `forms` are those it makes, `basis` is that of its groups, None where there are none. `keeps_sets` and `keeps_each` say
    whether it keeps bounds on sets of values, and on each of several sensitive columns by itself.
    """

    forms: tuple[str, ...]
    basis: Callable[[MethodDocument, str], BasisName | None]
    keeps_sets: Callable[[MethodDocument, str], bool] = _always(False)
    keeps_each: Callable[[MethodDocument, str], bool] = _always(False)
    bundles: tuple[str, ...] = ()
    """The forms in which it publishes people who may have several values of a secret."""
    cuts: bool = False
    """Whether records were grouped by cutting quasi space, which can be done again for any placement of the values."""
    least_share: bool = False
    """Whether a cut leaves a least share of the people on either side (LEAST_SHARE in groups/_cut_kernels.py)."""
    one_level: bool = False
    """Whether a level of a category may be cut from all others."""
    replayed: bool = False
    """Whether the audit knows how its cuts were made, and makes them again."""
    own_parameters: frozenset[str] = frozenset()
    """Public parameters that its weaker claim needs, beside the claim."""
    names_noise: bool = False
    """Whether the release says who drew its noise."""
    note: Callable[[MethodDocument], str | None] = lambda method: None
    """What the release may say of itself where its bounds are all 1."""


_GROUPS = ("buckets", "ranges")

PROGRAMS: dict[str, Program] = {
    "boxes": Program(
        forms=_GROUPS,
        basis=_cuts,
        keeps_sets=_always(True),
        keeps_each=_always(True),
        bundles=_GROUPS,
        cuts=True,
        least_share=True,
        one_level=True,
        replayed=True,
    ),
    "near-groups": Program(
        forms=_GROUPS,
        basis=lambda method, against: "annealed" if against == "reader" else "matched",
        keeps_sets=lambda method, against: against != "reader",
        keeps_each=lambda method, against: against != "reader",
    ),
    "multi-size": Program(forms=_GROUPS, basis=_always("blind")),
    "anatomy": Program(forms=("buckets",), basis=_always("blind")),
    "decoys": Program(forms=("buckets",), basis=lambda method, against: "tight" if method.get("guard") else "blind"),
    "mondrian": Program(forms=_GROUPS, basis=_always("tight"), cuts=True, note=_constraint_note),
    "burel": Program(forms=_GROUPS, basis=_always("tight")),
    "heterogeneous": Program(forms=("ranges",), basis=_always("paper"), own_parameters=frozenset({"matches", "dummies"})),
    "ring": Program(forms=("ranges",), basis=_always("paper"), own_parameters=frozenset({"matches"})),
    "ambiguity": Program(
        forms=("columns",),
        basis=_cuts,
        keeps_sets=_unless_published,
        keeps_each=_unless_published,
        cuts=True,
        least_share=True,
        one_level=True,
    ),
    "priview": Program(forms=("views",), basis=lambda method, against: "paper" if method.get("grouping") == "paper" else "tight"),
    "noisy-boxes": Program(
        forms=("buckets",), basis=_always("noisy"), keeps_sets=_always(True), keeps_each=_always(True), bundles=("buckets",)
    ),
    "small-domain": Program(forms=("randomized",), basis=_always(None)),
    "uniform": Program(forms=("randomized",), basis=_always(None)),
    "burel-perturbation": Program(forms=("randomized",), basis=_always(None)),
    "privbayes": Program(forms=("synthetic",), basis=_always(None)),
    "noisy-tables": Program(forms=("synthetic",), basis=_always(None), names_noise=True),
}
"""Sfumato's own methods by their names."""

FOREIGN = Program(
    forms=(*_GROUPS, "columns", "views", "synthetic"),
    basis=lambda method, against: None,
    keeps_sets=_always(True),
    keeps_each=_always(True),
)
"""What may stand beside a method of another package. Its basis is its package's word."""


def program_of(method: MethodDocument) -> Program | None:
    """Return what may stand beside a method; None where it is called as none of sfumato's, or takes the name of one."""
    own = PROGRAMS.get(str(method.get("name")))
    if "package" in method:
        return FOREIGN if own is None else None
    return own


def by_halves(method: MethodDocument) -> bool:
    """Return whether boxes are sfumato's own cut in halves, which hide presence also from whoever knows the program.

    That another package says so is not enough: the program is not known.
    """
    return "package" not in method and method.get("grouping") == "halves"


def refuses_by_bounds(method: MethodDocument) -> bool:
    """Return whether cuts are refused by bounds alone, in a box whose people with equal values stay together."""
    return method.get("constraint", "bounds") == "bounds" and method.get("partition") != "relaxed"
