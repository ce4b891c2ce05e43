from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from sfumato import testing
from sfumato.api import publication
from sfumato.auditor import audit_release
from sfumato.errors import FormatError, Infeasible, NotProvable, OutputError, PolicyError
from sfumato.papers.heterogeneous.method import Heterogeneous
from sfumato.privacy import BetaLikeness, FPrivacy, LDiversity
from sfumato.release.base import Release
from sfumato.release.links import Links
from sfumato.table import Schema, Table
from sfumato.table.generators import census
from tests.makers import people, skewed, tells

PAPER = Heterogeneous(accept_weaker_claim=True)
VARIANTS = [
    PAPER,
    replace(PAPER, packing="tight", matcher="greedy", assignment="pools"),
    replace(PAPER, matcher="sortgreedy", partition=60),
    replace(PAPER, partition=60, partitions="separate"),
    replace(PAPER, fill="distant"),
]


def linked(table, requirement, method=PAPER, seed=1):
    outcome = method.run(table, requirement, random=seed)
    return outcome.release, outcome.links


def census_table(rows):
    types = dict.fromkeys(["gender", "marital", "race", "workclass", "country", "occupation"], "categorical")
    quasi = ["age", "gender", "education", "marital", "race", "workclass", "country"]
    return Table.from_frame(census(rows, 1).drop(["salary"]), Schema(quasi=quasi, sensitive=["occupation"], types=types))


@pytest.mark.parametrize("method", VARIANTS, ids=str)
def test_every_variant_passes_the_conformance_suite(method):
    assert testing.check_method(method)


@pytest.mark.parametrize("method", VARIANTS, ids=str)
@pytest.mark.parametrize("rows", [599, 600])
def test_the_audit_with_links_confirms_the_papers_claim(method, rows):
    table = skewed(rows)
    requirement = LDiversity(2, against="reader")
    release, links = linked(table, requirement, method)
    found = audit_release(release, table, links=links)
    assert found.problems == ()
    assert found.claims == ()
    assert any("nothing is claimed" in warning for warning in found.warnings)
    assert audit_release(release).problems == ()


@pytest.mark.parametrize("requirement", [BetaLikeness(1, against="reader"), FPrivacy(theta=2, offset="0.05", against="reader")])
@pytest.mark.parametrize("packing", ["paper", "tight"])
def test_any_per_value_bounds_are_kept_behind_every_record(requirement, packing):
    table = skewed(400)
    release, links = linked(table, requirement, replace(PAPER, packing=packing))
    assert audit_release(release, table, links=links).problems == ()
    own = table.sensitive.codes[links.carried]
    assert sorted(links.carried) == list(range(table.rows))
    assert [table.sensitive.labels[code] for code in own] == release.tables()["records"]["value"].to_pylist()


def test_it_runs_only_where_the_weaker_claim_is_accepted_and_only_in_place_of_a_readers():
    table = skewed(200)
    with pytest.raises(NotProvable, match="no bound") as error:
        Heterogeneous().run(table, LDiversity(2, against="reader"))
    assert "accept_weaker_claim" in error.value.hint
    with pytest.raises(NotProvable, match="engineer"):
        PAPER.run(table, LDiversity(2))
    assert PAPER.proves() == ()


def test_the_release_makes_no_claim_about_belief_and_says_what_it_claims_instead():
    made = publication(skewed(300), LDiversity(2, against="reader"), method=PAPER, random=1)
    assert made.release.claims == ()
    words = made.release.manifest.parameters["weaker_claim"]
    assert "equal confidence" in words
    assert "before values are allotted" in words
    assert "reader who takes every record that fits a person" in made.audit.stronger


def test_linked_beliefs_are_those_counted_by_hand_and_most_people_see_a_value_twice():
    table = census_table(1_500)
    release, links = linked(table, LDiversity(10, against="reader"))
    values = release.tables()["records"]["occupation"].to_pylist()
    seen = [[] for _ in range(table.rows)]
    for record in range(table.rows):
        for person in links.linked[links.start[record] : links.start[record + 1]]:
            seen[person].append(values[record])
    assert {len(one) for one in seen} == {10}
    twice = sum(len(set(one)) < 10 for one in seen) / table.rows
    found = audit_release(release, table, links=links).stronger
    assert found["a value seen twice among linked records"].figure == pytest.approx(twice)
    assert found["engineer who knows which records are linked with whom"].figure == pytest.approx(twice)
    assert 0.6 < twice < 0.9


def test_containment_is_counted_as_by_hand():
    table = skewed(120)
    release, _ = linked(table, LDiversity(2, against="reader"))
    rows = release.tables()["records"].to_pylist()
    over = 0
    for person in table.to_arrow().to_pylist():
        fit = [r["value"] for r in rows if r["age_min"] <= person["age"] <= r["age_max"] and person["sex"] in r["sex"]]
        over += max(fit.count(value) for value in fit) * 2 > len(fit)
    figure = audit_release(release, table).stronger["reader who takes every record that fits a person"].figure
    assert figure == pytest.approx(over / table.rows)


def test_permuted_pure_pools_keep_the_bound_over_linked_records():
    table = people([f"v{k % 4}" for k in range(80)], age=list(range(80)))
    requirement = LDiversity(4, against="reader")
    for seed in range(5):
        release, links = linked(table, requirement, replace(PAPER, assignment="pools"), seed)
        assert audit_release(release, table, links=links).stronger["a value seen twice among linked records"].figure == 0


def broken(links, **changes):
    return Links(**{"start": links.start, "linked": links.linked.copy(), "carried": links.carried.copy(), **changes})


