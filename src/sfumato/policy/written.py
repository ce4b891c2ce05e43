"""A draft as the text of a policy file: keys that run as they stand, and comments that say why."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sfumato.exact import decimal_text, percent
from sfumato.policy.codes import coded, edition
from sfumato.policy.hierarchies import toml_text
from sfumato.policy.lists import why_list
from sfumato.policy.opening import divided_from
from sfumato.policy.profile import Profile
from sfumato.policy.proposal import kind_of
from sfumato.policy.roles import is_weight
from sfumato.policy.rule import ProposedRule
from sfumato.policy.vocabulary import HOUSEHOLDS
from sfumato.policy.words import growth_in_words, most_sensitive, series, value_in_words
from sfumato.privacy.growth import HALF
from sfumato.table.gaps import Gap, missing_suspects

if TYPE_CHECKING:
    from sfumato.policy.draft import Draft

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
    "# floor = 100                   # at least so many people in a box; without it max(20, min(100, people/200))",
)
_BY_RESULTS = "Bounds or bands that are chosen for that reason are chosen by results: what the refusal tells, no claim counts."
_BOXES = (
    "# [method]",
    '# name  = "boxes"               # the one for people with several values: near people share a box, by soft cuts',
    _METHOD[-1],
)


def write_draft(draft: Draft) -> str:
    """Return the text of the policy."""
    return "\n".join(
        [
            *_head(draft),
            *_input(draft),
            *_people(draft),
            *_unit(draft),
            *_columns(draft),
            *_secrets(draft),
            *_weight(draft),
            *_types(draft),
            *_recodes(draft),
            *(_about_sets(draft, line) for line in _bins(draft)),
            *_missing(draft),
            *_requirement(draft),
            *(_METHOD if draft.table.bundles is None else _BOXES),
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
    if "rename" in looked.why:
        lines.append(f"rename = true  # {looked.why['rename']}")
    if "header" in looked.why:
        lines.append(f"header = false  # {looked.why['header']}")
        lines.append(f"names  = {_list(tuple(looked.options.names))}  # what the columns are called, here and below")
    if draft.repeated:
        lines += [
            "# ATTENTION: two rows have the same identifier. Where they are one person, a bound per row is no bound per person:",
            '# delete the next line and write [people] key = "…" and keep = "first by …"; or move what names nobody to other.',
            "one_row_per_person = false",
        ]
    lines += _gaps(draft)
    return ["[input]", *lines, ""] if lines else []


def _gaps(draft: Draft) -> list[str]:
    """Return a question about values that may stand for missing ones; one that a rule below names stays the value it is."""
    looked, suspects = draft.looked, _suspects(draft)
    if not suspects:
        return []
    shown = ", ".join(f"{suspect.value!r} in {_comment(suspect.column)} ({suspect.rows:,})" for suspect in suspects[:8])
    more = f" and {len(suspects) - 8} more" if len(suspects) > 8 else ""
    null = (*looked.options.null, *dict.fromkeys(suspect.value for suspect in suspects))
    return [*_wrapped(f"Do these mean that a value is missing? {shown}{more}. If so:"), f"# null = {_list(null)}"]


def _suspects(draft: Draft) -> list[Gap]:
    named = {value for rule in draft.rules.values() for value in (rule.opened, *rule.others)}
    return [suspect for suspect in missing_suspects(draft.looked.columns) if suspect.value not in named]


def _people(draft: Draft) -> list[str]:
    """Return which rows are one person's, where somebody has several."""
    if draft.people:
        sentence = "" if draft.table.choice is None else _comment(draft.table.choice.sentence)
        whole = draft.people["keep"] == "all"
        return [*(_whole(draft, sentence) if whole else _first(draft, sentence)), ""]
    names = [suspect.column for suspect in draft.table.suspects]
    if not names or draft.repeated:
        return []
    keys = _comment(series(names))
    return [
        f"# ATTENTION: {keys} may be a key of people with several rows. Say so, or that every row is a person:",
        "# [people]",
        f"# key  = {toml_text(names[0])}",
        '# keep = "first by …"            # or, without key and keep:',
        '# rows = "people"',
        "",
    ]


