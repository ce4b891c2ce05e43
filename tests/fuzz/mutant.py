"""One mutant: a number and a seed say which kind it is, what it is made from, and how it is changed."""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.fuzz.command_kinds import command_mutant
from tests.fuzz.input_kinds import input_mutant
from tests.fuzz.place_kinds import links_mutant, place_mutant
from tests.fuzz.question_kinds import people_mutant, policy_mutant, question_mutant
from tests.fuzz.release_kinds import Work, claim_mutant, lie_mutant, manifest_mutant, table_bytes_mutant

KINDS: dict[str, tuple[int, Callable[[random.Random, Work], str]]] = {
    "manifest": (200, manifest_mutant),
    "table bytes": (160, table_bytes_mutant),
    "lies": (200, lie_mutant),
    "claims": (140, claim_mutant),
    "places": (15, place_mutant),
    "links": (20, links_mutant),
    "input files": (90, input_mutant),
    "policies": (50, policy_mutant),
    "questions": (70, question_mutant),
    "people": (45, people_mutant),
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
