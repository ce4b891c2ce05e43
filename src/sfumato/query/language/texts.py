"""Published texts that stand for several original ones: the beginning of a text, or a group of categories."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sfumato.arrays import Flags
from sfumato.errors import QueryError
from sfumato.query.language.portions import Portions, portions_of, share_text
from sfumato.query.language.predicate import Atom, Between, In, Like, Missing, constants_of
from sfumato.query.language.vocabulary import ColumnValues, collapsed, fit, like, note_absent

Truth = bool | None
"""Whether a condition holds for all original values behind a published one, for none, or perhaps for some (None)."""

MAX_PARTLY = 8
"""Conditions that one published value may meet partly in one query."""

_NAMED = 3


@dataclass(frozen=True, eq=False)
class Prefixes:
    """The first `length` characters of a text.

    A constant that is no longer than that speaks of the published text: `postcode = '46'` and `postcode <= '46'` take in
    everybody whose postcode begins with 46, with a note. A longer one speaks of the original text, and how many of them meet
    `postcode = '46134'` the release does not tell.
    """

    words: ColumnValues
    length: int

    def split(self, atoms: Sequence[Atom], notes: list[str]) -> Portions:
        """Return each published text whole, or in parts where conditions are met only partly."""
        for atom in atoms:
            self._note(atom, notes)
        codes = [_patterns(self.words.name, atoms, [self._truth(atom, text) for atom in atoms]) for text in self.words.values]
        return portions_of([*codes, *_missing(self.words, atoms)], atoms)

    def explain(self, portions: Portions, accepted: Flags) -> str:
        """Return how texts that are partly inside are counted, and the condition that would be exact."""
        partly = [(str(self.words.values[code]), portions.inside(accepted, code)) for code in portions.partly(accepted)]
        exact = f"{self.words.name} LIKE '{partly[0][0]}%'"
        return f"{self._published()}: {_unknown(partly)}; ask for {exact}, say, for an exact condition"

    def _published(self) -> str:
        return f"{self.words.name} is published as its first {self.length} characters"

    def _truth(self, atom: Atom, text: str) -> Truth:
        if isinstance(atom, Missing):
            return False
        if len(text) < self.length:  # such a text is its own original
            return _meets(atom, self.words)(text)
        if isinstance(atom, In):
            values = [fit(value, self.words, atom) for value in atom.values]
            return True if text in values else None if any(value.startswith(text) for value in values) else False
        if isinstance(atom, Like):
            return self._like(atom.pattern, text)
        ends = [(end, met(text)) for end, met in _ends(atom, self.words)]
        if not all(met or (len(end) > self.length and end.startswith(text)) for end, met in ends):
            return False
        return None if any(len(end) > self.length and end.startswith(text) for end, _ in ends) else True

    def _like(self, pattern: str, text: str) -> Truth:
        """Return whether all, no or some texts that begin so fit the pattern, by following it through the beginning."""
        pattern = collapsed(pattern)
        if "%" not in pattern and len(pattern) <= self.length:
            return like(pattern).fullmatch(text) is not None
        places = _skipping({0}, pattern)
        for character in text:
            stay = {i for i in places if i < len(pattern) and pattern[i] == "%"}
            move = {i + 1 for i in places if i < len(pattern) and pattern[i] in ("_", character) and pattern[i] != "%"}
            places = _skipping(stay | move, pattern)
        if not places:
            return False
        return True if pattern.endswith("%") and len(pattern) - 1 in places else None

    def _note(self, atom: Atom, notes: list[str]) -> None:
        """Tell which constants are taken as published texts, and which occur in no way."""
        for value in constants_of(atom):
            text = fit(value, self.words, atom)
            known = self.words.code.get(text[: self.length])
            if known is not None and len(text) == self.length:
                notes.append(f"{self._published()}: {text!r} is taken as everybody whose {self.words.name} begins so")
            elif known is None and isinstance(atom, In):
                longer = len(text) < self.length and any(value.startswith(text) for value in self.words.values)
                note_absent(notes, self.words, text, f"ask for {self.words.name} LIKE '{text}%'" if longer else "")


@dataclass(frozen=True, eq=False)
class Categories:
    """Categories under new names: `sources[code]` are the original ones that the recoding names, `renamed` all of these together.

    Every other category is published as `other`; or, without it, keeps its name, be it the name of a group.
    A condition that the published name itself meets is met by the whole group, with a note; otherwise its original categories are
    asked one by one, and counted as equally frequent.
    """

    words: ColumnValues
    sources: tuple[tuple[str, ...], ...]
    renamed: frozenset[str]
    other: str | None

    def split(self, atoms: Sequence[Atom], notes: list[str]) -> Portions:
        """Return each published name whole, or in parts where conditions are met only partly."""
        for atom in atoms:
            if isinstance(atom, In):
                self._note(atom, notes)
        codes = [self._portions(code, atoms) for code in range(len(self.words.values))]
        return portions_of([*codes, *_missing(self.words, atoms)], atoms)

    def explain(self, portions: Portions, accepted: Flags) -> str:
        """Return how groups that are partly inside are counted, and the condition that would be exact."""
        partly = [(str(self.words.values[code]), portions.inside(accepted, code)) for code in portions.partly(accepted)]
        remark = f"{self.words.name} is published in groups: {_unknown(partly)}"
        return f"{remark}; ask for {self.words.name} = '{partly[0][0]}', say, for an exact condition"

    def _portions(self, code: int, atoms: Sequence[Atom]) -> list[tuple[float, tuple[bool, ...]]]:
        name = str(self.words.values[code])
        tests = [_meets(atom, self.words) for atom in atoms]
        whole = [test(name) for test in tests]
        weights: dict[tuple[bool, ...], float] = {}
        for source in self.sources[code]:
            truth = tuple(all_ or test(source) for all_, test in zip(whole, tests, strict=True))
            weights[truth] = weights.get(truth, 0.0) + 1.0
        if self.other is None and name not in self.renamed:
            weights.setdefault(tuple(whole), 0.0 if self.sources[code] else 1.0)
        if name == self.other:
            unnamed = [True if all_ else self._unnamed(atom) for all_, atom in zip(whole, atoms, strict=True)]
            for share, truth in _patterns(self.words.name, atoms, unnamed):
                weights[truth] = weights.get(truth, 0.0) + share
        total = sum(weights.values())
        return [(weight / total, truth) for truth, weight in weights.items()]

    def _unnamed(self, atom: Atom) -> Truth:
        """Return whether a category that the recoding does not name may meet a condition."""
        if isinstance(atom, Missing):
            return False
        if isinstance(atom, In):
            return None if any(self._is_unnamed(fit(value, self.words, atom)) for value in atom.values) else False
        return None

    def _is_unnamed(self, text: str) -> bool:
        return text not in self.words.code and text not in self.renamed

    def _note(self, atom: In, notes: list[str]) -> None:
        for value in atom.values:
            text = fit(value, self.words, atom)
            code = self.words.code.get(text)
            if code is not None and (self.sources[code] not in ((), (text,)) or text == self.other):
                notes.append(f"{self.words.name} is published in groups: {text!r} is taken as the whole group of that name")
            elif code is None and not self._may_be(text):
                note_absent(notes, self.words, text)

    def _may_be(self, text: str) -> bool:
        """Return whether some published name may stand for an original category."""
        return any(text in named for named in self.sources) if text in self.renamed else self.other in self.words.code


def _meets(atom: Atom, words: ColumnValues) -> Callable[[str], bool]:
    """Return the test whether a single original text meets a condition."""
    if isinstance(atom, Missing):
        return lambda text: False
    if isinstance(atom, In):
        values = {fit(value, words, atom) for value in atom.values}
        return lambda text: text in values
    if isinstance(atom, Like):
        pattern = like(atom.pattern)
        return lambda text: pattern.fullmatch(text) is not None
    ends = _ends(atom, words)
    return lambda text: all(met(text) for _, met in ends)


def _ends(atom: Between, words: ColumnValues) -> list[tuple[str, Callable[[str], bool]]]:
    """Return the ends of a range of texts, each with the test whether a text lies on its right side."""
    ends: list[tuple[str, Callable[[str], bool]]] = []
    if atom.low is not None:
        low = fit(atom.low, words, atom)
        ends.append((low, low.__lt__ if atom.strict_low else low.__le__))
    if atom.high is not None:
        high = fit(atom.high, words, atom)
        ends.append((high, high.__gt__ if atom.strict_high else high.__ge__))
    return ends


def _patterns(name: str, atoms: Sequence[Atom], truths: Sequence[Truth]) -> list[tuple[float, tuple[bool, ...]]]:
    """Return every way in which the undecided conditions may fall: equal parts for a range or pattern, none for named values.

    How many original values there are is not known; a few named ones are most likely a small part of them.
    """
    undecided = sum(truth is None for truth in truths)
    if undecided > MAX_PARTLY:
        raise QueryError(
            f"more than {MAX_PARTLY} conditions on {name!r} cut through one published value", hint="write one IN (…) for them"
        )
    choices = []
    for choice in itertools.product(*[(False, True) if truth is None else (truth,) for truth in truths]):
        share = 1.0
        for atom, truth, chosen in zip(atoms, truths, choice, strict=True):
            if truth is None:
                share *= float(not chosen) if isinstance(atom, In) else 0.5
        choices.append((share, choice))
    return choices


def _skipping(places: set[int], pattern: str) -> set[int]:
    """Return these places of a pattern, and those behind a % there, which may stand for nothing."""
    return places | {i + 1 for i in places if i < len(pattern) and pattern[i] == "%"}


def _missing(words: ColumnValues, atoms: Sequence[Atom]) -> list[list[tuple[float, tuple[bool, ...]]]]:
    return [[(1.0, tuple(isinstance(atom, Missing) for atom in atoms))]] if words.has_missing else []


def _unknown(partly: Sequence[tuple[str, float]]) -> str:
    counted = [(text, share_text(share) if share else "none") for text, share in partly]
    listed = [f"how many of {text!r} are inside is not known, {share} of them is counted" for text, share in counted]
    return "; ".join(listed[:_NAMED]) + (f"; so with {len(partly) - _NAMED} more" if len(partly) > _NAMED else "")
