"""What every form gives the one query engine: an index of its tables that puts a question into words and guesses counts.

A form's `Engine` is made once per release (`sfumato.query.count.engine_of`), learns what it needs on first use (`learned`), and
turns a question into a `Question`: the words that it may use, a `Guess` for any set of pieces, and the cells that its GROUP BY
can have. All else (values that are met partly, GROUP BY, intervals) is in `sfumato.query.answering`, once for all forms.
"""

from __future__ import annotations

import contextlib
import functools
import math
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar, overload

from threadpoolctl import ThreadpoolController

from sfumato.query.answer import Estimator
from sfumato.query.language.compile import Pieces
from sfumato.query.language.predicate import Query
from sfumato.query.language.vocabulary import Vocabulary, Words
from sfumato.query.shelf import Keeping, Shelf

if TYPE_CHECKING:
    from sfumato.query.sums import Term

GroupColumns = Sequence[tuple[bool, int, Words]]
"""Per column of a GROUP BY: whether it is sensitive, its number among its kind, its words."""

Cell = tuple[int, ...]
"""One combination of values of the GROUP BY columns, a code for each."""


@dataclass(frozen=True)
class Guess:
    """An estimated count: its value and standard error, what is certain, and why no interval around it would be honest, if so.

    `loose` is the part of the squared standard error that a model's weights have. They are known up to a normal error in the
    logarithm of odds, so that an interval reaches further up by it.

    `raw` is the unbiased estimate of forms that have one. Its interval then stays around `value` also where the cells of a GROUP
    BY are made to add up: the value shown is `settled`.
    """

    value: float
    std_error: float
    least: float
    most: float
    no_interval: str = ""
    raw: float | None = None
    settled: float | None = None
    loose: float = 0.0

    @property
    def inside(self) -> float:
        """The value, within what is certain."""
        return min(max(self.value, self.least), self.most) if self.settled is None else self.settled

    @property
    def certain(self) -> bool:
        """Whether the tables leave one possible count."""
        return self.least == self.most


class Total(NamedTuple):
    """An estimated sum over people: its value and variance, and why no interval around it would be honest, if so."""

    value: float
    variance: float
    no_interval: str = ""


def add_up(guesses: Sequence[Guess], people: int) -> Guess:
    """Return the guess for disjoint pieces together.

    How their errors go together is not known; adding standard errors covers the worst case.
    """
    if len(guesses) == 1:
        return guesses[0]
    raw = [guess.raw for guess in guesses if guess.raw is not None]
    return Guess(
        sum(guess.value for guess in guesses),
        sum(guess.std_error for guess in guesses),
        sum(guess.least for guess in guesses),
        min(float(people), sum(guess.most for guess in guesses)),
        next((guess.no_interval for guess in guesses if guess.no_interval), ""),
        sum(raw) if raw else None,
        loose=sum(math.sqrt(guess.loose) for guess in guesses) ** 2,
    )


class Question(Protocol):
    """One question to a release, for one estimator."""

    @property
    def vocabulary(self) -> Vocabulary:
        """The words that its conditions are understood in."""

    def guess(self, pieces: Pieces, /) -> Guess:
        """Return the estimated number of people in disjoint pieces of the question."""

    def add(self, terms: Sequence[Term], /, *, value_only: bool = False) -> Total:
        """Return the estimated sum over people; its value alone takes less time."""

    def cells(self, columns: GroupColumns, pieces: Pieces) -> Iterable[Cell]:
        """Return the combinations of values that can occur in these pieces, ascending."""


class Engine(Protocol):
    """A release of one form, laid out for many questions. It does not refer to the release, so that both can go."""

    @property
    def vocabulary(self) -> Vocabulary:
        """The columns of the release and their values."""

    @property
    def no_likelihood(self) -> str:
        """Why the likelihood estimator cannot be used; "" where it can, and is then the default."""

    def ask(self, asked: Query, estimator: Estimator) -> Question:
        """Return the question made ready."""


T = TypeVar("T")
_lock = threading.RLock()


SHELF = "_shelf"
"""Under this name an engine has the shelf on which what it learns is kept between runs, if it has one."""


class learned(Generic[T]):  # noqa: N801  (used like `property`)
    """A property that is computed on first use, by one thread for all, and kept.

    `@learned` keeps it as long as the engine; `@learns(Model)` also on the engine's shelf, where it has one: see
    `sfumato.query.shelf`.
    """

    def __init__(self, learn: Callable[[Any], T], keeping: Keeping[T] | None = None) -> None:
        self.learn, self.keeping = learn, keeping
        self.__doc__ = learn.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> learned[T]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> T | learned[T]:
        if instance is None:
            return self
        kept = instance.__dict__
        with _lock:
            if self.name not in kept:  # afterwards Python finds it there by itself
                kept[self.name] = self._found(instance)
            value: T = kept[self.name]
            return value

    def _found(self, instance: object) -> T:
        """Return what was learned before, or learn it."""
        shelf: Shelf | None = instance.__dict__.get(SHELF)
        if shelf is None or self.keeping is None:
            return self._learned(instance)
        before = shelf.take(self.name, self.keeping, instance)
        if before is not None:
            return before
        made = self._learned(instance)
        shelf.put(self.name, self.keeping, made)
        return made

    def _learned(self, instance: object) -> T:
        with one_thread():
            return self.learn(instance)


def learns(keeping: Any) -> Callable[[Callable[[Any], T]], learned[T]]:
    """Return a decorator like `learned` for a property that can be kept between runs, as `keeping` says (a `Keeping`)."""
    return lambda learn: learned(learn, keeping)


_alone = threading.Lock()


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Let linear algebra use one thread while the block runs.

    The setting is the whole process's, so one block at a time changes it, and changes it back; those inside it, or beside it in
    other threads, find it changed. Two that both remembered "what was before" could leave it changed for good.
    """
    if not _alone.acquire(blocking=False):
        yield
        return
    try:
        with _libraries().limit(limits=1):
            yield
    finally:
        _alone.release()


@functools.cache
def _libraries() -> Any:
    """Return the linear-algebra libraries of this process: looking for them takes milliseconds, so it is done once."""
    import scipy.linalg  # noqa: F401  (brings a library of its own)

    return ThreadpoolController().select(user_api="blas")
