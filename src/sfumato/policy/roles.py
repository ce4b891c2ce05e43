"""The role of every column, with the reason. What is not clear is `other`: a draft publishes nothing that it is not sure of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import get_args

from sfumato.errors import InputError, PolicyError, did_you_mean
from sfumato.policy import vocabulary as say
from sfumato.policy.profile import Profile
from sfumato.table.schema import Role

ROLES: tuple[Role, ...] = get_args(Role)

MOST = 200
"""A column of texts with more values than these is published by no draft: they would have to be put together first."""

FEWEST = 5
"""A column with at least so many values, and at most `MOST`, may be the secret where nothing looks like one."""

_FEW = 2
_SIZES = 30
"""A household has a size or a kind of so many values at most; with more it has a number."""
_AGES, _OLDEST = 40, 120
_CONTACTS = (
    "e-mail addresses", "web addresses", "IP addresses", "account numbers", "random keys", "phone numbers", "street addresses",
)  # fmt: skip
_CATEGORIES = ("sex", "origin", "where they live", "family")


@dataclass(frozen=True)
class Decision:
    """The role of one column and why it has it; `strength` is of secrets, 0 the strongest, None for what is none.

    Of equally strong secrets the one in which people differ most comes first. `sure` is False where a person should look twice.
    `looks` says that values alone made it a secret, which a pseudonym's may resemble.
    """

    column: str
    role: Role
    why: str
    sure: bool = True
    strength: float | None = None
    looks: bool = False


def decide(columns: Sequence[Profile], given: Mapping[Role, Sequence[str]]) -> list[Decision]:
    """Return a decision about every column: `given` roles as they are, the others by names and values.

    At least one column is quasi and one sensitive. If somebody says which columns are sensitive, no other one becomes it.
    """
    if len(columns) < 2:
        raise InputError("the table has only one column", hint="a table needs a quasi and a sensitive column")
    known = _given(columns, given)
    made = _alike([known.get(column.name) or _decision(column) for column in columns], columns)
    if given.get("sensitive"):
        made = [
            _left_out(decision) if decision.role == "sensitive" and decision.column not in known else decision
            for decision in made
        ]
    else:
        made = _with_a_secret(made, columns, known)
    return _with_something_known(made, columns, known)


def _given(columns: Sequence[Profile], given: Mapping[Role, Sequence[str]]) -> dict[str, Decision]:
    """Return the decisions that somebody made, after checking that the columns are there and have one role each."""
    names = [column.name for column in columns]
    decisions: dict[str, Decision] = {}
    for role, chosen in given.items():
        for name in chosen:
            if name not in names:
                raise PolicyError(f"{role}: the table has no column {name!r}", hint=did_you_mean(name, names))
            if name in decisions:
                raise PolicyError(f"column {name!r} has two roles, {decisions[name].role} and {role}", hint="give it one role")
            decisions[name] = Decision(name, role, "as stated", strength=0 if role == "sensitive" else None)
    return decisions


def _decision(column: Profile) -> Decision:
    """Return the likeliest role of a column by itself. The order matters: what names a person wins over all else."""
    for judge in (_nothing, _named_person, _birth, _unit, _key, _secret, _singled_out, _known):
        decision = judge(column)
        if decision is not None:
            return decision
    secret = _maybe_secret(column)
    return secret or _aged(column) or _other(column, f"not clear what it is ({_many(column)})")


def _nothing(column: Profile) -> Decision | None:
    if column.distinct == 0:
        return _other(column, "it is empty", sure=True)
    return _other(column, "it looks like a survey weight, which [weight] would publish in bins") if is_weight(column) else None


def _named_person(column: Profile) -> Decision | None:
    """Names, addresses and contacts, by the name of the column or by the look of its values."""
    if column.looks in _CONTACTS:
        return Decision(column.name, "identifier", f"its values look like {column.looks}")
    if column.words_each >= 4 and column.distinct > 0.3 * column.present and column.distinct > 20:
        return Decision(column.name, "identifier", "free text, which may name anybody")
    if column.kind == "date" or (column.distinct <= _FEW and column.distinct < column.rows) or is_place(column):
        return None
    if is_name(column) or (say.PERSONAL.meets(column.words) and not _small_number(column)):
        return Decision(column.name, "identifier", say.PERSONAL.called)
    if column.looks == "names of people" and not any(topic.meets(column.words) for topic in (*say.KNOWN, *say.SECRETS)):
        return Decision(column.name, "identifier", "its values look like names of people", sure=False)
    return None


def _birth(column: Profile) -> Decision | None:
    if not say.BIRTH.meets(column.words) or any(topic.meets(column.words) for topic in say.KNOWN if topic.called == "origin"):
        return None
    if column.kind == "date":
        return Decision(
            column.name, "identifier", "a date of birth nearly names a person; a column with the age or year would not"
        )
    if _year(column):
        return Decision(column.name, "quasi", "a year of birth, which others may know")
    return _other(column, "it has to do with birth, but is no date")


def _unit(column: Profile) -> Decision | None:
    """Numbers of households, and of the units that a survey drew: they number no people, and lead to them."""
    many = column.distinct > max(_SIZES, 0.1 * column.present)
    if column.words & say.HOUSEHOLDS and many:
        return Decision(column.name, "identifier", "it is called like the number of a household, whose people it tells together")
    if column.words & say.UNITS:
        return _other(column, "it is called like a sampling unit of a survey, which leads to a place", sure=True)
    return None


def _key(column: Profile) -> Decision | None:
    """Numbers of people and of what happened to them, by the name of the column."""
    if column.kind == "date" or is_place(column):
        return None
    last, numbered = column.ordered[-1] if column.ordered else "", bool(column.words & say.NUMBERING)
    keyed = bool(column.words & say.KEYS) or any(word.startswith(say.PERSON.stems) for word in column.words)
    of_people = keyed or (say.PERSON.meets(column.words) and (numbered or len(column.ordered) == 1))
    if of_people and column.words <= say.SHORT and 10 * column.distinct < column.present:
        return _other(column, f"it may be called like a person's number, but {_many(column)} number no {column.present:,} rows")
    if _small_number(column) or column.distinct <= _FEW or say.CODED.meets(column.words):
        return None
    if of_people and (keyed or numbered or column.distinct > 0.1 * column.present):
        return Decision(column.name, "identifier", say.PERSON.called)
    many = column.distinct > 0.02 * column.present
    if numbered and last in say.NUMBERING and (column.unique or (many and column.distinct > MOST)):
        return Decision(column.name, "identifier", "a number or code with very many values")
    return None


def _secret(column: Profile) -> Decision | None:
    """Secrets by the name of the column or by their values; dates, ages and counts are not what is secret about them."""
    topic = next((known for known in say.SECRETS if known.meets(column.words)), None)
    why = "" if topic is None else f"it is called like something about {topic.called}"
    called = None if topic is None else topic.called
    if topic is None:
        called = _by_value(column)
        why = f"its values look like {called}" if called and column.looks else f"its values have to do with {called}"
    if not called:
        return None
    if any(word.startswith("tax") for word in column.ordered) and topic is not say.MONEY:
        return _other(column, f"a tax on what has to do with {called}: a good's price, or a person's?")
    if column.kind == "date":
        return _other(column, f"a date that has to do with {called}")
    if column.kind == "numeric" and called != "money" and _counts(column):
        return _other(column, f"a count, an age or a length of time that has to do with {called}")
    if column.unique and column.kind == "categorical":
        return Decision(column.name, "identifier", f"{_alone(column)} are the only one with their value")
    strength = [known.called for known in say.SECRETS].index(called if topic else _KINDS.get(called, called))
    guess = 0 if topic else 0.5  # what is called a secret comes before what only looks like one
    looks = topic is None and bool(column.looks)
    sure = not looks and topic is not say.VIEWS and not column.words & say.DOUBTFUL
    rank = strength + guess + column.most / (2 * column.rows)
    return Decision(column.name, "sensitive", why, sure, strength=rank, looks=looks)


_KINDS = {"codes of illnesses (ICD)": "health", "amounts of money": "money"}


def _by_value(column: Profile) -> str:
    """Return what a column of texts tells by its values; empty where they tell nothing."""
    if column.looks in _KINDS and column.distinct >= _FEW:
        return column.looks
    words = [frozenset(value.split()) | {value.replace(" ", "")} for value in column.values]
    for called, secret in say.SECRET_VALUES.items():
        hits = sum(bool(word & secret) for word in words)
        if hits >= 3 or (hits >= 1 and hits > 0.3 * len(words)):
            return called
    return ""


def _singled_out(column: Profile) -> Decision | None:
    """What nearly names people by its values, whatever it is called."""
    if is_place(column):
        return None
    if column.kind == "categorical" and column.unique and column.distinct > _FEW:
        return Decision(column.name, "identifier", f"{_alone(column)} are the only one with their value")
    if column.looks == "numbers with letters" and column.distinct > max(MOST, 0.02 * column.present):
        return Decision(column.name, "identifier", f"codes with very many values ({column.distinct:,})")
    if column.kind != "numeric" or not column.whole or column.high is None or column.distinct <= MOST:
        return None
    if column.distinct == column.present:
        return Decision(column.name, "identifier", "a different whole number for everybody")
    if column.high >= 100_000 and column.distinct > 0.02 * column.present:
        return _other(column, f"whole numbers with very many values ({column.distinct:,}): they may be numbers of people")
    return None


def _known(column: Profile) -> Decision | None:
    """What others may well know, by the name of the column or by its values; not where it would single people out."""
    called = next((topic.called for topic in say.KNOWN if topic.meets(column.words)), None) or _known_by_value(column)
    if called is None or column.distinct < _FEW:
        return None
    if column.kind == "date" and not column.words & say.EVENTS and not any(topic.meets(column.words) for topic in say.KNOWN):
        return None
    if is_place(column):
        return Decision(column.name, "quasi", "a place of living: published coarser")
    if (
        called == say.CARE
        and column.kind != "date"
        and (column.words & say.EVENTS or column.kind == "numeric")
        and not _year(column)
        and not _site(column)
    ):
        return _other(column, f"it has to do with what happened to a person, but is no date ({_many(column)})")
    if (column.kind == "categorical" or is_category(column) or _site(column)) and column.distinct > MOST:
        what = "practices, wards or other sites" if _site(column) else "values"
        return _other(column, f"too many {what} to be published as they are ({column.distinct:,}): group them first")
    if column.kind == "numeric" and not column.whole and column.unique:
        return _other(column, f"exact measurements: {_alone(column)} are the only one with theirs")
    return Decision(column.name, "quasi", f"others may know it ({called})")


def _site(column: Profile) -> bool:
    """Return whether a column is called like a place of care or of a study, or its number, and like nothing else."""
    return bool(column.words & say.SITES) and say.NUMBERED.issuperset(column.ordered)


def _called_known(column: Profile) -> bool:
    """Return whether a column is called like what others may well know."""
    return any(topic.meets(column.words) for topic in say.KNOWN)


def _known_by_value(column: Profile) -> str | None:
    values = {value.replace(" ", "") for value in column.values}
    if not 2 <= len(values) <= 80:
        return None
    if values <= say.SEX_VALUES and len(values) <= 5:
        return "sex"
    return next((called for called, known in say.KNOWN_VALUES.items() if 2 * len(values & known) >= len(values)), None)


def _maybe_secret(column: Profile) -> Decision | None:
    """What may be the secret, if nothing else is: work, marks, and codes with many values."""
    if column.kind == "date" or column.distinct < FEWEST:
        return None
    if say.MAYBE_SECRET.meets(column.words):
        return Decision(column.name, "other", "a secret, or what others may know", sure=False, strength=len(say.SECRETS))
    codes = column.kind == "categorical" and column.looks == "numbers with letters"
    return Decision(column.name, "other", "codes with many values", sure=False, strength=len(say.SECRETS) + 1) if codes else None


def _with_a_secret(made: list[Decision], columns: Sequence[Profile], known: Mapping[str, Decision]) -> list[Decision]:
    """Return the decisions with at least one sensitive column: the likeliest, where none looks like a secret."""
    if any(decision.role == "sensitive" for decision in made):
        return made
    free = [place for place, decision in enumerate(made) if decision.column not in known]
    if not free:
        raise PolicyError("no column is left to be sensitive", hint="name one with --sensitive")
    maybe = [place for place in free if made[place].strength is not None]
    texts = [
        place
        for place in free
        if made[place].role == "other" and columns[place].kind == "categorical" and FEWEST <= columns[place].distinct <= MOST
    ]
    unclear = [place for place in free if made[place].role == "other" and columns[place].kind != "date"]
    dull = [place for place in unclear if columns[place].distinct and not _called_known(columns[place])]
    dull = [place for place in dull if columns[place].distinct >= FEWEST] or dull
    fits = [place for place in free if made[place].role == "quasi" and columns[place].kind != "date"]
    best = min(maybe, key=lambda place: made[place].strength or 0) if maybe else (texts or dull or fits or unclear or free)[-1]
    why = "a guess, since nothing looks like a secret: say which column is"
    return [
        replace(decision, role="sensitive", why=why, sure=False) if place == best else decision
        for place, decision in enumerate(made)
    ]


def _with_something_known(made: list[Decision], columns: Sequence[Profile], known: Mapping[str, Decision]) -> list[Decision]:
    """Return the decisions with at least one quasi column: where none is clear, one that is called like what others know, else
    the one with the fewest values."""
    if any(decision.role == "quasi" for decision in made):
        return made
    free = [place for place, decision in enumerate(made) if decision.column not in known and decision.role != "sensitive"]
    if not free:
        free = [place for place, decision in enumerate(made) if decision.column not in known]
    if not free:
        raise PolicyError("no column is left to be quasi", hint="a table needs one: name it with --quasi")
    order = {"other": 0, "identifier": 1, "sensitive": 2}

    def rank(place: int) -> tuple[bool, bool, int, int]:
        column, role = columns[place], made[place].role
        known = role == "other" and column.kind == "numeric" and _called_known(column)
        return column.distinct < _FEW, not known, order[role], column.distinct

    best = min(free, key=rank)
    why = "a guess, since a table needs something that a reader may know: look whether anybody may see it"
    return [
        replace(decision, role="quasi", why=why, sure=False) if place == best else decision for place, decision in enumerate(made)
    ]


def _left_out(decision: Decision) -> Decision:
    """Return a secret that nobody named as one: it is dropped, about which there is nothing to ask."""
    return replace(
        decision, role="other", why=f"{decision.why}, and is none of the columns that were named as sensitive", sure=True
    )


def _alike(made: list[Decision], columns: Sequence[Profile]) -> list[Decision]:
    """Return the decisions in which unclear columns with the values of a secret are secrets too: one drug among others."""
    secrets = [
        secret for secret, decision in zip(columns, made, strict=True) if decision.role == "sensitive" and _telling(secret)
    ]
    decisions = []
    for column, decision in zip(columns, made, strict=True):
        like = next(
            (secret for secret in secrets if len(column.values & secret.values) >= _FEW and column.values <= secret.values), None
        )
        if decision.role == "other" and not decision.sure and column.distinct >= _FEW and like is not None:
            why = f"it has the values of {like.name!r}, which looks like a secret"
            strength = float(len(say.SECRETS)) + column.most / (2 * column.rows)
            decision = replace(decision, role="sensitive", why=why, strength=strength)
        decisions.append(decision)
    return decisions


def _telling(column: Profile) -> bool:
    """Return whether the values of a column are its own, and not those of any yes or no."""
    any_flag = say.NOTHING | say.SOMETHING | say.LETTERS.keys()
    return column.kind == "categorical" and _FEW < column.distinct <= MOST and not column.values <= any_flag


def _aged(column: Profile) -> Decision | None:
    """Return that numbers look like ages in a file that names no columns: whole, up to 120, and no one of them frequent."""
    nameless = column.ordered[:1] == ("column",) and len(column.ordered) == _FEW and column.ordered[1].isdecimal()
    if not nameless or not column.whole or column.low is None or column.high is None or column.distinct < _AGES:
        return None
    if not 0 <= column.low < column.high <= _OLDEST or column.most > column.rows / 10:
        return None
    return Decision(column.name, "quasi", f"whole numbers from {column.low:.0f} to {column.high:.0f} look like ages", sure=False)


def _other(column: Profile, why: str, *, sure: bool = False) -> Decision:
    return Decision(column.name, "other", why, sure=sure)


def is_weight(column: Profile) -> bool:
    """Return whether a column is called like the weight of a survey, and not like a body's."""
    return column.kind == "numeric" and bool(column.words & say.WEIGHTS) and not column.words & say.BODILY


