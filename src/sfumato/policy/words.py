"""Bounds said in words that need no formula: how sure, how many times surer, and what that means for the worst values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from sfumato.exact import decimal_text, exact, percent
from sfumato.policy.profile import plain
from sfumato.policy.vocabulary import MOST_SENSITIVE
from sfumato.privacy.growth import allowed

MAPPED = 8
"""New names of categories that are listed."""

_RECODED = {
    "width": "in bands of {}",
    "round": "rounded to multiples of {}",
    "bottom": "all below {} as one",
    "top": "{} and more as one",
    "prefix": "its first {} characters",
    "to": "the {} only",
    "icd": "its chapter in ICD-{}",
}

RARE = Fraction(1, 100)
"""Of a value that fewer people have, "times surer" says little: four times 0.1 % is still almost nothing."""


def an(adversary: str) -> str:
    """Return "a reader", "an engineer"."""
    return f"{'an' if adversary[0] in 'aeiou' else 'a'} {adversary}"


def series(names: Sequence[str]) -> str:
    """Return "age", "age, sex and ward"."""
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def capital(text: str) -> str:
    """Return a sentence that begins with a capital letter."""
    return f"{text[:1].upper()}{text[1:]}"


def uncapital(text: str) -> str:
    """Return a sentence as it goes on after a colon."""
    return f"{text[:1].lower()}{text[1:]}"


def rule_in_words(
    shares: Mapping[str, Fraction], bounds: Mapping[str, Fraction], *, against: str, compound: bool = False, people: bool = True
) -> str:
    """Return what the bounds of a table's values mean, in one sentence.

    `compound` values are combinations of several columns; without `people`, a row need not be a person. It names who is meant:
    somebody who learns how columns are associated may become surer, and no bound of a group covers that.
    """
    thing = "any one combination" if compound else "any one value"
    whom = "person" if people else "row"
    bounded = [value for value in shares if bounds[value] < 1]
    if not bounded:
        return "a reader may become certain of every value"
    most = max(bounds[value] for value in bounded)
    often = [bounds[value] / shares[value] for value in bounded if shares[value] >= RARE]
    rare = [bounds[value] for value in bounded if shares[value] < RARE]
    named = "" if len(bounded) == len(shares) else " that has a bound"
    who = f"{an(against)} who uses no link between columns"
    said = [f"{who} becomes at most {percent(most)} sure that a given {whom} has {thing}{named}"]
    if often:
        said.append(f"at most {float(max(often)):.3g} times surer than before of what at least 1 % of people have")
    if rare and max(rare) < most:
        said.append(f"at most {percent(max(rare))} sure of what fewer have")
    return ", ".join(said)


_NUMBERS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_EXAMPLES = (Fraction(24, 100), Fraction(1, 2))


def bounds_in_words(
    requirement: Mapping[str, Any],
    shares: Mapping[str, Fraction],
    bounds: Mapping[str, Fraction],
    *,
    against: str,
    secrets: Sequence[str] = (),
    compound: bool = False,
    people: bool = True,
) -> list[str]:
    """Return what a requirement means for a table, in sentences of which the first may follow a colon: by how much odds grow
    where that is the rule of every secret, and nothing beside it; else how sure somebody becomes of the table's values at most.
    """
    grown = growth_in_words(requirement, secrets, people=people)
    first, *more = grown or [f"{rule_in_words(shares, bounds, against=against, compound=compound, people=people)}."]
    return [first, *map(capital, more)]


def growth_in_words(requirement: Mapping[str, Any], secrets: Sequence[str] = (), *, people: bool = True) -> list[str]:
    """Return what rules with odds mean, a sentence for each rule of a requirement as policies and manifests write it; none
    where a secret has another rule.

    `secrets` are the columns that are protected each by itself: one without a rule of its own has the general one. Bounds of
    single values come before the rule, so that they are named where there are some.
    """
    columns = requirement.get("columns") or {}
    rules = {name: columns.get(name, requirement) for name in (*secrets, *columns)} or {"": requirement}
    by_rule: dict[str, list[str]] = {}
    for name, rule in rules.items():
        if rule.get("model", requirement.get("model")) != "f-privacy" or rule.get("odds") is None:
            return []
        by_rule.setdefault(_growth(rule, "people" if people else "rows"), []).append(name)
    sentences = [text if len(by_rule) == 1 else f"for {series(names)}: {text}" for text, names in by_rule.items()]
    own = any(rule.get("bounds") for rule in rules.values())
    return [*sentences, *(["Values with bounds of their own keep those."] if own else [])]


def _growth(rule: Mapping[str, Any], who: str) -> str:
    theta, offset, odds = (Fraction(str(rule[name])) for name in ("theta", "offset", "odds"))
    one_in = _NUMBERS[int(odds) - 1] if odds.denominator == 1 and odds <= len(_NUMBERS) else decimal_text(odds + 1)
    share = next((one for one in _EXAMPLES if one * (odds + 1) >= 1), Fraction(1))
    return (
        f"of what at least one in {one_in} {who} have, odds grow at most {decimal_text(odds)}-fold ({percent(share, 0)} → at "
        f"most {percent(allowed(share, theta, offset, odds), 0)}); of what fewer have, belief is at most one half, and at most "
        f"{decimal_text(theta)}·share + {percent(offset)}."
    )


def value_in_words(share: Fraction, bound: Fraction) -> str:
    """Return what a bound means for one value."""
    if bound == 1:
        return f"{percent(share)} of people have it; no bound, a reader may become certain"
    one_in = f"1 in {float(1 / bound):.2g}" if bound < Fraction(1, 3) else f"{float(bound):.0%} likely".replace("%", " %")
    return (
        f"{percent(share)} of people have it; a reader may become at most {percent(bound)} sure ({one_in}), "
        f"{float(bound / share):.3g} times surer than before"
    )


def recoding_in_words(recode: Mapping[str, Any]) -> str:
    """Return how a column is shown that is published coarser, from what a policy or a manifest says of it."""
    shown = {**recode}
    if "bottom" in recode and "width" in recode:  # what is below the bottom is in the band that holds it
        step, start = exact(recode["width"]), exact(recode.get("origin", 0))
        shown["bottom"] = decimal_text(start + ((exact(recode["bottom"]) - start) // step + 1) * step)
    said = [text.format(shown[name]) for name, text in _RECODED.items() if name in recode]
    said = ["its first character"] if recode.get("prefix") == 1 else said
    if "map" in recode:
        names = list(dict.fromkeys(recode["map"].values()))
        listed = ", ".join(names[:MAPPED]) + (" …" if len(names) > MAPPED else "")
        said.append(f"put together as {listed}" + (f", all else as {recode['other']}" if recode.get("other") else ""))
    return ", ".join(said) or "coarser"


def most_sensitive(shares: Mapping[str, Fraction]) -> list[str]:
    """Return the three values that look most sensitive: those with a word for it, the worst first, and then the rarest."""
    return sorted(shares, key=lambda value: (_rank(value), shares[value], value))[:3]


def _rank(value: str) -> int:
    words: Sequence[str] = plain(value).replace("-", " ").split()
    return next((rank for rank, stem in enumerate(MOST_SENSITIVE) if any(word.startswith(stem) for word in words)), 999)
