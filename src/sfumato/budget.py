"""The privacy budget of several noisy releases about the same people: every draw is booked before it is shown; odds multiply.

What is promised is about a person: no person's draws multiply to more than the budget. A booking lies in the register beside
the receipts, and beside it a file of hashes of who was in the draw (`sfumato.ledger`), never of what they have: whether a draw is
refused then tells nothing of a sensitive value. A draw counts whether or not it was published, because somebody saw it, or could
have. A release of groups of the same people counts as unlimited: nothing bounds what it tells an insider.

Where nothing tells people apart, a draw counts for everybody of a table that shares many quasi rows with it.
"""

from __future__ import annotations

import datetime
import json
import math
import os
import secrets
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato import __version__
from sfumato.errors import OutputError, PeopleNotIdentified, PolicyError
from sfumato.exact import decimal_text
from sfumato.ledger import (
    KEY_FILE,
    Draw,
    KeyedDraws,
    Patterns,
    in_order,
    likeness,
    patterns,
    read_hashes,
    register_key,
    write_hashes,
)
from sfumato.ledger import SUFFIX as HASHES
from sfumato.places import is_own, private_directory
from sfumato.privacy.differential import within_power
from sfumato.register import ALIKE, COLUMNS_ALIKE, documents, open_register, user_register
from sfumato.release.atomic import write_private
from sfumato.table.fingerprint import Fingerprint
from sfumato.table.marks import Marks

if TYPE_CHECKING:
    from sfumato.methods import Method
    from sfumato.privacy import Bounds, Requirement

_LARGEST = 709.0
"""Below this a number has an exponential that is a float."""

FORMAT = "sfumato-booking"
SUFFIX = ".booking.json"
PRIVATE = "PRIVATE: which people a draw of noise was about. Never publish this file; while it is here, the draw counts."

NOT_IDENTIFIED = (
    "Persons cannot be told apart over several draws: the table has no identifier, and [budget] key names no columns. Earlier "
    "draws count for everybody where many quasi rows are alike, and not at all where few are."
)

IDENTIFIED_OTHERWISE = (
    "Earlier draws identified persons by other columns ({}) than this one: whoever is in one of them counts only where her cells "
    "are the same, or many quasi rows are alike."
)


