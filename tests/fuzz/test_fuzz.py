"""A short, fixed part of `make fuzz`, and that its oracles would notice."""

import random
from fractions import Fraction

import pytest

from sfumato import Release, audit
from sfumato.auditor import Audit
from tests.fuzz import oracle, part_kinds, runner
from tests.fuzz.bases import BASES, FORMATS, prepare, tables
from tests.fuzz.beside_kinds import hierarchy_mutant, workbook_mutant
from tests.fuzz.drafts import Draft
from tests.fuzz.mutant import KINDS, kind_of
from tests.fuzz.oracle import Wrong, check_release, false_claims
from tests.fuzz.part_kinds import part_mutant, prepare_parts
from tests.fuzz.release_kinds import Work
from tests.fuzz.truth_presence import meet

SEED, MUTANTS = 20, 150


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


def test_honest_releases_in_parts_are_saved_again_with_the_same_bytes(work):
    prepare_parts(work.bases)
    found = [base.name for base in BASES if (work.bases / base.name / "parts").is_dir()]
    assert len(found) > 10
    with part_kinds.short_parts():
        for name in found:
            oracle._same_again(Release.load(work.bases / name / "parts"), work.bases / name / "parts")


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


def in_parts(coins, work):
    return part_mutant(coins, work, ["boxes"])


@pytest.mark.parametrize(("mutant", "some"), [(hierarchy_mutant, "published"), (workbook_mutant, "read"), (in_parts, "holds")])
def test_some_mutants_come_as_far_as_honest_files_do(work, mutant, some):
    prepare_parts(work.bases, ("boxes",))
    assert some in {mutant(random.Random(seed), work) for seed in range(12)}


def test_two_audits_that_contradict_each_other_are_caught(work, monkeypatch):
    prepare_parts(work.bases, ("boxes",))
    monkeypatch.setattr(part_kinds, "audit_directory", lambda *given, **more: (Audit(claims=(), problems=("no",)),))
    with pytest.raises(Wrong, match=r"memory.*True.*False"):
        [in_parts(random.Random(seed), work) for seed in range(12)]


def test_an_audit_that_always_holds_is_caught(work, monkeypatch):
    monkeypatch.setattr(oracle, "audit", lambda *_: Audit(claims=()))
    draft = work.draft("blind")
    draft.manifest["requirement"].update(theta="0", offset="1/40")
    draft.keep_books()
    place = work.fresh()
    draft.save(place, "parquet")
    with pytest.raises(Wrong, match=r"without the table.*believed"):
        check_release(place, tables()["blind"], draft.manifest, random.Random(1))


def test_a_release_of_other_people_is_caught(work, monkeypatch):
    draft = work.draft("blind")
    one, two = draft.tables["qit"][0], draft.tables["qit"][-1]
    one["age"], two["town"] = 99, "9999"
    place = work.fresh()
    draft.save(place, "csv")
    assert false_claims(place, tables()["blind"]) == ["qit shows other people"]
    monkeypatch.setattr(oracle, "audit", lambda *_: Audit(claims=()))
    with pytest.raises(Wrong, match=r"with the table.*qit"):
        check_release(place, tables()["blind"], draft.manifest, random.Random(1))


def test_the_second_opinion_counts_matchings_and_combinations_as_docs_do(work):
    views = oracle.Files.read(work.bases / "priview" / "parquet")
    views.manifest["requirement"]["alpha"] = "0"
    assert any("alpha" in one for one in oracle.wrong_claims(views, oracle.shares_shown(views)))
    assert meet(4, 2, 1) == Fraction(1, 2)
    assert meet(3, 3, 1) == 1


def test_what_kills_a_process_or_does_not_end_is_reported_with_a_way_to_see_it_again(monkeypatch):
    report = runner.Report(SEED)
    report.fail(7, "signal or exit -11")
    assert "WRONG 1" in str(report)
    assert f"FUZZ_SEED={SEED} python -m tests.fuzz 7" in str(report)
    assert str(report).count(kind_of(SEED, 7)) == 2


def test_two_groups_of_the_same_ranges_get_one_verdict_whole_and_in_parts(work):
    prepare_parts(work.bases, ("each-tight",))
    with part_kinds.short_parts():
        draft = Draft.of(work.release("each-tight", "parts"))
        ranges = {name: value for name, value in draft.tables["records"][0].items() if name.startswith(("age", "sex", "town"))}
        for row in draft.tables["records"]:
            if row["group"] == 2:
                row.update(ranges)
        draft.keep_books()
        draft.claim_anew()
        place = work.fresh()
        draft.save(place, "parquet")
        assert audit(place).holds == audit(place, engine="memory").holds