def _unit(draft: Draft) -> list[str]:
    """Return how whole households would be published, where a column numbers them."""
    words = {decision.column: draft.looked.by_name[decision.column].words for decision in draft.decisions}
    named = [name for name in draft.names("identifier") if words[name] & HOUSEHOLDS]
    return (
        [
            "# ? Claims about single people cover no link between relatives. Whole households are published by:",
            "# [unit]",
            f"# household = {toml_text(named[0])}",
            '# quasi = "greatest by …"        # the member whose quasi values are shown',
            "",
        ]
        if named
        else []
    )


def _first(draft: Draft, sentence: str) -> list[str]:
    """Return the lines about people of whom one row is kept."""
    return [
        "[people]                        # which rows are one person's, and which of them is kept",
        *_wrapped(sentence),
        f"key  = {toml_text(draft.people['key'])}",
        f"keep = {toml_text(draft.people['keep'])}  # or last by …; look whether that is the row that you mean",
    ]


def _whole(draft: Draft, sentence: str) -> list[str]:
    """Return the lines about people with all their rows."""
    rule = draft.people.get("quasi")
    shown = [] if rule is None else [f"quasi = {_table(rule) if isinstance(rule, Mapping) else toml_text(rule)}"]
    about = "the row whose quasi values are shown, where rows of a person differ"
    dropped = "without_key" in draft.people
    return [
        "[people]                        # which rows are one person's: she is published once, with all of them",
        *_wrapped(sentence),
        f"key   = {toml_text(draft.people['key'])}",
        'keep  = "all"  # "first by …" would publish that row alone, and claim nothing of the others',
        *(f"{line}  # {about if isinstance(rule, str) else 'which of the numbers of a person is shown'}" for line in shown),
        "# ? How often somebody was there is published, as the band of her number of rows (1, 2, 3, …), and not protected.",
        'alike = "rows"',
        *(['without_key = "drop"  # ? rows of which nobody knows whose they are; "error" refuses them'] if dropped else []),
        *([] if draft.refused is None else _wrapped(f"ATTENTION: this is refused: {_comment(draft.refused)}. {_BY_RESULTS}")),
    ]


def _secrets(draft: Draft) -> list[str]:
    """Return of which columns each secret is, where one has several."""
    if not draft.listed:
        return []
    lines = [
        "[secrets]                       # what is protected: published, but not who has it; a person has any number of values"
    ]
    for name, columns in draft.secrets.items():
        made = toml_text(columns[0]) if len(columns) == 1 else _list(columns)
        asked = f"  # ? {_comment(why_list(columns))}" if len(columns) > 1 else ""
        lines.append(f"{toml_text(name)} = {made}{asked}")
    return [*lines, ""]


def _weight(draft: Draft) -> list[str]:
    """Return how a column that looks like the weight of a survey would be published: nobody but the publisher knows how it was
    made."""
    found = [name for name in draft.names("other") if is_weight(draft.looked.by_name[name])]
    if not found:
        return []
    return [
        "# [weight]                      # ? for how many people of the population somebody stands: published in bins only",
        f"# column = {toml_text(found[0])}  # then no longer under other",
        "# made_without_secrets = false  # true: it was neither calibrated nor adjusted for non-response on a secret",
        "",
    ]


def _columns(draft: Draft) -> list[str]:
    by_name = draft.looked.by_name
    gaps = ", ".join(f"{_comment(name)} {column.missing:,}" for name, column in by_name.items() if column.missing)
    lines = ["[columns]                       # every column has exactly one role"]
    roles = {role: means for role, means in _ROLES.items() if role != "sensitive" or not draft.listed}
    lines += [f"{role.ljust(10)} = {_list(draft.names(role))}  # {means}" for role, means in roles.items()]  # type: ignore[arg-type]
    lines.append("# Why, with the number of different values; look first at what has a ? before it:")
    for decision in draft.decisions:
        mark = " " if decision.sure else "?"
        column = decision.column
        lines.append(f"# {mark} {_comment(column)}, {by_name[column].distinct:,}: {decision.role}; {_comment(decision.why)}")
    return [*lines, *([f"# Missing values: {gaps}."] if gaps else []), ""]


