"""A short, fixed part of `make fuzz`, and that its oracles would notice."""

import random
from fractions import Fraction

import pytest

from sfumato.auditor import Audit
from tests.fuzz import oracle, runner
from tests.fuzz.bases import BASES, FORMATS, prepare, tables
from tests.fuzz.mutant import KINDS, kind_of
from tests.fuzz.oracle import Wrong, check_release, false_claims
from tests.fuzz.release_kinds import Work
from tests.fuzz.truth_presence import meet

SEED, MUTANTS = 20, 300


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    place = tmp_path_factory.mktemp("fuzz")
    prepare(place / "bases")
    (place / "scratch").mkdir()
    return Work(place / "bases", place / "scratch")


def test_a_few_hundred_mutants_of_every_kind_do_no_harm():
    report = runner.run(seed=SEED, mutants=MUTANTS, workers=1)
    assert report.failures == []
    assert report.mutants == MUTANTS
    assert {kind for kind, _ in report.outcomes} == set(KINDS)


@pytest.mark.parametrize("base", BASES, ids=lambda base: base.name)
def test_the_second_opinion_agrees_with_honest_releases(work, base):
    for kind in FORMATS:
        assert false_claims(work.bases / base.name / kind, tables()[base.name]) == []


@pytest.mark.parametrize("base", [base for base in BASES if base.requirement.against != "insider"], ids=lambda base: base.name)
def test_the_second_opinion_refuses_the_same_releases_when_they_promise_more(work, base):
    draft = work.draft(base.name)
    asked = draft.manifest["requirement"]
    for key, much in {"l": 40, "theta": "0", "offset": "1/40", "beta": "0", "rho2": "1/40"}.items():
        if key in asked:
            asked[key] = much
    if asked["model"] == "presence-association":
        asked["alpha"] = asked["beta"] = "1/40"
    if asked["model"] == "rho-privacy":
        asked["rho1"] = "1/50"
        asked.update(model="l-diversity", l=40)
        del asked["rho1"], asked["rho2"]
    place = work.fresh()
    draft.keep_books()
    draft.claim_anew()
    draft.save(place, "parquet")
    weaker = "weaker_claim" in draft.manifest["parameters"] and draft.manifest["form"] != "columns"
    assert bool(false_claims(place, tables()[base.name])) is not weaker


@pytest.mark.parametrize("base", ["each", "each-tight", "each-matched"])
def test_the_second_opinion_knows_sets_and_the_secrets_beside_the_first(work, base):
    for column, word in (("value", "the set infectious is believed with"), ("smokes", "a value is believed with")):
        draft = work.draft(base)
        asked = draft.manifest["requirement"]
        if column == "value":
            asked["columns"]["value"]["sets"]["infectious"]["bound"] = "1/100"
        else:
            asked["offset"] = "1/100"
        place = work.fresh()
        draft.keep_books()
        draft.save(place, "parquet")
        assert any(fault.startswith(word) for fault in false_claims(place, tables()[base]))


def test_an_audit_that_always_holds_is_caught(work, monkeypatch):
    monkeypatch.setattr(oracle, "audit", lambda *_: Audit(claims=()))
    draft = work.draft("blind")
    draft.manifest["requirement"].update(theta="0", offset="1/40")
    draft.keep_books()
    place = work.fresh()
    draft.save(place, "parquet")
    with pytest.raises(Wrong, match="holds without the table, but: a value is believed with"):
        check_release(place, tables()["blind"], draft.manifest, random.Random(1))


def test_a_release_of_other_people_is_caught(work, monkeypatch):
    draft = work.draft("blind")
    one, two = draft.tables["qit"][0], draft.tables["qit"][-1]
    one["age"], two["town"] = 99, "9999"
    place = work.fresh()
    draft.save(place, "csv")
    assert false_claims(place, tables()["blind"]) == ["qit shows other people"]
    monkeypatch.setattr(oracle, "audit", lambda *_: Audit(claims=()))
    with pytest.raises(Wrong, match="holds with the table, but: qit shows other people"):
        check_release(place, tables()["blind"], draft.manifest, random.Random(1))


def test_the_second_opinion_counts_matchings_and_combinations_as_docs_do(work):
    views = oracle.Files.read(work.bases / "priview" / "parquet")
    views.manifest["requirement"]["alpha"] = "0"
    assert "a group tells more of presence than alpha allows" in oracle.wrong_claims(views, oracle.shares_shown(views))
    assert meet(4, 2, 1) == Fraction(1, 2)
    assert meet(3, 3, 1) == 1


def test_what_kills_a_process_or_does_not_end_is_reported_with_a_way_to_see_it_again(monkeypatch):
    report = runner.Report(SEED)
    report.fail(7, "signal or exit -11")
    assert "WRONG 1" in str(report)
    assert f"FUZZ_SEED={SEED} python -m tests.fuzz 7" in str(report)
    assert str(report).count(kind_of(SEED, 7)) == 2
