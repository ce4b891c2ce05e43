"""One shard: the people of a box of the first cuts, cut to the end by the makers in memory, and put in canonical order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sfumato.arrays import Array, Integers, Small, combine_codes, taken
from sfumato.groups._cover_kernels import CoverRule
from sfumato.groups.counted import Leaf, TopCuts
from sfumato.groups.cuts import Cuts, Space, cut_space, secret_of
from sfumato.groups.fragments.cover import covering_table
from sfumato.groups.grouping import Grouping, histograms
from sfumato.groups.near.matched import MatchOptions, matched_groups
from sfumato.groups.noisy import Tree, even_tree
from sfumato.groups.soft import Accounts
from sfumato.groups.streams import Step
from sfumato.privacy.bounds import Bounds
from sfumato.randomness import Randomness
from sfumato.release.canonical import TableRows, canonical_order
from sfumato.scale.shown import Seen, seen_in
from sfumato.scale.tally import Frame
from sfumato.table.coding import ascending
from sfumato.table.column import Column


@dataclass(frozen=True, eq=False)
class Matching:
    """How the people of a leaf are matched, by bounds on combinations of all secrets: as in memory, in coins of their own."""

    columns: tuple[Column, ...]
    options: MatchOptions
    bounds: Bounds
    shuffling: Randomness

    def groups(self, how: CutPlan, leaf: Leaf, columns: Sequence[Array], alone: bool) -> tuple[list[Array], Grouping]:
        """Return the people of a leaf, sorted by their values, in an order of coins, and their groups.

        Where they are all people there are, `alone`, coins are those of memory.
        """
        coins = (
            (self.shuffling, how.random)
            if alone
            else tuple(one.spawn(Step.SHARDS).spawn(leaf.begin) for one in (self.shuffling, how.random))
        )
        order = coins[0].permutation(len(columns[0]))
        people = [column[order] for column in columns]
        *quasi, secret = people
        bounds, axes = self.bounds, how.frame.axes
        counts = np.bincount(secret, minlength=len(bounds.values)).tolist()
        found = matched_groups(
            [replace(one, codes=codes) for one, codes in zip(self.columns, quasi, strict=True)],
            secret.astype(np.int64),
            bounds.with_counts(counts),
            self.options,
            random=coins[1],
            space=Space(how.frame.codes(quasi).astype(np.int32), axes.first, axes.kind, axes.position),
        )
        return people, found


@dataclass(frozen=True, eq=False)
class CutPlan:
    """How boxes are cut, wherever they lie: everything that a worker has to know beside the people of its box."""

    frame: Frame
    sizes: tuple[int, ...]
    bounds: Bounds
    cuts: Cuts
    random: Randomness
    absent: tuple[int, ...] | None
    """Where boxes are shown column by column, as ranges or lists of values: see `ranged`. Else their people's rows are."""
    people: int
    matching: Matching | None = None
    """How people are matched inside boxes, which are then not shown."""

    def acceptance(
        self, *, begin: int = 0, account: int | None = None, most: int | None = None, codes: Small | None = None
    ) -> tuple[Any, ...] | Accounts:
        """Return what accepts cuts: of everybody, or of at most so many people from this place on, with their account.

        `codes` are those of these people, where cuts must leave enough combinations on both sides; else the caller sees to that.
        """
        alpha = self.cuts.alpha
        cover = None if alpha is None or codes is None else CoverRule(codes, covering_table(codes.shape[1], alpha))
        own = {"begin": begin} | ({} if account is None else {"first": account})
        return self.cuts.accepting(self.bounds, self.random, cover=cover, most=most, **own)


@dataclass(frozen=True, eq=False)
class ShardBoxes:
    """The boxes of a shard in canonical order: rows of codes, how many people each box has, its first row, counts and account.

    Where boxes are shown column by column there are no rows, but what they show (`seen`), and boxes lie along the cuts. `box`
    numbers the boxes from left to right along the cuts, for whatever is drawn or joined by that number.
    """

    rows: list[Array]
    sizes: Integers
    firsts: Integers
    entries: Integers
    value: Integers
    count: Integers
    account: Integers | None
    box: Integers
    tree: Tree | None = None
    """The cuts of a shard, without its people, where they decide which boxes are joined."""
    seen: tuple[Seen, ...] = ()
    figures: Mapping[str, Any] = field(default_factory=dict)


