"""The audit of synthetic records: what is stated follows from requirement and method, and nothing undeclared is shown."""

from dataclasses import replace

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.auditor.audit import audit_tables
from sfumato.errors import FormatError
from sfumato.release.manifest import Claim
from tests.makers import skewed
from tests.release._synthetic import declared, release_of

TABLE = skewed()
RELEASE = release_of(TABLE, epsilon="1")


def audited(table=None, tables=None, **facts):
    manifest = replace(RELEASE.manifest, **facts)
    return audit_tables(manifest, tables or RELEASE.tables(), table)


def with_parameters(**changed):
    return audited(parameters={**RELEASE.manifest.parameters, **changed})


def test_an_honest_release_holds_without_a_claim_and_says_how_much_odds_grow():
    found = audited(declared(TABLE))
    assert (found.holds, found.claims) == (True, ())
    assert found.stronger["insider with any belief before"].figure == pytest.approx(2.718281828)
    assert 0 < found.exposure < 1


def test_exposure_is_the_mean_share_of_the_true_value_among_records_like_a_person():
    table = declared(skewed(rows=60))
    release = sf.PrivBayes().run(table, sf.Differential("5"), random=2).release
    rows = release.tables()["records"].to_pylist()
    total = 0.0
    for person in table.to_arrow().to_pylist():
        like = [row for row in rows if (row["age"], row["sex"]) == (person["age"], person["sex"])] or rows
        total += sum(row["value"] == person["value"] for row in like) / len(like)
    assert sf.audit(release, table).exposure == pytest.approx(total / 60)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"gamma": "2"}, "2.71828183-fold"),
        ({"epsilon": "2"}, "logarithm of gamma"),
        ({"epsilon": "10000000001/10000000000"}, "logarithm of gamma"),
        ({"measured": [["age", "sex"]]}, "of all columns"),
        ({"measured": [["value"], ["age"], ["sex"]]}, "of all columns"),
        ({"measured": [["age"], ["sex"], ["income", "value"]]}, "not have"),
        ({"weaker_claim": "It is safe."}, "worded"),
    ],
)
def test_a_statement_that_does_not_follow_is_found(changed, told):
    found = with_parameters(**changed)
    assert found.holds is False
    assert any(told in problem for problem in found.problems), found.problems


def test_no_claim_on_belief_can_stand_in_such_a_release():
    assert audited(claims=(Claim.association("reader"),)).holds is False


def test_a_value_that_was_not_declared_is_found():
    records = RELEASE.tables()["records"]
    values = records["value"].to_pylist()
    for name, column in (("value", ["v99", *values[1:]]), ("sex", ["x", *records["sex"].to_pylist()[1:]])):
        forged = {"records": records.set_column(records.column_names.index(name), name, pa.array(column))}
        assert any("not declared" in problem for problem in audited(tables=forged).problems)


def test_records_are_as_many_as_the_people():
    few = declared(skewed(rows=500))
    assert any("has 500 people" in problem for problem in audited(few).problems)


def test_another_number_of_records_is_no_release():
    with pytest.raises(FormatError, match="has 599 rows"):
        type(RELEASE).from_tables(RELEASE.manifest, {"records": RELEASE.tables()["records"].slice(1)})
