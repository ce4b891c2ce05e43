"""The budget is a person's: whoever is in which draws, by hashes that only the register's key explains."""

import importlib
import itertools
import json
import os
import random
import shutil
import stat
from collections import Counter
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.budget import SUFFIX, book, spent
from sfumato.errors import OutputError, PeopleNotIdentified, PolicyError
from sfumato.ledger import KEY_FILE, Draw, KeyedDraws, in_order, likeness, patterns
from sfumato.ledger import SUFFIX as HASHES
from sfumato.table.fingerprint import Fingerprint, hash_people
from sfumato.table.marks import Marks, keyed

GAMMA = sf.Differential("1").gamma
METHOD = sf.NoisyBoxes(values=["flu", "gout", "none"], otherwise="none", floor=20)


@pytest.fixture(autouse=True)
def another_home(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))


def people(numbers, *, seed=1, spell=str, **roles):
    """Return a table of these people, in which everybody's values follow from her number and the seed."""
    coins = [random.Random(f"{seed} {number}") for number in numbers]
    frame = pa.table(
        {
            "id": [spell(number) for number in numbers],
            "age": [one.randrange(90) for one in coins],
            "town": [one.randrange(60) for one in coins],
            "s": [one.choice(["flu", "gout", "none"]) for one in coins],
        }
    )
    given = {"identifier": ["id"], "quasi": ["age", "town"], "sensitive": ["s"], **roles}
    return sf.Table.from_frame(frame, METHOD.close(sf.Schema(**given)))


def draw(table, register, budget=None, epsilon="1"):
    limit = None if budget is None else Fraction(budget)
    return sf.publication(table, sf.Differential(epsilon), method=METHOD, register=register, budget=limit)


def test_a_cohort_inside_of_another_has_the_draws_of_both(tmp_path):
    cohorts = [range(20_000), range(3_000), range(450), range(68)]
    draw(people(cohorts[0]), tmp_path, budget=1)
    for inner in cohorts[1:]:
        with pytest.raises(PolicyError, match=f"{len(inner):,} people .*7.389-fold") as caught:
            draw(people(inner), tmp_path, budget=1)
        assert not any(name in str(caught.value) for name in ("'3'", "id =", "67"))
    for inner in cohorts[1:]:
        draw(people(inner), tmp_path)
    found = spent(people(cohorts[0]).marks, [tmp_path])
    assert (found.odds, found.draws, found.people, found.identified) == (GAMMA**4, 4, 68, True)
    assert spent(people(range(100, 450)).marks, [tmp_path]).odds == GAMMA**3


def test_a_refused_draw_leaves_nothing_and_another_half_may_still_be_drawn(tmp_path):
    draw(people(range(100)), tmp_path, budget=1)
    files = sorted(tmp_path.iterdir())
    with pytest.raises(PolicyError, match="odds of 1 person grow"):
        draw(people(range(99, 200)), tmp_path, budget=1)
    assert sorted(tmp_path.iterdir()) == files
    assert draw(people(range(100, 200)), tmp_path, budget=1)


def marks_of(numbers, identified_by=("id",), *, one_row=True):
    words = np.array(numbers, np.uint64)
    return Marks(Fingerprint("", len(words), ()), identified_by, one_row, [(words if identified_by else None, words)])


def test_products_are_those_of_every_person_one_by_one():
    """Random draws in two registers with keys of their own, compared with a loop over people."""
    coins = random.Random(7)
    for _ in range(30):
        keys = [coins.randbytes(16) for _ in range(2)]
        everybody = [Fraction(coins.randint(2, 9), 2) for _ in range(coins.randrange(3))]
        drawn, registers = [], []
        for key in keys:
            own = []
            for _ in range(coins.randrange(5)):
                one_row, gamma = coins.random() < 0.7, Fraction(coins.randint(3, 20), 2)
                members = [coins.randrange(60) for _ in range(coins.randint(1, 80))]
                members = sorted(set(members)) if one_row else members
                hashes = in_order([np.array(members, np.uint64)], len(members), key)
                own.append(Draw(gamma, Fingerprint("", 0, ()), ("id",), one_row, hashes, hashes))
                drawn.append((gamma, Counter(members)))
            registers.append(KeyedDraws(key, own))
        who = coins.sample(range(60), 40)
        start = Fraction(1)
        for gamma in everybody:
            start *= gamma
        wanted = Counter()
        for person in who:
            product, many = start, len(everybody)
            for gamma, members in drawn:
                product, many = product * gamma ** members[person], many + (members[person] > 0)
            wanted[product, many] += 1
        assert +patterns(marks_of(who), registers, everybody) == wanted


