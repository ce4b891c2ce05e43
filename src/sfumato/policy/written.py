"""A draft as the text of a policy file: keys that run as they stand, and comments that say why."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sfumato.exact import decimal_text, percent
from sfumato.policy.hierarchies import toml_text
from sfumato.policy.proposal import kind_of, toml_number
from sfumato.policy.rule import OFFSET, USUAL_THETA, Rule
from sfumato.policy.words import most_sensitive, rule_in_words, series, value_in_words
from sfumato.table.gaps import missing_suspects

if TYPE_CHECKING:
    from sfumato.policy.draft import Draft
    from sfumato.policy.guess import Looked

SHOWN = 15
"""How many values get a line of their own, the rarest first."""

_WIDEST = 50
_ROLES = {
    "identifier": "names a person: never published",
    "quasi": "what a reader may know: published as recoded below",
    "sensitive": "the secret: published, but not who has it",
    "other": "dropped: neither published nor used",
}
_MORE = (
    "",
    "# Also possible:",
    '# [input]    how the file is read: delimiter = ";", decimal = ",", encoding = "cp1252", null = ["", "NA"]',
    "# [bins]     the edges between the values of a sensitive column of numbers: salary = [0, 1000, inf], or { people = 10 }",
    '# [requirement.sets]  values that are one secret together: infectious = { values = ["HIV", "Hepatitis B"], bound = "0.05" }',
    '# [domains]  values that a column may have besides those in this table: sex = ["f", "m", "x"]',
)
_NEAR = '# Under [requirement.sets] within = { near = 1, bound = "0.5" } bounds each bin together with its neighbours.'
_METHOD = (
    "# [method]                      # without it: near people share a group where the table leaves room for that, else small",
    '# name  = "boxes"               # groups. `sfumato explain` measures what each way would answer and expose.',
    "# floor = 100                   # at least so many people in a box",
)


def write_draft(draft: Draft) -> str:
    """Return the text of the policy."""
    return "\n".join(
        [
            *_head(draft),
            *_input(draft),
            *_people(draft),
            *_columns(draft),
            *_types(draft),
            *_recodes(draft),
            *(_about_sets(draft, line) for line in _bins(draft)),
            *_missing(draft),
            *_requirement(draft),
            *_METHOD,
            *(_about_sets(draft, line) for line in _MORE),
            "",
        ]
    )


def _head(draft: Draft) -> list[str]:
    people = "1 person" if draft.table.rows == 1 else f"{draft.table.rows:,} people"
    after = "said when the draft was asked for" if draft.reviewed else "nothing is published until you have, and write true here"
    return [
        f"# A DRAFT of a policy for {_comment(draft.name)} ({people}), made by looking at the table.",
        "# Roles, types and recodings are guesses: check every one of them before anything is published.",
        "# The comments tell shares of the original table: keep this file private.",
        f"reviewed = {str(draft.reviewed).lower()}                # {after}",
        "",
    ]


def _input(draft: Draft) -> list[str]:
    """Return how the file is read, as far as it is not the usual way."""
    looked, lines = draft.looked, []
    for key in ("delimiter", "decimal", "encoding"):
        if key in looked.why:
            lines.append(f"{key} = {toml_text(str(getattr(looked.options, key)))}  # {looked.why[key]}")
    if "header" in looked.why:
        lines.append(f"header = false  # {looked.why['header']}")
        lines.append(f"names  = {_list(tuple(looked.options.names))}  # what the columns are called, here and below")
    if draft.repeated:
        lines += [
            "# ATTENTION: two rows have the same identifier. Where they are one person, a bound per row is no bound per person:",
            '# delete the next line and write [people] key = "…" and keep = "first by …"; or move what names nobody to other.',
            "one_row_per_person = false",
        ]
    return ["[input]", *lines, *_gaps(looked), ""] if lines or _gaps(looked) else []


def _gaps(looked: Looked) -> list[str]:
    """Return a question about values that may stand for missing ones."""
    found = missing_suspects(looked.columns)
    if not found:
        return []
    shown = ", ".join(f"{one.value!r} in {_comment(one.column)} ({one.rows:,})" for one in found[:8])
    more = f" and {len(found) - 8} more" if len(found) > 8 else ""
    null = (*looked.options.null, *dict.fromkeys(one.value for one in found))
    return [*_wrapped(f"Do these mean that a value is missing? {shown}{more}. If so:"), f"# null = {_list(null)}"]


def _people(draft: Draft) -> list[str]:
    """Return which rows are one person's, where somebody has several."""
    if draft.people:
        sentence = "" if draft.table.choice is None else draft.table.choice.sentence
        return [
            "[people]                        # which rows are one person's, and which of them is kept",
            *_wrapped(_comment(sentence)),
            f"key  = {toml_text(draft.people['key'])}",
            f"keep = {toml_text(draft.people['keep'])}  # or last by …; look whether that is the row that you mean",
            "",
        ]
    names = [one.column for one in draft.table.suspects]
    if not names or draft.repeated:
        return []
    keys = _comment(series(names))
    return [
        f"# ATTENTION: {keys} may be a key of people with several rows. Say so, or that every row is a person:",
        "# [people]",
        f'# key = {toml_text(names[0])}, keep = "first by …"',
        '# rows = "people"',
        "",
    ]


