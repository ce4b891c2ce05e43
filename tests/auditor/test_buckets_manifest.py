"""The audit finds a manifest that says of buckets what their tables do not show."""

import dataclasses

import pytest

from sfumato import FPrivacy, MultiSize, NearGroups, Release, audit, publish
from tests.makers import skewed
from tests.release._forge import forge, refusal


@pytest.fixture(scope="module")
def table():
    return skewed()


@pytest.fixture
def saved(tmp_path, table):
    publish(table, FPrivacy(theta=3, offset="0.05"), method=MultiSize(), random=1).save(tmp_path / "release")
    return tmp_path / "release"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d["requirement"].update(theta="30"), "its bound follows as"),
        (lambda d: d["values"][0]["values"][0].update(bound="1"), "the manifest says 1"),
        (lambda d: d["values"][0]["values"][0].update(count=5), "the manifest says 5"),
        (lambda d: d["values"][0]["values"].pop(), "lists other sensitive values"),
        (lambda d: d["parameters"].update(groups=3), "the manifest says 3"),
        (lambda d: d.update(claims=[]), "makes no claim"),
    ],
)
def test_a_manifest_that_promises_something_else_is_found(saved, change, message):
    forge(saved, change)
    report = audit(saved)
    assert report.holds is False
    assert any(message in problem for problem in report.problems)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d["schema"].update(quasi=[]), "schema.quasi"),
        (lambda d: d["schema"].update(sensitive=[]), "schema.sensitive"),
        (lambda d: d["schema"]["quasi"].append(d["schema"]["sensitive"][0]), "the declaration of columns"),
        (lambda d: d["schema"]["quasi"].append(d["schema"]["quasi"][0]), "the declaration of columns"),
        (lambda d: d["schema"]["quasi"].pop(), "the declaration of columns"),
        (lambda d: (d["schema"]["quasi"].pop(), d["schema"]["declared"]["quasi"].pop()), "should have the columns"),
        (lambda d: d["schema"]["quasi"][0].update(kind="secret"), "schema.quasi[0].kind"),
        (
            lambda d: d["schema"]["quasi"][0].update(kind="date"),
            "'age' holds int64",
        ),
        (lambda d: d["parameters"].update(decoys=2**70), "parameters.decoys"),
        (lambda d: d["parameters"].update(decoys=1), "add up to"),
        (lambda d: d["requirement"].update(theta="1e9999999999"), "requirement.theta"),
        (lambda d: d["requirement"].update(theta=[1]), "requirement.theta"),
    ],
)
def test_a_manifest_that_makes_no_sense_is_refused_with_a_sentence(saved, table, change, message):
    forge(saved, change)
    assert message in refusal(saved)
    assert message in refusal(saved, table)


@pytest.mark.parametrize(
    ("change", "note"),
    [
        (lambda d: d["claims"][0].update(statement="Nobody can learn anything."), "worded"),
        (lambda d: d["requirement"].update(against="reader"), "another adversary"),
        (lambda d: d.update(method=NearGroups().to_dict()), "(rule basis)"),
        (lambda d: d["method"].update(name="tight-boxes"), "method"),
        (lambda d: d.update(basis="tight"), "(rule basis)"),
        (lambda d: d.update(basis="tight"), "not known to hold"),
        (lambda d: d.update(basis="soft"), "tables qit, st, groups"),
        (lambda d: d.update(basis="noisy"), "once in every"),
        (lambda d: d.update(method={"name": "magic", "package": "magic 1.0"}, basis="annealed"), "not known to hold"),
        (lambda d: d.update(method={"name": "magic", "package": "magic 1.0"}, basis="paper"), "(rule basis)"),
        (lambda d: d["parameters"].update(one_row_per_person=False), "worded"),
    ],
)
def test_a_claim_is_only_confirmed_in_its_own_words_and_for_a_method_that_proves_it(saved, change, note):
    forge(saved, change)
    assert note in refusal(saved)


@pytest.mark.parametrize(
    ("change", "note"),
    [
        ({"basis": "tight"}, "not known to hold"),
        ({"basis": "annealed"}, "not known to hold"),
        ({"basis": "paper"}, "not known to hold"),
        ({"basis": None}, "this audit knows"),
    ],
)
def test_in_memory_too_an_engineers_claim_needs_a_basis_that_proves_it(saved, change, note):
    release = Release.load(saved)
    report = audit(dataclasses.replace(release, manifest=dataclasses.replace(release.manifest, **change)))
    assert report.holds is False
    assert all(note in result.note for result in report.claims)
    assert any("(rule basis)" in problem for problem in report.problems)


def test_in_memory_too_method_and_basis_go_together(saved):
    release = Release.load(saved)
    other = dataclasses.replace(release.manifest, method=NearGroups().to_dict())
    report = audit(dataclasses.replace(release, manifest=other))
    assert report.holds is False
    assert any("(rule basis)" in problem for problem in report.problems)


@pytest.mark.parametrize("basis", ["blind", "safe", "matched"])
def test_the_basis_of_a_method_of_another_package_rests_on_that_package(saved, basis):
    forge(saved, lambda d: d.update(method={"name": "magic", "package": "magic 1.0"}, basis=basis))
    report = audit(saved)
    assert report.holds is True
    assert "package 'magic 1.0'" in report.claims[0].note
    assert report.notice == (
        "made by the method 'magic' of the package 'magic 1.0', which says that records were grouped on the basis "
        f"{basis!r}; the tables cannot show how it was made"
    )
    assert report.notice in str(report)
    assert report.to_dict()["notice"] == report.notice