def test_hashes_are_siphash_and_in_files_for_their_owner_alone(tmp_path):
    word = np.array([int.from_bytes(bytes(range(8)), "little")], np.uint64)
    assert int(keyed(word, bytes(range(16)))[0]) == 0x93F5F5799A932462  # the vector of eight bytes in the paper's program
    registers = [tmp_path / "one", tmp_path / "two"]
    for register in registers:
        draw(people(range(100)), register)
        for path in register.iterdir():
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
    keys = [(register / KEY_FILE).read_bytes() for register in registers]
    hashes = [next(register.glob(f"*{HASHES}")).read_bytes() for register in registers]
    assert len({*keys, *hashes}) == 4
    assert not {*np.frombuffer(hashes[0], "<u8")} & {*np.frombuffer(hashes[1], "<u8")}
    assert len(hashes[0]) == 8 * 200  # whom a row is about, and its quasi values


def test_draws_of_the_named_register_and_of_ones_own_are_added_up_person_by_person(tmp_path):
    sf.publication(people(range(200)), sf.Differential("1"), method=METHOD)  # in the user's own
    made = draw(people(range(100, 300)), tmp_path)
    assert (made.spent["draws"], made.spent["people"]) == (2, 100)
    other = draw(people(range(100, 300)), tmp_path / "elsewhere")
    assert other.spent["draws"] == 2  # what is booked in the first directory is not seen
    said = " ".join(other.spent["sentences"])
    assert str(tmp_path / "elsewhere") in said
    assert "booked elsewhere" in said


@pytest.mark.parametrize(
    ("now", "roles"),
    [
        (lambda number: f"P-{number:06d}", {}),
        (lambda number: f"pseudonym {hash(('x', number))}", {}),
        (str, {"identifier": [], "other": ["id"]}),
    ],
    ids=["spelled anew", "other pseudonyms", "no identifier any more"],
)
def test_an_identifier_spelled_anew_with_one_row_changed_hides_nobody(tmp_path, now, roles):
    draw(people(range(500)), tmp_path)
    table = people([*range(499), 10_000], spell=now, **roles)
    assert spent(table.marks, [tmp_path]).draws == 1


def test_spelling_alone_makes_nobody_another_person(tmp_path):
    draw(people(range(500)), tmp_path)
    found = spent(people(range(40), spell=lambda number: f" {number:05d}.").marks, [tmp_path])
    assert (found.draws, found.people) == (1, 40)


def test_other_people_of_the_same_kind_are_other_people(tmp_path):
    draw(people(range(20_000)), tmp_path)
    assert spent(people(range(20_000, 40_000), seed=2).marks, [tmp_path]).draws == 0
    rough = likeness(*(np.sort(np.random.default_rng(seed).integers(0, 180, 20_000, np.uint64)) for seed in (1, 2)))
    assert (rough.contained > 0.9, rough.closer_than_chance) == (True, False)


def test_without_identifiers_a_part_of_a_table_is_found_by_its_rows_and_it_is_said(tmp_path):
    roles = {"identifier": [], "other": ["id"]}
    draw(people(range(20_000), **roles), tmp_path)
    inner = people(range(68), **roles)
    with (
        pytest.warns(PeopleNotIdentified, match="cannot be told apart"),
        pytest.raises(PolicyError, match="1 earlier of the same"),
    ):
        draw(inner, tmp_path, budget=1)
    found = spent(inner.marks, [tmp_path])
    assert (found.identified, found.draws, found.people) == (False, 1, 68)
    assert "cannot be told apart" in found.sentences[0]
    strangers = people(range(68), seed=5, **roles)
    shifted = strangers.to_arrow().set_column(0, "age", pa.array([a + 200 for a in strangers.to_arrow()["age"].to_pylist()]))
    other = sf.Table.from_frame(shifted, METHOD.close(sf.Schema(quasi=["age", "town"], sensitive=["s"])))
    assert spent(other.marks, [tmp_path]).draws == 0


