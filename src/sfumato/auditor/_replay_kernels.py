"""Compiled search for coins that lead cuts to published boxes: unions of boxes, the cuts of each, and what they lead to.

A search can be left and gone on with: all it knows is in arrays, which its caller doubles when it asks for more room. Arrays
have several columns because numba counts who holds an array at every call: fewer of them take two thirds of the time.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sfumato._jit import njit

WHOLE, FINE = 1000, 1_000_000
"""Accounts are shown in thousandths, and kept a million times finer."""
LEAST = 7, 10
"""No coin refuses with a smaller chance."""

SIZE, ACCOUNT, FIRST, BEHIND, SAME = 0, 1, 2, 3, 4
"""Columns of boxes and unions: people, (largest) account, first entry and the one behind the last, next union of equal hash."""
ENTRIES, END, LOST, LOW, HIGH = 0, 1, 2, 3, 4
"""Columns of what a line has of a box."""
PEOPLE, LEFT, RIGHT, LINE = 0, 1, 2, 3
"""Columns of cuts: people on one side, both sides as unions, and the line."""
UNIONS, ANSWERS, DEPTH, STEPS, ANSWER = 0, 1, 2, 3, 4
"""Where `now` has the number of unions, of answers and of open questions, the steps left, and the last answer."""
OF, BEGAN, LEFT_OVER, CUT, TESTS, STAGE, SAFE = 0, 1, 2, 3, 4, 5, 6
"""Columns of questions: which union, the account it began with and what is left, the cut at hand, tests made, sides asked."""
ENDED, NOT_YET, NONE = -1, -2, -1
ROOM_WANTED = 2

_HALF = 19
_PRIME = 2_147_483_647


class ReplayedCuts(NamedTuple):
    """What is replayed, and room to count in.

    `boxes` [boxes × 4] and `events` [entries × 2: event, count] say what a box shows, `ratios` [events × 2] are numerators and
    denominators of bounds in thousandths, `lines` [lines × boxes × 5] and `entries` [× 2: place, people] where people lie, at
    `position` [lines × places]. `tally` counts people by place, `places` lists those, `side` and `held` are of a cut's sides.
    """

    boxes: Any
    events: Any
    ratios: Any
    lines: Any
    entries: Any
    position: Any
    weights: Any
    levels: Any
    patience: int
    floor: int
    tests: int
    tally: Any
    places: Any
    side: Any
    held: Any


class ReplaySearch(NamedTuple):
    """What is known: `unions` [× 5] of `members`, which ascend, their `cuts` [× lines × 4], `answers` [× 4: union, account,
    answer, next of equal hash], open `questions` [× 7], `heads` of the chains of unions and answers, and counters `now`.
    """

    unions: Any
    members: Any
    cuts: Any
    answers: Any
    questions: Any
    heads: Any
    now: Any


@njit(cache=True)
def count_codes(group: Any, code: Any, first: int, size: int, counts: Any) -> None:
    """Add to `counts` how many rows of each group, from the first on, have each of so many codes."""
    for row in range(len(code)):
        counts[(np.int64(group[row]) - first) * size + code[row]] += 1


@njit(cache=True)
def cap_of(over: int, under: int, room: int) -> int:
    """Return ⌊over · room / under⌋, in two steps where the product is too large: then `under` is below 2⁴³."""
    if float(over) * float(room) < 4e18:
        return over * room // under
    upper = over * (room >> _HALF)
    whole = upper // under
    rest = upper - whole * under
    return (whole << _HALF) + ((rest << _HALF) + over * (room & ((1 << _HALF) - 1))) // under


@njit(cache=True)
def _is_held(ratios: Any, events: Any, people: int, account: int) -> bool:
    """Return whether so many people may have all these events, the account being in billionths of which thousandths count."""
    room = WHOLE + (people - 1) * (account // FINE)
    v = 0
    while v < len(events) and events[v] <= cap_of(ratios[v, 0], ratios[v, 1], room):
        v += 1
    return v == len(events)


@njit(cache=True)
def _is_held_by_both(ratios: Any, events: Any, people: int, others: int, account: int) -> bool:
    """Return whether two sides together may have all these events."""
    room, rest = WHOLE + (people - 1) * (account // FINE), WHOLE + (others - 1) * (account // FINE)
    for v in range(len(events)):
        if events[v] > cap_of(ratios[v, 0], ratios[v, 1], room) + cap_of(ratios[v, 0], ratios[v, 1], rest):
            return False
    return True


@njit(cache=True)
def _count_events(boxes: Any, events: Any, members: Any, held: Any) -> None:
    held[:] = 0
    for b in members:
        for entry in range(boxes[b, FIRST], boxes[b, BEHIND]):
            held[events[entry, 0]] += events[entry, 1]


@njit(cache=True)
def _spread(line: Any, position: Any, members: Any) -> float:
    """Return how far apart values lie; a little where only missing and present ones differ."""
    low, high, lost = line[members[0], LOW], -1, False
    for b in members:
        low, high = min(low, line[b, LOW]), max(high, line[b, HIGH])
        lost = lost or line[b, LOST] > 0
    if high < 0:
        return 0.0
    wide = position[high] - position[low]
    return 1e-9 if wide < 1e-9 and lost else wide


@njit(cache=True)
def _put_in_order(case: ReplayedCuts, members: Any, cuts: Any) -> None:
    """Write the lines that have any width by falling weight × width, equal ones in their own order; NONE behind the last."""
    score = np.empty(len(cuts))
    many = 0
    for j in range(len(cuts)):
        own = case.weights[j] * _spread(case.lines[j], case.position[j], members)
        if own > 0:
            k = many
            while k > 0 and score[k - 1] < own:
                score[k], cuts[k, LINE] = score[k - 1], cuts[k - 1, LINE]
                k -= 1
            score[k], cuts[k, LINE] = own, j
            many += 1
    cuts[many:, LINE] = NONE
    cuts[:, PEOPLE] = NOT_YET


@njit(cache=True)
def _count_places(line: Any, entries: Any, members: Any, tally: Any, places: Any) -> int:
    """Count the members' people by place; write the places that any have, ascending, and return how many these are."""
    low, high, many = len(tally), -1, 0
    for b in members:
        for entry in range(line[b, ENTRIES], line[b, END]):
            place = entries[entry, 0]
            if tally[place] == 0:
                places[many] = place
                many += 1
                low, high = min(low, place), max(high, place)
            tally[place] += entries[entry, 1]
    if high - low > 8 * many:
        places[:many].sort()
        return many
    many = 0
    for place in range(low, high + 1):
        if tally[place] > 0:
            places[many] = place
            many += 1
    return many


