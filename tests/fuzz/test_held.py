"""Mutants of releases of people with several values, by counts, numbers of values, sets and bands: none that matters passes."""

import random
import tempfile
from collections import Counter
from functools import cache
from itertools import count

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import SfumatoError
from tests.fuzz.drafts import Draft, NoDraftError
from tests.fuzz.files import Files
from tests.fuzz.lies import tell_lies
from tests.fuzz.truth_held import false_in, gathered

EDGES = [1, 2, 4]
SECRETS = {"ill": ["d1", "d2"], "ward": ["ward"]}
SETS = {"bad": {"values": ["v3", "v4"], "bound": "9/10"}}
ASKED = {
    "two": sf.FPrivacy(theta=2, offset="2/5", columns={"ill": sf.FPrivacy(theta=2, offset="2/5", sets=SETS)}),
    "one": sf.FPrivacy(theta=2, offset="1/3", sets=SETS, against="reader"),
}


def visits():
    coins = random.Random("visits")
    rows = []
    for who in range(110):
        for _ in range(coins.choice([1, 1, 2, 3, 5])):
            one, two = (f"v{min(int(coins.expovariate(0.6)), 5)}" for _ in range(2))
            ward = None if coins.random() < 0.2 else f"w{coins.randrange(5)}"
            two = two if coins.random() < 0.4 else None
            rows.append({"who": f"P{who}", "age": 20 + who % 20, "sex": "fm"[who % 2], "d1": one, "d2": two, "ward": ward})
    return rows


@cache
def base(name):
    """Return the table, a release as it is loaded, and the people by hand."""
    rows, secrets = visits(), SECRETS if name == "two" else {"ill": ["d1", "d2"]}
    schema = sf.Schema(
        identifier=["who"], quasi=["age", "sex"], secrets=secrets, other=[] if name == "two" else ["ward"],
        people={"key": "who", "keep": "all", "alike": EDGES[1:]},
    )  # fmt: skip
    table = sf.Table.from_frame(pa.Table.from_pylist(rows), schema)
    with tempfile.TemporaryDirectory() as place:
        sf.publish(table, ASKED[name], method=sf.Boxes(floor=4), random=1).save(f"{place}/release")
        release = sf.Release.load(f"{place}/release")
    return table, release, gathered(rows, "who", ["age", "sex"], secrets, EDGES)


def judged(place, table, people):
    """Return what load and both audits say; raise where something is let through that is false."""
    files = Files.read(place)
    try:
        sf.Release.load(place)
    except SfumatoError:
        loaded = False
    else:
        loaded = True
    alone, beside = sf.audit(place), sf.audit(place, table)
    assert loaded or not (alone.holds or beside.holds), "an audit holds of what cannot be loaded"
    if alone.holds:
        assert false_in(files) == []
    if beside.holds:
        assert false_in(files, people) == []
    return "refused" if not loaded else {True: "holds", False: "does not hold", None: "cannot tell"}[beside.holds]


@pytest.mark.parametrize("name", ASKED)
def test_the_second_opinion_agrees_with_an_honest_release(name, tmp_path):
    table, release, people = base(name)
    for kind in ("parquet", "csv"):
        release.save(tmp_path / kind, format=kind)
        assert false_in(Files.read(tmp_path / kind), people) == []
        assert judged(tmp_path / kind, table, people) == "holds"
        draft = Draft.of(release)
        draft.keep_books()
        draft.save(tmp_path / f"books {kind}", kind)
        assert judged(tmp_path / f"books {kind}", table, people) == "holds"


def mutants(name, tmp_path, seeds):
    table, release, people = base(name)
    honest, numbers, outcomes = Draft.of(release), count(), Counter()
    for seed in seeds:
        coins, draft = random.Random(seed), honest.copy()
        try:
            tell_lies(coins, Quiet(draft))
            if coins.random() < 0.8:
                draft.keep_books()
            place = tmp_path / str(next(numbers))
            draft.save(place, coins.choice(["parquet", "csv"]))
        except (SfumatoError, NoDraftError, KeyError, IndexError, TypeError, ValueError, ZeroDivisionError):
            outcomes["no release"] += 1
            continue
        outcomes[judged(place, table, people)] += 1
    return outcomes


class Quiet:
    """A draft whose books others keep."""

    counted = ("st", "numbers")

    def __init__(self, draft):
        self.draft = draft

    def __getattr__(self, name):
        return getattr(self.draft, name)

    def keep_books(self):
        pass


@pytest.mark.parametrize("name", ASKED)
def test_no_mutant_that_matters_is_let_through(name, tmp_path):
    outcomes = mutants(name, tmp_path, range(120))
    assert outcomes["does not hold"] > 8  # many come as far as an audit
    assert outcomes["holds"] <= 12  # lies that changed nothing


LIES = {
    "one more has a value": ("st", lambda rows: rows[0].update(count=rows[0]["count"] + 1)),
    "one fewer has several": ("numbers", lambda rows: rows[0].update(count=rows[0]["count"] - 1)),
    "somebody has more values": ("numbers", lambda rows: rows[0].update(values=rows[0]["values"] + 7)),
    "a set counts people twice": ("sets", lambda rows: rows[0].update(count=rows[0]["count"] + 1)),
    "another band": ("qit", lambda rows: rows[0].update(rows="4 or more" if rows[0]["rows"] != "4 or more" else "1")),
    "numbers of two groups exchanged": ("numbers", lambda rows: rows[0].update(group=2)),
}


@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("name", ASKED)
def test_every_single_lie_is_found_or_refused(name, lie, tmp_path):
    table, release, people = base(name)
    draft = Draft.of(release)
    where, change = LIES[lie]
    change(draft.tables[where])
    draft.keep_books()
    try:
        draft.save(tmp_path / "mutant", "parquet")
    except SfumatoError:
        return
    assert false_in(Files.read(tmp_path / "mutant"), people) != []
    assert sf.audit(tmp_path / "mutant", table).holds is False


@pytest.mark.parametrize("alike", ["exact", [], [2, 3], "rows"])
def test_a_manifest_that_speaks_of_other_bands_is_found_with_the_table(alike, tmp_path):
    table, release, _ = base("one")
    draft = Draft.of(release)
    draft.manifest["schema"]["declared"]["people"]["alike"] = alike
    try:
        draft.save(tmp_path / "mutant", "parquet")
    except SfumatoError:
        return
    assert sf.audit(tmp_path / "mutant", table).holds is not True


def test_an_audit_that_always_holds_is_caught(tmp_path, monkeypatch):
    from sfumato.auditor import Audit

    table, release, people = base("one")
    draft = Draft.of(release)
    draft.tables["qit"][0]["age"] = 77
    draft.save(tmp_path / "mutant", "parquet")
    monkeypatch.setattr(sf, "audit", lambda *_: Audit(claims=()))
    with pytest.raises(AssertionError, match="qit shows other people"):
        judged(tmp_path / "mutant", table, people)
