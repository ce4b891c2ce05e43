"""What every form gives the one query engine: an index of its tables that puts a question into words and guesses counts.

A form's `CountEngine` is made once per release (`sfumato.query.count.engine_of`), fits what it needs on first use (`fitted`), and
turns a question into a `Question`: the words that it may use, a `CountEstimate` for any set of pieces, and the cells that its
GROUP BY can have. All else (values that are met partly, GROUP BY, intervals) is in `sfumato.query.answering`, once for all forms.
"""

from __future__ import annotations

import contextlib
import functools
import math
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, overload

from threadpoolctl import ThreadpoolController

from sfumato.query.answer import Estimator
from sfumato.query.language.compile import Pieces
from sfumato.query.language.predicate import Query
from sfumato.query.language.vocabulary import ColumnValues, Vocabulary
from sfumato.query.model_cache import ModelCache
from sfumato.query.models.protocol import Model, Moments

if TYPE_CHECKING:
    from sfumato.query.sums import Term

GroupColumns = Sequence[tuple[bool, int, ColumnValues]]
"""Per column of a GROUP BY: whether it is sensitive, its number among its kind, its words."""

Cell = tuple[int, ...]
"""One combination of values of the GROUP BY columns, a code for each."""


@dataclass(frozen=True)
class CountEstimate:
    """An estimated count: its value and standard error, what is certain, and why no interval around it would be honest, if so.

    `loose` is the part of the squared standard error that a model's weights have. They are known up to a normal error in the
    logarithm of odds, so that an interval reaches further up by it.

    `further` is how much more than the value there may be before the groups speak against it, at 95 %: the interval of few people
    reaches up so far at least.

    `raw` is the unbiased estimate of forms that have one. Its interval then stays around `value` also where the cells of a GROUP
    BY are made to add up: the value shown is `settled`.

    `limits`: beside the value, `least` and `most` are said, which are certain.
    """

    value: float
    std_error: float
    least: float
    most: float
    no_interval: str = ""
    raw: float | None = None
    settled: float | None = None
    loose: float = 0.0
    limits: bool = False
    further: float = 0.0

    @property
    def inside(self) -> float:
        """The value, within what is certain."""
        return min(max(self.value, self.least), self.most) if self.settled is None else self.settled

    @property
    def certain(self) -> bool:
        """Whether the tables leave one possible count."""
        return self.least == self.most


def add_up(guesses: Sequence[CountEstimate], people: int) -> CountEstimate:
    """Return the guess for disjoint pieces together.

    The covariance of their errors is not known; adding standard errors covers the worst case.
    """
    if len(guesses) == 1:
        return guesses[0]
    raw = [guess.raw for guess in guesses if guess.raw is not None]
    return CountEstimate(
        sum(guess.value for guess in guesses),
        sum(guess.std_error for guess in guesses),
        sum(guess.least for guess in guesses),
        min(float(people), sum(guess.most for guess in guesses)),
        next((guess.no_interval for guess in guesses if guess.no_interval), ""),
        sum(raw) if raw else None,
        loose=sum(math.sqrt(guess.loose) for guess in guesses) ** 2,
        limits=any(guess.limits for guess in guesses),
        further=sum(guess.further for guess in guesses),
    )


class Question(Protocol):
    """One question to a release, for one estimator."""

    @property
    def vocabulary(self) -> Vocabulary:
        """The words that its conditions are understood in."""

    def guess(self, pieces: Pieces, /) -> CountEstimate:
        """Return the estimated number of people in disjoint pieces of the question."""

    def add(self, terms: Sequence[Term], /, *, value_only: bool = False) -> Moments:
        """Return the estimated sum over people; its value alone takes less time."""

    def cells(self, columns: GroupColumns, pieces: Pieces) -> Iterable[Cell]:
        """Return the combinations of values that can occur in these pieces, ascending."""


class CountEngine(Protocol):
    """A release of one form, indexed for many questions. It does not refer to the release, so that both can go."""

    @property
    def vocabulary(self) -> Vocabulary:
        """The columns of the release and their values."""

    @property
    def no_likelihood(self) -> str:
        """Why the likelihood estimator cannot be used; "" where it can, and is then the default."""

    def ask(self, asked: Query, estimator: Estimator) -> Question:
        """Return the question made ready."""


T = TypeVar("T")
M = TypeVar("M", bound=Model[Any, Any])
_lock = threading.RLock()


MODEL_CACHE = "_model_cache"
"""Under this name an engine has the cache in which its models are kept between runs, if it has one."""


class fitted(Generic[T]):  # noqa: N801  (used like `property`)
    """A property that is computed on first use, by one thread for all, and kept.

    `@fitted` keeps it as long as the engine; `fits(Trend)`, a model fitted to the engine's groups, also in the engine's cache,
    where it has one: see `sfumato.query.model_cache`.
    """

    def __init__(self, fit: Callable[[Any], T], model: type[Any] | None = None) -> None:
        self.fit, self.model = fit, model
        self.__doc__ = fit.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> fitted[T]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> T | fitted[T]:
        if instance is None:
            return self
        kept = instance.__dict__
        with _lock:
            if self.name not in kept:  # afterwards Python finds it there by itself
                kept[self.name] = self._found(instance)
            value: T = kept[self.name]
            return value

    def _found(self, instance: object) -> T:
        """Return what was fitted before, or fit it."""
        cache: ModelCache | None = instance.__dict__.get(MODEL_CACHE)
        if cache is None or self.model is None:
            return self._fit(instance)
        before: T | None = cache.take(self.name, self.model, instance)
        if before is not None:
            return before
        made: Any = self._fit(instance)
        cache.put(self.name, made)
        return made  # type: ignore[no-any-return]

    def _fit(self, instance: object) -> T:
        with one_thread():
            return self.fit(instance)


def fits(model: type[M]) -> fitted[M]:
    """Return the property of an engine that has this model of its groups, fitted on first use and kept between runs."""
    return fitted(model.fit, model)


_held: dict[str, threading.Lock] = {}
"""A lock for every library of linear algebra, by its file: whoever has it changes its threads, and changes them back."""


@contextlib.contextmanager
def one_thread(*, loaded: bool = False) -> Iterator[None]:
    """Let linear algebra use one thread while the block runs; `loaded`: only libraries that are loaded already.

    The setting is the whole process's, so one block at a time changes it for a library, and changes it back; those inside it, or
    beside it in other threads, find it changed. Two that both remembered "what was before" could leave it changed for good.
    """
    with contextlib.ExitStack() as afterwards:
        for library in _libraries(not loaded or "scipy.linalg" in sys.modules):
            lock = _held.setdefault(library.filepath, threading.Lock())
            if lock.acquire(blocking=False):
                afterwards.callback(lock.release)
                afterwards.callback(library.set_num_threads, library.get_num_threads())
                library.set_num_threads(1)
        yield


@functools.cache
def _libraries(learns: bool) -> list[Any]:
    """Return the linear-algebra libraries of this process: looking for them takes milliseconds, so it is done once.

    What learns needs scipy, which brings a library of its own; what asks does not.
    """
    if learns:
        import scipy.linalg  # noqa: F401

    libraries: list[Any] = ThreadpoolController().select(user_api="blas").lib_controllers
    return libraries