def test_a_key_of_the_budget_tells_people_apart(tmp_path):
    roles = {"identifier": [], "other": ["id"], "budget_key": ["id"]}
    draw(people(range(1000), **roles), tmp_path)
    found = spent(people(range(900, 1100), seed=9, **roles).marks, [tmp_path])
    assert (found.identified, found.draws, found.people) == (True, 1, 100)
    with pytest.raises(PolicyError, match=r"\[budget\] key: 's' is sensitive"):
        people(range(3), identifier=[], other=["id"], budget_key=["s"])
    with pytest.raises(PolicyError, match=r"\[budget\] key: 'nobody'"):
        people(range(3), budget_key=["nobody"])


def test_somebody_with_several_rows_is_in_a_draw_several_times(tmp_path):
    numbers = [*range(100), 7, 7, 8]
    rows = people(numbers, one_row_per_person=False)
    book(rows.marks, Fraction(2), tmp_path)
    found = spent(people(range(100)).marks, [tmp_path])
    assert (found.odds, found.people) == (Fraction(8), 1)
    with pytest.raises(PolicyError, match="2 people grow 8-fold"):
        book(rows.marks, Fraction(2), tmp_path / "other", budget=Fraction(1))


def test_bookings_made_before_count_as_they_did(tmp_path):
    draw(people(range(600)), tmp_path)
    booking = next(tmp_path.glob(f"*{SUFFIX}"))
    document = json.loads(booking.read_text())
    del document["hashes"]
    document["version"] = 1
    booking.write_text(json.dumps(document))
    next(tmp_path.glob(f"*{HASHES}")).unlink()
    assert spent(people(range(600)).marks, [tmp_path]).draws == 1
    assert spent(people(range(300)).marks, [tmp_path]).draws == 1
    assert spent(people(range(10**6, 10**6 + 600), seed=3).marks, [tmp_path]).draws == 0


@pytest.mark.parametrize("harm", ["gone", "shorter", "changed", "no key"])
def test_what_cannot_be_read_any_more_may_have_been_about_anybody(tmp_path, harm):
    draw(people(range(50)), tmp_path)
    place = next(tmp_path.glob(f"*{HASHES}"))
    content = bytearray(place.read_bytes())
    if harm == "gone":
        place.unlink()
    elif harm == "shorter":
        place.write_bytes(content[:-8])
    elif harm == "changed":
        content[3] ^= 1
        place.write_bytes(content)
    else:
        (tmp_path / KEY_FILE).unlink()
    assert len(spent(people(range(1000, 1050)).marks, [tmp_path]).unlimited) == 1


POLICY = """
[columns]
identifier = ["id"]
quasi = ["age", "town"]
sensitive = ["s"]
[requirement]
model = "differential"
epsilon = "1"
[method]
values = ["flu", "gout", "none"]
otherwise = "none"
floor = 20
[budget]
epsilon = 1
"""


def frame_of(numbers):
    table = people(numbers)
    return table.to_arrow().append_column("id", pa.array([str(number) for number in numbers]))


def test_every_way_in_keeps_the_budget_of_a_policy(tmp_path):
    pytest.importorskip("duckdb")
    policy = sf.Policy.parse(POLICY)
    pq.write_table(frame_of(range(300)), tmp_path / "t.parquet")
    ways = {
        "memory": lambda n: sf.publish(frame_of(range(300)), policy),
        "written": lambda n: sf.publish(frame_of(range(300)), policy, out=tmp_path / f"release{n}"),
        "publication": lambda n: sf.publication(frame_of(range(300)), policy),
        "duckdb": lambda n: sf.publish(tmp_path / "t.parquet", policy, out=tmp_path / f"release{n}", engine="duckdb"),
        "a part": lambda n: sf.publish(frame_of(range(280, 400)), policy),
    }
    number = itertools.count()
    for first in ("memory", "duckdb"):
        home = sf.register.user_register()
        for path in home.glob("*") if home.exists() else ():
            path.unlink()
        ways[first](next(number))
        for way in ways.values():
            with pytest.raises(PolicyError, match="epsilon = 1: this draw with 1"):
                way(next(number))