def _used(draft: Draft) -> tuple[str, ...]:
    return (*draft.names("quasi"), *draft.secrets)


def _types(draft: Draft) -> list[str]:
    return [
        "[types]                         # numeric, categorical or date",
        *(f'{toml_text(name)} = "{kind_of(draft.profile(name))}"{_doubt(draft.profile(name))}' for name in _used(draft)),
        "",
    ]


def _doubt(column: Profile) -> str:
    """Return the question about a column whose numbers are taken for codes."""
    why = coded(column)
    return f"  # ? numbers that look like codes, which have no order: {why}" if why else ""


def _recodes(draft: Draft) -> list[str]:
    lines = ["[recode]                        # what is published instead of the exact values"]
    for name in draft.names("quasi"):
        column = draft.looked.by_name[name]
        if name in draft.recode:
            idle = "# " if draft.declared and "width" in draft.recode[name] else ""
            lines.append(f"{idle}{toml_text(name)} = {_table(draft.recode[name])}")
        elif column.kind == "categorical" and column.distinct > 50:
            lines.append(f"# {toml_text(name)} = {{ prefix = 3 }}   # {column.distinct:,} values are many: make them coarser")
    lines += [
        f"{'# ' if draft.declared else ''}{toml_text(name)} = {_table(draft.recode[name])}   # chapters of illnesses in place of "
        f"{draft.profile(name).distinct:,} numbers"
        for name in draft.secrets
        if name in draft.recode
    ]
    lines += [
        f"# {toml_text(name)} = {{ icd = {edition(draft.profile(name))} }}   # chapters of illnesses in place of "
        f"{draft.profile(name).distinct:,} codes"
        for name in draft.secrets
        if edition(draft.profile(name)) and name not in draft.recode
    ]
    alone = percent(draft.table.unique_share())
    among = _comment(series(draft.table.schema.quasi))
    return [*lines, *_wrapped(f"As recoded here, {alone} of people are the only one with their {among}."), ""]


def _about_sets(draft: Draft, line: str) -> str:
    """Return a line with the section in which sets stand where several secrets have requirements of their own."""
    return line.replace("[requirement.sets]", "[requirement.columns.NAME.sets]") if len(draft.rules) > 1 else line


def _bins(draft: Draft) -> list[str]:
    if not draft.bins:
        return []
    lines = ["[bins]                          # numbers that count as one value, each from its edge up to the next"]
    idle = "# " if draft.declared else ""
    lines += [f"{idle}{toml_text(name)} = {_table(bins.spec)}" for name, bins in draft.bins.items()]
    if draft.declared:
        return [*lines, "# These edges were computed from this table, which nothing may here: write round ones of your own.", ""]
    if any(bins.zero for bins in draft.bins.values()):
        lines.append("# 0, 0: an edge that stands twice is a bin of that number alone, here of who has nothing.")
    return [
        *lines,
        "# clip: numbers beyond the ends (above: the last one) count in the bins there; each has a middle for averages.",
        _NEAR,
        "",
    ]


def _missing(draft: Draft) -> list[str]:
    several = draft.table.bundles is not None
    lines = [
        "[missing]                       # value (a value of its own) | drop | error",
        *(["# Of a secret: an empty cell is no fact; value: to have none at all is a value, with a bound."] if several else []),
    ]
    doubtful = {suspect.column for suspect in _suspects(draft)}  # missing, once null says so
    doubtful |= {name for name, columns in draft.secrets.items() if doubtful & {*columns}}
    gaps = [name for name in _used(draft) if draft.profile(name).missing or name in doubtful]
    lines += [f'{toml_text(name)} = "value"' for name in gaps]
    lines += [f'{toml_text(name)} = "error"' for name in draft.secrets if name not in gaps]
    if set(gaps) & set(draft.secrets) and not several:
        lines.append('# "drop" would leave those people out; then the claim only holds with against = "reader"')
    return [*lines, ""]


