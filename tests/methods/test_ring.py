import numpy as np
import pytest

from sfumato import BetaLikeness, FPrivacy, LDiversity, audit, publication
from sfumato.errors import Infeasible, InputError, NotProvable, PolicyError
from sfumato.groups.grouping import histograms
from sfumato.papers.heterogeneous.ring import ring_order, ring_partition
from sfumato.papers.heterogeneous.ring_method import Ring
from sfumato.randomness import SeededRandomness
from sfumato.testing import example_tables
from sfumato.utility.gcp import gcp, gcp_of_groups
from tests.makers import people, skewed

THREE = LDiversity(3, against="reader")


def accepting(**parameters):
    return Ring(accept_weaker_claim=True, **parameters)


def values_behind(table, links):
    return table.sensitive.codes[links.linked].reshape(len(links.carried), -1)


@pytest.mark.parametrize("partition", ["diverse", "merged"])
@pytest.mark.parametrize("assignment", ["walks", "shift"])
def test_the_graph_is_regular_both_ways_and_every_record_has_different_values_behind_it(partition, assignment):
    table = skewed(rows=900)
    outcome = accepting(partition=partition, assignment=assignment).run(table, THREE, random=1)
    links = outcome.links
    behind = values_behind(table, links)
    assert behind.shape == (table.rows, 3)
    assert (np.diff(np.sort(behind, axis=1), axis=1) > 0).all()
    assert (np.bincount(links.linked, minlength=table.rows) == 3).all()
    assert sorted(links.carried.tolist()) == list(range(table.rows))
    assert (links.linked.reshape(-1, 3) == links.carried[:, None]).any(axis=1).all()
    assert outcome.private["l"] == 3
    assert outcome.private["rings"] > 1


def test_a_record_shows_the_value_it_carries_and_the_ranges_of_whom_it_covers():
    table = skewed(rows=300)
    outcome = accepting().run(table, THREE, random=2)
    release, links = outcome.release, outcome.links
    assert release.value.tolist() == table.sensitive.codes[links.carried].tolist()
    age = np.array(table.column("age").arrow().to_pylist())[links.linked].reshape(-1, 3)
    shown = release.tables()["records"]
    assert shown["age_min"].to_pylist() == age.min(axis=1).tolist()
    assert shown["age_max"].to_pylist() == age.max(axis=1).tolist()