def test_a_policy_names_the_key_of_its_budget():
    policy = sf.Policy.parse(POLICY.replace("epsilon = 1\n", 'epsilon = 1\nkey = "town"\n'))
    assert policy.schema.identified_by == ("town",)
    assert sf.Policy.parse(POLICY).schema.identified_by == ("id",)
    for wrong in ("3", "[]", '"s"', '"nobody"', "[1]"):
        with pytest.raises(PolicyError, match=r"\[budget\] key"):
            sf.Policy.parse(POLICY.replace("epsilon = 1\n", f"epsilon = 1\nkey = {wrong}\n"))


def test_a_lost_key_is_not_drawn_anew_and_leaves_no_budget(tmp_path):
    draw(people(range(50)), tmp_path, budget=1)
    (tmp_path / KEY_FILE).unlink()
    files = sorted(tmp_path.iterdir())
    for budget in (None, 1):
        with pytest.raises(OutputError, match=r"people\.key"):
            draw(people(range(40)), tmp_path, budget=budget)
    assert sorted(tmp_path.iterdir()) == files
    own = sf.register.user_register()  # which is looked into from every other one
    shutil.copytree(tmp_path, own, ignore=lambda *_: ["home"], dirs_exist_ok=True)
    own.chmod(0o700)
    with pytest.raises(PolicyError, match="without a bound"):
        draw(people(range(40), seed=3), tmp_path / "other", budget=1)


def test_another_key_explains_nothing_and_older_bookings_are_still_read(tmp_path):
    draw(people(range(50)), tmp_path)
    strangers = people(range(1000, 1050), seed=2).marks
    assert not spent(strangers, [tmp_path]).unlimited
    booking, key = next(tmp_path.glob(f"*{SUFFIX}")), tmp_path / KEY_FILE
    was, document = key.read_bytes(), json.loads(booking.read_text())
    key.write_bytes(bytes(16))
    assert len(spent(strangers, [tmp_path]).unlimited) == 1
    with pytest.raises(PolicyError, match="no budget"):
        draw(people(range(40), seed=3), tmp_path, budget=5)
    key.write_bytes(was)
    del document["hashes"]["key"]
    booking.write_text(json.dumps(document))
    found = spent(people(range(40), seed=3).marks, [tmp_path])
    assert (found.unlimited, found.draws, found.people) == ((), 1, 40)


@pytest.mark.skipif(os.name == "nt", reason="other rights")
@pytest.mark.parametrize("what", ["", KEY_FILE])
def test_a_register_that_others_can_write_is_refused(tmp_path, what):
    register = tmp_path / "register"
    draw(people(range(50)), register)
    files = sorted(register.iterdir())
    (register / what).chmod(0o777)
    with pytest.raises(OutputError, match="other users"):
        draw(people(range(50)), register)
    assert sorted(register.iterdir()) == files


@pytest.mark.parametrize("roles", [{"identifier": [], "other": ["id"], "budget_key": ["id"]}, {}], ids=["key", "spelling"])
def test_whoever_has_several_rows_after_all_is_counted_as_often(tmp_path, roles):
    numbers = [str(k) for k in range(100)] + ["07", "007", "08"]
    table = people(numbers if not roles else [number.lstrip("0") or "0" for number in numbers], **roles)
    with pytest.raises(PolicyError, match="2 people grow 8-fold"):
        book(table.marks, Fraction(2), tmp_path, budget=Fraction(1))
    assert book(table.marks, Fraction(2), tmp_path, budget=Fraction(3)).odds == 8
    found = spent(people(range(100), seed=4).marks, [tmp_path])
    assert (found.odds, found.people) == (8, 1)