def _requirement(draft: Draft) -> list[str]:
    several, numbers = len(draft.rules) > 1, draft.numbers
    rule = {"model": "f-privacy", "theta": numbers.theta, "offset": numbers.offset, "odds": numbers.odds}
    against = "insider" if draft.declared else "engineer"
    lines = [
        "[requirement]",
        'model   = "f-privacy"',
        f"against = {toml_text(against).ljust(22)}# reader | engineer, who also knows this program | insider (needs noise)",
        f"theta   = {decimal_text(numbers.theta)}",
        f'offset  = "{decimal_text(numbers.offset)}"',
        f"odds    = {decimal_text(numbers.odds)}",
        *_wrapped(f"In words: {growth_in_words(rule)[0]}"),
        "# These numbers are the same for every table.",
    ]
    if several:
        lines += [
            'protect = "each"                # each secret has its own bounds; "combination" would bound what they are together,',
            "                                # and a single value only by the sum over all combinations that have it",
        ]
    lines += _taken(draft)
    for name, own in draft.rules.items():
        lines += _secret(name, own, draft, several=several)
    return [*lines, ""]


def _taken(draft: Draft) -> list[str]:
    """Return what follows from the table, though a claim takes the policy as fixed in advance."""
    if draft.declared:
        return _wrapped("No bound, no edge and no open value was taken from this table.")
    ends = {name: [key for key in ("bottom", "top") if key in spec] for name, spec in draft.recode.items()}
    taken = [f"which value of {name} is open" for name, rule in draft.rules.items() if rule.opened is not None]
    taken += [f"the edges of the bins of {name}" for name in draft.bins]
    taken += [f"{' and '.join(keys)} of {name}" for name, keys in ends.items() if keys]
    taken += ["the order of quasi columns, by their numbers of values"] if len(draft.names("quasi")) > 1 else []
    if not taken:
        return []
    return _wrapped(
        f"TAKEN FROM THIS TABLE, while a claim takes the policy as fixed in advance: {_comment('; '.join(taken))}. All of it "
        "follows from how many people have each value or quasi value, which groups show anyway: their claims hold as they are. "
        "Randomization, decoys and people left out do not show it: write your own there (--declared takes nothing)."
    )


def _secret(name: str, rule: ProposedRule, draft: Draft, *, several: bool) -> list[str]:
    """Return what a draft says of one secret: the surest belief, what is open, and bounds to choose from, each value once."""
    section = f"[requirement.columns.{_bare(name)}]" if several else "[requirement]"
    lines = ["", section] if several else []
    lines += _surest(rule, several=several)
    sets = _open_set(rule, f"{section[:-1]}.sets]")
    asked = [value for value in _listed(rule) if value not in (rule.opened, rule.closed_majority)]
    offers = {value: bound for value in asked if (bound := rule.suggestion(value)) is not None}
    values = list(offers)
    own = [f'# {toml_text(value)} = "{decimal_text(bound)}"' for value, bound in offers.items()]
    wide = min(max(map(len, own), default=0), _WIDEST)
    bounds = [f"{section[:-1]}.bounds]".ljust(31) + " # bounds of single values, before the rule; remove the # to use a line"]
    if rule.opened is not None:
        share = percent(rule.shares[rule.opened])
        bounds.append(f"{toml_text(rule.opened)} = 1  # ? {share} of people have it, and it says that nothing is there")
    elif rule.closed_majority is not None:
        bounds.append(_closed_majority(name, rule.closed_majority, draft))
    for value, line in zip(values, own, strict=True):
        bounds.append(f"{line.ljust(wide)}  # {value_in_words(rule.shares[value], rule.bound(value))}")
    rest = len(rule.shares) - len(values) - int(rule.shares[rule.most] > HALF)
    if rest > 0:
        bounds.append(f"# {rest} more: `sfumato explain --all` lists them.")
    return [*lines, *bounds, *sets]


