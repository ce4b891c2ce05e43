"""`NearGroups`: people near each other in small groups that keep any per-value bounds, shown as ranges or as buckets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from sfumato.errors import PolicyError
from sfumato.groups.grouping import Grouping
from sfumato.groups.near.anneal import annealed_groups
from sfumato.groups.near.matched import MatchOptions
from sfumato.groups.near.order import domain_widths
from sfumato.methods.base import Method, Task, Way
from sfumato.parameters import Takes, choice, parameter, weights, whole
from sfumato.privacy.requirement import Against

MOST_EFFORT = 1000
"""In multiples of the usual effort: a larger number would be a search without an end."""


def _effort(where: str, value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= MOST_EFFORT:
        raise PolicyError(
            f"{where}: expected a number above 0 and at most {MOST_EFFORT}, got {value!r}", hint="1 is the usual effort"
        )
    return value


@dataclass(frozen=True, kw_only=True)
class NearGroups(Method):
    """Put near people together so that ranges are narrow: groups of any size, nobody left out, nobody invented.

    Parameters
    ----------
    form
        ``"ranges"``: every group by its smallest ranges and value sets. ``"buckets"``: the same groups with exact quasi values,
        which answer count queries far better.
    effort
        Multiplies the steps of the search for annealed groups, 1 by default: time grows with it, ranges get narrower. It is for
        claims against a reader; matched groups have no such search.
    floor
        For matched groups: people are matched within boxes of at least so many for every member of the smallest group, 100 by
        default.
    weights
        For matched groups: columns with larger weights are cut first when those boxes are made, 1 being usual.

    Notes
    -----
    The requirement's adversary decides how groups are made. Against a reader they are *annealed*: people are exchanged, moved,
    pushed out and regrouped by simulated annealing of Σ size·NCP [003], counts kept at most ⌊bound·size⌋ at every step. Who is
    together depends on who has which value, so a reader who reruns the program would learn something. Against an engineer they
    are *pure matched groups*, made after safe cuts by matching on quasi values alone.
    """

    form: Literal["ranges", "buckets"] = parameter("ranges", choice("ranges", "buckets"))
    effort: float | None = parameter(None, Takes(_effort, {"type": "number", "exclusiveMinimum": 0, "maximum": MOST_EFFORT}))
    floor: int | None = parameter(None, whole(1))
    weights: Mapping[str, float] | None = parameter(None, weights())

    name: ClassVar[str] = "near-groups"
    slow: ClassVar[bool] = True
    way: ClassVar[Way] = "near"

    def sets_refused(self, against: Against) -> str:
        """Return why annealed groups keep no bounds on sets; nothing for matched ones."""
        return "against a reader annealing keeps bounds of single values only" if against == "reader" else ""

    def each_refused(self, against: Against) -> str:
        """Return why annealed groups protect one attribute only; nothing for matched ones."""
        return "against a reader annealing supports one value a person" if against == "reader" else ""

    def proves(self) -> tuple[Against, ...]:
        """Return reader and engineer: the groups are made differently for each."""
        return ("reader", "engineer")

    def group(self, task: Task) -> Grouping:
        """Return the groups that the requirement's adversary allows."""
        widths = domain_widths(task.quasi, task.table.schema)
        progress = task.part(0.0, 0.8)
        if task.against == "reader":
            self._require_unset(("floor", "weights"), "a reader are annealed, and no boxes are cut", "engineer")
            return annealed_groups(
                task.quasi,
                task.codes,
                task.bounds,
                widths=widths,
                effort=self.effort or 1.0,
                random=task.random,
                progress=progress,
            )
        self._require_unset(("effort",), "an engineer are matched, and there is no search to extend", "reader")
        return task.people.match(task, MatchOptions(widths, floor=self.floor or 100, weights=self.weights))

    def engines_refused(self, against: Against) -> tuple[str, str] | None:
        """Return why annealed groups are for memory; nothing for matched ones."""
        if against != "reader":
            return None
        return "people are exchanged until groups of the whole table get no nearer", 'against = "engineer", or name = "boxes"'

    def _require_unset(self, names: tuple[str, ...], why: str, other: str) -> None:
        for name in names:
            if getattr(self, name) is not None:
                raise PolicyError(
                    f"NearGroups({name}={getattr(self, name)}): groups against {why}",
                    hint=f'leave it out, or set against = "{other}"',
                )
