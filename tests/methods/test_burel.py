from fractions import Fraction

import numpy as np
import pytest

from sfumato import BetaLikeness, FPrivacy, LDiversity, Policy, audit, publication
from sfumato.errors import Infeasible, InputError, NotProvable, PolicyError
from sfumato.groups.burel import burel_groups, plan_burel
from sfumato.methods.burel import BuReL
from sfumato.randomness import SeededRandomness
from sfumato.testing import CHECKS, check_method, example_tables
from sfumato.utility.gcp import gcp, gcp_of_groups
from tests.makers import people, skewed


def several_looks():
    """The tables on which two runs can differ in buckets: people who all look alike may be one bucket."""
    return {name: table for name, table in example_tables().items() if name != "all alike"}


def test_burel_by_other_rules_passes_the_conformance_suite():
    assert len(check_method(BuReL(packing="fewest", fill="hilbert"))) == len(CHECKS) * len(example_tables())


def test_burel_in_buckets_passes_the_conformance_suite():
    tables = several_looks()
    assert len(check_method(BuReL(form="buckets", candidates=20), tables=tables)) == len(CHECKS) * len(tables)


@pytest.mark.parametrize("enhanced", [False, True], ids=["basic", "enhanced"])
@pytest.mark.parametrize("method", [BuReL(), BuReL(packing="fewest", fill="hilbert"), BuReL(form="buckets")], ids=str)
def test_every_group_is_beta_like_by_the_definition(method, enhanced):
    table = skewed(rows=1500)
    share = np.bincount(table.sensitive.codes) / table.rows
    requirement = BetaLikeness(1, enhanced=enhanced, against="reader")
    result = publication(table, requirement, method=method, random=1)
    release = result.release
    if method.form == "buckets":
        entries = zip(release.st_group, release.st_value, release.st_count, strict=True)
    else:
        start, value, count = release.shown
        entries = zip(np.repeat(np.arange(len(start) - 1), np.diff(start)), value, count, strict=True)
    for group, value, count in entries:
        gain = count / release.sizes[group] / share[value] - 1
        assert gain <= (min(1, -np.log(share[value])) if enhanced else 1) + 1e-9
    assert result.audit.holds is True
    assert result.private["groups"] == len(release.sizes) > 1
    assert result.private["smallest"] == release.sizes.min()
    assert result.private["largest"] == release.sizes.max()


def test_any_other_bounds_are_kept_too():
    table = skewed(rows=1200)
    for requirement in (LDiversity(3, against="reader"), FPrivacy(theta=2, offset="0.1", against="reader")):
        bounds = requirement.bounds(table.sensitive.histogram())
        release = BuReL(form="buckets").run(table, requirement, random=1).release
        assert len(release.sizes) > 10
        assert all(
            Fraction(int(count), int(release.sizes[bucket])) <= bounds.limits[value]
            for bucket, value, count in zip(release.st_group, release.st_value, release.st_count, strict=True)
        )


def test_0_likeness_leaves_groups_with_exactly_the_shares_of_the_table():
    table = people(["a", "b", "b"] * 8, age=list(range(24)))
    release = BuReL(form="buckets").run(table, BetaLikeness(0, against="reader"), random=1).release
    assert len(release.sizes) == 8
    assert audit(release, table).holds is True


def test_groups_have_exactly_the_people_that_the_templates_say():
    table = skewed(rows=900)
    plan = plan_burel(BetaLikeness(2, against="reader").bounds(table.sensitive.histogram()), "roomy")
    home = {value: bucket for bucket, values in enumerate(plan.buckets) for value in values}
    bucket = np.array([home[code] for code in table.sensitive.codes.tolist()])
    for fill in ("hilbert", "near"):
        grouping = burel_groups(table.quasi, table.sensitive.codes, plan, fill=fill, candidates=30, random=SeededRandomness(2))
        found = [
            tuple(np.bincount(bucket[grouping.group == g], minlength=len(plan.buckets)).tolist()) for g in range(grouping.groups)
        ]
        assert sorted(found) == sorted(plan.templates)


def test_near_people_are_put_together():
    table = skewed(rows=2000)
    requirement = BetaLikeness(2, against="reader")
    apart = np.random.default_rng(1).permutation(table.rows)
    losses = {}
    for fill in ("hilbert", "near"):
        release = BuReL(fill=fill).run(table, requirement, random=1).release
        losses[fill] = gcp(release).value
        scattered = np.repeat(np.arange(len(release.sizes)), release.sizes)[apart]
        assert losses[fill] < 0.7 * gcp_of_groups(table.quasi, scattered).value
    assert losses["near"] < losses["hilbert"]


def test_missing_numbers_do_not_draw_people_to_the_lower_end():
    age = [None if k % 5 == 0 else float(k) for k in range(300)]
    table = people([f"v{k % 6}" for k in range(300)], age=age, sex=["f", "m"] * 150)
    release = BuReL().run(table, LDiversity(3, against="reader"), random=1).release
    assert audit(release, table).holds is True
    assert len(release.sizes) > 20


def test_an_engineer_is_refused():
    with pytest.raises(NotProvable, match="'reader'"):
        BuReL().run(skewed(), BetaLikeness(2))


def test_bounds_of_1_protect_nobody():
    with pytest.raises(PolicyError, match="protects nobody"):
        BuReL().run(skewed(), FPrivacy(offset=1, against="reader"))


def test_bounds_below_a_share_are_infeasible():
    with pytest.raises(Infeasible, match="own share"):
        BuReL().run(skewed(), LDiversity(9, against="reader"))


@pytest.mark.parametrize("column", ["group", "count"])
def test_a_column_with_a_name_of_the_form_is_refused(column):
    table = people(["a", "b"] * 5, **{column: list(range(10))})
    with pytest.raises(InputError, match=column):
        BuReL(form="buckets").run(table, LDiversity(2, against="reader"))


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ({"packing": "tight"}, r"packing=…\): expected.*'roomy', 'fewest'"),
        ({"fill": "random"}, r"fill=…\): expected one of"),
        ({"form": "boxes"}, r"form=…\): expected one of"),
        ({"candidates": 0}, r"candidates=…\): expected.*from 1"),
        ({"fill": "hilbert", "candidates": 5}, "'hilbert'"),
    ],
)
def test_parameters_are_checked_when_the_method_is_made(parameters, told):
    with pytest.raises(PolicyError, match=told):
        BuReL(**parameters)


def test_a_policy_can_name_it():
    policy = Policy.parse(
        "[columns]\nquasi = ['age']\nsensitive = ['value']\n"
        "[requirement]\nmodel = 'beta-likeness'\nbeta = 2\nenhanced = true\nagainst = 'reader'\n"
        "[method]\nname = 'burel'\nfill = 'hilbert'\nform = 'buckets'\n"
    )
    assert policy.method == BuReL(fill="hilbert", form="buckets")
