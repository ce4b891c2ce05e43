"""One mutant: a number and a seed say which kind it is, what it is made from, and how it is changed."""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.fuzz.beside_kinds import hierarchy_mutant, workbook_mutant
from tests.fuzz.command_kinds import command_mutant
from tests.fuzz.input_kinds import input_mutant
from tests.fuzz.part_kinds import part_mutant
from tests.fuzz.place_kinds import links_mutant, place_mutant
from tests.fuzz.question_kinds import people_mutant, policy_mutant, question_mutant
from tests.fuzz.release_kinds import Work, claim_mutant, lie_mutant, manifest_mutant, number_mutant, table_bytes_mutant

KINDS: dict[str, tuple[int, Callable[[random.Random, Work], str]]] = {
    "manifest": (160, manifest_mutant),
    "numbers": (110, number_mutant),
    "table bytes": (120, table_bytes_mutant),
    "part files": (90, part_mutant),
    "lies": (140, lie_mutant),
    "claims": (100, claim_mutant),
    "places": (15, place_mutant),
    "links": (20, links_mutant),
    "input files": (60, input_mutant),
    "workbooks": (30, workbook_mutant),
    "hierarchies": (30, hierarchy_mutant),
    "policies": (40, policy_mutant),
    "questions": (45, question_mutant),
    "people": (30, people_mutant),
    "command": (10, command_mutant),
}
"""How often of a thousand, and what is done with it: mutate, check, say what became of it; anything else is an exception."""


def kind_of(seed: int, number: int) -> str:
    """Return the kind of a mutant."""
    coins = random.Random(f"{seed}/{number}/kind")
    return coins.choices(list(KINDS), [weight for weight, _ in KINDS.values()])[0]


def run_mutant(seed: int, number: int, work: Work) -> str:
    """Make a mutant, give it to the product, and return what became of it; what must not happen is raised."""
    _, function = KINDS[kind_of(seed, number)]
    return function(random.Random(f"{seed}/{number}"), work)