def test_planted_faults_of_links_are_found():
    table = skewed(200)
    release, links = linked(table, LDiversity(2, against="reader"))
    swapped = links.carried.copy()
    other = int(np.flatnonzero(table.sensitive.codes[swapped] != table.sensitive.codes[swapped[0]])[0])
    swapped[[0, other]] = swapped[[other, 0]]
    problems = audit_release(release, table, links=broken(links, carried=swapped)).problems
    assert any("links name" in text for text in problems)
    moved = np.roll(links.linked, 1)
    assert audit_release(release, table, links=broken(links, linked=moved)).problems
    twice = links.linked.copy()
    twice[1] = twice[0]
    assert any("twice" in text for text in audit_release(release, table, links=broken(links, linked=twice)).problems)
    short = broken(links, carried=links.carried[:-1])
    assert tells(audit_release(release, table, links=short).problems, "links")


def test_planted_faults_of_releases_are_found():
    table = skewed(200)
    release, _ = linked(table, LDiversity(2, against="reader"))
    say = release.manifest.parameters
    for parameters, word in [
        ({**say, "weaker_claim": "all is well"}, "words"),
        ({**say, "matches": 150}, "fit fewer"),
        ({**say, "matches": "2"}, "whole number"),
    ]:
        manifest = replace(release.manifest, parameters=parameters)
        assert any(word in text for text in audit_release(replace(release, manifest=manifest), table).problems)
    unaccepted = replace(release.manifest, method={**release.manifest.method, "accept_weaker_claim": False})
    assert any("accept" in text for text in audit_release(replace(release, manifest=unaccepted), table).problems)


def test_groups_that_are_shared_cannot_make_the_weaker_claim():
    from sfumato.methods.mondrian import Mondrian

    table = skewed(200)
    shared = Mondrian().run(table, LDiversity(2, against="reader"), random=1).release
    own, _ = linked(table, LDiversity(2, against="reader"))
    parameters = {**shared.manifest.parameters, "weaker_claim": own.manifest.parameters["weaker_claim"], "matches": 2}
    manifest = replace(shared.manifest, parameters=parameters, claims=(), method=own.manifest.method)
    assert any("one group for each record" in text for text in audit_release(replace(shared, manifest=manifest), table).problems)


def test_links_are_kept_apart_from_the_release(tmp_path):
    table = skewed(100)
    release, links = linked(table, LDiversity(2, against="reader"))
    release.save(tmp_path / "release")
    with pytest.raises(OutputError, match="lies in a release"):
        links.save(tmp_path / "release" / "links.parquet")
    links.save(tmp_path / "links.parquet")
    with pytest.raises(OutputError, match="exists already"):
        links.save(tmp_path / "links.parquet")
    assert (tmp_path / "links.parquet").stat().st_mode & 0o077 == 0
    again = Links.load(tmp_path / "links.parquet")
    loaded = Release.load(tmp_path / "release")
    assert audit_release(loaded, table, links=again).stronger == audit_release(release, table, links=links).stronger
    (tmp_path / "other.parquet").write_bytes(b"no table")
    with pytest.raises(FormatError, match="file of links"):
        Links.load(tmp_path / "other.parquet")


def test_bad_parameters_are_refused():
    for options, word in [
        ({"packing": "loose"}, "packing"),
        ({"matcher": "best"}, "matcher"),
        ({"assignment": "none"}, "assignment"),
        ({"fill": "near"}, "fill"),
        ({"partition": 0}, "partition"),
        ({"partitions": "ranks"}, "into how many"),
        ({"partition": 9, "partitions": "halves"}, "partitions"),
        ({"fill": "distant", "packing": "tight"}, "distant"),
        ({"accept_weaker_claim": "yes"}, "accept_weaker_claim"),
    ]:
        with pytest.raises(PolicyError, match=word):
            Heterogeneous(**options)


def test_bad_tables_give_clear_results_or_errors():
    requirement = LDiversity(3, against="reader")
    with pytest.raises(Infeasible):
        PAPER.run(people(["a", "b"]), requirement)
    with pytest.raises(Infeasible):
        PAPER.run(people(list("aaab")), LDiversity(2, against="reader"))
    with pytest.raises(PolicyError, match="from 0 on"):
        BetaLikeness(-1)
    constant = people(list("abcabcab"), sex=["f"] * 8, age=[1] * 8)
    release, links = linked(constant, LDiversity(2, against="reader"))
    assert audit_release(release, constant, links=links).problems == ()
    single = people(list("abcabcabc"), age=list(range(9)))
    release, links = linked(single, requirement)
    assert audit_release(release, single, links=links).problems == ()
    with pytest.raises(PolicyError, match="ℓ-diversity only"):
        replace(PAPER, fill="distant").run(skewed(200), BetaLikeness("1/2", against="reader"))


def test_everybody_is_inside_the_ranges_of_her_own_record_and_of_every_record_linked_with_her():
    table = testing.example_tables()["missing values"]
    release, links = linked(table, LDiversity(2, against="reader"))
    rows, truth = release.tables()["records"].to_pylist(), table.to_arrow().to_pylist()
    for record, row in enumerate(rows):
        for person in links.linked[links.start[record] : links.start[record + 1]]:
            age, sex = truth[person]["age"], truth[person]["sex"]
            assert row["age_missing"] if age is None else row["age_min"] <= age <= row["age_max"]
            assert sex in row["sex"]


def test_dates_are_matched_too():
    days = pa.array([18_000 + 3 * k for k in range(40)], pa.int32()).cast(pa.date32())
    frame = pa.table({"day": days, "value": [f"v{k % 4}" for k in range(40)]})
    table = Table.from_frame(frame, Schema(quasi=["day"], sensitive=["value"]))
    release, links = linked(table, LDiversity(4, against="reader"))
    assert audit_release(release, table, links=links).problems == ()
