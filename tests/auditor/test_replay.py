"""Cuts replayed from what is published: accounts that no coins lead to are found, and honest releases of every shape pass."""

import datetime
import math
import warnings
from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.auditor import audit_release, replay
from sfumato.auditor._replay_kernels import cap_of
from sfumato.auditor.lines import lines_of
from sfumato.auditor.replay import OTHERWISE, SEEN, UNDECIDED, CutRule, EventCounts, Replay, ratio
from tests.auditor._replay_twin import FINE, WHOLE, SlowReplay
from tests.groups._soft_twin import Case, outcomes
from tests.groups.test_soft_proof import tables
from tests.makers import people, skewed

LINEAR = sf.FPrivacy(theta=2, offset="1/4")


@pytest.fixture(scope="module")
def table():
    coins = np.random.default_rng(7)
    age, zone = coins.integers(0, 60, 6000), coins.choice([f"z{one}" for one in range(9)], 6000)
    values = np.minimum(coins.geometric(0.3, 6000) + (age > 40) + (zone == "z3"), 9)
    return people(
        [f"v{value}" for value in values], age=age.tolist(), zone=zone.tolist(), sex=coins.integers(0, 2, 6000).tolist()
    )


@pytest.fixture(scope="module")
def release(table):
    found = sf.publish(table, LINEAR, method=sf.Boxes(floor=20), random=11)
    assert len(found.sizes) > 30
    assert (found.account < 1000).sum() > 5
    return found


def accepted(case, quasi, boxes, values):
    """Return whether the auditor finds coins for these boxes, given as people, and what they hold, by their accounts."""
    group = np.empty(sum(map(len, boxes)), np.int64)
    for number, box in enumerate(boxes):
        group[list(box)] = number
    below = [v for v, limit in enumerate(case.limits) if limit < 1]
    entries = [(b, k, held.count(v)) for b, held in enumerate(values) for k, v in enumerate(below) if v in held]
    box, event, count = np.array(entries, dtype=np.int64).reshape(-1, 3).T
    start = np.searchsorted(box, np.arange(len(boxes) + 1))
    events = EventCounts(start, event, count, tuple(case.limits[v] for v in below), 1)
    rule = CutRule(case.patience, case.floor, (1.0,) * len(quasi), case.tests)
    lines = lines_of(quasi, [[*(column.codes for column in quasi), group]], len(boxes))
    return lambda told: Replay(lines, events, np.array(list(map(len, boxes))), np.array(told), rule).possible()


