"""What a study found: a row a run, ranked, as a table, as JSON, and in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato import notebook
from sfumato.exact import percent
from sfumato.form import FORMS

if TYPE_CHECKING:
    import pyarrow as pa

    from sfumato.charts import Chart

CHOOSING = (
    "Choosing by these results is a choice made on the data: a claim takes method and bounds as fixed beforehand, and does not "
    "cover what your choice among them tells. Decide on last year's table or on a sample that is not published, or say in "
    "your documentation that the choice was made on this table."
)
GENERATED = (
    "The people are the table's and their sensitive values are generated: against an insider every look at a draw counts, and "
    "nothing of yours was spent. Figures of your own table will differ."
)
SPENT = (
    "Every draw was made on your own people and is booked: it counts against their budget, whether or not it is published. Draws "
    "that were booked in other directories are not seen, and without identifiers or [budget] key persons cannot be told apart."
)


@dataclass(frozen=True)
class Run:
    """One method under one variation, with everything that was measured; without a release `note` says why.

    `error` is the median relative error of the workload's counts, `coverage` the share of 95 % intervals that hold the truth,
    where `intervals` is the share of answers that have one, `used` the largest share of a bound that a belief takes,
    `attacks` by name the success above that attack's baseline, `memory` what the making added in bytes, `size` the release's
    bytes as Parquet, `seconds` processor time on one processor; `typical` are a few questions with the truth and the release's
    answer. `baseline` marks data that claims no bound on belief.
    """

    method: str
    varied: Mapping[str, Any]
    settings: Mapping[str, Any]
    requirement: Mapping[str, Any]
    translated: tuple[str, ...] = ()
    own: bool = False
    policy: bool = False
    form: str = ""
    against: str = ""
    holds: bool | None = None
    worst: float | None = None
    bound: float | None = None
    used: float | None = None
    exposure: float | None = None
    error: float | None = None
    error_mean: float | None = None
    independence: float | None = None
    coverage: float | None = None
    intervals: float | None = None
    attacks: Mapping[str, float | None] = field(default_factory=dict)
    gcp: float | None = None
    loss: int | None = None
    groups: int | None = None
    smallest: int | None = None
    largest: int | None = None
    suppressed: int | None = None
    seconds: float | None = None
    memory: int | None = None
    size: int | None = None
    classes: Mapping[str, float] = field(default_factory=dict)
    typical: Sequence[Mapping[str, Any]] = ()
    note: str = ""

    @property
    def made(self) -> bool:
        """Whether there was a release."""
        return self.error is not None

    @property
    def baseline(self) -> bool:
        """Whether it is synthetic data, which stands beside the others for comparison."""
        return not FORMS[self.form].of_people

    @property
    def relative(self) -> float | None:
        """The error as a multiple of that of assuming independence."""
        return None if self.error is None or not self.independence else self.error / self.independence

    @property
    def label(self) -> str:
        """The variation as text: "theta = 8"."""
        return ", ".join(f"{name} = {value}" for name, value in self.varied.items())


@dataclass(frozen=True, repr=False)
class Study:
    """All runs of a comparison, the best first: those that keep the owner's own requirement, then the others, each by error.

    Private: figures of the original table. `left_out` says by name why a method takes no part, `prior_exposure` and
    `independence` are those of somebody who knows shares and quasi values but no link. `marked` is the run of the owner's own
    policy, None where it could not be made.
    """

    runs: tuple[Run, ...]
    people: int
    sampled: bool
    workload: str
    questions: int
    dropped: int
    independence: float
    prior_exposure: float
    left_out: Mapping[str, str] = field(default_factory=dict)
    generated: bool = False
    spent: bool = False
    place: Path | None = None

    def __repr__(self) -> str:
        made = [run for run in self.runs if run.made]
        best = f"; best: {made[0].method} {made[0].label}".rstrip() if made else ""
        return f"Study({len(made)} of {len(self.runs)} runs on {self.people:,} people{best})"

    def _repr_html_(self) -> str:
        """Return the ranking, and what must be known about it."""
        headings = ("", "method", "varied", "against", "error", "÷ independence", "exposure", "used")
        rows = [
            (
                number,
                run.method,
                run.label,
                run.against,
                _share(run.error),
                _times(run.relative),
                *map(_share, (run.exposure, run.used)),
            )
            for number, run in enumerate(self.runs, 1)
        ]
        shown = notebook.table(headings, rows, right=(4, 5, 6, 7))
        return notebook.card(repr(self), shown, notebook.paragraphs(self.about()), under="private: figures of the original table")

    @property
    def marked(self) -> Run | None:
        """The run of the owner's own policy."""
        return next((run for run in self.runs if run.own and run.policy and run.made), None)

    def beside(self, run: Run) -> Run | None:
        """Return the synthetic data with the least error under the same variation."""
        others = [other for other in self.runs if other.baseline and other.made and dict(other.varied) == dict(run.varied)]
        return min(others, key=lambda other: other.error or 0.0, default=None)

    def about(self) -> list[str]:
        """Return what the figures are, and what choosing by them does to a claim."""
        some = " (a sample of the table)" if self.sampled else ""
        lines = [
            f"Error: half of the answers are off by at most so much of the truth; {self.questions:,} questions, "
            f"{self.workload}, {self.people:,} people{some}. Who assumes independence is off by {percent(self.independence, 1)} "
            f"and believes {percent(self.prior_exposure, 1)} of a person's true value, on average.",
            *self.steps(),
            CHOOSING,
        ]
        return [*lines, *([GENERATED] if self.generated else []), *([SPENT] if self.spent else [])]

    def steps(self) -> list[str]:
        """Return what a little more or less would cost, from the owner's policy to its neighbours."""
        own = self.marked
        if own is None or own.exposure is None or own.error is None:
            return []
        line = [run for run in self.line(own) if run.exposure is not None]
        place = line.index(own) if own in line else -1
        lines = []
        for way, other in (("tighter", place - 1), ("looser", place + 1)):
            if place < 0 or not 0 <= other < len(line) or line[other].error is None:
                continue
            run = line[other]
            lines.append(
                f"One step {way}, {own.label} → {run.label}, with {own.method}: error {percent(own.error, 1)} → "
                f"{percent(run.error or 0.0, 1)}, exposure {percent(own.exposure, 1)} → {percent(run.exposure or 0.0, 1)}."
            )
        return lines

    def line(self, run: Run) -> list[Run]:
        """Return the runs of the same method in the order of exposure."""
        same = [other for other in self.runs if other.method == run.method and other.made and other.translated == run.translated]
        return sorted(same, key=lambda other: other.exposure or 0.0)

    def to_arrow(self) -> pa.Table:
        """Return a row a run, in the order of the ranking; mappings are JSON text."""
        import json

        import pyarrow as pa

        def plain(value: Any) -> Any:
            return json.dumps(value, ensure_ascii=False, default=str) if isinstance(value, Mapping | list | tuple) else value

        rows = []
        for number, run in enumerate(self.runs, 1):
            synthetic = self.beside(run)
            row = {name: plain(value) for name, value in vars(run).items() if name != "attacks"}
            row["translated"] = "; ".join(run.translated)
            row |= {f"attack_{name}": value for name, value in run.attacks.items()}
            row |= {"rank": number, "relative": run.relative, "synthetic": None if synthetic is None else synthetic.error}
            rows.append(row)
        names = sorted({name for row in rows for name in row if name.startswith("attack_")})
        columns = ["rank", *vars(self.runs[0]), "relative", "synthetic", *names]
        columns.remove("attacks")
        kinds = {pa.int64(): _WHOLE, pa.string(): _TEXTS, pa.bool_(): _FLAGS}
        types = {name: kind for kind, listed in kinds.items() for name in listed}  # all others are figures
        table = pa.table({name: pa.array([row.get(name) for row in rows], types.get(name, pa.float64())) for name in columns})
        return table.replace_schema_metadata({"private": "figures of the original table; do not publish"})

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain JSON values."""
        rows = [
            {**row, "varied": dict(run.varied), "typical": list(run.typical)}
            for row, run in zip(self.to_arrow().to_pylist(), self.runs, strict=True)
        ]
        rest = {name: value for name, value in vars(self).items() if name not in ("runs", "place")}
        return {
            "private": "figures of the original table; do not publish",
            **rest,
            "left_out": dict(self.left_out),
            "about": self.about(),
            "runs": rows,
        }

    def picture(self) -> Chart:
        """Return error against exposure as a chart of altair, one line a method, the owner's policy marked."""
        from sfumato.comparison.picture import picture

        return picture(self)


_WHOLE = ("loss", "groups", "smallest", "largest", "suppressed", "memory", "size", "rank")
_TEXTS = ("method", "varied", "settings", "requirement", "translated", "form", "against", "classes", "typical", "note")
_FLAGS = ("own", "policy", "holds")


def ranked(runs: Sequence[Run]) -> tuple[Run, ...]:
    """Return the runs, best first: as the policy has it before varied and translated ones, then by error; failed ones last."""
    return tuple(
        sorted(
            runs,
            key=lambda run: (not run.made, bool(run.translated) or run.baseline, not run.policy, run.error or 0.0, run.method),
        )
    )


def _share(value: float | None) -> str:
    return "" if value is None else percent(value, 1)


def _times(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"
