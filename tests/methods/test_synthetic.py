"""Synthetic records: the conformance suite, what they may depend on, and what is refused."""

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.budget import spent
from sfumato.errors import InputError, NotProvable, PolicyError
from sfumato.table import ReadOptions
from sfumato.testing import CHECKS, check_method
from sfumato.testing.method import (
    audit_confirms_the_claims,
    input_order_changes_no_byte,
    nothing_else_is_told,
    release_survives_the_disk,
)
from tests.makers import skewed
from tests.release._synthetic import declared, declared_examples

VALUES = [f"v{k}" for k in range(9)]


@pytest.mark.parametrize("method", [sf.PrivBayes, sf.NoisyTables])
def test_they_pass_the_conformance_suite(method):
    if method is sf.NoisyTables:
        pytest.importorskip("mbi")
    tables = declared_examples()
    assert len(check_method(method(epsilon=1, accept_weaker_claim=True), tables=tables)) == len(CHECKS) * len(tables)


def test_what_the_suite_asks_holds_for_the_differential_model_too():
    for table in declared_examples().values():
        for check in (audit_confirms_the_claims, input_order_changes_no_byte, release_survives_the_disk, nothing_else_is_told):
            check(sf.PrivBayes(), sf.Differential("0.5"), table)


def test_a_release_has_its_epsilon_and_no_claim():
    table = declared(skewed())
    release = sf.PrivBayes().run(table, sf.Differential("1"), random=1).release
    public = release.manifest.parameters
    assert (release.claims, release.rows, release.manifest.basis) == ((), table.rows, None)
    assert (public["epsilon"], Fraction(public["gamma"]) < Fraction(math.e)) == ("1", True)
    like = sf.PrivBayes(accept_weaker_claim=True).run(table, sf.BetaLikeness(3, against="reader"), random=1).release
    assert like.manifest.parameters["gamma"] == "4"
    assert float(Fraction(like.manifest.parameters["epsilon"])) == pytest.approx(math.log(4), abs=1e-9)


def test_with_much_epsilon_records_are_like_the_people():
    table = declared(skewed(rows=4000))
    for method in (sf.PrivBayes(), sf.PrivBayes(degree=1)):
        release = method.run(table, sf.Differential("20"), random=1).release
        for value, people in table.sensitive.histogram().items():
            off = abs(release.count(f"value = '{value}'").value - people)
            assert off < 5 * math.sqrt(people) + 5


def test_links_between_columns_survive_in_noisy_tables():
    pytest.importorskip("mbi")
    table = declared(skewed(rows=4000))
    release = sf.NoisyTables().run(table, sf.Differential("20"), random=1).release
    true = np.asarray(table.column("age").values)[table.column("age").codes] > 45
    wanted = int((true & (np.array(table.sensitive.labels)[table.sensitive.codes] == "v0")).sum())
    assert wanted == 0  # the young alone have v0
    assert release.count("age > 45 AND value = 'v0'").value < 40
    assert release.count("age <= 45 AND value = 'v0'").value > 400


def test_what_nobody_has_is_drawn_too_because_noise_is_on_every_declared_value():
    table = declared(skewed(), sex=["f", "m", "x"])
    shown = sf.PrivBayes().run(table, sf.Differential("0.05"), random=1).release.tables()["records"]
    assert "x" in set(shown["sex"].to_pylist())


def test_one_persons_values_change_nothing_that_the_schema_says():
    """Somebody else in the place of one: the same columns, types and domains, whoever is alone with a value."""
    ages, sexes, values = [30, 40, 50] * 10, ["f", "m", "f"] * 10, ["v0", "v1", "v2"] * 10
    schema = sf.Schema(quasi=["age", "sex"], sensitive=["value"], domains={"age": {"min": 20, "max": 60}, "sex": ["f", "m", "x"]})
    method = sf.PrivBayes(values=["v0", "v1", "v2", "other"], otherwise="other")
    seen = []
    for age, sex, value in ((30, "f", "v0"), (60, "x", "v9"), (20, "m", None)):
        frame = pa.table({"age": [age, *ages[1:]], "sex": [sex, *sexes[1:]], "value": [value, *values[1:]]})
        table = sf.Table.from_frame(frame, method.close(schema))
        release = method.run(table, sf.Differential("1"), random=1).release
        seen.append((release.manifest.schema, release.manifest.rows, release.tables()["records"].schema.names))
        assert release.tables()["records"]["age"].type.value_type == pa.int64()
    assert seen[0] == seen[1] == seen[2]