@dataclass(frozen=True)
class Spent:
    """What was drawn of the person who is in most: by how much odds may have grown, in how many draws; and what has no bound.

    So many `people` have that much. `identified` says whether persons could be told apart, and `places` where bookings were
    looked for; `otherwise` names the columns by which other draws identified persons, if these were others.
    """

    odds: Fraction = Fraction(1)
    draws: int = 0
    unlimited: tuple[str, ...] = ()
    people: int = 0
    identified: bool = True
    places: tuple[str, ...] = ()
    otherwise: tuple[str, ...] = ()

    @property
    def epsilon(self) -> float:
        """The logarithm of the odds."""
        return math.log(self.odds.numerator) - math.log(self.odds.denominator)  # a float may be too small for the odds

    @property
    def times(self) -> float:
        """The odds as a float, infinite where none is large enough."""
        return float(self.odds) if self.epsilon < _LARGEST else math.inf

    @property
    def sentences(self) -> tuple[str, ...]:
        """What the publisher should know of the draws that were counted."""
        where = " and ".join(self.places) or "no register"
        return (
            *(() if self.identified else (NOT_IDENTIFIED,)),
            *((IDENTIFIED_OTHERWISE.format(", ".join(self.otherwise)),) if self.otherwise else ()),
            f"Counted is what is booked in {where}; draws that were booked elsewhere are not seen.",
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain JSON values."""
        return {
            "odds": self.times,
            "epsilon": self.epsilon,
            "draws": self.draws,
            "unlimited": list(self.unlimited),
            "people": self.people,
            "identified": self.identified,
            "sentences": list(self.sentences),
        }


def book_draw(
    method: Method,
    requirement: Requirement,
    bounds: Bounds,
    marks: Callable[[], Marks],
    *,
    register: Path | None,
    budget: Fraction | None,
) -> Spent | None:
    """Book the draw that a method is about to make, whichever way it was asked for; None where it makes none.

    Raises where nothing bounds what the method tells although there is a budget, and where the budget would be exceeded. Without
    a register bookings go to the user's own.
    """
    gamma = method.odds_bound(requirement, bounds)
    if gamma is not None:
        return book(marks(), gamma, open_register() if register is None else register, budget=budget)
    if budget is not None:
        raise PolicyError(
            f"[budget]: the method {method.name!r} bounds nothing against an insider, so that no budget can be kept",
            hint='name = "noisy-boxes", or leave [budget] out',
        )
    return None


def book(marks: Marks, gamma: Fraction, register: Path | None, *, budget: Fraction | None = None) -> Spent:
    """Book a draw whose odds grow γ-fold, and return what is spent with it; raise before it is drawn where that is too much.

    The booking is written first and then added up with all others, so that of two who book at once none overlooks the other; one
    that is refused is taken back, since nothing was drawn. The user's own register is looked into as well. Without a register
    that can be written a budget cannot be kept.
    """
    if budget is not None and not marks.identified_by:
        warnings.warn(NOT_IDENTIFIED, PeopleNotIdentified, stacklevel=2)
    if register is None:
        if budget is not None:
            raise OutputError(
                "[budget]: no register can be written, so that draws cannot be added up", hint="--receipts DIR names a place"
            )
        return Spent(gamma, 1, people=marks.fingerprint.rows, identified=bool(marks.identified_by))
    private_directory(Path(register))
    _require_own(places_looked_in(Path(register)))
    place = Path(register) / f"{secrets.token_hex(8)}{SUFFIX}"
    try:
        _write(place, marks, gamma)
        spent, everybody = _spent(marks, places_looked_in(Path(register)))
    except OSError as error:
        _take_back(place)
        raise OutputError(f"cannot book a draw in {register}: {error.strerror or error}", hint="--receipts DIR") from None
    if budget is not None and spent.otherwise:
        warnings.warn(IDENTIFIED_OTHERWISE.format(", ".join(spent.otherwise)), PeopleNotIdentified, stacklevel=2)
    fault = "" if budget is None else _fault(spent, everybody, budget)
    if fault:
        _take_back(place)
        raise PolicyError(
            f"[budget] epsilon = {decimal_text(budget or Fraction(0))}: {fault}",
            hint="nothing was drawn; a larger epsilon promises less to these people, and no release takes back what it told",
        )
    return spent


def _require_own(places: Iterable[Path]) -> None:
    """Refuse registers in which others could replace a key, or take bookings away."""
    for place in places:
        for file in (place.resolve(), place.resolve() / KEY_FILE):
            if os.path.lexists(file) and not is_own(file):
                raise OutputError(
                    f"{file} is writable by other users, who could remove bookings of draws",
                    hint=f"chmod go-w {file}, if it is yours; --receipts DIR names another register",
                )


def places_looked_in(register: Path | None) -> list[Path]:
    """Return where bookings and receipts are looked for: in the place that was named, and in the user's own register."""
    places = [place for place in (register, user_register()) if place is not None]
    return list(dict.fromkeys(places))


def _write(place: Path, marks: Marks, gamma: Fraction) -> None:
    """Write a booking, its file of hashes first: what is booked can always be counted."""
    key = register_key(place.parent, make=True)
    if key is None:
        raise OutputError(
            f"{place.parent}: its key cannot be read, so that people of earlier draws cannot be recognized", hint="--receipts DIR"
        )
    try:
        document = {
            "private": PRIVATE,
            "format": FORMAT,
            "version": 2,
            "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            "software": f"sfumato {__version__}",
            "people": marks.fingerprint.to_dict(),
            "gamma": str(gamma),
            "hashes": write_hashes(_hashes_of(place), marks, key),
        }
        text = json.dumps(document, indent=2) + "\n"
        write_private(place, lambda stream: stream.write(text.encode()))
    except BaseException:  # ctrl-C too: hashes without a booking count for nothing
        _hashes_of(place).unlink(missing_ok=True)
        raise


def _take_back(place: Path) -> None:
    place.unlink(missing_ok=True)
    _hashes_of(place).unlink(missing_ok=True)


def _hashes_of(booking: Path) -> Path:
    return booking.with_name(booking.name.removesuffix(SUFFIX) + HASHES)


def _fault(spent: Spent, everybody: Patterns, budget: Fraction) -> str:
    if spent.unlimited:
        what = "cannot be read, or books a release of these people without a bound"
        return f"{spent.unlimited[0]} {what}: no budget can be kept for them"
    over = {odds: not within_power(odds, budget) for odds, _ in everybody}
    many = sum(people for (odds, _), people in everybody.items() if over[odds])
    if not many:
        return ""
    others = "" if spent.draws == 1 else f" with {spent.draws - 1} earlier of the same people"
    whom = f"{many:,} {'person' if many == 1 else 'people'}"
    return f"this draw{others} would let odds of {whom} grow {spent.times:.4g}-fold, which is epsilon = {spent.epsilon:.4g}"


def spent(marks: Marks, directories: Iterable[Path]) -> Spent:
    """Return what the bookings and receipts in these directories say was drawn of the person who is in most draws.

    A file that cannot be read may have been about these people: it counts as unlimited.
    """
    return _spent(marks, list(directories))[0]


def _spent(marks: Marks, places: Sequence[Path]) -> tuple[Spent, Patterns]:
    everyone: list[Fraction] = []
    unlimited, registers, otherwise = _unlimited_receipts(marks.fingerprint, places), [], set()
    for place in {Path(path).resolve(): None for path in places}:
        key, draws, quasi = register_key(place), [], None
        for path, document in documents([place], SUFFIX):
            try:
                gamma, other = Fraction(document["gamma"]), Fingerprint.from_dict(document["people"])
                if document["format"] != FORMAT or gamma < 1:
                    raise ValueError("no booking")
                said = document.get("hashes")
                if said is None:  # booked before there were hashes of people
                    everyone += [gamma] if _alike(marks.fingerprint, other) else []
                    continue
                draw = read_hashes(_hashes_of(path), said, gamma, other, key)
            except (ValueError, KeyError, TypeError, AttributeError, ZeroDivisionError, OSError):
                if os.path.lexists(path):  # another process takes back what it was refused, and nothing was drawn
                    unlimited.append(str(path))
                continue
            if key is None:  # which read_hashes refuses
                continue
            quasi = in_order(marks.quasi(), marks.fingerprint.rows, key) if quasi is None else quasi
            if _of_everybody(marks, draw, quasi):
                if _identified_alike(marks, draw) and draw.repeats:
                    draws.append(replace(draw, everybody=True))
                else:
                    everyone.append(gamma)
                continue
            if marks.identified_by and not _identified_alike(marks, draw):
                otherwise.add(" and ".join(draw.identified_by) or "none")
            if len(draw.people) and marks.identified_by:
                draws.append(draw)
        if draws and key is not None:
            registers.append(KeyedDraws(key, draws))
    spent = patterns(marks, registers, everyone)
    odds, draws_of = max(spent, default=(Fraction(1), 0))
    people = sum(many for (product, _), many in spent.items() if product == odds)
    where = tuple(map(str, places))
    return Spent(odds, draws_of, tuple(unlimited), people, bool(marks.identified_by), where, tuple(sorted(otherwise))), spent


def _of_everybody(marks: Marks, draw: Draw, quasi: Any) -> bool:
    """Return whether a draw counts for everybody of a table, whomever identifiers tell.

    Where both have the columns that tell people apart, it does if the quasi rows are the same but for a few: identifiers were
    spelled anew then. Where one has none, it does if they share many rows, of the smaller of the two or of both.
    """
    if _identified_alike(marks, draw):
        if not (marks.one_row_per_person and draw.one_row_per_person):
            return False  # somebody may be in it several times, which only hashes of people tell
        return _same_table(marks.fingerprint, draw.fingerprint) or likeness(quasi, draw.quasi).closer_than_chance
    return likeness(quasi, draw.quasi).contained >= ALIKE or _alike(marks.fingerprint, draw.fingerprint)


def _identified_alike(marks: Marks, draw: Draw) -> bool:
    """Return whether the same columns tell people apart in both."""
    return bool(marks.identified_by) and sorted(map(str.casefold, marks.identified_by)) == sorted(
        map(str.casefold, draw.identified_by)
    )


def _unlimited_receipts(people: Fingerprint, places: Sequence[Path]) -> list[str]:
    """Return the receipts of releases of the same people that nothing bounds, and those that cannot be read."""
    unlimited = []
    for path, document in documents(places):
        try:
            other = Fingerprint.from_dict(document.get("people") or document["table"])
            bounded = document.get("gamma") is not None
        except (ValueError, KeyError, TypeError, AttributeError):
            unlimited.append(str(path))
            continue
        if not bounded and _alike(people, other):
            unlimited.append(str(path))
    return unlimited


def _alike(one: Fingerprint, other: Fingerprint) -> bool:
    """Return whether two fingerprints are of the same people, or share many: as far as sketches tell."""
    return _same_table(one, other) or max(one.similarity(other), one.same_people(other)) >= ALIKE


def _same_table(one: Fingerprint, other: Fingerprint) -> bool:
    return one.digest == other.digest or (one.rows == other.rows and len(one.common_columns(other)) >= COLUMNS_ALIKE)
