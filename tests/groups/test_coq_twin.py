"""The program that Coq proves things about, and the kernels that are shipped: the same boxes and accounts from the same coins."""

import random
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from sfumato.groups._cut_kernels import Incidence
from sfumato.groups.boxes import cut_into_boxes
from sfumato.groups.soft import SoftTests, leading, refusing
from sfumato.groups.streams import Step
from sfumato.privacy.bounds import Bounds
from sfumato.randomness import SeededRandomness
from tests.groups._soft_twin import ONE
from tests.groups.test_soft_proof import kernel_case
from tests.makers import people

PROOFS = Path(__file__).parents[2] / "proofs"
TABLES = 400
MISSING = [tool for tool in ("coqc", "ocamlc", "make") if shutil.which(tool) is None]

pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"needs {', '.join(MISSING)}: Debian's coq, as `make theorems` says")


class Noted:
    """Coins of a seed that note for which boxes they were tossed."""

    def __init__(self, coins, boxes):
        self.coins, self.boxes = coins, boxes

    def spawn(self, *path):
        if len(path) == 2:
            self.boxes.append(path)
        return Noted(self.coins.spawn(*path), self.boxes)

    def chance(self, *odds):
        return self.coins.chance(*odds)


def bundles(seed, values):
    """Everybody's events: up to three values each, and whether she has one of the first two."""
    coins = random.Random(seed)
    sets = [{value, *coins.sample(range(max(values) + 1), coins.randrange(2))} for value in values]
    return [[*sorted(one), max(values) + 1] if one & {0, 1} else sorted(one) for one in sets]


def table(seed):
    """Return a table: its case, everybody's events, and what the kernels take them as."""
    case, world, counts = kernel_case(seed)
    if seed % 2 == 0:
        return case, [[value] for value in world], np.array(world), Bounds.of([str(k) for k in counts], counts, case.limits)
    events = bundles(seed, world)
    held = [sum(event in one for one in events) for event in range(len(counts) + 1)]
    limits = [
        min(ONE, max(Fraction(count, len(events)) * factor, Fraction(4, 9)))
        for count, factor in zip(held, [2, 3, 2, 4, 3, 2], strict=False)
    ]
    begin = np.cumsum([0, *map(len, events)])
    incidence = Incidence(begin, np.array([event for one in events for event in one], dtype=np.int32), len(held))
    return case, events, incidence, Bounds.of([str(k) for k in held], held, limits, people=len(events))


def kernels(seed):
    """Return a table and the coins of its boxes as the twin reads them, and the boxes with accounts that the kernels make."""
    case, events, secret, bounds = table(seed)
    strata = [random.Random(f"{seed} {person}").randrange(2) if seed % 3 == 0 else 0 for person in range(len(events))]
    boxes = []
    found = cut_into_boxes(
        people(["x"] * len(events), **{f"q{j}": list(column) for j, column in enumerate(zip(*case.quasi, strict=True))}).quasi,
        secret,
        bounds,
        tight=False,
        floor=case.floor,
        weights=None,
        soft=SoftTests(case.patience, case.tests),
        random=Noted(SeededRandomness(seed), boxes),
        strata=np.array(strata) if seed % 3 == 0 else None,
    )
    coins = SeededRandomness(seed).spawn(Step.CUTS)
    tosses = [
        (low, high, *leading(coins.spawn(low, high), refusing(case.patience, high - low), case.tests).tolist())
        for low, high in boxes
    ]
    head = (len(events), len(case.quasi[0]), len(bounds.limits), case.floor, case.tests, case.patience, len(tosses))
    rows = [
        (stratum, *codes, *(int(event in mine) for event in range(len(bounds.limits))))
        for stratum, codes, mine in zip(strata, case.quasi, events, strict=True)
    ]
    limits = [(limit.numerator, limit.denominator) for limit in bounds.limits]
    text = "\n".join(" ".join(map(str, line)) for line in (head, *rows, *limits, *tosses))
    made = [tuple(np.flatnonzero(found.group == box).tolist()) for box in range(found.groups)]
    return text, sorted(zip(found.account.tolist(), made, strict=True))


@pytest.mark.usefixtures("one_thread")
def test_kernels_do_what_the_proved_program_does():
    """In 400 tables, every second one of people with several values and a named set of them, every third one of two strata."""
    where = subprocess.run(["coqc", "-where"], capture_output=True, text=True, check=True).stdout.strip()
    if not Path(where, "user-contrib", "mathcomp", "algebra").is_dir():
        pytest.skip("needs MathComp beside Coq, as `make theorems` says")
    built = subprocess.run(["make", "-s", "-C", PROOFS, "build/twin"], capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    expected = [kernels(seed) for seed in range(TABLES)]
    asked = "\n".join([str(TABLES), *(text for text, _ in expected)])
    done = subprocess.run([PROOFS / "build" / "twin"], input=asked, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = iter(done.stdout.splitlines())
    cut = refused = 0
    for seed, (_, boxes) in enumerate(expected):
        number = int(next(lines).removeprefix("boxes "))
        made = [tuple(map(int, next(lines).split())) for _ in range(number)]
        assert sorted((account, tuple(box)) for account, *box in made) == boxes, seed
        cut += number > 1
        refused += any(account < 1000 for account, _ in boxes)
    assert next(lines, None) is None
    assert cut > TABLES // 2
    assert refused > TABLES // 2