@njit(cache=True)
def _most_even_boundary(size: int, lost: int, places: Any, tally: Any) -> tuple[int, int, int]:
    """Return the people left of the first most even boundary, its place, and whether missing ones go left.

    A boundary below all values has the missing ones on one side; at each boundary they go right, then left.
    """
    best, people, at, joined, left = -1, 0, 0, 0, 0
    for i in range(-1 if places[0] > 0 else 0, len(places)):
        if i >= 0:
            left += tally[places[i]]
        for joins in range(2 if lost > 0 else 1):
            mine = left + joins * lost
            if min(mine, size - mine) > best:
                best, people, joined = min(mine, size - mine), mine, joins
                at = places[i] if i >= 0 else places[0] - 1
    return people, at, joined


@njit(cache=True)
def _most_even_level(size: int, places: Any, tally: Any) -> tuple[int, int]:
    """Return how many have the first level that is nearest to half of the people, and its place."""
    best, people, at = -1, 0, 0
    for place in places:
        mine = tally[place]
        if min(mine, size - mine) > best:
            best, people, at = min(mine, size - mine), mine, place
    return people, at


@njit(cache=True)
def _part_at_boundary(line: Any, members: Any, at: int, joins: int, side: Any) -> bool:
    """Write on which side of a boundary each box lies; False where it divides one."""
    for i in range(len(members)):
        b = members[i]
        lost = line[b, LOST] > 0
        if line[b, HIGH] <= at and (joins == 1 or not lost):
            side[i] = LEFT
        elif line[b, LOW] > at and not (joins == 1 and lost):
            side[i] = RIGHT
        else:
            return False
    return True


@njit(cache=True)
def _part_at_level(line: Any, entries: Any, members: Any, level: int, side: Any) -> bool:
    """Write on which side boxes lie: left all have the level, right nobody has it; False where it divides a box."""
    for i in range(len(members)):
        first, end = line[members[i], ENTRIES], line[members[i], END]
        side[i] = RIGHT
        for entry in range(first, end):
            if entries[entry, 0] == level:
                side[i] = LEFT
        if side[i] == LEFT and end - first > 1:
            return False
    return True


@njit(cache=True)
def _are_equal(boxes: Any, other: Any) -> bool:
    if len(boxes) != len(other):
        return False
    k = 0
    while k < len(boxes) and boxes[k] == other[k]:
        k += 1
    return k == len(boxes)


