import json
from dataclasses import replace

import numpy as np
import pytest

from sfumato import BetaLikeness, FPrivacy, LDiversity, NearGroups, Policy, Release, audit, publication
from sfumato.errors import Infeasible, InputError, NotProvable, PolicyError
from sfumato.release.manifest import Claim
from sfumato.testing import CHECKS, check_method, example_tables
from sfumato.utility import gcp
from tests.makers import people, skewed

QUICK = 0.02
UNEVEN = BetaLikeness(1, against="reader")
"""A requirement under which groups differ in size, so that one can see that their numbers are drawn."""


def several_looks():
    """The tables on which two runs can differ: people who all look alike can only be shown in one way in a single bucket."""
    return {name: table for name, table in example_tables().items() if name != "all alike"}


def test_annealed_ranges_pass_the_conformance_suite():
    tables = example_tables()
    done = check_method(NearGroups(effort=QUICK), UNEVEN, tables=tables)
    assert len(done) == len(CHECKS) * len(tables)


def test_annealed_buckets_pass_the_conformance_suite():
    tables = several_looks()
    done = check_method(NearGroups(effort=QUICK, form="buckets"), UNEVEN, tables=tables)
    assert len(done) == len(CHECKS) * len(tables)


@pytest.mark.parametrize("form", ["ranges", "buckets"])
def test_matched_groups_are_published_against_an_engineer_and_audited(form):
    table = skewed(rows=800)
    result = publication(table, LDiversity(2), method=NearGroups(form=form), random=1)
    assert result.audit.holds is True
    assert [claim.adversary for claim in result.release.claims] == ["engineer"]
    assert result.release.manifest.method == {"name": "near-groups", "form": form, "effort": None, "floor": None, "weights": None}


def test_both_forms_show_the_same_groups():
    table = skewed(rows=500)
    requirement = FPrivacy(theta=3, offset="0.1", against="reader")
    forms = [NearGroups(form=form, effort=QUICK).run(table, requirement, random=1).release for form in ("buckets", "ranges")]
    assert sorted(forms[0].sizes.tolist()) == sorted(forms[1].sizes.tolist())
    assert gcp(forms[0]).value == pytest.approx(gcp(forms[1]).value)
    assert forms[0].manifest.basis == "annealed"


def test_ranges_are_narrower_than_those_of_mondrian():
    from sfumato import Mondrian

    table = skewed(rows=1500)
    requirement = BetaLikeness(1, against="reader")
    ours, theirs = (gcp(m.run(table, requirement, random=1).release).value for m in (NearGroups(effort=0.05), Mondrian()))
    assert ours < 0.8 * theirs


def test_the_private_figures_are_those_of_the_groups():
    table = skewed(rows=700)
    result = publication(table, BetaLikeness(1, against="reader"), method=NearGroups(effort=QUICK), random=1)
    release = result.release
    assert result.private["groups"] == len(release.sizes)
    assert (result.private["smallest"], result.private["largest"]) == (release.sizes.min(), release.sizes.max())
    assert result.private["loss"] == sum((size - 1) ** 2 for size in release.sizes.tolist())
    assert result.private["gcp"] == pytest.approx(gcp(release).value)


def test_progress_ends_at_one_and_never_falls():
    told = []
    NearGroups(effort=QUICK).run(
        skewed(), BetaLikeness(2, against="reader"), random=1, progress=lambda stage, done: told.append((stage, done))
    )
    done = [share for _, share in told]
    assert done == sorted(done)
    assert told[-1] == ("done", 1.0)
    assert "annealing groups" in {stage for stage, _ in told}


def test_declared_domains_decide_what_is_narrow(tmp_path):
    """Where one column's declared domain is huge, its ranges cost nothing and the other column gets the narrow ones."""
    import pyarrow as pa

    from sfumato import Schema, Table

    coins = np.random.default_rng(1)
    frame = pa.table(
        {"a": coins.integers(0, 100, 600), "b": coins.integers(0, 100, 600), "v": coins.integers(0, 6, 600).astype(str)}
    )
    spans = []
    for wide in ("a", "b"):
        domains = {name: {"min": 0, "max": 99 if name != wide else 99_000} for name in ("a", "b")}
        table = Table.from_frame(frame, Schema(quasi=["a", "b"], sensitive=["v"], domains=domains))
        release = NearGroups(effort=0.05).run(table, LDiversity(3, against="reader"), random=1).release
        spans.append(gcp(release).per_column["a"])
    assert spans[1] < spans[0] * 1000 / 3


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_a_table_too_small_for_the_bound_is_infeasible(rows):
    with pytest.raises(Infeasible):
        NearGroups().run(people(["a", "b", "c"][:rows]), LDiversity(4, against="reader"))


