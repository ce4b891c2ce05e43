"""What a release says of its groups beside their counts: the accounts of soft cuts, and the noise of noisy counts.

The table `groups` has the account of each group: what its refused tests left of 1000, rounded down; `noise`, from how many
draws the counts of each group come. A release with noisy counts also states the law of its noise, and its claim in fixed words.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np
import pyarrow as pa

from sfumato.arrays import Array, Integers
from sfumato.errors import FormatError
from sfumato.release.canonical import TableRows
from sfumato.release.coding import MOST_PEOPLE, decoded, groups_of, take_table, whole_numbers
from sfumato.release.manifest import BY_RELATIVES, KNOWS, Adversary, Claim, Manifest
from sfumato.release.programs import by_halves
from sfumato.release.weights import beside_weight

GROUPS = "groups"
GROUP, ACCOUNT = "group", "account"
WHOLE = 1000
"""The account of a group whose tests were never refused."""


def account_tables(account: Integers | None) -> dict[str, pa.Table]:
    """Return the table `groups` (group, account), or none where groups have no accounts."""
    if account is None:
        return {}
    numbers = pa.array(np.arange(1, len(account) + 1), pa.int32())
    return {GROUPS: pa.table({GROUP: numbers, ACCOUNT: pa.array(account, pa.int32())})}


def account_names(manifest: Manifest) -> tuple[str, ...]:
    """Return the name of the table that a release with such a manifest has beside those of its form."""
    return (GROUPS,) if manifest.rests_on.keeps_accounts else ()


def account_listing(figures: Integers | None, name: str = GROUPS) -> tuple[TableRows, ...]:
    """Return the rows of the table of accounts, or of draws, by what they show."""
    return () if figures is None else (TableRows(name, np.arange(len(figures)), figures.astype(np.int64)),)


def renumbered(account: Integers | None, number: Array) -> Integers | None:
    """Return the accounts of groups that get other numbers."""
    return None if account is None else account[np.argsort(number)]


def read_accounts(
    manifest: Manifest, tables: Mapping[str, pa.Table], groups: int, *, in_any_order: bool = False
) -> Integers | None:
    """Return the account of every group; a table that cannot be one of accounts is refused."""
    if not account_names(manifest):
        return None
    table = take_table(tables, GROUPS, {GROUP: "group", ACCOUNT: "group"})
    number, _ = groups_of(table, GROUP, GROUPS, groups)
    if table.num_rows != groups:
        raise FormatError(f"table {GROUPS!r} has {table.num_rows} rows for {groups} groups")
    if not in_any_order and (np.diff(number) < 0).any():
        raise FormatError(
            f"the rows of table {GROUPS!r} are not in the canonical order, and another order could carry information",
            hint="the release was changed, or made by other software; get it again",
        )
    account = whole_numbers(table, ACCOUNT, GROUPS)
    if account.max(initial=0) > WHOLE:
        raise FormatError(f"table {GROUPS!r}: an account lies between 1 and {WHOLE}")
    renumbered = np.empty(groups, np.int64)
    renumbered[number] = account
    return renumbered


NOISE, DRAWS = "noise", "draws"


def joins_boxes(manifest: Manifest) -> bool:
    """Return whether boxes were joined where noisy shares lay over a bound: where the method was asked to."""
    return manifest.method.get("merge") is True


def noise_variance(manifest: Manifest) -> float:
    """Return the variance of one draw of the noise, 2r/(1 − r)²; a `FormatError` where the manifest states no ratio r."""
    try:
        ratio = Fraction(str(manifest.parameters["ratio"]))
    except (KeyError, ValueError, ZeroDivisionError):
        raise FormatError("manifest.json: the ratio of the noise cannot be read") from None
    if not 0 < ratio < 1:
        raise FormatError("manifest.json: the ratio of the noise lies between 0 and 1")
    return float(2 * ratio / (1 - ratio) ** 2)


def noisy_claim(
    adversary: Adversary,
    *,
    model: str,
    one_row_per_person: bool = True,
    sets: bool = False,
    several: bool = False,
    bundled: bool = False,
    household: bool = False,
) -> Claim:
    """Return the claim of a release with noisy counts, in the words it is always made in; with `sets` it speaks of these too.

    Of `several` secrets it speaks of each by itself, and of an adversary who may know how they go together. Where secrets are
    `bundled` a person may have several values; with `household` whole households are published, and it speaks of their members.
    """
    article = "An" if adversary[0] in "aeiou" else "A"
    whom = "published person" if one_row_per_person else "published row (one person may have several)"
    others = "knows everybody else's value, or takes those that she does not know as independent of this one's"
    links = ", and who may know how the sensitive columns go together" if several else ""
    what = "value of a given sensitive column" if several else "sensitive value"
    if bundled:
        others = "knows what everybody else has, or takes what she does not know of that as independent of what this one has"
        links = ", and who may know how values, and secrets, go together"
        what = f"value {'of a given secret ' if several else ''}among hers"
    subject = f"a given {whom}"
    if household:
        others = "knows what everybody outside of a household has, or takes what she does not know of that as independent of it"
        subject, what = "somebody of a given published household", f"value{' of a given secret' if several else ''}"
    knows = (
        f"{article} {adversary}, {KNOWS[adversary]}, and who {others}{links}, believes that {subject} has a given {what} with "
        "probability at most "
    )
    most = "γp/(1+(γ−1)p) from any belief p before"
    believes = (
        f"{most}."
        if model == "differential"
        else f"that value's bound, if she believed it before with at most its declared share; and with at most {most}."
    )
    if sets:
        believes += (
            " One of the values of a given set of the requirement she believes with at most that set's bound, if she did before "
            "with at most the declared share of the set; and one of any set with at most γp/(1+(γ−1)p) from a belief p before."
        )
    if household:
        believes += f" So she does of every member, {BY_RELATIVES}."
    return Claim(
        "association", adversary, f"{knows}{believes} What other people of a group teach about people like her is not bounded."
    )


def fixed_claim(manifest: Manifest, claim: Claim) -> Claim:
    """Return the claim of this kind against this adversary in the words that a release with such a manifest makes it in."""
    one_row, asked = manifest.parameters.get("one_row_per_person", True) is not False, manifest.requirement
    if claim.kind == "presence":
        if not manifest.shown_as.hides_presence:
            raise FormatError(f"manifest.json: a release of {manifest.form} makes no claim about presence")
        program = by_halves(manifest.method)
        return Claim.presence(claim.adversary, form=manifest.form, program=program, one_row_per_person=one_row)
    several = len(manifest.secrets) > 1
    sets = any(stated.get("sets") for stated in (asked, *asked.get("columns", {}).values()))
    if manifest.rests_on.noisy:
        model, bundled = str(asked.get("model")), manifest.bundled
        own = {"one_row_per_person": one_row, "sets": sets, "several": several, "bundled": bundled}
        own["household"] = manifest.household is not None
        return noisy_claim(claim.adversary, model=model, **own)
    bundled, alike = manifest.bundled, manifest.alike
    own = {"one_row_per_person": one_row, "sets": sets, "several": several, "bundled": bundled}
    made = Claim.association(claim.adversary, alike=alike, household=manifest.household, by_band=manifest.by_band, **own)
    return beside_weight(made, manifest.schema.get("declared", {}))


def noisy_counts(st: pa.Table, column: str, group: Array, value: Array, cells: int) -> Integers:
    """Return counts that may be negative; every group must show every value once."""
    count = np.asarray(decoded(st[column]).to_numpy(zero_copy_only=False), dtype=np.int64)
    if np.abs(count).max(initial=0) > MOST_PEOPLE:
        raise FormatError("table 'st': a count is larger than any noise makes it")
    cell = group.astype(np.int64) * (int(value.max(initial=0)) + 1) + value
    if len(count) != cells or (np.bincount(cell, minlength=cells) != 1).any():
        raise FormatError("table 'st' should show every sensitive value once in every group")
    return count


def noise_names(manifest: Manifest) -> tuple[str, ...]:
    """Return the table that says how many draws are in the counts of each group, where boxes were joined."""
    return (NOISE,) if manifest.rests_on.noisy and joins_boxes(manifest) else ()


def noise_tables(draws: Integers | None, group: str) -> dict[str, pa.Table]:
    """Return the table of draws, nothing where every count has one."""
    if draws is None:
        return {}
    number = pa.array(np.arange(1, len(draws) + 1), pa.int32())
    return {NOISE: pa.table({group: number, DRAWS: pa.array(draws, pa.int64())})}


def read_noise(
    manifest: Manifest, tables: Mapping[str, pa.Table], group: str, groups: int, *, in_any_order: bool = False
) -> Integers | None:
    """Return from how many draws of noise the counts of each group come; None where every count has one."""
    if not noise_names(manifest):
        return None
    table = take_table(tables, NOISE, {group: "group", DRAWS: "count"})
    place, _ = groups_of(table, group, NOISE, groups)
    draws = whole_numbers(table, DRAWS, NOISE)
    if len(place) != groups or draws.max() > MOST_PEOPLE:
        raise FormatError(f"table {NOISE!r} should have one row for each group")
    if not in_any_order and (np.diff(place) < 0).any():
        raise FormatError(
            f"the rows of table {NOISE!r} are not in the canonical order, and another order could carry information"
        )
    return draws[np.argsort(place)]
