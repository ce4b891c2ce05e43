"""What mutants are made from: small tables, and a release of every form, method and kind of claim."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato import (
    Ambiguity,
    Anatomy,
    BetaLikeness,
    Boxes,
    BuReL,
    BuReLPerturbation,
    Decoys,
    Differential,
    FPrivacy,
    Heterogeneous,
    LDiversity,
    Mondrian,
    MultiSize,
    NearGroups,
    NoisyBoxes,
    PresenceAssociation,
    PriView,
    RhoPrivacy,
    Ring,
    Schema,
    SmallDomain,
    Table,
    UniformPerturbation,
    publication,
)
from sfumato.methods import Method
from sfumato.privacy import Requirement
from sfumato.privacy.requirement import Against

VALUES = ("asthma", "flu", "gout", "HIV", "none", "zoster")
SHARES = {"asthma": "0.2", "flu": "0.2", "gout": "0.2", "HIV": "0.1", "none": "0.2", "zoster": "0.1"}
MANY = {f"v{k}": str(round(0.7**k, 3)) for k in range(12)}
FORMATS = ("parquet", "csv")


@dataclass(frozen=True)
class Base:
    """One honest release: which table, what is promised, and how."""

    name: str
    table: str
    requirement: Requirement
    method: Method


def declared(shares: dict[str, str], otherwise: str) -> dict[str, Any]:
    """Return what a method with declared parameters asks for."""
    return {"parameters": "declared", "shares": shares, "otherwise": otherwise}


READER = LDiversity(2, against="reader")
HALVES = PresenceAssociation("1/2", "1/2", against="reader")
INFECTIOUS = {
    "infectious": {"values": ["HIV", "zoster"], "bound": "2/3"},
    "kinds": {"map": dict.fromkeys(VALUES, "ill") | {"none": "well"}, "theta": "1", "offset": "1/3"},
}


def each(against: Against) -> FPrivacy:
    """Return a requirement of two secrets, one of which has sets."""
    return FPrivacy(offset="3/4", columns={"value": FPrivacy(offset="1/2", sets=INFECTIOUS, against=against)}, against=against)


WEIGHT = {"column": "wt", "made_without_secrets": True, "floor": 4}
RARE = {"rare": {"values": ["HIV", "zoster"], "bound": "9/10"}}
HELD_EACH = FPrivacy(theta=2, offset="1/2", columns={"value": FPrivacy(theta=2, offset="2/5", sets=RARE)})
NOISY_EACH = NoisyBoxes(
    shares={"value": SHARES, "smokes": {"no": "0.4", "once": "0.3", "yes": "0.3"}},
    otherwise={"value": "none", "smokes": "no"},
    floor=9,
    merge=False,
)
INSIDER = FPrivacy(theta=2, offset="1/10", against="insider")
BASES = (
    Base("boxes", "plain", FPrivacy(theta=3, offset="1/10"), Boxes(floor=2)),
    Base("one-box", "plain", LDiversity(2), Boxes(floor=2)),
    Base("tight-boxes", "gaps", READER, Boxes(floor=2, form="ranges")),
    Base("blind", "plain", FPrivacy(theta=2, offset="1/10"), MultiSize()),
    Base("near-buckets", "ties", LDiversity(2), NearGroups(form="buckets", floor=2)),
    Base("own-bounds", "gaps", FPrivacy(theta=0, offset="1/2", bounds={"HIV": "1/3"}), MultiSize()),
    Base("two-columns", "compound", LDiversity(2), Boxes(floor=2)),
    Base("sets", "plain", FPrivacy(offset="1/2", sets=INFECTIOUS, against="reader"), Boxes(floor=2)),
    Base("each", "apart", each("engineer"), Boxes(floor=2)),
    Base("each-tight", "apart", each("reader"), Boxes(floor=2, form="ranges")),
    Base("each-matched", "apart", each("engineer"), NearGroups(form="buckets", floor=2)),
    Base("each-columns", "apart", PresenceAssociation("4/5", "2/3", against="reader"), Ambiguity()),
    Base("each-noisy", "apart", INSIDER, NOISY_EACH),
    Base("held", "visits", FPrivacy(theta=2, offset="2/5", sets=RARE), Boxes(floor=4)),
    Base("held-tight", "visits", FPrivacy(theta=2, offset="2/5", against="reader"), Boxes(floor=4)),
    Base("held-band", "bands", FPrivacy(theta=2, offset="1/5"), Boxes(floor=4)),
    Base("held-each", "wards", HELD_EACH, Boxes(floor=4)),
    Base("homes", "homes", FPrivacy(theta=2, offset="2/5", sets=RARE), Boxes(floor=4)),
    Base("decoys", "plain", LDiversity(2), Decoys(decoys=1)),
    Base("guarded-decoys", "plain", READER, Decoys(decoys=1, guard=True)),
    Base("anatomy", "recoded", LDiversity(3), Anatomy()),
    Base("suppressed", "skewed", READER, Anatomy(l=3, suppress=True)),
    Base("mondrian", "plain", READER, Mondrian()),
    Base("mondrian-buckets", "numbers", READER, Mondrian(form="buckets")),
    Base("k-anonymous", "ties", FPrivacy(offset=1, against="reader", bounds={"HIV": "1/2"}), Mondrian(k=3)),
    Base("burel", "gaps", BetaLikeness(4, enhanced=True, against="reader"), BuReL()),
    Base("matched", "numbers", LDiversity(2), NearGroups()),
    Base("annealed", "ties", READER, NearGroups(effort=0.02)),
    Base("heterogeneous", "plain", READER, Heterogeneous(accept_weaker_claim=True)),
    Base("ring", "gaps", READER, Ring(accept_weaker_claim=True)),
    Base("ambiguity", "plain", PresenceAssociation("2/3", "1/2", against="reader"), Ambiguity()),
    Base("ambiguity-safe", "recoded", PresenceAssociation("4/5", LDiversity(2)), Ambiguity()),
    Base("ambiguity-paper", "plain", HALVES, Ambiguity(grouping="paper", suppress=True, accept_weaker_claim=True)),
    Base("priview", "plain", PresenceAssociation("9/10", "3/4", against="reader"), PriView(column="sex")),
    Base("priview-paper", "plain", HALVES, PriView(grouping="paper", suppress=True, accept_weaker_claim=True)),
    Base("small-domain", "plain", RhoPrivacy("1/4", "4/5"), SmallDomain()),
    Base("per-value", "ties", FPrivacy(theta=2, offset="1/10"), SmallDomain(retention="per-value")),
    Base("uniform", "gaps", RhoPrivacy("1/3", "2/3"), UniformPerturbation()),
    Base("perturbed", "numbers", BetaLikeness(2), BuReLPerturbation()),
    Base("declared", "plain", LDiversity(2, against="insider"), UniformPerturbation(**declared(SHARES, "none"))),
    Base("noisy", "plain", INSIDER, NoisyBoxes(**declared(SHARES, "none"), floor=9)),
    Base("noisy-odds", "many", Differential("1/2"), NoisyBoxes(values=list(MANY), otherwise="v0", floor=30)),
    Base("noisy-tables", "plain", INSIDER, NoisyBoxes(**declared(SHARES, "none"), floor=9, margins="1/2")),
    Base("parts", "many", RhoPrivacy("1/3", "1/2"), SmallDomain()),
    Base("weighted", "weighed", FPrivacy(theta=3, offset="1/10"), Boxes(floor=2)),
    Base("declared-parts", "many", RhoPrivacy("1/6", "1/3", against="insider"), SmallDomain(**declared(MANY, "v0"))),
)  # fmt: skip
"""Whatever a method comes to ask for belongs into this list and nowhere else."""


LINKED = tuple(base.name for base in BASES if isinstance(base.method, (Heterogeneous, Ring)))
"""The bases whose records are linked with people."""


@cache
def tables() -> dict[str, Table]:
    """Return the table of every base, read as its method asks; always the same people."""
    return {base.name: _read(base) for base in BASES}


def _read(base: Base) -> Table:
    frame, schema = frames()[base.table]
    closed = base.method.close(schema) if hasattr(base.method, "close") else schema
    return Table.from_frame(frame, closed)


@cache
def frames() -> dict[str, tuple[pa.Table, Schema]]:
    """Return the tables as they come, each with its schema."""
    coins = random.Random("people")
    roles = Schema(identifier=["name"], quasi=["age", "sex", "town"], sensitive=["value"])
    plain = _people(coins, 36, ages=40)
    gaps = _people(coins, 40, ages=12)
    for column, keep in (("age", 0.8), ("sex", 0.9), ("value", 0.95)):
        gaps[column] = [one if coins.random() < keep else None for one in gaps[column]]
    first = date(1950, 1, 1)
    born = {"born": [first + timedelta(days=coins.randrange(20_000)) for _ in range(36)]}
    recoded = _people(coins, 36, ages=60) | born
    numbers = _people(coins, 30, ages=10) | {
        "born": [first + timedelta(days=400 * coins.randrange(8)) for _ in range(30)],
        "value": [coins.choice([1, 2, 3, 4.5]) for _ in range(30)],
    }
    many = _people(coins, 150, ages=60) | {"age": list(range(150))}
    many["value"] = coins.choices(list(MANY), [float(share) for share in MANY.values()], k=150)
    skewed = _people(coins, 30, ages=30)
    skewed["value"] = ["none" if coins.random() < 0.3 else value for value in skewed["value"]]
    compound = _people(coins, 40, ages=15)
    compound["smokes"] = [coins.choice(["yes", "no"]) for _ in range(40)]
    apart = _people(coins, 80, ages=40)
    apart["smokes"] = [coins.choice(["no", "once", "yes"]) for _ in range(80)]
    others = {"identifier": ["name"], "quasi": ["age", "sex", "town", "born"], "sensitive": ["value"]}
    visits, held = (
        _visits(coins, 110),
        {"identifier": ["name"], "quasi": ["age", "sex"], "secrets": {"value": ["value", "second"]}},
    )
    people, unit = (
        {"key": "name", "keep": "all", "alike": [2, 4]},
        {"household": "name", "quasi": "greatest by age", "alike": [2]},
    )
    both = {**held, "secrets": {**held["secrets"], "smokes": "smokes"}}
    return {
        "visits": (visits.drop_columns("smokes"), Schema(**held, people=people)),
        "bands": (visits.drop_columns("smokes"), Schema(**held, people={**people, "shares": "band"})),
        "wards": (visits, Schema(**both, people=people)),
        "homes": (visits.drop_columns("smokes"), Schema(**held, unit=unit, people={"rows": "people"})),
        "plain": (pa.table(plain), roles),
        "ties": (pa.table(_people(coins, 36, ages=3)), roles),
        "gaps": (pa.table(gaps), _with(roles, missing={"value": "value"})),
        "compound": (pa.table(compound), _with(roles, sensitive=["value", "smokes"], protect="combination")),
        "apart": (pa.table(apart), _with(roles, sensitive=["value", "smokes"], protect="each")),
        "many": (pa.table(many), roles),
        "skewed": (pa.table(skewed), roles),
        "recoded": (
            pa.table(recoded),
            Schema(
                **others,
                recode={"age": {"width": 5, "top": 70}, "town": {"prefix": 2}, "born": {"to": "year"}},
                domains={"sex": ["f", "m"]},
            ),
        ),
        "numbers": (pa.table(numbers), Schema(**others, types={"value": "numeric"})),
        "weighed": (pa.table(plain | {"wt": [10 + 3 * (k % 12) for k in range(36)]}), _with(roles, weight=WEIGHT)),
    }


def _visits(coins: random.Random, people: int) -> pa.Table:
    """Return one to five rows of everybody, with a value or two in each."""
    rows: list[dict[str, object]] = []

    def drawn() -> str:
        return coins.choices(VALUES, [5, 4, 3, 1, 4, 1])[0]

    for who in range(people):
        for _ in range(coins.choice([1, 1, 2, 3, 5])):
            own = {"name": f"person {who}", "age": 20 + who % 20, "sex": "fm"[who % 2], "value": drawn()}
            second = drawn() if coins.random() < 0.3 else None
            rows.append({**own, "second": second, "smokes": coins.choice(["no", "once", "yes", None])})
    return pa.Table.from_pylist(rows)


def prepare(directory: Path) -> None:
    """Write every base in every format to `directory/name/format`, and the links of those that have any beside them."""
    for base in BASES:
        made = publication(tables()[base.name], base.requirement, method=base.method, random=1, register=directory)
        for kind in FORMATS:
            made.release.save(directory / base.name / kind, format=kind)
        if made.links is not None:
            made.links.save(links_of(directory, base.name))


def links_of(directory: Path, name: str) -> Path:
    """Return where the private links of a base are."""
    return directory / name / "links.parquet"


def _people(coins: random.Random, many: int, *, ages: int) -> dict[str, list[object]]:
    return {
        "name": [f"person {k}" for k in range(many)],
        "age": [20 + coins.randrange(ages) for _ in range(many)],
        "sex": [coins.choice("fm") for _ in range(many)],
        "town": [coins.choice(["1010", "1020", "8010", "8020"]) for _ in range(many)],
        "value": [coins.choice(VALUES) for _ in range(many)],
    }


def _with(schema: Schema, **changes: object) -> Schema:
    kept = {role: getattr(schema, role) for role in ("identifier", "quasi", "sensitive")}
    return Schema(**(kept | changes))  # type: ignore[arg-type]