def _columns(draft: Draft) -> list[str]:
    by_name = draft.looked.by_name
    gaps = ", ".join(f"{_comment(name)} {column.missing:,}" for name, column in by_name.items() if column.missing)
    lines = ["[columns]                       # every column has exactly one role"]
    lines += [f"{role.ljust(10)} = {_list(draft.names(role))}  # {means}" for role, means in _ROLES.items()]  # type: ignore[arg-type]
    lines.append("# Why, with the number of different values; look first at what has a ? before it:")
    for one in draft.decisions:
        mark = " " if one.sure else "?"
        lines.append(f"# {mark} {_comment(one.column)}, {by_name[one.column].distinct:,}: {one.role}; {_comment(one.why)}")
    return [*lines, *([f"# Missing values: {gaps}."] if gaps else []), ""]


def _used(draft: Draft) -> tuple[str, ...]:
    return (*draft.names("quasi"), *draft.names("sensitive"))


def _types(draft: Draft) -> list[str]:
    return [
        "[types]                         # numeric, categorical or date",
        *(f'{toml_text(name)} = "{kind_of(draft.looked.by_name[name])}"' for name in _used(draft)),
        "",
    ]


def _recodes(draft: Draft) -> list[str]:
    lines = ["[recode]                        # what is published instead of the exact values"]
    for name in draft.names("quasi"):
        column = draft.looked.by_name[name]
        if name in draft.recode:
            lines.append(f"{toml_text(name)} = {_table(draft.recode[name])}")
        elif column.kind == "categorical" and column.distinct > 50:
            lines.append(f"# {toml_text(name)} = {{ prefix = 3 }}   # {column.distinct:,} values are many: make them coarser")
    alone = percent(draft.table.unique_share())
    among = _comment(series(draft.names("quasi")))
    return [*lines, *_wrapped(f"As recoded here, {alone} of people are the only one with their {among}."), ""]


def _about_sets(draft: Draft, line: str) -> str:
    """Return a line with the section in which sets stand where several secrets have requirements of their own."""
    return line.replace("[requirement.sets]", "[requirement.columns.NAME.sets]") if len(draft.rules) > 1 else line


def _bins(draft: Draft) -> list[str]:
    if not draft.bins:
        return []
    lines = ["[bins]                          # numbers that count as one value, each from its edge up to the next"]
    for name, edges in draft.bins.items():
        lines.append(f"{toml_text(name)} = [{', '.join(str(toml_number(edge)) for edge in edges)}]")
    return [*lines, "# These edges were computed from this table, and are published. Write round ones of your own.", _NEAR, ""]


def _missing(draft: Draft) -> list[str]:
    lines = ["[missing]                       # value (a value of its own) | drop | error"]
    gaps = [name for name in _used(draft) if draft.looked.by_name[name].missing]
    lines += [f'{toml_text(name)} = "value"' for name in gaps]
    lines += [f'{toml_text(name)} = "error"' for name in draft.names("sensitive") if name not in gaps]
    if set(gaps) & set(draft.names("sensitive")):
        lines.append('# "drop" would leave those people out; then the claim only holds with against = "reader"')
    return [*lines, ""]