def test_just_those_accounts_pass_that_some_coins_lead_to_in_some_world():
    """By enumerating all worlds and coins of small tables: an account too many is a free channel, one too few a false alarm."""
    honest = refused = several = 0
    grid = Case(((0, 0),) * 3 + ((1, 1),) * 3, (Fraction(1, 2), Fraction(1)), 1, 3, 1)  # what one column refuses the other cuts
    for case, values in [(grid, [0, 0, 1, 1, 1, 1]), *tables(60, seed=5), *tables(40, seed=8, levels=True)]:
        quasi = people(["x"] * len(values), **case.columns).quasi
        reached, known = defaultdict(set), {}
        for world in sorted(set(permutations(values))):
            for made in outcomes(case, world, tuple(range(len(values))), known=known):
                shown = tuple((box, tuple(sorted(world[person] for person in box))) for box, _ in made)
                reached[shown].add(tuple(int(told * WHOLE) for _, told in made))
        for shown, accounts in reached.items():
            accepts = accepted(case, quasi, *zip(*shown, strict=True))
            one = min(accounts)
            near = list(product(*({told, max(told - 1, 1), told * 7 // 10, 700, 1000} for told in one)))
            tried = accounts | set(near[:: max(1, len(near) // 8)])
            for told in sorted(tried):
                assert accepts(told) is (told in accounts), (case, shown, told)
            honest, refused, several = honest + len(accounts), refused + len(tried - accounts), several + (len(accounts) > 1)
    assert honest > 100
    assert refused > 300
    assert several


def test_a_message_in_the_accounts_does_not_pass(release):
    """Every account between the least that the counts allow and 1000 keeps the claim: nine bits a box without a replay."""
    free = spare_accounts(release)
    assert sum(math.log2(len(one)) for one in free) > 1500  # what could be sent before cuts were replayed
    coins = np.random.default_rng(1)
    sent = np.array([coins.choice(one) for one in free])
    audit = audit_release(replace(release, account=sent).canonical())
    assert all(claim.holds for claim in audit.claims)
    assert audit.problems == (OTHERWISE,)
    assert audit_release(release).holds


def test_hardly_a_bit_is_left_in_accounts(release):
    """What accounts of given boxes can still say is which of the ways to these boxes was gone, and there are few.

    There are several where boxes lie in a grid, so that either of two cuts may have come first.
    """
    slow = prepared(release, search=SlowReplay)
    many = ways(slow, slow.union(np.arange(len(release.sizes))), WHOLE * FINE)
    assert math.log2(many) < 5 < 1500 < sum(math.log2(len(one)) for one in spare_accounts(release))
    for box in range(0, len(release.sizes), 7):
        for told in {int(release.account[box]) - 1, int(release.account[box]) * 9 // 10, 1000} - {int(release.account[box])}:
            changed = release.account.copy()
            changed[box] = told
            assert not found_for(release, changed)


def test_a_column_that_stands_twice_leaves_the_number_of_its_refusals():
    """Then a cut can be refused in one column and made in the other: a choice a cut, and no more."""
    coins = np.random.default_rng(3)
    age = coins.integers(0, 60, 4000)
    values = [f"v{value}" for value in np.minimum(coins.geometric(0.35, 4000) + (age > 40), 7)]
    twice = people(values, age=age.tolist(), months=(12 * age).tolist(), zone=coins.integers(0, 5, 4000).tolist())
    release = sf.publish(twice, LINEAR, method=sf.Boxes(floor=40), random=2)
    slow = prepared(release, search=SlowReplay)
    many = ways(slow, slow.union(np.arange(len(release.sizes))), WHOLE * FINE)
    assert 1 < math.log2(many) < 2 * len(release.sizes) < sum(math.log2(len(one)) for one in spare_accounts(release)) / 3
    assert audit_release(release).holds


def spare_accounts(release):
    """Return for every bucket the accounts with which its counts keep their caps: all from the least one on."""
    bound = {entry["value"]: Fraction(entry["bound"]) for entry in release.manifest.values}
    limits = [bound[label] for label in release.domain.labels]
    least = np.ones(len(release.sizes), np.int64)
    for bucket, value, count in zip(release.st_group, release.st_value, release.st_count.tolist(), strict=True):
        if limits[value] < 1:
            needed = (count / limits[value] - 1) * WHOLE / (int(release.sizes[bucket]) - 1)
            least[bucket] = max(least[bucket], math.ceil(needed))
    return [range(first, WHOLE + 1) for first in least.tolist()]


def prepared(release, told=None, search=Replay):
    shown = replay.histograms_of(release)
    events = EventCounts.of([shown], [replay.AuditedBounds.of(replay.Case(release), shown)])
    lines = lines_of(release.quasi, [[*(column.codes for column in release.quasi), release.group]], len(release.sizes))
    account = release.account if told is None else told
    return search(lines, events, release.sizes, account, CutRule.of(release.manifest, events))


def found_for(release, told):
    return prepared(release, told).possible()


def ways(slow, box, told):
    """Return how many transcripts lead from a box to its published ones, with whatever accounts."""
    total, tests, (over, under) = 0, 0, slow._refusing(box.size)
    for cut in box.candidates():
        parted = math.prod(ways(slow, side, told) for side in cut.sides) if cut.sides else 0
        if slow._is_safe(box, cut, told):
            return total + parted
        after = told * over // under
        if tests == slow.rule.tests or not slow._is_testable(box, cut, told, after):
            continue
        tests, told, total = tests + 1, after, total + (parted if slow._has_room(cut, told) else 0)
    return total + (len(box.boxes) == 1)


def test_the_compiled_search_answers_as_the_plain_one(monkeypatch):
    """On releases of every shape, with their own and other accounts and rules, and from arrays that are too short at first."""
    monkeypatch.setattr(replay, "_search", lambda boxes, lines, full=replay._search: full(3, lines))
    coins, answers = np.random.default_rng(4), {True: 0, False: 0}
    for seed in (0, 2, 3, 5, 6, 8, 9, 12, 15, 18):
        release = drawn_release(seed)
        if release is None:
            continue
        shown = replay.histograms_of(release)
        events = EventCounts.of([shown], [replay.AuditedBounds.of(replay.Case(release), shown)])
        lines = lines_of(release.quasi, [[*(column.codes for column in release.quasi), release.group]], len(release.sizes))
        rule, honest = CutRule.of(release.manifest, events), np.full(len(release.sizes), 1000)
        honest = honest if release.account is None else release.account
        one_changed = honest.copy()
        one_changed[coins.integers(len(honest))] -= 1
        swapped = coins.permutation(honest)
        rules = [rule, replace(rule, floor=rule.floor + 1), replace(rule, patience=rule.patience + 7), replace(rule, tests=1)]
        for account, law in [*((honest, law) for law in rules), (one_changed, rule), (swapped, rule)]:
            given = lines, events, release.sizes, account, law
            answer = SlowReplay(*given).possible()
            assert Replay(*given).possible() is answer, (seed, law)
            answers[answer] += 1
    assert min(answers.values()) > 12


@pytest.mark.parametrize("size", [1, 7, 40])
def test_short_quotients_round_down_as_long_ones_do(size, monkeypatch):
    """For every room that so many people can have, also where a bound's own digits are too many."""
    monkeypatch.setattr(replay, "_LONG", 1)
    coins = np.random.default_rng(size)
    rooms = range(1000 * size + 1)
    drawn = [Fraction(int(part), int(whole)) for part, whole in zip(*coins.integers(1, 10**9, (2, 20)), strict=True)]
    for limit in [
        Fraction(0),
        Fraction(1, 3),
        Fraction(999, 1000),
        Fraction(10**40 + 1, 3 * 10**40),
        *(min(x, 1 / x) for x in drawn),
    ]:
        over, under = ratio(limit, size)
        assert under <= 1000 * size
        assert all(over * room // under == limit * room // 1000 for room in rooms[:: 1 if size < 10 else 17])


def test_caps_of_as_many_people_as_there_are_are_exact():
    """Products beyond 64 bits are taken in two steps."""
    coins = np.random.default_rng(0)
    for size in (10**5, 10**8, 8 * 10**9):
        for part, whole, room in coins.integers(1, 1000 * size, (300, 3)).tolist():
            over, under = ratio(min(Fraction(part, whole), Fraction(whole, part)), size)
            assert cap_of(over, under, room) == over * room // under


def test_what_a_replay_saw_is_said_and_what_it_cannot_see_too(release):
    note = audit_release(release).claims[0].note
    assert note.startswith(SEEN)
    assert "package 'sfumato'" in note


def test_other_boxes_than_cuts_make_are_found(release):
    """Two people of different boxes exchanged: every count and claim is as before."""
    bucket = release.group.copy()
    rows = [int(np.flatnonzero(bucket == one)[0]) for one in (0, len(release.sizes) - 1)]
    bucket[rows] = bucket[rows[::-1]]
    assert audit_release(replace(release, group=bucket).canonical()).problems == (OTHERWISE,)


@pytest.mark.parametrize("stated", [{"floor": 21}, {"patience": 5}, {"weights": {"zone": 0.1}}])
def test_what_the_manifest_says_of_cuts_is_what_is_replayed(release, stated):
    manifest = replace(release.manifest, method={**release.manifest.method, **stated})
    assert audit_release(replace(release, manifest=manifest)).problems == (OTHERWISE,)


def test_safe_cuts_are_replayed_too(table):
    safe = sf.publish(table, sf.FPrivacy(theta=4, offset="1/4"), method=sf.Boxes(floor=20, patience=0), random=1)
    assert len(safe.sizes) > 2
    assert audit_release(safe).claims[0].note.startswith(SEEN)
    soft = replace(safe.manifest, method={**safe.manifest.method, "floor": 500})
    assert audit_release(replace(safe, manifest=soft)).problems == (OTHERWISE,)


def test_ranges_are_replayed_with_the_table(table):
    release = sf.publish(table, LINEAR, method=sf.Boxes(floor=20, form="ranges"), random=4)
    told = release.account.copy()
    box = int(np.argmax(told == 1000))
    told[box] = 999
    lied = replace(release, account=told).canonical()[0]
    assert audit_release(lied).holds  # nobody can tell from ranges how many people have which value
    assert audit_release(lied, table).problems == (OTHERWISE,)
    assert audit_release(release, table).claims[0].note.startswith(SEEN)
    assert not audit_release(release).claims[0].note.startswith(SEEN)


def test_a_search_that_would_not_end_is_said_and_refuses_nobody(release, monkeypatch):
    monkeypatch.setattr(replay, "MOST_STEPS", 3 - 10 * len(release.sizes))
    audit = audit_release(release)
    assert audit.holds
    assert UNDECIDED in audit.warnings


def test_bounds_with_many_digits_are_replayed_exactly():
    table = skewed(900)
    odd = sf.FPrivacy(theta="123456789012345678901/61728394506172839450", offset="99999999999999999999/400000000000000000001")
    assert audit_release(sf.publish(table, odd, method=sf.Boxes(floor=20), random=1)).claims[0].note.startswith(SEEN)


def drawn_table(coins, rows):
    """Return people with quasi columns of every kind, some of them missing or twice there, and two secrets."""
    hidden, columns = coins.normal(size=rows), {}
    for j in range(int(coins.integers(1, 6))):
        wide = int(coins.choice([2, 3, 9, 30, 400]))
        code = np.clip(np.round((hidden * coins.choice([0, 1]) + coins.normal(size=rows)) * wide / 3), -wide, wide).astype(int)
        kind = coins.integers(0, 5)
        if kind == 0:
            shown = [float(one) / 7 for one in code]
        elif kind == 1:
            shown = [datetime.date(2000, 1, 1) + datetime.timedelta(days=int(one) * 11) for one in code]
        elif kind == 2:
            shown = [f"c{one * 7919 % 101:03}" for one in code]
        elif kind == 3 and j:
            shown = list(columns["q0"])
        else:
            shown = code.tolist()
        lost = coins.random(rows) < coins.choice([0, 0, 0.02, 0.3])
        columns[f"q{j}"] = [None if gone else one for one, gone in zip(shown, lost, strict=True)]
    secret = np.clip(np.abs(hidden * coins.choice([0, 0.7]) + coins.normal(size=rows)) * 4, 0, 12).astype(int)
    other = coins.choice(list("abcd"), rows)
    return pa.table({**columns, "s": [f"s{one:02}" for one in secret], "u": other})


def drawn_release(seed):
    """Publish a table of a random shape by soft or safe cuts; None where the bounds are infeasible."""
    coins = np.random.default_rng(seed)
    frame = drawn_table(coins, int(coins.choice([60, 300, 1200])))
    quasi = [name for name in frame.column_names if name not in "su"]
    rule = {"theta": str(coins.choice([2, 4])), "offset": str(coins.choice(["0.1", "0.25"]))}
    low = {"low": {"values": sorted(set(frame["s"].to_pylist()))[:2], "theta": "3", "offset": "0.1"}} if seed % 3 == 0 else {}
    asked = sf.FPrivacy(**rule, **({"sets": low} if low else {}))
    secrets = ["s", "u"] if seed % 3 == 1 else ["s"]
    schema = sf.Schema(
        quasi=quasi,
        sensitive=secrets,
        other=[name for name in "su" if name not in secrets],
        missing=dict.fromkeys(quasi, "value"),
        allow_unique=quasi,
        **({"protect": "each"} if len(secrets) > 1 else {}),
    )
    weights = {quasi[0]: float(coins.choice([0.3, 2.5]))} if seed % 4 == 0 else None
    patience = None if seed % 5 else int(coins.choice([0, 1, 60, 300]))
    method = sf.Boxes(floor=int(coins.choice([1, 5, 40])), weights=weights, patience=patience)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return sf.publish(sf.Table.from_frame(frame, schema), asked, method=method, random=seed)
        except sf.errors.Infeasible:
            return None


def test_honest_releases_of_every_shape_pass():
    """Numbers, dates, categories, missing values, columns twice, weights, sets and several secrets, with many refusals."""
    boxes = refused = 0
    for seed in range(30):
        release = drawn_release(seed)
        if release is None:
            continue
        audit = audit_release(release)
        assert audit.holds, (seed, audit.problems)
        assert audit.claims[0].note.startswith(SEEN), seed
        first = release.each[0]
        boxes += len(first.sizes)
        refused += 0 if first.account is None else int((first.account < 1000).sum())
    assert boxes > 300
    assert refused > 80
