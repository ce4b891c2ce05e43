"""Studies: measured once for the same settings, judged by one rule, with what differs from the paper beside the verdict."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("altair")

from sfumato.studies import page as pages
from sfumato.studies.catalogue import chosen, names, study_of
from sfumato.studies.census import CENSUS
from sfumato.studies.draw import lines
from sfumato.studies.parallel import Asked, tasks
from sfumato.studies.results import forget, kept, load, run
from sfumato.studies.source import Source
from sfumato.studies.study import Result, Study, Verdict, averaged, mark

DOCS = Path(__file__).parents[2] / "docs"


def made(measured: list[int]) -> Study:
    def measure(source: Source, *, people: int) -> list[dict[str, float | None]]:
        measured.append(people)
        return [{"x": 1, "y": people}, {"x": 2, "y": None}]

    return Study(
        paper="001",
        figure="Figure 0",
        says="more people, more of y.",
        printed={"people": 100},
        full={"people": 100},
        quick={"people": 10},
        measure=measure,
        draw=lambda rows: lines(rows, x="x", y="y"),
        judge=lambda rows: Verdict({"y is 10": rows[0]["y"] == 10, "x is 1": True}, f"y is {rows[0]['y']}."),
        source=lambda: CENSUS,
        table=lambda rows: [{"x": row["x"], "ours": row["y"]} for row in rows],
    )


def test_a_finished_study_is_measured_again_only_if_its_settings_change_or_on_request(tmp_path: Path) -> None:
    measured: list[int] = []
    study = made(measured)
    first, fresh = run("some", study, "quick", tmp_path)
    second, again = run("some", study, "quick", tmp_path)
    assert (fresh, again, measured) == (True, False, [10])
    assert second.rows == first.rows == [{"x": 1, "y": 10}, {"x": 2, "y": None}]
    assert second.seconds == first.seconds
    run("some", replace(study, quick={"people": 11}), "quick", tmp_path)
    run("some", study, "full", tmp_path)
    forget(["some"], "full", tmp_path)
    run("some", study, "full", tmp_path)
    assert measured == [10, 11, 100, 100]


def test_a_killed_study_goes_on_with_the_cases_that_it_has_not_done(tmp_path: Path) -> None:
    done: list[int] = []

    def measure(source: Source, *, sizes: list[int]) -> list[dict[str, int]]:
        rows = []
        for size in sizes:
            if size == 3 and len(done) == 2:
                done.append(0)
                raise KeyboardInterrupt
            rows += kept({"size": size}, lambda size=size: [{"y": done.append(size) or size}])  # type: ignore[misc,func-returns-value]
        return rows

    study = replace(made([]), measure=measure, quick={"sizes": [1, 2, 3]})
    with pytest.raises(KeyboardInterrupt):
        run("some", study, "quick", tmp_path)
    result, _ = run("some", study, "quick", tmp_path)
    assert done == [1, 2, 0, 3]
    assert result.rows == [{"y": 1}, {"y": 2}, {"y": 3}]
    forget(["some"], "quick", tmp_path)
    run("some", study, "quick", tmp_path)
    assert done == [1, 2, 0, 3, 1, 2, 3]


def test_a_study_that_fails_leaves_no_result(tmp_path: Path) -> None:
    def fails(source: Source, **settings: object) -> list[dict[str, float]]:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        run("some", replace(made([]), measure=fails), "quick", tmp_path)
    assert load("some", "quick", tmp_path) is None


def test_every_seed_is_measured_and_a_claim_says_in_how_many_it_holds(tmp_path: Path) -> None:
    def measure(source: Source, *, people: int, seed: int) -> list[dict[str, object]]:
        return [{"who": "a", "y": float(seed)}, {"who": "b", "y": 2.5}]

    def judge(rows: object) -> Verdict:
        a, b = rows  # type: ignore[misc]
        return Verdict({"a is less than b": a["y"] < b["y"], "a is three": a["y"] == 3}, "")

    study = replace(made([]), measure=measure, judge=judge, quick={"people": 1, "seeds": 5})
    run("some", study, "quick", tmp_path)
    result = load("some", "quick", tmp_path)
    assert result is not None
    assert [row["y"] for row in result.rows] == [3.0, 2.5]
    assert result.spread(study) == {"a is less than b": (2, 5), "a is three": (1, 5)}
    verdict = judge(result.rows)
    assert pages.claims_of(study, result, verdict) == ["✗ a is less than b (2 of 5 seeds)", "✓ a is three (1 of 5 seeds)"]


def test_estimates_of_several_seeds_stand_side_by_side(tmp_path: Path) -> None:
    def measure(source: Source, *, people: int, seed: int) -> list[dict[str, float]]:
        return [{"truth": 10.0, "estimate": 10.0 + (-1) ** seed}]

    study = replace(made([]), measure=measure, quick={"people": 1, "seeds": 2}, pooled=True)
    run("some", study, "quick", tmp_path)
    result = load("some", "quick", tmp_path)
    assert result is not None
    assert [row["estimate"] for row in result.rows] == [9.0, 11.0]  # their mean is 10, which no release says


def test_what_names_a_case_may_not_differ_between_seeds() -> None:
    assert averaged([[{"x": "a", "y": 1}], [{"x": "a", "y": 2}]]) == [{"x": "a", "y": 1.5}]
    assert averaged([[{"y": 1.0}], [{"y": None}]]) == [{"y": None}]
    with pytest.raises(TypeError):
        averaged([[{"x": "a"}], [{"x": "b"}]])


def test_the_page_keeps_what_was_not_run_here_and_prefers_full_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = made([])
    monkeypatch.setattr(pages, "names", lambda: ["001-fig1", "001-fig2"])
    monkeypatch.setattr(pages, "study_of", lambda name: (study, f"What of {name}?"))
    page, here, elsewhere = tmp_path / "docs" / "studies.md", tmp_path / "here", tmp_path / "elsewhere"
    run("001-fig1", study, "full", elsewhere)
    pages.write_page(page, elsewhere)
    run("001-fig1", study, "quick", here)
    run("001-fig2", study, "quick", here)
    text = pages.write_page(page, here).read_text(encoding="utf-8")
    assert "<!-- study 001-fig1 full -->" in text
    assert "y is 100." in text
    assert "<!-- study 001-fig2 quick -->" in text
    assert "| `001-fig1` Figure 0 | What of 001-fig1? | holds in part (1 of 2 claims) | full |" in text
    assert "people 10 (the paper: 100)" in text
    assert "- ✗ y is 10\n- ✓ x is 1\n" in text
    assert "| 2 | – |" in text
    assert (page.parent / "pictures" / "studies" / "001-fig2.svg").read_text(encoding="utf-8").startswith("<svg")


@pytest.mark.parametrize(
    ("cases", "marked"), [(True, "✓"), (False, "✗"), ([True] * 10, "✓"), ([True] * 9 + [False], "≈"), ([True] * 8 + [False], "✗")]
)
def test_a_claim_holds_in_all_cases_or_nearly_in_nine_of_ten(cases: bool | list[bool], marked: str) -> None:
    assert mark(cases) == marked


def test_claims_that_all_hold_hold_and_one_that_does_not_makes_it_in_part() -> None:
    assert Verdict({"a": True, "b": True}, "").word == "holds"
    assert Verdict({"a": True, "b": False}, "").word == "holds in part (1 of 2 claims)"
    assert Verdict({"a": [True] * 9 + [False], "b": False}, "").word == "holds in part (0 of 2 claims, 1 nearly)"
    assert Verdict({"a": False, "b": False}, "").word == "does not hold"
    assert Verdict({"less": [True, True, False]}, "").marked() == {"less: 2 of 3": "✗"}


@pytest.mark.parametrize("name", names())
def test_every_study_has_the_papers_settings_and_is_on_the_page_with_its_picture(name: str) -> None:
    study, question = study_of(name)
    page = (DOCS / "studies.md").read_text(encoding="utf-8")
    assert f"### {study.figure}: {question}\n" in page
    assert (DOCS / "pictures" / "studies" / f"{name}.svg").exists()
    assert study.quick.keys() == study.full.keys()
    assert set(study.printed) <= set(study.full)
    assert study.full.get("seeds", 5) >= 5


def test_every_study_is_found_by_the_number_of_its_figure() -> None:
    from sfumato.studies.figures import BY_NUMBER

    here = [here for entries in BY_NUMBER.values() for _, here in entries]
    assert set(names()) <= set(here)
    assert all(one in names() for one in here if one[:3].isdigit() and one[3:4] == "-")
    root = DOCS.parent
    told = {word.strip("(),;") for one in here for word in one.split() if word.startswith("tests/")}
    assert told
    assert all((root / path).exists() for path in told)


def test_a_paper_stands_for_all_its_studies_and_those_that_share_releases_are_one_task(tmp_path: Path) -> None:
    assert chosen(["002"]) == [name for name in names() if name.startswith("002-")]
    found = list(tasks(["003-fig8", "003-fig9", "001-fig3"], Asked("quick", tmp_path)))
    assert [task.names for task in found] == [("003-fig8", "003-fig9"), ("001-fig3",)]


def test_of_a_stand_in_that_is_none_nothing_is_judged() -> None:
    study, _ = study_of("003-fig9")
    about = "003-fig9", "quick", study.source().name, {}, 0.0, [[]]
    assert pages.word_of(study, Result(*about), Verdict({"a": True}, "")) == "not judged"  # type: ignore[arg-type]
    own = Result(*(*about[:2], "coil.csv", *about[3:]))  # type: ignore[arg-type]
    assert pages.word_of(study, own, Verdict({"a": True}, "")) == "holds"


def test_the_integer_programs_find_what_the_searches_find() -> None:
    from sfumato.groups.settings.plan import plan
    from sfumato.groups.settings.problem import Problem
    from sfumato.groups.settings.two_size import best_two_size
    from sfumato.privacy import FPrivacy
    from sfumato.studies.buckets.programs import solve

    coins = np.random.default_rng(3)
    for _ in range(4):
        counts = {f"v{k}": int(many) for k, many in enumerate(coins.integers(1, 12, 6))}
        bounds = FPrivacy(theta=2, offset="0.1").bounds(counts)
        problem = Problem.of(bounds, max_size=12)
        two, whole = best_two_size(problem), plan(bounds, max_size=12)
        assert solve(problem, most=2).loss == (two and two.loss)
        assert solve(problem).loss == whole.loss
