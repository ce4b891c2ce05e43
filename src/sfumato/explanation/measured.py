"""The measured figures in words: what they are, what they are not, and each way to group people in a sentence."""

from __future__ import annotations

from collections.abc import Mapping

from sfumato.exact import percent
from sfumato.explanation.cost import people_text, range_text
from sfumato.explanation.study import NOBODY, GroupingStudy, MeasuredGrouping
from sfumato.methods import NearGroups
from sfumato.policy.words import an

WAYS: Mapping[str, str] = {
    "blind": "drawn at random (blind)",
    "safe": "near people, safe cuts",
    "soft": "near people, soft cuts",
    "tight": "near people, tight cuts",
}
"""What each way to group people is called for people."""


def _way(row: MeasuredGrouping) -> str:
    """Return the name of a way to group people, and whether it is the policy's own."""
    return WAYS.get(row.name, row.name) + (" (this policy)" if row.chosen else "")


def about(study: GroupingStudy) -> list[str]:
    """Return how the figures were measured, what they mean and what must not be done with them."""
    kinds = " and ".join(f"{number} {name}" for number, name in zip(study.questions, study.workloads, strict=True))
    unmet = f" ({study.unmet} left out because nobody meets them)" if study.unmet else ""
    lines = []
    if any(row.name in WAYS for row in study.rows):
        lines.append(
            "Blind draws people into groups at random; cuts put near people together. Safe cuts look only at what an engineer "
            "may know; soft ones also at who has which value, by coins and with an account of what that may tell; tight ones do "
            "so without, and hold against a reader only."
        )
    if any(row.name == NearGroups.name for row in study.rows):
        lines.append(
            "Small groups of near people are narrow, but their exposure is at the bound, where that of boxes is far below."
        )
    if kinds:
        lines.append(
            f"Error: half of the answers are off by at most so much of the truth. Questions: {kinds}{unmet}. A release is of use "
            "where its error is below that of assuming independence, that is of knowing only how frequent each value is."
        )
    if study.generated:
        lines.append(
            "The sensitive values were generated for this, with the declared shares and typical links to the quasi values of the "
            "table: to draw noise for the table's own would already tell something of its people. So figures are only of the "
            "usual size, and none is about what anybody has."
        )
    lines.append("Exposure: the mean belief of a reader in a person's true value.")
    if study.sampled:
        lines.append(
            f"Measured on {people_text(study.people)} drawn from the table, to save time; with everybody answers are usually "
            "closer."
        )
    lines.append(
        "For these figures releases were made in memory with a fixed seed, and none is written. They are results on the original "
        "table and private. Choosing the policy by them is your decision: claims take the policy as fixed in advance."
    )
    return lines


def figures(study: GroupingStudy) -> list[str]:
    """Return a sentence for each way to group people, that of knowing only the shares first."""
    alone = _errors(study, study.independence)
    lines = [f"Knowing only how frequent each value is: {alone}exposure {percent(study.prior_exposure, 1)}."]
    for row in study.rows:
        if row.groups is None or row.sizes is None or row.exposure is None:
            lines.append(f"{_capital(_way(row))}: not possible, because {row.note.rstrip('.')}.")
            continue
        held = row.against if row.against == NOBODY else an(row.against)
        note = f" ({row.note})" if row.note else ""
        lines.append(
            f"{_capital(_way(row))}: {_errors(study, row.errors)}exposure {percent(row.exposure, 1)}; holds against "
            f"{held}, {row.groups:,} {'group' if row.groups == 1 else 'groups'} of {range_text(row.sizes)}{note}."
        )
    return lines


def _errors(study: GroupingStudy, errors: tuple[float, ...]) -> str:
    texts = [f"error {percent(error, 1)} ({name})" for name, error in zip(study.workloads, errors, strict=True)]
    return ", ".join([*texts, ""])


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