def faced(table, links):
    """The values carried by the records that cover each person."""
    order = np.argsort(links.linked, kind="stable")
    carried = table.sensitive.codes[links.carried][order // 3]
    return np.sort(carried.reshape(table.rows, 3), axis=1)


def test_after_a_shift_a_person_faces_different_values_and_after_walks_she_may_not():
    table = skewed(rows=900)
    repeats = {}
    for assignment in ("shift", "walks"):
        links = accepting(assignment=assignment).run(table, THREE, random=3).links
        repeats[assignment] = (np.diff(faced(table, links), axis=1) == 0).any(axis=1).mean()
    assert repeats["shift"] == 0
    assert repeats["walks"] > 0.05


def test_ranges_are_never_wider_than_the_groups_and_exchanging_places_narrows_them():
    table = skewed(rows=2000)
    bounds = THREE.bounds(table.sensitive.histogram())
    groups = ring_partition(table.quasi, table.sensitive.codes, bounds, 3, "diverse")
    whole = gcp_of_groups(table.quasi, groups.group).value
    first, mended = (gcp(accepting(tries=tries).run(table, THREE, random=4).release).value for tries in (0, 20))
    assert mended < first < whole


def test_merging_leaves_diverse_groups_and_everybody_in_one():
    table = skewed(rows=900)
    bounds = THREE.bounds(table.sensitive.histogram())
    groups = ring_partition(table.quasi, table.sensitive.codes, bounds, 3, "merged")
    found = histograms(groups.group, table.sensitive.codes, len(bounds.values))
    assert (3 * found.count <= groups.sizes[found.group]).all()
    assert groups.sizes.sum() == table.rows
    assert (groups.sizes > 0).all()
    assert groups.groups > 5


def test_merging_takes_the_near_group():
    # Two people alike at 0 need somebody else: those at 1 are nearer than those at 100.
    table = people(["a", "a", "b", "c", "b", "c"], age=[0, 0, 1, 1, 100, 100])
    bounds = LDiversity(2, against="reader").bounds(table.sensitive.histogram())
    groups = ring_partition(table.quasi, table.sensitive.codes, bounds, 2, "merged").group
    assert len(set(groups[:4].tolist())) == 1
    assert groups[4] == groups[5] != groups[0]


def test_the_audit_finds_the_weaker_claim_kept_and_says_what_it_leaves_open():
    table = skewed(rows=600)
    result = publication(table, THREE, method=accepting(), random=1)
    assert result.audit.holds is True
    assert result.release.claims == ()
    assert result.release.manifest.parameters["matches"] == 3
    assert "reader who takes every record that fits a person" in result.audit.stronger


@pytest.mark.parametrize("name", list(example_tables()))
def test_odd_tables_are_published_and_survive_the_disk(name, tmp_path):
    table = example_tables()[name]
    release = accepting().run(table, LDiversity(2, against="reader"), random=1).release
    for kind in ("parquet", "csv"):
        release.save(tmp_path / kind, format=kind)
        assert audit(tmp_path / kind, table).holds is True


def test_the_same_seed_gives_the_same_release():
    table = skewed(rows=400)
    one, two, other = (accepting().run(table, THREE, random=seed).release.tables()["records"] for seed in (5, 5, 6))
    assert one.equals(two)
    assert not one.equals(other)


def test_the_order_of_the_input_does_not_change_the_rings():
    table = people([f"v{k % 7}" for k in range(140)], number=[(37 * k) % 140 for k in range(140)])
    turned = table.take(np.random.default_rng(1).permutation(140))
    seen = []
    for one in (table, turned):
        bounds = THREE.bounds(one.sensitive.histogram())
        coins = SeededRandomness(1)
        groups = ring_partition(one.quasi, one.sensitive.codes, bounds, 3, "diverse")
        rings = ring_order(one.quasi, one.sensitive.codes, groups, 3, tries=5, random=coins)
        number = np.array(one.quasi[0].arrow().to_pylist())[rings.order]
        seen.append({tuple(number[a:b].tolist()) for a, b in zip(rings.start[:-1], rings.start[1:], strict=True)})
    assert seen[0] == seen[1]


def test_uneven_bounds_are_kept_by_the_length_that_the_smallest_needs():
    table = people([f"v{k % 8}" for k in range(160)])
    requirement = FPrivacy(theta=0, offset="0.5", bounds={"v0": "0.3"}, against="reader")
    assert accepting().run(table, requirement, random=1).private["l"] == 4
    assert accepting(l=6).run(table, requirement, random=1).private["l"] == 6


def test_a_length_that_cannot_keep_the_bounds_is_refused():
    with pytest.raises(PolicyError, match="bound of 1/3"):
        accepting(l=2).run(skewed(), THREE)


def test_a_value_too_frequent_for_the_length_is_infeasible_and_the_error_says_what_fits():
    with pytest.raises(Infeasible, match="at most") as caught:
        accepting().run(skewed(), BetaLikeness(1, against="reader"))
    assert caught.value.nearest["l"] >= 2
    assert "burel" in caught.value.hint


def test_bounds_of_1_protect_nobody():
    with pytest.raises(PolicyError, match="protects nobody"):
        accepting().run(skewed(), FPrivacy(offset=1, against="reader"))


def test_it_runs_only_where_the_weaker_claim_is_accepted_in_place_of_a_readers():
    with pytest.raises(NotProvable, match="a reader believes"):
        Ring().run(skewed(), THREE)
    with pytest.raises(NotProvable, match=r"weaker claim.*not against 'engineer'"):
        accepting().run(skewed(), LDiversity(3))


def test_a_column_with_a_name_of_the_form_is_refused():
    table = people(["a", "b"] * 5, age=list(range(10)), age_min=["x"] * 10)
    with pytest.raises(InputError, match="age_min"):
        accepting().run(table, LDiversity(2, against="reader"))


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ({"accept_weaker_claim": 1}, "expected true or false"),
        ({"l": 1}, "from 2 on"),
        ({"partition": "paper"}, "'diverse', 'merged'"),
        ({"assignment": "pools"}, "'walks', 'shift'"),
        ({"tries": -1}, "from 0 to 10,000"),
    ],
)
def test_parameters_are_checked_when_the_method_is_made(parameters, told):
    with pytest.raises(PolicyError, match=told):
        Ring(**parameters)