def is_name(column: Profile) -> bool:
    """Return whether a column is called like a person's name, or has names among its values."""
    words = frozenset(column.ordered)
    named = bool(words & say.NAMES) and words <= say.NAMES | say.OF_PEOPLE
    alone = bool(words) and words <= say.ALONE and column.kind == "categorical"
    return named or alone or say.FAMILY_NAMES.meets(column.words)


def is_place(column: Profile) -> bool:
    """Return whether a column is called like a postcode."""
    return bool(column.words & say.PLACES) or any(word.startswith("postcode") for word in column.words)


def is_category(column: Profile) -> bool:
    """Return whether numbers are codes of things that have no order, such as countries; sizes and ratings have one."""
    if not column.whole or column.words & say.SIZES or say.VIEWS.meets(column.words):
        return False
    return any(topic.meets(column.words) for topic in say.KNOWN if topic.called in _CATEGORIES)


def _year(column: Profile) -> bool:
    return column.whole and column.low is not None and column.high is not None and 1850 <= column.low <= column.high <= 2100


def _small_number(column: Profile) -> bool:
    """Return whether a column holds small whole numbers that many people share: a count or a code, and no person's number."""
    return (
        column.kind == "numeric" and column.whole and column.high is not None and column.high < 1000
        and 4 * column.distinct < column.present
    )  # fmt: skip


def _counts(column: Profile) -> bool:
    """Return whether a column of numbers is called like a count, an age or a length of time."""
    return bool(column.words & (say.COUNTING | say.DURATIONS)) or any(word in ("age", "alter") for word in column.ordered)


def _many(column: Profile) -> str:
    return "one value" if column.distinct == 1 else f"{column.distinct:,} values"


def _alone(column: Profile) -> str:
    return f"{column.alone:,} of {column.present:,} people"
