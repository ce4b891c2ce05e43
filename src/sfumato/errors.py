"""The exceptions. Each says what was wrong, where, what was expected and what would work.

Every exception carries the objects it speaks of as attributes, so that a program can react without reading the text.

**What a message may show of a table.** Names of columns: those that the policy has, and those of a header that was accepted as
one, since at least half of the policy's columns are in it (`Schema.accepts`); the first line of a file without a header is a
person. Places, counts, types and shapes ("Xx. 9"). A sensitive value, alone: requirements speak of these. Never an identifier,
never a quasi value but as a question names it, never the text of another library's error, which quotes what it could not read,
and never the text of a file that may be another one by mistake.
"""

from __future__ import annotations

import contextlib
import difflib
import errno
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction


class SfumatoError(Exception):
    """Anything this package refuses to do; `exit_code` is what the command line returns for it."""

    exit_code = 2

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\nhint: {self.hint}"

    @property
    def sentence(self) -> str:
        """Message and hint in one line."""
        return self.message if self.hint is None else f"{self.message} — {self.hint}"


class InputError(SfumatoError):
    """The table, or the file it comes from, is not what the schema says."""


class PolicyError(SfumatoError):
    """The policy file, or a parameter, is not understood. With several `problems` the message lists them all.

    `column` is the column that a problem is about, where it is about one.
    """

    def __init__(
        self, message: str, *, hint: str | None = None, problems: Iterable[PolicyError] = (), column: str | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.problems = tuple(problems)
        self.column = column


class Problems:
    """Everything that is wrong, to be said at once: a person who corrects a policy should not have to come back for each."""

    def __init__(self) -> None:
        self.listed: list[PolicyError] = []

    @contextlib.contextmanager
    def noted(self) -> Iterator[None]:
        """Go on after a `PolicyError`, and remember it."""
        try:
            yield
        except PolicyError as error:
            known = {problem.message for problem in self.listed}
            self.listed += [problem for problem in error.problems or (error,) if problem.message not in known]

    def stop(self) -> None:
        """Raise what was found, if anything was: one problem as it is, several as a list."""
        if self.listed:
            raise joined(self.listed)


def joined(problems: Sequence[PolicyError], where: str = "") -> PolicyError:
    """Return one error that tells all of these; `where` is the file that they are in."""
    start = f"{where}: " if where else ""
    if len(problems) == 1:
        return PolicyError(start + problems[0].message, hint=problems[0].hint, column=problems[0].column)
    return listing(f"{start}{len(problems)} problems", problems)


def listing(message: str, problems: Sequence[PolicyError], *, hint: str | None = None) -> PolicyError:
    """Return an error whose message goes on with a numbered list."""
    lines = "".join(f"\n  {number}. {problem.message}" + _indented(problem.hint) for number, problem in enumerate(problems, 1))
    return PolicyError(message + lines, hint=hint, problems=problems)


def _indented(hint: str | None) -> str:
    return "" if hint is None else f"\n     hint: {hint}"


class QueryError(SfumatoError):
    """A count question that the release cannot understand."""


class FormatError(SfumatoError):
    """A release directory that cannot be trusted or read: damaged, incomplete, newer, or pointing elsewhere."""


class NotInPartsError(FormatError):
    """A release cannot be read a part at a time, only as a whole."""


class OutputError(SfumatoError):
    """The result cannot be written where it should go."""


class Infeasible(SfumatoError):  # noqa: N818  (the design's word)
    """No release can keep these bounds. Carries the offending values, what they have and what they would need."""

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        values: Iterable[str] = (),
        has: Mapping[str, Fraction] | None = None,
        needs: Mapping[str, Fraction] | None = None,
        nearest: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.values = tuple(values)
        self.has = dict(has or {})
        self.needs = dict(needs or {})
        self.nearest = dict(nearest or {})


class NotProvable(SfumatoError):  # noqa: N818
    """The method cannot prove the claim against the adversary the policy names."""

    def __init__(self, message: str, *, hint: str | None = None, against: str = "") -> None:
        super().__init__(message, hint=hint)
        self.against = against


class PublicationWarning(UserWarning):
    """Something that a publisher should know of what was published; the command line prints it."""


class OneBox(PublicationWarning):
    """Boxes could not be cut, so that everybody is in one, which tells little."""


class PeopleNotIdentified(UserWarning):
    """A budget is kept for people whom no column tells apart, so that only alike quasi values tell that they are the same."""


class ClaimBroken(SfumatoError):  # noqa: N818
    """A release does not keep what it claims. `audit` is the full report."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str | None = None, audit: object = None) -> None:
        super().__init__(message, hint=hint)
        self.audit = audit


class SignatureError(SfumatoError):
    """A release is not signed with the key that it should be signed with."""

    exit_code = 1


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a hint that names the nearest known word, whatever its case, and all of them when they are few."""
    known = sorted(set(known))
    folded = {name.casefold(): name for name in known}
    given = word.casefold()
    near = difflib.get_close_matches(given, folded, n=1, cutoff=0.75)
    near = near or sorted((name for name in folded if len(given) > 2 and name.startswith(given)), key=len)  # of "Age (yrs)"
    near = near or difflib.get_close_matches(given, folded, n=1, cutoff=0.6)
    if near:
        return f"did you mean {folded[near[0]]!r}?"
    shown = ", ".join(known[:12]) + (", …" if len(known) > 12 else "")
    return f"known: {shown}" if known else "nothing is known here"


_NO_MEMORY = (
    "bad alloc",
    "bad_alloc",
    "allocate memory",
    "out of memory",
    "failed to map segment",
    "can't start new thread",
    "resource temporarily unavailable",
)


def out_of_memory(error: BaseException | None) -> bool:
    """Return whether an exception, or one it comes from, says that memory ran out, in whatever words.

    The words of our own exceptions, and of those about values, are not looked at: they may quote the data.
    """
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
            return True
        quotes = isinstance(error, (SfumatoError, ValueError, TypeError, LookupError))
        if not quotes and any(sign in str(error).lower() for sign in _NO_MEMORY):
            return True
        error = error.__cause__ or error.__context__
    return False
