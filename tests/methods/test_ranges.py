"""From a grouping to a ranges release."""

from dataclasses import replace

import numpy as np
import pytest

from sfumato import LDiversity
from sfumato.errors import InputError
from sfumato.groups.grouping import Grouping
from sfumato.methods import Boxes
from sfumato.methods.show import require_free_names
from sfumato.methods.show.ranges import show_ranges
from sfumato.randomness import SecureRandomness, SeededRandomness
from sfumato.release.manifest import Claim
from tests.makers import people
from tests.release._ranges import of_groups
from tests.release._task import task_of

TABLE = people(list("abab"), age=[1, 2, 3, 4])


def show(random, **options):
    task = replace(task_of(TABLE, LDiversity(2)), random=random)
    grouping = Grouping(np.array([0, 0, 1, 1], dtype=np.int32), 2, "safe", **options)
    return show_ranges(task, grouping, Boxes(form="ranges"))


def test_the_manifest_says_what_was_done():
    manifest = show(SeededRandomness(1), public={"moved": ["age"]}).manifest
    assert manifest.form == "ranges"
    assert manifest.basis == "safe"
    assert manifest.claims == (Claim.association("engineer"),)
    assert manifest.parameters == {"groups": 2, "one_row_per_person": True, "moved": ["age"]}
    assert [dict(value) for value in manifest.values] == [
        {"value": "a", "count": 2, "bound": "1/2"},
        {"value": "b", "count": 2, "bound": "1/2"},
    ]
    assert manifest.schema["quasi"] == [{"name": "age", "kind": "numeric"}]


@pytest.mark.parametrize(
    ("random", "complete", "said"),
    [
        (SeededRandomness(1), True, (True, True)),
        (SeededRandomness(1), False, (True, False)),
        (SecureRandomness(), True, (False, False)),
    ],
)
def test_a_release_says_whether_it_is_seeded_and_reproducible(random, complete, said):
    manifest = show(random, complete=complete).manifest
    assert (manifest.seeded, manifest.reproducible) == said


def test_showing_groups_draws_no_coins():
    one, two, other = (
        show(random).tables()["records"].to_pylist() for random in (SeededRandomness(1), SeededRandomness(2), SecureRandomness())
    )
    assert one == two == other


def test_people_left_out_are_an_error():
    with pytest.raises(InputError, match="shows everybody"):
        of_groups(TABLE, [0, 0, 1, -1])


@pytest.mark.parametrize("name", ["age_min", "age_max", "age_missing", "group"])
def test_names_that_would_be_published_twice_are_refused(name):
    with pytest.raises(InputError, match=f"two columns called '{name}'"):
        require_free_names(people(["a", "b"], age=[1, 2], **{name: ["x", "y"]}), "ranges")
    numbers = people(["a", "b"], age=[1, 2], **{name: [3, 4]})
    assert f"{name}_min" in of_groups(numbers, [0, 0]).tables()["records"].column_names