def test_so_many_rows_of_one_person_are_no_error(tmp_path):
    roles = {"identifier": [], "other": ["id"], "budget_key": ["id"]}
    made = draw(people([7] * 5000, **roles), tmp_path)
    assert (made.spent["people"], made.spent["odds"]) == (1, float("inf"))
    assert made.spent["epsilon"] == pytest.approx(5000)
    with pytest.raises(PolicyError, match="1 person grow inf-fold"):
        draw(people([8] * 5000, **roles), tmp_path, budget=1)


def test_rows_that_name_nobody_are_different_people(tmp_path):
    table = people([*range(100), *[None] * 20], spell=lambda number: None if number is None else str(number))
    assert draw(table, tmp_path, budget=1).spent["draws"] == 1


@pytest.mark.parametrize(
    "column",
    [
        pa.array([f"{number}.0" for number in range(10**7, 10**7 + 40)]),
        pa.array([f" {number}.00 " for number in range(10**7, 10**7 + 40)]),
        pa.array([float(number) for number in range(10**7, 10**7 + 40)]),
    ],
    ids=["text", "more zeros", "floats"],
)
def test_numbers_that_came_as_floats_are_the_same_people(column):
    plain = pa.array([str(number) for number in range(10**7, 10**7 + 40)])
    one, other = (hash_people({"id": pa.chunked_array([some])}, 40) for some in (plain, column))
    assert one.tolist() == other.tolist()
    version = hash_people({"id": pa.chunked_array([["1.2.0", "1.2", "p 1.0", "p1"]])}, 4)
    assert len(set(version.tolist())) == 4


def test_draws_that_told_people_by_other_columns_are_said(tmp_path):
    draw(people(range(500)), tmp_path)
    roles = {"identifier": [], "other": ["id"], "budget_key": ["town"]}
    same = draw(people(range(300, 320), seed=8), tmp_path)
    assert not any("other columns" in line for line in same.spent["sentences"])
    with pytest.warns(PeopleNotIdentified, match=r"other columns \(id\)"):
        made = draw(people(range(5), seed=9, **roles), tmp_path, budget=9)
    assert sum("other columns (id)" in line for line in made.spent["sentences"]) == 1


@pytest.mark.parametrize("rules", ['[unit]\nhousehold = "home"\nmost = 1\n', '[people]\nkey = "home"\nkeep = "all"\nmost = 1\n'])
def test_a_key_that_tells_of_one_row_alone_is_refused_where_all_rows_are_drawn(rules):
    """Of a household with three members the identifier of one was booked, and the others were drawn of again."""
    text = POLICY.replace('identifier = ["id"]', 'identifier = ["id", "home"]') + "key = {}\n" + rules
    assert sf.Policy.parse(text.format('"home"')).schema.identified_by == ("home",)
    with pytest.raises(PolicyError, match=r"\[budget\] key: .*'home'.*'id' alone"):
        sf.Policy.parse(text.format('"id"'))
    with pytest.raises(PolicyError, match="no column 'hme'") as caught:
        sf.Policy.parse(text.format('"home"').replace('= "home"\n', '= "hme"\n'))
    assert "did you mean 'home'" in str(caught.value)


@pytest.mark.parametrize("when", ["listed", "read"])
def test_a_booking_that_is_taken_back_while_another_one_counts_is_not_there(tmp_path, monkeypatch, when):
    """A draw that was refused drew nothing: whoever books meanwhile must not be told that no budget can be kept."""
    book(people(range(200, 300)).marks, Fraction(2), tmp_path)
    taken = next(tmp_path.glob(f"*{SUFFIX}"))
    place, name = ("sfumato.register", "read_file") if when == "listed" else ("sfumato.budget", "read_hashes")

    whole = getattr(importlib.import_module(place), name)

    def vanishing(path, *given):
        if path.name.split(".")[0] == taken.name.split(".")[0]:
            taken.unlink(missing_ok=True)
            taken.with_name(taken.name.removesuffix(SUFFIX) + HASHES).unlink(missing_ok=True)
        return whole(path, *given)

    monkeypatch.setattr(f"{place}.{name}", vanishing)
    found = book(people(range(100)).marks, Fraction(2), tmp_path, budget=Fraction(1))
    assert (found.unlimited, found.draws, taken.exists()) == ((), 1, False)
