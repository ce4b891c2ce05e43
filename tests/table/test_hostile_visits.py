"""Whatever is wrong with a table of visits, or with what a policy says of it, ends with a sentence."""

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import SfumatoError

PEOPLE = {"key": "who", "keep": "all"}
ROLES = {"identifier": ["who"], "quasi": ["age"], "secrets": {"d": ["d1", "d2"]}, "other": ["day", "ward"]}


def rows():
    coins = np.random.default_rng(1)
    who = np.repeat(np.arange(120), coins.choice([1, 2, 3], 120))
    many = len(who)
    return {
        "who": [f"P{k}" for k in who],
        "age": (20 + who % 40).tolist(),
        "day": coins.integers(1, 400, many).tolist(),
        "d1": [f"v{k}" for k in coins.integers(0, 8, many)],
        "d2": [None if k % 2 else f"v{k % 8}" for k in coins.integers(0, 99, many)],
        "ward": [f"w{k}" for k in coins.integers(0, 6, many)],
    }


def read(changes=None, **given):
    data = rows()
    for name, change in (changes or {}).items():
        data[name] = change(data[name])
    return sf.Table.from_frame(pa.table(data), sf.Schema(**{**ROLES, "people": PEOPLE, **given}), random=1)


def every(k, otherwise):
    return lambda column: [otherwise(one) if place % k == 0 else one for place, one in enumerate(column)]


REFUSED = {
    "a key in another case": ({"who": every(3, str.lower)}, {}, "differ from another one only by case, blanks"),
    "a key with a blank": ({"who": every(3, lambda one: f"{one} ")}, {}, "differ from another one only by case, blanks"),
    "a key in other letters": ({"who": every(3, lambda one: one.replace("P", "\uff30"))}, {}, "the form of letters"),
    "no key": ({"who": every(5, lambda _: None)}, {}, "not known whose rows they are"),
    "an empty key": ({"who": every(5, lambda _: "")}, {}, "not known whose rows they are"),
    "a blank key": ({"who": every(5, lambda _: "  ")}, {}, "not known whose rows they are"),
    "no number for a key": ({"who": lambda all_: [float(one[1:]) if k % 9 else float("nan") for k, one in enumerate(all_)]},
                            {}, "not known whose rows they are"),
    "nobody has a key": ({"who": lambda all_: [""] * len(all_)}, {"people": {**PEOPLE, "without_key": "drop"}},
                         "no row has a key"),
    "nobody has anything": (dict.fromkeys(("d1", "d2"), lambda all_: [None] * len(all_)), {}, "secret 'd': nobody has a value"),
    "columns of different types": ({"d2": lambda all_: list(range(len(all_)))}, {}, "its columns are of different types"),
    "lists": ({"d2": lambda all_: [[one] for one in all_]}, {}, "its columns are of different types"),
    "no rows": (dict.fromkeys(("who", "age", "day", "d1", "d2", "ward"), lambda _: []), {}, "the table has no rows"),
    "quasi values that differ": ({"age": lambda all_: list(range(len(all_)))}, {}, "people have rows with different values"),
    "repeated identifiers": ({}, {"people": None}, "a bound per row is no bound per person"),
    "a column called rows": ({}, {"quasi": ["age", "rows"], "other": ["day", "ward", "rows"]}, "has a column"),
    "keep": ({}, {"people": {**PEOPLE, "keep": "al"}}, "keep: expected"),
    "alike": ({}, {"people": {**PEOPLE, "alike": "row"}}, "alike: expected rows, exact or edges"),
    "edges": ({}, {"people": {**PEOPLE, "alike": [3, 2]}}, "ascending numbers of rows from 2 on"),
    "quasi": ({}, {"people": {**PEOPLE, "quasi": "fist by day"}}, "quasi: expected first, last"),
    "a word": ({}, {"people": {"kee": "who", "keep": "all"}}, "kee: unknown key"),
    "without_key": ({}, {"people": {"key": "who", "keep": "first by day", "without_key": "drop"}}, 'it is for keep = "all"'),
    "by a secret": ({}, {"people": {**PEOPLE, "quasi": "first by d1"}}, "must not depend on a secret"),
    "a key that is a secret": ({}, {"people": {**PEOPLE, "key": "d1"}}, "must not depend on a secret"),
    "types of a column": ({}, {"types": {"d1": "numeric"}}, "'d1' is a column of the secret 'd'"),
    "bins of a column": ({}, {"bins": {"d2": [0, 1]}}, "'d2' is a column of the secret 'd'"),
    "a column in two secrets": ({}, {"secrets": {"d": ["d1", "d2"], "e": ["d2"]}}, "'d2' is listed twice"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_wrong_ends_with_a_sentence(name):
    changes, given, said = REFUSED[name]
    with pytest.raises(SfumatoError, match=said) as caught:
        read(changes, **given)
    assert caught.value.hint


def test_ten_thousand_rows_of_one_person_are_one_person_in_the_last_band():
    data, many = rows(), 10_000
    for name, value in (("who", "P0"), ("age", 20), ("day", 3), ("d1", "v1"), ("d2", None), ("ward", "w1")):
        data[name] = [*data[name], *[value] * many]
    table = sf.Table.from_frame(pa.table(data), sf.Schema(**ROLES, people=PEOPLE), random=1)
    assert table.rows == 120
    assert int(table.times.max()) > many
    band = table.column("rows")
    assert band.labels()[band.codes[np.argmax(table.times)]].endswith("or more")
    assert np.bincount(band.codes).min() >= 20  # nobody is told by her band alone
    assert table.sensitive.counts.max() <= 120  # a value counts once a person, however often


def test_a_value_twice_in_a_row_is_one_fact():
    assert read({"d2": lambda all_: rows()["d1"]}).bundles.facts == read({"d2": lambda all_: [None] * len(all_)}).bundles.facts


def test_texts_of_any_length_mean_the_same():
    table = read({"d2": lambda all_: pa.array(all_, pa.large_string())})
    assert table.sensitive.histogram() == read().sensitive.histogram()


def test_a_rule_of_missing_values_is_about_cells_and_not_about_what_a_longer_secret_has():
    """Of two secrets one has more columns: what is missing of the other beyond its own is nothing."""
    both = {"secrets": {"d": ["d1", "d2"], "ward": "ward"}, "other": ["day"]}
    assert "(missing)" not in read(**both, missing={"ward": "value"}).each()[1].sensitive.labels
    assert read(**both, missing={"ward": "error"}).rows == 120
    gaps = {"ward": every(7, lambda _: None)}
    assert "(missing)" in read(gaps, **both, missing={"ward": "value"}).each()[1].sensitive.labels
    with pytest.raises(sf.InputError, match="values are missing"):
        read(gaps, **both, missing={"ward": "error"})


def test_one_row_of_each_person_is_kept_also_where_a_secret_has_several_columns():
    table = read(people={"key": "who", "keep": "first by day"})
    assert table.rows == 120
    assert table.choice.rows > 120
    assert table.bundles.numbers().max() <= 2


def test_secrets_keep_their_order_in_a_manifest(tmp_path):
    table = read(secrets={"ward": "ward", "d": ["d1", "d2"]}, other=["day"], people={**PEOPLE, "alike": []})
    release = sf.publish(table, sf.FPrivacy(theta=2, offset="0.2"), random=1)
    release.save(tmp_path / "release")
    assert sf.Release.load(tmp_path / "release").secrets == ("ward", "d")
