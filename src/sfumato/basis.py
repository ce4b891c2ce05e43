"""The basis of a grouping: what was looked at when records were grouped. Claims, audit and estimators follow from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

BasisName = Literal["blind", "safe", "soft", "tight", "noisy", "matched", "annealed", "paper"]
"""How manifests spell a basis."""


@dataclass(frozen=True, kw_only=True)
class Basis:
    """What follows from how records were grouped, whichever method did it. A manifest has its name, `BASES` the object.

    `proves` lists the adversaries against whom the histograms of such groups bound belief.
    """

    name: BasisName | None
    proves: tuple[str, ...] = ()
    by_histograms: bool = True
    """Whether the histogram of a group is what bounds belief in it: not with noise, and not where there are no groups."""
    placements_alike: bool = False
    """Whether no decision looked at where values fell inside a group, so that every placement of them is equally likely."""
    by_counts_alone: bool = False
    """Whether counts and coins decided everything: then the likelihood of a bucket's histogram is that of a random draw."""
    values_decide: bool = False
    """Whether where values fell decides who is grouped with whom, and nothing accounts for what that tells."""
    in_boxes: bool = False
    """Whether groups are boxes of near people that overlap nowhere, so that of equal rows a count can be kept."""
    keeps_accounts: bool = False
    """Whether the release has an account of what the refused tests of every group may have told."""
    replayed: bool = False
    """Whether the audit knows how such boxes are cut, and makes the cuts again."""
    noisy: bool = False
    """Whether counts have noise: then a claim bounds how much odds grow."""
    as_published: bool = False
    """Whether groups are those of a paper, whose own, weaker claim the release states in place of a bound on belief."""
    grouped: str = ""
    """How records were grouped, in words; {} is a bucket or a group."""


NO_GROUPS = Basis(name=None, by_histograms=False)
"""What randomized and synthetic releases rest on."""

BASES: dict[BasisName, Basis] = {
    one.name: one
    for one in (
        # counts and coins
        Basis(
            name="blind",
            proves=("reader", "engineer"),
            placements_alike=True,
            by_counts_alone=True,
            grouped="Who shares a {} was drawn at random",
        ),
        # quasi values, and counts that the release shows
        Basis(
            name="safe",
            proves=("reader", "engineer"),
            placements_alike=True,
            in_boxes=True,
            replayed=True,
            grouped="Near people together, by safe cuts",
        ),
        # also where values fell, through coins whose refusals the release accounts for
        Basis(
            name="soft",
            proves=("reader", "engineer"),
            in_boxes=True,
            keeps_accounts=True,
            replayed=True,
            grouped="Near people together, by soft cuts",
        ),
        # also where values fell
        Basis(
            name="tight",
            proves=("reader",),
            values_decide=True,
            in_boxes=True,
            grouped="Near people together, by tight cuts",
        ),
        # quasi values alone, and counts with noise
        Basis(
            name="noisy",
            by_histograms=False,
            in_boxes=True,
            noisy=True,
            grouped="Near people together, cut by quasi values alone, with noise on every count",
        ),
        # quasi values and coins, after safe cuts
        Basis(
            name="matched",
            proves=("reader", "engineer"),
            placements_alike=True,
            grouped="Near people together, matched",
        ),
        # a search that looks at everything
        Basis(name="annealed", proves=("reader",), values_decide=True, grouped="Near people together, annealed"),
        # as published, with the paper's own claim
        Basis(name="paper", as_published=True),
    )
    if one.name is not None
}
"""Every basis by its name. What a basis decides is said here and nowhere else."""

assert set(BASES) == set(get_args(BasisName))