@njit(cache=True)
def _add_union(boxes: Any, search: ReplaySearch, among: Any, side: Any, wanted: int) -> int:
    """Return the union of those boxes that are on a side, which is made unless there is one."""
    unions, members, now = search.unions, search.members, search.now
    new = now[UNIONS]
    first = unions[new - 1, BEHIND] if new > 0 else 0
    behind, size, most, key = first, 0, 0, 0
    for i in range(len(among)):
        if side[i] == wanted:
            b = among[i]
            members[behind] = b
            size += boxes[b, SIZE]
            most = max(most, boxes[b, ACCOUNT])
            key = (key * 65_599 + b + 1) % _PRIME
            behind += 1
    key %= search.heads.shape[1]
    known = search.heads[0, key]
    while known >= 0:
        if _are_equal(members[unions[known, FIRST] : unions[known, BEHIND]], members[first:behind]):
            return int(known)
        known = unions[known, SAME]
    unions[new, SIZE], unions[new, ACCOUNT], unions[new, FIRST], unions[new, BEHIND] = size, most, first, behind
    unions[new, SAME], search.heads[0, key] = search.heads[0, key], new
    search.cuts[new, 0, LINE] = NOT_YET
    now[UNIONS] = new + 1
    return int(new)


@njit(cache=True)
def _make_cut(case: ReplayedCuts, search: ReplaySearch, u: int, cut: Any) -> None:
    """Find a cut of a union: a level of a category from all others where that is even enough, else the boundary.

    The first row of `case.held` are the union's events.
    """
    line, tally, side, size = case.lines[cut[LINE]], case.tally, case.side, search.unions[u, SIZE]
    members = search.members[search.unions[u, FIRST] : search.unions[u, BEHIND]]
    lost = 0
    for b in members:
        lost += line[b, LOST]
    places = case.places[: _count_places(line, case.entries, members, tally, case.places)]
    people, at, joins = _most_even_boundary(size, lost, places, tally)
    few, is_level = min(people, size - people), False
    if case.levels[cut[LINE]]:
        mine, level = _most_even_level(size, places, tally)
        alone = min(mine, size - mine)
        # The smaller side of a safe cut at a level has room for whatever values they have.
        if few <= 2 * alone and alone >= case.floor:
            is_level = case.patience > 0 or _is_held(case.ratios, case.held[0], alone, WHOLE * FINE)
        if is_level:
            people, at = mine, level
    for place in places:
        tally[place] = 0
    if not is_level and few < case.floor:
        cut[PEOPLE] = NONE
        return
    cut[PEOPLE], cut[LEFT], cut[RIGHT] = people, NONE, NONE
    if is_level:
        parts = _part_at_level(line, case.entries, members, at, side)
    else:
        parts = _part_at_boundary(line, members, at, joins, side)
    if parts and len(members) > 1:
        cut[LEFT] = _add_union(case.boxes, search, members, side, LEFT)
        cut[RIGHT] = _add_union(case.boxes, search, members, side, RIGHT)


@njit(cache=True)
def _after_refusal(account: int, size: int, patience: int) -> int:
    """Return what a refusal leaves of an account: its chance is 1 − κ/size but no less than the least."""
    over = size - patience
    if over * LEAST[1] < size * LEAST[0]:
        return account * LEAST[0] // LEAST[1]
    return account * over // size


@njit(cache=True)
def _have_room(case: ReplayedCuts, search: ReplaySearch, cut: Any, account: int) -> bool:
    """Return whether both sides of a cut, as they are, keep their caps; the first row of `case.held` are the events of both."""
    unions, ratios, both, held = search.unions, case.ratios, case.held[0], case.held[1]
    left, other = cut[LEFT], cut[RIGHT]
    _count_events(case.boxes, case.events, search.members[unions[left, FIRST] : unions[left, BEHIND]], held)
    if not _is_held(ratios, held, unions[left, SIZE], account):
        return False
    for v in range(len(held)):
        held[v] = both[v] - held[v]
    return _is_held(ratios, held, unions[other, SIZE], account)


@njit(cache=True)
def _next_side(case: ReplayedCuts, search: ReplaySearch, question: Any) -> int:
    """Return the left side of the next cut that can have been made, ENDED where one that divides a box is; else NOT_YET."""
    u, ratios, held, cuts = question[OF], case.ratios, case.held[0], search.cuts[question[OF]]
    size = search.unions[u, SIZE]
    while question[CUT] < len(cuts) and cuts[question[CUT], LINE] != NONE:
        cut, account = cuts[question[CUT]], question[LEFT_OVER]
        if cut[PEOPLE] == NOT_YET:
            _make_cut(case, search, u, cut)
        people = cut[PEOPLE]
        if people != NONE:
            if _is_held(ratios, held, min(people, size - people), account):
                question[SAFE], question[STAGE] = 1, 1
                return int(cut[LEFT])
            after = _after_refusal(account, size, case.patience)
            may_test = question[TESTS] < case.tests and case.patience > 0
            if (
                may_test
                and _is_held(ratios, held, size, after)
                and _is_held_by_both(ratios, held, people, size - people, account)
            ):
                question[TESTS] += 1
                if cut[LEFT] != NONE and _have_room(case, search, cut, account):
                    question[STAGE] = 1
                    return int(cut[LEFT])
                question[LEFT_OVER] = after
        question[CUT] += 1
    return NOT_YET