def test_a_column_without_a_domain_is_refused_by_its_name():
    with pytest.raises(PolicyError, match=r"'age'(.|\n)*domains"):
        sf.PrivBayes().run(skewed(), sf.Differential("1"))
    frame, quasi = skewed().to_arrow(), {"age": {"min": 20, "max": 69}, "sex": ["f", "m"]}
    table = sf.Table.from_frame(frame, sf.Schema(quasi=["age", "sex"], sensitive=["value"], domains=quasi))
    with pytest.raises(PolicyError, match="for 'value'"):
        sf.PrivBayes().run(table, sf.Differential("1"))


def test_missing_values_must_be_declared_and_nobody_is_left_out():
    frame = pa.table({"age": [30, None, 40, 50] * 5, "value": ["a", "b"] * 10})
    roles = {"quasi": ["age"], "sensitive": ["value"], "domains": {"age": {"min": 20, "max": 60}, "value": ["a", "b"]}}
    close = sf.PrivBayes().close
    with pytest.raises(InputError, match=r"missing values.*declared domain"):
        sf.PrivBayes().run(sf.Table.from_frame(frame, close(sf.Schema(**roles))), sf.Differential("1"))
    with pytest.raises(PolicyError, match="left out"):
        close(sf.Schema(**roles, missing={"age": "drop"}))
    table = sf.Table.from_frame(frame, close(sf.Schema(**roles, missing={"age": "value"})))
    release = sf.PrivBayes().run(table, sf.Differential("20"), random=1).release
    assert release.tables()["records"]["age"].null_count > 0


def test_a_continuum_has_no_list_of_values():
    roles = {"quasi": ["height"], "sensitive": ["value"], "domains": {"height": {"min": 1, "max": 2}, "value": ["a", "b"]}}
    with pytest.raises(PolicyError, match="a continuum"):
        sf.PrivBayes().close(sf.Schema(**roles, recode={"height": {"round": "0.1"}}))
    frame = pa.table({"height": [1.5, 1.62, 1.8] * 4, "value": ["a", "b"] * 6})
    with pytest.raises(InputError, match="outside the declared domain"):  # from 1 to 2, in whole numbers
        sf.Table.from_frame(frame, sf.PrivBayes().close(sf.Schema(**roles)))


def test_recoded_columns_have_the_recoded_values_of_their_domain():
    frame = pa.table({"age": [21, 34, 47, 58] * 6, "value": ["a", "b"] * 12})
    schema = sf.Schema(
        quasi=["age"],
        sensitive=["value"],
        recode={"age": {"width": 10}},
        domains={"age": {"min": 20, "max": 60}, "value": ["a", "b"]},
    )
    table = sf.Table.from_frame(frame, sf.PrivBayes().close(schema))
    release = sf.PrivBayes().run(table, sf.Differential("0.01"), random=1).release
    assert set(release.tables()["records"]["age"].to_pylist()) <= {20, 30, 40, 50, 60}


def test_a_bound_on_belief_is_not_kept_so_the_weaker_claim_must_be_accepted():
    table = declared(skewed())
    with pytest.raises(NotProvable, match=r"no bound on(.|\n)*accept_weaker_claim"):
        sf.PrivBayes(epsilon=1).run(table, sf.LDiversity(2, against="reader"))
    with pytest.raises(NotProvable, match="not against 'engineer'"):
        sf.PrivBayes(epsilon=1, accept_weaker_claim=True).run(table, sf.LDiversity(2))


@pytest.mark.parametrize(
    ("method", "requirement", "told"),
    [
        (sf.PrivBayes(epsilon=2), sf.Differential("1"), "the method says"),
        (sf.PrivBayes(accept_weaker_claim=True), sf.LDiversity(2, against="reader"), "odds may grow"),
        (sf.PrivBayes(accept_weaker_claim=True), sf.BetaLikeness(0, against="reader"), "odds may grow"),
        (sf.PrivBayes(degree=3), sf.Differential("1"), "at most 2 parents"),
    ],
)
def test_what_does_not_go_together_is_refused(method, requirement, told):
    with pytest.raises(PolicyError, match=told):
        method.run(declared(skewed()), requirement)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"epsilon": 0}, "from 0.001 to 20"),
        ({"values": ["a", "b"]}, "given together"),
        ({"values": ["a", "b"], "otherwise": "c"}, "otherwise"),
        ({"degree": 2, "theta": 5}, "one of the two"),
        ({"theta": 0}, "above 0"),
    ],
)
def test_parameters_are_checked_when_the_method_is_made(options, told):
    with pytest.raises(PolicyError, match=told):
        sf.PrivBayes(**options)


