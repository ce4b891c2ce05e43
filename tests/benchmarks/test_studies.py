"""Studies: measured once for the same settings, told from what was measured, and all of them on the page."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("altair")

from benchmarks.studies import _page
from benchmarks.studies._draw import lines
from benchmarks.studies._study import Study, Verdict, kept, load, names, run, study_of

DOCS = Path(__file__).parents[2] / "docs"


def made(measured: list[int]) -> Study:
    def measure(*, people: int) -> list[dict[str, float | None]]:
        measured.append(people)
        return [{"x": 1, "y": people}, {"x": 2, "y": None}]

    return Study(
        paper="buckets",
        figure="Figure 0",
        says="more people, more of y.",
        quick={"people": 10},
        full={"people": 100},
        measure=measure,
        draw=lambda rows: lines(rows, x="x", y="y"),
        judge=lambda rows: Verdict({"y is 10": rows[0]["y"] == 10, "x is 1": True}, f"y is {rows[0]['y']}."),
        table=lambda rows: [{"x": row["x"], "ours": row["y"]} for row in rows],
    )


def test_a_finished_study_is_measured_again_only_if_its_settings_change_or_on_request(tmp_path: Path) -> None:
    measured: list[int] = []
    study = made(measured)
    first, fresh = run("some", study, "quick", results=tmp_path)
    second, again = run("some", study, "quick", results=tmp_path)
    assert (fresh, again, measured) == (True, False, [10])
    assert second.rows == first.rows == [{"x": 1, "y": 10}, {"x": 2, "y": None}]
    assert second.seconds == first.seconds
    run("some", replace(study, quick={"people": 11}), "quick", results=tmp_path)
    run("some", study, "full", results=tmp_path)
    run("some", study, "full", again=True, results=tmp_path)
    assert measured == [10, 11, 100, 100]


def test_a_killed_study_goes_on_with_the_cases_that_it_has_not_done(tmp_path: Path) -> None:
    done: list[int] = []

    def measure(*, sizes: list[int]) -> list[dict[str, int]]:
        rows = []
        for size in sizes:
            if size == 3 and len(done) == 2:
                done.append(0)
                raise KeyboardInterrupt
            rows += kept("some", {"size": size}, lambda size=size: [{"y": done.append(size) or size}], results=tmp_path)  # type: ignore[misc,func-returns-value]
        return rows

    study = replace(made([]), measure=measure, quick={"sizes": [1, 2, 3]})
    with pytest.raises(KeyboardInterrupt):
        run("some", study, "quick", results=tmp_path)
    result, _ = run("some", study, "quick", results=tmp_path)
    assert done == [1, 2, 0, 3]
    assert result.rows == [{"y": 1}, {"y": 2}, {"y": 3}]
    run("some", study, "quick", again=True, results=tmp_path)
    assert done == [1, 2, 0, 3, 1, 2, 3]


def test_a_study_that_fails_leaves_no_result(tmp_path: Path) -> None:
    def fails(**settings: object) -> list[dict[str, float]]:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        run("some", replace(made([]), measure=fails), "quick", results=tmp_path)
    assert load("some", "quick", results=tmp_path) is None


def test_the_page_keeps_what_was_not_run_here_and_prefers_full_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = made([])
    monkeypatch.setattr(_page, "names", lambda: ["one", "two"])
    monkeypatch.setattr(_page, "study_of", lambda name: (study, f"What of {name}?"))
    docs, here, elsewhere = (tmp_path / name for name in ("docs", "here", "elsewhere"))
    run("one", study, "full", results=elsewhere)
    _page.write_page(docs=docs, results=elsewhere)
    run("one", study, "quick", results=here)
    run("two", study, "quick", results=here)
    page = _page.write_page(docs=docs, results=here).read_text(encoding="utf-8")
    assert "<!-- study one full -->" in page
    assert "y is 100." in page
    assert "<!-- study two quick -->" in page
    assert "| 000, 001 | Figure 0: What of one? | holds in part (1 of 2) | full |" in page
    assert "**Holds in part (1 of 2 claims).** y is 100.\n\n- ✗ y is 10\n- ✓ x is 1\n" in page
    assert "| 000, 001 | Figure 0: What of two? | holds | quick |" in page
    assert "| 2 | – |" in page
    assert (docs / "pictures" / "studies" / "two.svg").read_text(encoding="utf-8").startswith("<svg")


def test_claims_that_all_hold_hold_and_one_that_does_not_makes_it_in_part() -> None:
    assert Verdict({"a": True, "b": True}, "").word == "holds"
    assert Verdict({"a": True, "b": False}, "").word == "holds in part"
    assert Verdict({"a": False, "b": False}, "").word == "does not hold"


def test_one_case_that_differs_refutes_a_claim_and_the_cases_are_counted() -> None:
    found = Verdict({"less in every case": [True, True, False], "a": True}, "")
    assert found.held == {"less in every case: 2 of 3": False, "a": True}
    assert found.word == "holds in part"


@pytest.mark.parametrize("name", names())
def test_every_study_is_on_the_page_with_its_picture(name: str) -> None:
    study, question = study_of(name)
    page = (DOCS / "studies.md").read_text(encoding="utf-8")
    assert f"### {study.figure}: {question}\n" in page
    assert (DOCS / "pictures" / "studies" / f"{name}.svg").exists()
    assert study.quick.keys() == study.full.keys()
