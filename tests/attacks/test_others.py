"""Two releases, sets of values, presence, several rows a person, and counts with noise."""

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.attacks.composition import intersect
from sfumato.attacks.differential import chance_over, differential_inference, needed_size, theorem
from sfumato.attacks.presence import with_list
from sfumato.attacks.skewness import largest_growth
from tests.makers import people, skewed

FLU, HIV, COLD, ULCER, ACNE = range(5)


def test_two_groups_of_a_victim_leave_hiv():
    """{flu, HIV, cold} and {HIV, ulcer, acne} share one value."""
    one, two = np.zeros((1, 5)), np.zeros((1, 5))
    one[0, [FLU, HIV, COLD]] = 1 / 3
    two[0, [HIV, ULCER, ACNE]] = 1 / 3
    found = intersect([one, two])
    assert found.beliefs[0].tolist() == [0, 1, 0, 0, 0]
    assert found.figures == {"values left on average": 1.0, "share of people with one value left": 1.0}


def test_two_runs_of_one_method_tell_more_than_one():
    table = skewed(rows=600)
    one, two = (sf.publish(table, sf.FPrivacy(theta=2, offset="0.1"), method=sf.MultiSize(), random=k) for k in (1, 2))
    first, _ = (sf.attack(release, table, "random-worlds", random=1)[0] for release in (one, two))
    shared, multiplied = sf.attack(one, table, "composition", others=[two], random=1)
    assert multiplied.mean_belief > first.mean_belief + 0.02
    assert shared.figures["values left on average"] < 9
    assert multiplied.verdict == "not claimed"


def test_one_in_a_hundred_in_a_group_of_halves_grows_fiftyfold():
    assert largest_growth(np.array([[0.5, 0.5]]), np.array([0.01, 0.99])) == pytest.approx(50)


def test_three_low_salaries_are_one_secret():
    """A group of 3K, 4K and 5K is 3-diverse, and says of everybody that the salary is low."""
    table = people(["3K", "4K", "5K", "6K", "8K", "11K"], age=[20, 21, 22, 50, 51, 52])
    release = sf.publish(table, sf.LDiversity(3, against="reader"), method=sf.Boxes(floor=3), random=1)
    single, low = sf.attack(release, table, "skewness", sets={"low": ["3K", "4K", "5K"]}, random=1)
    assert single.largest_belief == pytest.approx(1 / 3)
    assert (low.figures["largest belief in the set"], low.success, low.verdict) == (1, 1, "not claimed")
    with pytest.raises(sf.PolicyError, match="no value '7K'"):
        sf.attack(release, table, "skewness", sets={"low": ["7K"]})


def test_a_bounded_set_is_judged_by_its_bound():
    table = skewed(rows=400)
    needs = sf.FPrivacy(theta=3, offset="0.1", sets={"rare": {"values": ["v7", "v8"], "bound": "0.5"}})
    release = sf.publish(table, needs, method=sf.Boxes(floor=20), random=1)
    found = {one.variant: one for one in sf.attack(release, table, "skewness", random=1)}["any of rare"]
    assert (found.bound, found.verdict, found.over) == (0.5, "claimed", 0.0)


def test_three_of_five_people_on_a_list_are_present_with_three_fifths():
    table = people(["a", "b", "c"], age=[30, 32, 34])
    release = sf.publish(table, sf.LDiversity(3, against="reader"), method=sf.Boxes(floor=3, form="ranges"), random=1)
    listed = pa.table({"age": [30, 31, 32, 33, 34, 50]})
    assert with_list(release, listed).tolist() == pytest.approx([0.6] * 5 + [0])


def test_exact_quasi_values_show_who_is_there():
    table = skewed(rows=300)
    release = sf.publish(table, sf.FPrivacy(theta=3, offset="0.1"), method=sf.Boxes(floor=20), random=1)
    away = people(["v0", "v1"], age=[200, 201], sex=["f", "m"])
    alone, listed = sf.attack(release, table, "presence", outsiders=away, random=1)
    assert (alone.mean_belief, alone.control, alone.success) == (1, 1, 1)
    assert listed.figures["largest belief (δ-presence)"] == 1


def test_a_stranger_is_held_to_alpha_where_that_is_claimed():
    coins = np.random.default_rng(2)
    table = people(
        [f"v{k}" for k in coins.integers(0, 5, 300)], a=coins.integers(0, 40, 300).tolist(), b=coins.integers(0, 40, 300).tolist()
    )
    needs = sf.PresenceAssociation(alpha="0.9", beta="0.6", against="reader")
    release = sf.publish(table, needs, method=sf.Ambiguity(floor=10), random=1)
    [found] = sf.attack(release, table, "presence", random=1)
    assert (found.knows, found.verdict) == ("stranger", "claimed")
    assert found.largest_belief <= 0.9 == found.bound


