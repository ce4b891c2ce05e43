"""What several releases tell of the same people: every draw of noise is booked before it is shown, and their odds multiply.

A booking lies in the register beside the receipts. It names people by a fingerprint of identifiers and quasi values, never by
what they have: whether a draw is refused then tells nothing of a sensitive value. A draw counts whether or not it was published,
because somebody saw it, or could have. A release of groups of the same people counts as unlimited: nothing bounds what it tells
an insider.
"""

from __future__ import annotations

import datetime
import json
import math
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from sfumato import __version__
from sfumato.errors import OutputError, PolicyError
from sfumato.exact import decimal_text
from sfumato.privacy.differential import within_power
from sfumato.register import ALIKE, COLUMNS_ALIKE, documents, user_register
from sfumato.release.atomic import write_private
from sfumato.table.fingerprint import Fingerprint

FORMAT = "sfumato-booking"
SUFFIX = ".booking.json"
PRIVATE = "PRIVATE: which people a draw of noise was about. Never publish this file; while it is here, the draw counts."


@dataclass(frozen=True)
class Spent:
    """What was drawn of the same people: by how much odds may have grown in all, in how many draws; and what has no bound."""

    odds: Fraction = Fraction(1)
    draws: int = 0
    unlimited: tuple[str, ...] = ()

    @property
    def epsilon(self) -> float:
        """The logarithm of the odds."""
        return math.log(self.odds)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain JSON values."""
        return {"odds": float(self.odds), "epsilon": self.epsilon, "draws": self.draws, "unlimited": list(self.unlimited)}


def book(people: Fingerprint, gamma: Fraction, register: Path | None, *, budget: Fraction | None = None) -> Spent:
    """Book a draw whose odds grow γ-fold, and return what is spent with it; raise before it is drawn where that is too much.

    The booking is written first and then added up with all others, so that of two who book at once none overlooks the other; one
    that is refused is taken back, since nothing was drawn. The user's own register is looked into as well. Without a register
    that can be written a budget cannot be kept.
    """
    if register is None:
        if budget is not None:
            raise OutputError(
                "[budget]: no register can be written, so that draws could not be added up", hint="--receipts DIR names a place"
            )
        return Spent(gamma, 1)
    place = Path(register) / f"{secrets.token_hex(8)}{SUFFIX}"
    document = {
        "private": PRIVATE,
        "format": FORMAT,
        "version": 1,
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "software": f"sfumato {__version__}",
        "people": people.to_dict(),
        "gamma": str(gamma),
    }
    text = json.dumps(document, indent=2) + "\n"
    try:
        write_private(place, lambda stream: stream.write(text.encode()))
    except OSError as error:
        raise OutputError(f"cannot book a draw in {register}: {error.strerror or error}", hint="--receipts DIR") from None
    own = user_register()
    found = spent(people, [Path(register), *([] if own is None else [own])])
    fault = "" if budget is None else _fault(found, budget)
    if fault:
        place.unlink()
        raise PolicyError(
            f"[budget] epsilon = {decimal_text(budget or Fraction(0))}: {fault}",
            hint="nothing was drawn; a larger epsilon promises less to these people, and no release takes back what it told",
        )
    return found


def _fault(spent: Spent, budget: Fraction) -> str:
    if spent.unlimited:
        return f"{spent.unlimited[0]} is of a release of these people that nothing bounds: no budget can be kept for them"
    if within_power(spent.odds, budget):
        return ""
    others = "" if spent.draws == 1 else f" with {spent.draws - 1} earlier of the same people"
    return f"this draw{others} would let odds grow {float(spent.odds):.4g}-fold, which is epsilon = {spent.epsilon:.4g}"


def spent(people: Fingerprint, directories: Iterable[Path]) -> Spent:
    """Return what the bookings and receipts in these directories say was drawn of the same people, or of many of them.

    A file that cannot be read may have been about them: it counts as unlimited.
    """
    places = list(directories)
    odds, draws, unlimited = Fraction(1), 0, []
    for path, document in documents(places, SUFFIX):
        try:
            gamma, other = Fraction(document["gamma"]), Fingerprint.from_dict(document["people"])
            if document["format"] != FORMAT or gamma < 1:
                raise ValueError("no booking")
        except (ValueError, KeyError, TypeError, AttributeError, ZeroDivisionError):
            unlimited.append(str(path))
            continue
        if _alike(people, other):
            odds, draws = odds * gamma, draws + 1
    for path, document in documents(places):
        try:
            other = Fingerprint.from_dict(document.get("people") or document["table"])
            bounded = document.get("gamma") is not None
        except (ValueError, KeyError, TypeError, AttributeError):
            unlimited.append(str(path))
            continue
        if not bounded and _alike(people, other):
            unlimited.append(str(path))
    return Spent(odds, draws, tuple(unlimited))


def _alike(one: Fingerprint, other: Fingerprint) -> bool:
    """Return whether two fingerprints are of the same people, or share many: as far as sketches tell."""
    if one.digest == other.digest or (one.rows == other.rows and len(one.common_columns(other)) >= COLUMNS_ALIKE):
        return True
    return max(one.similarity(other), one.same_people(other)) >= ALIKE