def test_draws_are_booked_and_a_budget_is_kept(tmp_path):
    table = declared(skewed())
    made = {"register": tmp_path, "budget": Fraction(3, 2), "random": 1}
    sf.publication(table, sf.Differential("1"), method=sf.PrivBayes(), **made)
    assert spent(table.marks, [tmp_path]).epsilon == pytest.approx(1)
    with pytest.raises(PolicyError, match="nothing was drawn"):
        sf.publication(table, sf.Differential("1"), method=sf.PrivBayes(), **made)
    assert spent(table.marks, [tmp_path]).draws == 1


def test_without_mbi_noisy_tables_say_what_to_install(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "mbi", None)
    with pytest.raises(PolicyError, match=r"mbi(.|\n)*sfumato\[baselines\]"):
        sf.NoisyTables().run(declared(skewed()), sf.Differential("1"))


def test_explain_draws_nothing_and_says_what_is_claimed_instead():
    found = sf.explain(declared(skewed()), sf.Differential("1"), method=sf.PrivBayes())
    assert (found.study, found.feasible) == (None, True)
    text = " ".join(found.details())
    assert "none of them is anybody's" in text
    assert "ranges of its own" not in text
    assert "PrivBayes (Zhang et al." in " ".join(found.sentences())


def test_a_policy_file_publishes_them():
    policy = sf.Policy.parse(
        '[columns]\nquasi = ["age", "sex"]\nsensitive = ["value"]\n'
        '[domains]\nage = { min = 20, max = 69 }\nsex = ["f", "m"]\n'
        '[requirement]\nmodel = "beta-likeness"\nbeta = 3\nagainst = "reader"\n'
        '[method]\nname = "privbayes"\nvalues = ["v0", "v1", "other"]\notherwise = "other"\naccept_weaker_claim = true\n'
    )
    release = sf.publish(skewed().to_arrow(), policy, random=1)
    assert set(release.labels) <= {"v0", "v1", "other"}
    assert release.manifest.parameters["gamma"] == "4"


def test_without_a_seed_opendp_draws_the_noise_of_tables_and_the_manifest_says_so():
    pytest.importorskip("mbi")
    pytest.importorskip("opendp")
    table = declared(skewed())
    drawn = sf.NoisyTables().run(table, sf.Differential("1")).release
    seeded = sf.NoisyTables().run(table, sf.Differential("1"), random=1).release
    own = sf.NoisyTables(noise="sfumato").run(table, sf.Differential("1")).release
    assert [one.manifest.parameters["noise"] for one in (drawn, seeded, own)] == ["opendp", "sfumato", "sfumato"]
    assert sf.audit(drawn, table).problems == ()
    with pytest.raises(PolicyError, match="cannot be seeded"):
        sf.NoisyTables(noise="opendp").run(table, sf.Differential("1"), random=1)


def test_without_opendp_its_noise_is_refused_and_ours_is_the_default(monkeypatch):
    import sys

    pytest.importorskip("mbi")
    table = declared(skewed())
    monkeypatch.setitem(sys.modules, "opendp", None)
    monkeypatch.setattr("sfumato.synthetic.noisy_tables.opendp_installed", lambda: False)
    assert sf.NoisyTables().run(table, sf.Differential("1")).release.manifest.parameters["noise"] == "sfumato"
    with pytest.raises(PolicyError, match=r"OpenDP(.|\n)*sfumato\[baselines\]"):
        sf.NoisyTables(noise="opendp").run(table, sf.Differential("1"))


@pytest.mark.parametrize("column", ["sex", "value"])
def test_a_declared_value_that_is_read_as_missing_is_refused_whoever_has_it(column: str, tmp_path: Path) -> None:
    domains = {"sex": ["f", "m"], "value": ["a", "b"]}
    domains[column] = [*domains[column], "NA"]
    schema = sf.Schema(quasi=["sex"], sensitive=["value"], domains=domains)
    for row in ("f,NA", "NA,a", "f,a"):
        (tmp_path / "t.csv").write_text("sex,value\n" + "m,b\n" * 30 + row + "\n")
        with pytest.raises(PolicyError, match=f"'{column}' lists 'NA'"):
            sf.Table.read(tmp_path / "t.csv", schema)
    kept = sf.Table.read(tmp_path / "t.csv", schema, options=ReadOptions(null=[""]))
    assert kept.rows == 31


def test_a_method_says_how_much_odds_grow_just_where_it_says_that_it_bounds_them():
    from sfumato.methods import METHODS
    from sfumato.methods.base import Method

    bounding = {name for name, kind in METHODS.items() if kind.bounds_odds}
    assert bounding == {name for name, kind in METHODS.items() if kind.odds_bound is not Method.odds_bound}
    assert {"noisy-boxes", "privbayes", "noisy-tables"} == bounding