def test_a_single_quasi_column_and_constant_columns_are_fine():
    values = [f"v{k % 6}" for k in range(60)]
    for quasi in (
        {"only": list(range(60))},
        {"sex": ["f"] * 60, "year": [2020] * 60},
        {"sex": ["f"] * 60, "age": list(range(60))},
    ):
        table = people(values, **quasi)
        for form in ("ranges", "buckets"):
            release = NearGroups(effort=QUICK, form=form).run(table, LDiversity(3, against="reader"), random=1).release
            assert audit(release, table).holds is True


def test_bounds_that_are_all_one_leave_nothing_to_keep():
    with pytest.raises(PolicyError, match="protects nobody"):
        NearGroups().run(skewed(), FPrivacy(offset=1, against="reader"))


def test_an_insider_is_refused():
    with pytest.raises(NotProvable, match="insider"):
        NearGroups().run(skewed(), LDiversity(2, against="insider"))


def test_an_effort_is_refused_where_there_is_no_search():
    with pytest.raises(PolicyError, match="no search to extend"):
        NearGroups(effort=2).run(skewed(), LDiversity(2), random=1)


@pytest.mark.parametrize("options", [{"floor": 20}, {"weights": {"age": 2}}])
def test_boxes_are_not_spoken_of_where_none_are_cut(options):
    with pytest.raises(PolicyError, match=r"no boxes(.|\n)*against = \"engineer\""):
        NearGroups(**options).run(skewed(), LDiversity(2, against="reader"), random=1)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"form": "columns"}, "form"),
        ({"effort": 0}, "above 0"),
        ({"effort": True}, "above 0"),
        ({"effort": float("inf")}, "above 0"),
        ({"effort": "much"}, "above 0"),
        ({"floor": 0}, "whole number from 1 on"),
        ({"weights": "association"}, "column = weight"),
    ],
)
def test_parameters_are_checked_at_construction(arguments, told):
    with pytest.raises(PolicyError, match=told):
        NearGroups(**arguments)


def test_a_column_with_the_name_of_one_that_the_form_adds_is_refused():
    requirement = LDiversity(2, against="reader")
    with pytest.raises(InputError, match="'group'"):
        NearGroups(form="buckets").run(people(["a", "b"], group=[1, 2]), requirement)
    with pytest.raises(InputError, match="'group'"):
        NearGroups().run(people(["a", "b"], age=[1, 2], group=["x", "y"]), requirement)


def test_a_policy_can_name_it(tmp_path):
    text = """
[columns]
quasi = ["age", "sex"]
sensitive = ["value"]
[requirement]
model = "l-diversity"
l = 2
against = "reader"
[method]
name = "near-groups"
form = "buckets"
effort = 0.5
"""
    (tmp_path / "policy.toml").write_text(text)
    assert Policy.load(tmp_path / "policy.toml").method == NearGroups(form="buckets", effort=0.5)


def test_a_saved_release_says_how_it_was_made(tmp_path):
    NearGroups(effort=QUICK).run(skewed(), BetaLikeness(2, against="reader"), random=1).release.save(tmp_path / "out")
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["method"] == {"name": "near-groups", "form": "ranges", "effort": QUICK, "floor": None, "weights": None}
    assert Release.load(tmp_path / "out").rows == 600


@pytest.mark.parametrize("form", ["ranges", "buckets"])
def test_annealed_groups_say_so_and_cannot_be_passed_off_as_matched_to_an_engineer(form):
    table = skewed(300)
    release = NearGroups(form=form, effort=0.02).run(table, LDiversity(2, against="reader"), random=1).release
    manifest = release.manifest
    assert manifest.basis == "annealed"
    forged = replace(
        manifest, requirement={**manifest.requirement, "against": "engineer"}, claims=(Claim.association("engineer"),)
    )
    assert audit(replace(release, manifest=forged), table).claims[0].holds is False