def test_rows_of_one_person_are_put_together_and_one_row_each_prevents_it():
    """Everybody has four rows with one illness, each at another age: linked they say far more than each by itself."""
    coins = np.random.default_rng(4)
    ill = [f"v{k}" for k in coins.integers(0, 6, 200) for _ in range(4)]
    frame = pa.table({"age": coins.permutation(800), "ill": ill, "who": np.repeat(np.arange(200), 4)})
    schema = sf.Schema(quasi=["age"], sensitive=["ill"], other=["who"], one_row_per_person=False)
    table = sf.Table.from_frame(frame, schema)
    release = sf.publish(table, sf.LDiversity(3), method=sf.Anatomy(), random=1)
    alone = sf.attack(release, table, "random-worlds", random=1)[0]
    linked, some = sf.attack(release, table, "rows", persons=frame["who"], random=1)
    assert linked.success > alone.success + 0.1
    assert linked.verdict == some.verdict == "not claimed"
    assert some.over == 1.0  # of every four rows that keep 1/3 each, some has a value with more
    kept = sf.Table.from_frame(
        frame.append_column("day", pa.array(list(range(800)))),
        sf.Schema(quasi=["age"], sensitive=["ill"], other=["day", "who"], people={"key": "who", "keep": "first by day"}),
    )
    one_row = sf.publish(kept, sf.LDiversity(3), method=sf.Anatomy(), random=1)
    alone, linked, some = sf.attack(one_row, kept, ["random-worlds", "rows"], persons=range(200), random=1)
    assert [linked.mean_belief, some.mean_belief] == pytest.approx([alone.mean_belief] * 2)


def test_persons_of_another_table_are_refused():
    table = skewed(rows=50)
    release = sf.publish(table, sf.FPrivacy(theta=3, offset="0.2"), method=sf.MultiSize(), random=1)
    with pytest.raises(sf.InputError, match="3 keys for 50 rows"):
        sf.attack(release, table, "rows", persons=["a", "b", "c"])


def test_theorem_2_says_what_the_paper_says():
    """ε = 0.1: 1.02 times the share for x = 100, 1.0002 times for x = 1000."""
    assert theorem(100, 90, 10)[0] == pytest.approx(1.02 * 0.9)
    assert theorem(1000, 900, 10)[0] == pytest.approx(1.0002 * 0.9)


def test_the_chance_that_a_ratio_is_above_a_bound_is_that_of_drawn_noise():
    """A million draws of numpy's Laplace err by more than 0.003 less than once in 10^8 times."""
    coins = np.random.default_rng(1)
    for x, y, bound, epsilon in ((50, 20, 0.3, 0.2), (50, 10, 0.3, 0.2), (200, 190, 0.9, 0.1)):
        noise = coins.laplace(0, 1 / epsilon, (2, 1_000_000))
        drawn = (y + noise[0] > bound * (x + noise[1])).mean()
        assert chance_over(x, y, bound, epsilon) == pytest.approx(drawn, abs=3e-3)


def test_the_size_from_which_a_share_is_told_is_the_smallest_such():
    size = needed_size(0.9, 0.2, 0.1)
    assert chance_over(size, 0.9 * size, 0.2, 0.1) >= 0.95 > chance_over(size - 1, 0.9 * (size - 1), 0.2, 0.1)
    assert needed_size(0.1, 0.2, 0.1) is None


def test_a_hundred_people_of_whom_ninety_are_ill_are_told_at_epsilon_a_tenth():
    """001's own example, with a bound of 20 %; at 0.01 the noise hides it."""
    table = people(["ill"] * 90 + ["well"] * 910, kind=["her"] * 100 + ["other"] * 900)
    found = differential_inference(table, {"ill": 0.2, "well": 1.0})
    levels = {one.epsilon: one for one in found.levels}
    assert (found.value, found.size, found.share) == ("ill", 100, 0.9)
    assert levels[0.01].groups == 0
    assert (levels[0.1].groups, levels[0.1].people, levels[0.1].smallest) == (1, 0.09, 100)


def test_opendp_draws_what_the_theorem_says():
    """For 5,000 people at ε = 1 the ratio deviates by 0.0003: a median of 2,000 draws lies within 0.0001 of the share."""
    pytest.importorskip("opendp")
    table = people(["ill"] * 4500 + ["well"] * 500, kind=["her"] * 5000)
    found = differential_inference(table, {"ill": 0.2, "well": 1.0}, epsilons=(1.0,), draws=2_000)
    assert found.checked[0]["median"] == pytest.approx(0.9, abs=1e-4)
    assert found.checked[0]["clipped_deviation"] == pytest.approx(found.checked[0]["theorem_deviation"], rel=0.15)
