"""The people of the corpus: small tables that follow from Python's own generator, the same on every machine and version."""

import datetime
import random
from itertools import pairwise

import pyarrow as pa

import sfumato as sf

ILLNESSES = ("Flu", "Cold", "Asthma", "Gout", "Angina", "Cancer", "Hepatitis", "HIV")
JOBS = ("clerk", "nurse", "driver", "judge")
CITIES = ("Bari", "Como", "Lodi", "Pisa", "Roma")
EDGES = [0, 10, 20, 30, 40, 60, 100]
HALVES = [0, 30, 100]
DAY = datetime.date(2020, 1, 1)


def bin_labels(edges):
    """Return the bins between edges as they are published."""
    return [f"[{low}, {high}{']' if high == edges[-1] else ')'}" for low, high in pairwise(edges)]


def _nearby(coins, size, centre):
    """Draw a place below `size`, those near the centre more often."""
    weights = [1 / (1 + abs(place - centre)) for place in range(size)]
    aim = coins.random() * sum(weights)
    for place, weight in enumerate(weights):
        aim -= weight
        if aim < 0:
            return place
    return size - 1


def plain_people(rows=240):
    """Return people whose illness depends on their age, their job on their city, and their pay on their sex."""
    coins = random.Random(7)
    made = []
    for number in range(rows):
        age, sex, city = 20 + int(coins.random() * 50), "fm"[coins.random() < 0.5], _nearby(coins, 5, 1)
        made.append(
            {
                "id": f"P{number:04d}",
                "age": age,
                "sex": sex,
                "city": CITIES[city],
                "illness": ILLNESSES[_nearby(coins, 8, (age - 20) // 10)],
                "job": JOBS[_nearby(coins, 4, city % 4)],
                "pay": int(coins.random() * 50) + (40 if sex == "m" and coins.random() < 0.4 else 5),
            }
        )
    return pa.Table.from_pylist(made)


def odd_people(rows=420):
    """Return people with dates, fractions and missing values."""
    coins = random.Random(11)
    made = []
    for _ in range(rows):
        when = int(coins.random() * 700)
        made.append(
            {
                "joined": DAY + datetime.timedelta(when) if coins.random() < 0.95 else None,
                "weight": round(50 + 40 * coins.random(), 1) if coins.random() < 0.96 else None,
                "place": f"x{_nearby(coins, 9, 3)}" if coins.random() < 0.97 else None,
                "smokes": coins.random() < 0.3,
                "illness": ILLNESSES[_nearby(coins, 8, when // 100)],
            }
        )
    types = {"joined": pa.date32(), "weight": pa.float64(), "place": pa.string(), "smokes": pa.bool_(), "illness": pa.string()}
    return pa.Table.from_pylist(made, schema=pa.schema(list(types.items())))


def crowd(rows=600):
    """Return people in a wide space, where a stranger may doubt that somebody is in the table."""
    coins = random.Random(13)
    made = [
        {
            "age": 20 + int(coins.random() * 40),
            "shift": int(coins.random() * 30),
            "city": CITIES[int(coins.random() * 5)],
            "illness": ILLNESSES[int(coins.random() * 6)],
        }
        for _ in range(rows)
    ]
    return pa.Table.from_pylist(made)


def visits(patients=260):
    """Return the visits of patients: one to five of each, with up to two illnesses, and a job."""
    coins = random.Random(17)
    made = []
    for number in range(patients):
        age, sex, many = 20 + int(coins.random() * 50), "fm"[coins.random() < 0.5], 1 + _nearby(coins, 5, 0)
        for visit in range(many):
            first, second = (ILLNESSES[_nearby(coins, 8, (age - 20) // 10)] for _ in range(2))
            more = second if coins.random() < 0.4 else None
            job = JOBS[_nearby(coins, 4, number % 4)]
            made.append(
                {
                    "id": f"P{number:04d}",
                    "visit": visit,
                    "age": age + visit // 3,
                    "sex": sex,
                    "one": first,
                    "two": more,
                    "job": job,
                }
            )
    return pa.Table.from_pylist(made)


FRAMES = {"plain": plain_people(), "odd": odd_people(), "crowd": crowd(), "visits": visits()}

_PLAIN = {"quasi": ["age", "sex", "city"], "identifier": ["id"]}
COLUMNS = {
    "one": ("plain", {**_PLAIN, "sensitive": ["illness"], "recode": {"age": {"width": 2}}}),
    "each": ("plain", {**_PLAIN, "sensitive": ["illness", "job"], "protect": "each"}),
    "combination": ("plain", {**_PLAIN, "sensitive": ["job", "pay"], "protect": "combination", "bins": {"pay": HALVES}}),
    "sets": ("plain", {**_PLAIN, "sensitive": ["illness"]}),
    "bins": ("plain", {**_PLAIN, "sensitive": ["pay"], "bins": {"pay": EDGES}}),
    "odd": (
        "odd",
        {
            "quasi": ["joined", "weight", "place", "smokes"],
            "sensitive": ["illness"],
            "recode": {"joined": {"to": "quarter"}, "weight": {"round": 5}},
        },
    ),
    "presence": ("crowd", {"quasi": ["age", "shift", "city"], "sensitive": ["illness"]}),
}
"""What a secret may be, and how such a table is read: its frame, and what a schema says of the columns."""

LATER = {
    "visits": (
        "visits",
        {
            "quasi": ["age", "sex"],
            "identifier": ["id"],
            "secrets": {"illness": ["one", "two"], "job": "job"},
            "people": {"key": "id", "keep": "all", "quasi": "first by visit"},
        },
    ),
    "columns": (
        "visits",
        {"quasi": ["age", "sex"], "identifier": ["id"], "secrets": {"illness": ["one", "two"]}, "one_row_per_person": False},
    ),
}
"""Secrets of which a person may have several values: of all her rows, and of several columns."""

DOMAINS = {
    "age": {"min": 20, "max": 69},
    "sex": ["f", "m"],
    "city": list(CITIES),
    "shift": {"min": 0, "max": 29},
    "illness": [*ILLNESSES],
    "job": [*JOBS],
}
"""What synthetic records need to be told of columns."""


def columns_for(kind, *, declared=False):
    """Return a frame and what is said of its columns; with their domains where those must be declared."""
    frame, said = (COLUMNS | LATER)[kind]
    said = {**said, "other": [name for name in FRAMES[frame].column_names if name not in _named(said)]}
    if declared:
        known = {name: DOMAINS[name] for name in (*said["quasi"], *said["sensitive"]) if name in DOMAINS}
        said = {**{key: value for key, value in said.items() if key != "recode"}, "domains": known}
    return FRAMES[frame], said


def _named(said):
    secrets = {
        name for columns in said.get("secrets", {}).values() for name in ([columns] if isinstance(columns, str) else columns)
    }
    return secrets | {name for role in ("quasi", "sensitive", "identifier") for name in said.get(role, ())}


def read(kind, method, *, declared=False):
    """Return the table of a kind of secret as a method needs it read."""
    frame, said = columns_for(kind, declared=declared)
    return sf.Table.from_frame(frame, method.close(sf.Schema(**said)))