def make_shard(how: CutPlan, leaf: Leaf, columns: Sequence[Array]) -> ShardBoxes:
    """Return the boxes of the people of a leaf, given their published codes, the sensitive value last."""
    people = len(columns[0])
    # Near people lie together, which makes cuts faster; and whatever order a task meets people in, it is this one.
    coded = list(zip(columns, (*how.sizes, how.frame.stack.shape[1]), strict=True))
    by_values = ascending(combine_codes(coded), used_up=True)
    columns = [taken(column, by_values) for column in columns]
    quasi, secrets = list(columns[:-1]), np.stack(how.frame.secrets(columns))
    cuts, axes = how.cuts, how.frame.axes
    group, groups, tree = np.zeros(people, np.int32), 1, None
    figures: Mapping[str, Any] = {}
    account = np.array([leaf.account], dtype=np.int64) if cuts.cutting == "soft" else None
    if how.matching is not None:
        rows, found = how.matching.groups(how, leaf, columns, people == how.people)
        quasi, secrets = rows[:-1], np.stack(how.frame.secrets(rows))
        group, groups, figures = found.group, found.groups, found.figures
    elif not leaf.final:
        space = Space(how.frame.codes(quasi), axes.first, axes.kind, axes.position)
        if cuts.cutting == "noisy":
            tree = even_tree(space, axes.weights, cuts.floor)
            group, groups, tree = tree.group, tree.boxes, replace(tree, group=tree.group[:0])
        else:
            codes = None if cuts.alpha is None else space.codes.astype(np.int32)
            acceptance = how.acceptance(begin=leaf.begin, account=leaf.account, most=people, codes=codes)
            secret, order = secret_of(secrets, how.bounds), np.arange(people, dtype=np.int32)
            found = cut_space(space, secret, order, acceptance, basis=cuts.cutting, weights=axes.weights)
            group, groups, account = found.group, found.groups, found.account
    shown = histograms(np.tile(group, len(secrets)), secrets.ravel(), how.frame.values)
    sizes = np.bincount(group, minlength=groups).astype(np.int64)
    entries, value = np.bincount(shown.group, minlength=groups).astype(np.int64), shown.value.astype(np.int64)
    if how.absent is not None:
        seen = tuple(seen_in(codes, group, groups, *of) for codes, *of in zip(quasi, how.sizes, how.absent, strict=True))
        nothing, box = np.zeros((groups, 0), np.int64), np.arange(groups)
        return ShardBoxes([], sizes, nothing, entries, value, shown.count, account, box, tree, seen, figures)
    key = combine_codes([(codes, size) for codes, size in zip(quasi, how.sizes, strict=True)])
    counted = TableRows("st", shown.group, shown.value * np.int64(people + 1) + shown.count)
    canonical = canonical_order([TableRows("qit", group, key), counted], groups)  # boxes differ by their first rows
    box = np.argsort(canonical.number)
    sizes, ordered = sizes[box], [codes[canonical.rows[0]] for codes in quasi]
    firsts = np.stack([codes[np.cumsum(sizes) - sizes].astype(np.int64) for codes in ordered], axis=1)
    by_number = np.argsort(canonical.number[shown.group], kind="stable")
    account = None if account is None else account[box]
    return ShardBoxes(
        ordered, sizes, firsts, entries[box], value[by_number], shown.count[by_number], account, box, tree, figures=figures
    )


def pieces(leaves: Sequence[Leaf]) -> list[int]:
    """Return for every leaf how many pieces of the same final box come before it."""
    found: list[int] = []
    for k, leaf in enumerate(leaves):
        same = k > 0 and leaf.final and leaves[k - 1].final and leaves[k - 1].begin == leaf.begin
        found.append(found[-1] + 1 if same else 0)
    return found


def shard_of(frame: Frame, rows: Sequence[Array], cuts: TopCuts) -> Array:
    """Return the number of the leaf that each row lies in."""
    number = np.full(len(cuts.tree), -1, np.int64)
    number[[leaf.node for leaf in cuts.leaves]] = np.arange(len(cuts.leaves))
    return number[frame.nodes(frame.codes(rows), cuts.tree)]
