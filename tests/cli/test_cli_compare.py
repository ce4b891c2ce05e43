"""What `sfumato compare` says of methods side by side, read once as its owner reads it."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Run


def test_methods_are_ranked_with_what_error_means_why_one_was_not_made_and_that_choosing_is_not_covered(
    place: Path, run: Run
) -> None:
    done = run("compare", "people.csv", "-p", "p.toml", "--methods", "multi-size,anatomy", "--workers", "1")
    assert done.code == 0, done.err
    first, second = (line.split() for line in done.out.splitlines() if line.lstrip()[:2] in ("1 ", "2 "))
    assert (first[1], second[1:]) == ("multi-size", ["anatomy", "none"])
    told = " ".join(done.out.split())
    assert "Ranked by error (error, held, exposure and belief in %)" in told
    assert "half of the answers are off by at most so much of the truth" in told
    assert "believes 29.5 % of a person's true value, on average" in told
    assert "a claim takes method and bounds as fixed beforehand, and does not cover what your choice among them tells" in told
    assert "No release anatomy; --all says why" in told
    asked = ("compare", "people.csv", "-p", "p.toml", "--methods", "anatomy", "--workers", "1", "--all")
    assert "needs every value to have at most 1/5 of the people; Flu has 40 %" in " ".join(run(*asked).out.split())