def _surest(rule: ProposedRule, *, several: bool) -> list[str]:
    """Return the largest belief in what fewer than half of people have, and the line that would lower it."""
    if len(rule.shares) == 1:
        return ["# ATTENTION: everybody has the same sensitive value, so there is nothing that a release could hide."]
    value = rule.surest
    if value is None:
        return []
    now, odds = rule.bound(value), rule.stricter
    said = (
        f"The largest belief in what fewer than half of people have: {_comment(value)}, which {percent(rule.shares[value])} "
        f"have, at most {percent(now)}."
    )
    then = rule.with_odds(value, odds)
    if then >= now:
        return _wrapped(f"{said} Its line below would make it stricter.")
    line = f"odds = {decimal_text(odds)}"
    if several:
        return [*_wrapped(f"{said} Stricter, at most {percent(then)}:"), f"# {line}"]
    return _wrapped(f"{said} In place of the line above, {line} would make it stricter: at most {percent(then)}.")


def _listed(rule: ProposedRule) -> list[str]:
    """Return the values that have a line: those that look most sensitive, and the one of which somebody may become surest."""
    return list(dict.fromkeys((*most_sensitive(rule.shares), *([rule.surest] if rule.surest is not None else []))))


def _closed_majority(name: str, value: str, draft: Draft) -> str:
    """Return what it would bring to leave a value open that most people have, and that is no "nothing there"."""
    rule, people = draft.rules[name], draft.table.rows
    now, then = (divided_from(draft.rules, people, opened) for opened in (None, (name, value)))
    gain = f"open, from about {then:,}" if then < now else "open, from no fewer"
    return (
        f"# {toml_text(value)} = 1  # {percent(rule.shares[value])} of people have it, and at most {percent(rule.bound(value))} "
        f"of a group may: boxes mixed like the table can be divided from about {now:,} people on; {gain}"
    )


def _open_set(rule: ProposedRule, section: str) -> list[str]:
    """Return the set of all values but the open one, which is bounded as a value is: to have something may be the secret."""
    if not rule.others:
        return []
    numbers = rule.numbers
    spec = (
        f'theta = {decimal_text(numbers.theta)}, offset = "{decimal_text(numbers.offset)}", odds = {decimal_text(numbers.odds)}'
    )
    listed = _list(rule.others)
    return [
        f"{section.ljust(31)} # to have any of the others is a secret too",
        f"{toml_text('not ' + str(rule.opened))} = {{ values = {listed}, {spec} }}",
    ]


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


def _wherever_wrapped(words: str) -> str:
    """Return the pattern of words in a comment, between which a new line may begin."""
    return r"(?: |\n# )".join(words.split(" "))


_LINES = r"(?:.*\n# )*?.*?"
_OLD_NUMBERS = tuple(
    (re.compile(pattern, re.MULTILINE), kept)
    for pattern, kept in (
        (rf"^# In words: {_LINES}These numbers are the same for every table\.\n", ""),
        (
            rf"^# The largest belief in what fewer than half of people have: {_LINES}"
            rf"(?:{_wherever_wrapped('would make it stricter')}(?:\.|:{_wherever_wrapped(' at most')}(?: |\n# )\S+ %\.)"
            rf"|{_wherever_wrapped('Stricter, at most')}(?: |\n# )\S+ %:\n# odds = \S+)\n",
            "",
        ),
        (r"( % of people have it); a reader may become at most .* than before$", r"\1"),
        (r"( % of people have it), and at most \S+ % of a group may: boxes mixed .*$", r"\1"),
    )
)


def without_old_numbers(text: str) -> str:
    """Return a draft without the comments that say what theta, offset and odds come to: with other numbers they are wrong."""
    for pattern, kept in _OLD_NUMBERS:
        text = pattern.sub(kept, text)
    return text
