"""`Heterogeneous`: generalization by matching, as published, with the claim that was published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from sfumato.errors import PolicyError
from sfumato.methods.base import Task
from sfumato.methods.linking import Linked, Linking
from sfumato.papers.heterogeneous.costs import Costs
from sfumato.papers.heterogeneous.scheme import SchemeOptions, heterogeneous_records
from sfumato.parameters import choice, parameter, whole
from sfumato.release.links import Links


@dataclass(frozen=True, kw_only=True)
class Heterogeneous(Linking):
    """Every record gets ranges of its own, from the records of other pools that it is matched with (USENIX Security 2022).

    Parameters
    ----------
    accept_weaker_claim
        Must be true. What this scheme guarantees does not hold for a person once values are allotted (see Notes), so the release
        makes no claim against a reader; it states the paper's claim instead.
    packing
        How values become pools (the paper's buckets): ``"paper"`` (Algorithm 1 where ℓ-diversity can serve, else Algorithm 3), or
        ``"tight"``, as few pools as can be found for any bounds. A record has as many matches as there are pools.
    fill
        Who of a value goes into which of its pools: drawn (``"random"``), or ``"distant"``, the paper's threshold mode, which
        looks at quasi and sensitive values at once, is open to minimality attacks and is here for study.
    matcher
        ``"hungarian"`` (least cost in every round), ``"sortgreedy"`` or ``"greedy"``.
    assignment
        Whose value a record carries: one of a random set of disjoint assignments (``"walks"``), or its match in pool π(b) for a
        random permutation π of the pools of a block (``"pools"``). Every match has probability 1/μ either way.
    partition
        People who are matched with each other; None for all at once, whose time grows with the cube of the table.
    partitions
        ``"ranks"``: pools are made once and cut together at the same ranks into blocks of about `partition` people.
        ``"separate"``: the paper's, boxes of at least `partition` people, each published on its own.

    Notes
    -----
    The originals behind one *published record* keep the bounds. What a person faces are the published records linked to *her*
    with the values that they now carry, and those can repeat: `sfumato.auditor.linked` measures how often. Records that would
    carry the value of a dummy (where μ does not divide the number of people) are not published.
    """

    packing: Literal["paper", "tight"] = parameter("paper", choice("paper", "tight"))
    fill: Literal["random", "distant"] = parameter("random", choice("random", "distant"))
    matcher: Literal["hungarian", "sortgreedy", "greedy"] = parameter("hungarian", choice("hungarian", "sortgreedy", "greedy"))
    assignment: Literal["walks", "pools"] = parameter("walks", choice("walks", "pools"))
    partition: int | None = parameter(None, whole(1))
    partitions: Literal["ranks", "separate"] | None = parameter(None, choice("ranks", "separate"))

    name: ClassVar[str] = "heterogeneous"
    slow: ClassVar[bool] = True
    unproven: ClassVar[str] = "once values are allotted to records, those linked to one person can repeat a value"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.fill == "distant" and self.packing != "paper":
            raise PolicyError("Heterogeneous(fill='distant') is a mode of the paper's pools", hint="packing = 'paper'")
        if self.partition is None and self.partitions is not None:
            raise PolicyError(
                "Heterogeneous(partitions=…) says how to divide people, but not into how many", hint="add partition = 1000"
            )
        if self.partition is not None:
            object.__setattr__(self, "partitions", self.partitions or "ranks")

    def link(self, task: Task) -> Linked:
        """Return the matches and the drawn assignment; the private figures are numbers of matches, dummies and blocks."""
        choices = SchemeOptions(
            self.packing, self.fill, self.matcher, self.assignment, self.partition, self.partitions or "ranks"
        )
        scheme = heterogeneous_records(
            task.quasi,
            task.codes,
            task.bounds,
            Costs.of(task.quasi, task.table.schema),
            choices,
            random=task.random,
            progress=task.part(0.0, 0.9),
        )
        records = scheme.records
        links = Links(records.start, records.matches, records.carried)
        return Linked(links, scheme.least, scheme.figures, {"dummies": scheme.figures["dummies"]})