def _requirement(draft: Draft) -> list[str]:
    several = len(draft.rules) > 1
    first = next(iter(draft.rules.values()))
    theta = USUAL_THETA if several else first.theta
    lines = [
        "[requirement]",
        'model   = "f-privacy"',
        'against = "engineer"            # reader | engineer, who also knows this program | insider (needs noise)',
        f"theta   = {decimal_text(theta).ljust(22)}# a reader may become at most theta · share + offset sure of a value;",
        f'offset  = "{decimal_text(OFFSET)}"                # ' + ("each column has its own shares" if several else _most(first)),
    ]
    if not several:
        return [*lines, *_in_words(first), *_why_theta(first), "", *_own_bounds(first, "[requirement.bounds]"), ""]
    lines += [
        'protect = "each"                # each secret has its own bounds; "combination" would bound what they are together, and',
        "                                # a single value only by the sum over all combinations that have it",
    ]
    derived = False
    for name, rule in draft.rules.items():
        section = f"[requirement.columns.{_bare(name)}]"
        lines += ["", section, *([f"theta = {decimal_text(rule.theta)}"] if rule.theta != USUAL_THETA else [])]
        why = ["# This theta was derived from this table too."] if derived and rule.theta != USUAL_THETA else _why_theta(rule)
        lines += [f"# The most frequent, {_most(rule)[19:]}", *_in_words(rule), *why]
        derived |= rule.theta != USUAL_THETA
        lines += _own_bounds(rule, f"{section[:-1]}.bounds]")
    return [*lines, ""]


def _most(rule: Rule) -> str:
    share = rule.shares[rule.most]
    return (
        f"the most frequent, {_comment(rule.most)}: {decimal_text(rule.theta)} · {percent(share)} + {percent(OFFSET)} = "
        f"{percent(rule.theta * share + OFFSET)}"
    )


def _in_words(rule: Rule) -> list[str]:
    """Return what a rule means, for the values that look most sensitive too."""
    bounds = {value: rule.bound(value) for value in rule.shares}
    lines = _wrapped(f"In words: {rule_in_words(rule.shares, bounds, against='engineer')}.")
    lines += [
        f"#   {_comment(value)}: {value_in_words(rule.shares[value], bounds[value])}." for value in most_sensitive(rule.shares)
    ]
    if bounds[rule.most] == 1:
        lines.append("# ATTENTION: everybody has the same sensitive value, so there is nothing that a release could hide.")
    return lines


def _why_theta(rule: Rule) -> list[str]:
    """Return why theta is what it is, and what it tells that it was derived from the table."""
    usual = decimal_text(USUAL_THETA)
    if rule.theta == USUAL_THETA:
        return [f"# Why this theta: {usual} is usual, and it leaves no value of this table with a bound above 1/2."]
    return _wrapped(
        f"Why this theta: {usual} is usual, but would leave a frequent value of this table with a bound above 1/2, or none. "
        "So it was DERIVED FROM THIS TABLE, while a claim takes the policy as fixed in advance. It looks only at how many "
        "people have each value, which groups show anyway: their claims hold as they are. With randomization, decoys or people "
        "left out, which do not show that, it tells the largest share: write a number of your own, chosen without looking."
    )


def _own_bounds(rule: Rule, section: str) -> list[str]:
    ranked = sorted(rule.shares, key=lambda value: (rule.shares[value], value))
    lines = [f"{section.ljust(31)} # own bounds for single values; remove the # from a line to use it"]
    own = {value: f'# {toml_text(value)} = "{decimal_text(rule.suggestion(value))}"' for value in ranked[:SHOWN]}
    wide = min(max(map(len, own.values())), _WIDEST)
    for value, line in own.items():
        now = f"{percent(rule.shares[value])} of people now; a reader may become at most {percent(rule.bound(value))} sure"
        lines.append(f"{line.ljust(wide)}  # {now}")
    if len(ranked) > SHOWN:
        lines.append(f"# … and {len(ranked) - SHOWN} more, which more people have; `sfumato explain --all` shows them.")
    return lines


def _bare(name: str) -> str:
    """Return a key of a section's name: bare where TOML lets it be, else quoted."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else toml_text(name)


def _table(spec: Mapping[str, object]) -> str:
    return "{ " + ", ".join(f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in spec.items()) + " }"


def _list(names: Sequence[str]) -> str:
    return "[" + ", ".join(toml_text(name) for name in names) + "]"


def _wrapped(text: str) -> list[str]:
    lines = textwrap.wrap(text.replace(" %", "\0%"), 125, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False)
    return [line.replace("\0", " ") for line in lines]


def _comment(text: str) -> str:
    """Return text that cannot end the comment it stands in."""
    return "".join(letter if letter.isprintable() else " " for letter in text)