@njit(cache=True)
def _go_on(case: ReplayedCuts, search: ReplaySearch, question: Any) -> int:
    """Return the union that a question asks of next, or ENDED where its answer is known."""
    now, u, cuts = search.now, question[OF], search.cuts[question[OF]]
    size, most, first, behind = (
        search.unions[u, SIZE],
        search.unions[u, ACCOUNT],
        search.unions[u, FIRST],
        search.unions[u, BEHIND],
    )
    if question[STAGE] > 0:
        if now[ANSWER] == 1 and question[STAGE] == 1:
            question[STAGE] = 2
            return int(cuts[question[CUT], RIGHT])
        if now[ANSWER] == 1 or question[SAFE] == 1:
            return ENDED
        question[STAGE], question[LEFT_OVER] = 0, _after_refusal(question[LEFT_OVER], size, case.patience)
        question[CUT] += 1
    now[ANSWER] = 0
    if most > question[LEFT_OVER] // FINE:
        return ENDED
    if size >= 2 * case.floor:
        members = search.members[first:behind]
        _count_events(case.boxes, case.events, members, case.held[0])
        if cuts[0, LINE] == NOT_YET:
            _put_in_order(case, members, cuts)
        asked = _next_side(case, search, question)
        if asked != NOT_YET:
            return asked
    now[ANSWER] = 1 if behind - first == 1 and most == question[LEFT_OVER] // FINE else 0
    return ENDED


@njit(cache=True)
def _answer_of(search: ReplaySearch, union: int, account: int) -> int:
    """Return the known answer to a question, or NOT_YET."""
    answers = search.answers
    known = search.heads[1, (union * 65_599 + account) % search.heads.shape[1]]
    while known >= 0:
        if answers[known, 0] == union and answers[known, 1] == account:
            return int(answers[known, 2])
        known = answers[known, 3]
    return NOT_YET


@njit(cache=True)
def _keep_answer(search: ReplaySearch, question: Any) -> None:
    new, heads, now = search.now[ANSWERS], search.heads, search.now
    key = (question[OF] * 65_599 + question[BEGAN]) % heads.shape[1]
    answer = search.answers[new]
    answer[0], answer[1], answer[2], answer[3] = question[OF], question[BEGAN], now[ANSWER], heads[1, key]
    heads[1, key] = new
    now[ANSWERS] = new + 1


@njit(cache=True)
def _ask_of(search: ReplaySearch, union: int, account: int) -> None:
    """Open the question whether some coins lead from a union with this account, in billionths, to its boxes with theirs."""
    question = search.questions[search.now[DEPTH]]
    question[:] = 0
    question[OF], question[BEGAN], question[LEFT_OVER] = union, account, account
    search.now[DEPTH] += 1


@njit(cache=True)
def ask_of_whole(case: ReplayedCuts, search: ReplaySearch, boxes: Any) -> bool:
    """Open the question of all boxes that were cut from one whole; False where arrays are too short."""
    many = search.now[UNIONS]
    behind = search.unions[many - 1, BEHIND] if many > 0 else 0
    if many >= len(search.unions) or behind + len(boxes) > len(search.members):
        return False
    case.side[: len(boxes)] = LEFT
    _ask_of(search, _add_union(case.boxes, search, boxes, case.side, LEFT), WHOLE * FINE)
    return True


@njit(cache=True)
def answer_questions(case: ReplayedCuts, search: ReplaySearch) -> int:
    """Answer the open questions: 1 or 0, NOT_YET where no steps are left, ROOM_WANTED where arrays are too short."""
    unions, questions, now = search.unions, search.questions, search.now
    lines = search.cuts.shape[1]
    while now[DEPTH] > 0:
        question = questions[now[DEPTH] - 1]
        u, last = question[OF], now[UNIONS] - 1
        if (
            last + 2 * lines + 2 > len(unions)
            or unions[last, BEHIND] + (lines + 1) * (unions[u, BEHIND] - unions[u, FIRST]) > len(search.members)
            or now[ANSWERS] + 1 > len(search.answers)
            or now[DEPTH] + 1 > len(questions)
        ):
            return ROOM_WANTED
        union = _go_on(case, search, question)
        if union == ENDED:
            _keep_answer(search, question)
            now[DEPTH] -= 1
            continue
        known = _answer_of(search, union, question[LEFT_OVER])
        if known != NOT_YET:
            now[ANSWER] = known
            continue
        now[STEPS] -= 1
        if now[STEPS] == 0:
            return NOT_YET
        _ask_of(search, union, question[LEFT_OVER])
    return int(now[ANSWER])
