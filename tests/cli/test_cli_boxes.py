"""Near people together, on the command line: what publish, explain, query and the demo say, and how many processors they use."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numba
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.cli import demo as demo_verb
from sfumato.cli._workers import limited
from tests.cli.conftest import POLICY, Run, listing, people


def words(text: str) -> str:
    return " ".join(text.split())


@pytest.fixture
def crowd(place: Path) -> Path:
    """2,000 people and a policy that puts near people together, in buckets of 50 or more."""
    (place / "people.csv").write_text(people(2000))
    method('name = "boxes"\nfloor = 50')(place)
    return place


def method(lines: str, *, old: str = "", new: str = "") -> Callable[[Path], object]:
    return lambda place: (place / "p.toml").write_text(POLICY.replace(old, new, 1) + f"[method]\n{lines}\n")


def sizes(place: Path, name: str = "release") -> list[int]:
    buckets = pq.read_table(place / name / "qit.parquet")["group"].value_counts()
    return sorted(entry["counts"].as_py() for entry in buckets)


def summary(buckets: list[int], cuts: str) -> str:
    return f"Near people together, by {cuts} cuts: {len(buckets)} buckets of {buckets[0]:,} to {buckets[-1]:,} people"


@pytest.mark.parametrize(("against", "cuts"), [("engineer", "soft"), ("reader", "tight")])
def test_publish_says_by_which_cuts_and_into_how_many_buckets(crowd: Path, run: Run, against: str, cuts: str) -> None:
    method('name = "boxes"\nfloor = 50', old="[requirement]", new=f'[requirement]\nagainst = "{against}"')(crowd)
    done = run("publish", "people.csv", "-p", "p.toml", "-o", "release")
    assert done.code == 0
    assert len(sizes(crowd)) > 1
    assert summary(sizes(crowd), cuts) in words(done.out)
    document = json.loads(run("publish", "people.csv", "-p", "p.toml", "-o", "again", "--json").out)
    assert (document["method"], document["basis"], len(document["made"])) == ("boxes", cuts, 1)
    assert document["made"][0].startswith(summary(sizes(crowd, "again"), cuts))
    assert ("twice the floor" in done.out) == (cuts == "tight")


def test_publish_says_when_people_are_drawn_at_random(crowd: Path, run: Run) -> None:
    method('name = "multi-size"')(crowd)
    done = run("publish", "people.csv", "-p", "p.toml", "-o", "release")
    found = sizes(crowd)
    told = f"Who shares a bucket was drawn at random: {len(found)} buckets of {found[0]} to {found[-1]} people."
    assert told in words(done.out)
    assert "No room" not in done.out


DIVERSE = POLICY[: POLICY.index("model")] + 'model = "l-diversity"\nl = 2\n'


def test_publish_says_that_near_people_were_matched(crowd: Path, run: Run) -> None:
    (crowd / "p.toml").write_text(DIVERSE + '[method]\nname = "near-groups"\nform = "buckets"\n')
    document = json.loads(run("publish", "people.csv", "-p", "p.toml", "-o", "release", "--json").out)
    found = sizes(crowd)
    assert (document["method"], document["basis"]) == ("near-groups", "matched")
    assert document["made"][0].startswith(f"Near people together, matched: {len(found):,} buckets of {found[0]}")


@pytest.mark.parametrize(
    ("policy", "chosen"),
    [
        (POLICY, ("boxes", "soft")),
        (DIVERSE.replace("l = 2", 'l = 2\nagainst = "reader"'), ("boxes", "tight")),
        (DIVERSE, ("near-groups", "matched")),
        (POLICY.replace("theta  = 2", "theta  = 1.05"), ("multi-size", "blind")),
    ],
)
def test_publish_without_a_method_chooses_by_counts_and_says_what(
    crowd: Path, run: Run, policy: str, chosen: tuple[str, str]
) -> None:
    (crowd / "p.toml").write_text(policy)
    document = json.loads(run("publish", "people.csv", "-p", "p.toml", "-o", "release", "--json").out)
    assert (document["method"], document["basis"], len(document["made"])) == (*chosen, 1)
    assert json.loads((crowd / "release" / "manifest.json").read_text())["method"]["name"] == chosen[0]


def test_publish_without_room_says_so_and_explain_why_and_what_would_help(crowd: Path, run: Run) -> None:
    # 40 % have the flu: a half could hold them all only with a bound of 80 %.
    method('name = "boxes"\nfloor = 50\npatience = 0', old="theta  = 2", new="theta  = 1.2")(crowd)
    done = run("publish", "people.csv", "-p", "p.toml", "-o", "release")
    assert done.code == 0
    text = words(done.out)
    assert "bucket of 2,000 people" in text
    assert "What would leave room" not in text  # advice comes before a cut, from counts
    assert "near-groups" not in text
    said = words(run("explain", "people.csv", "-p", "p.toml", "--quick").out)
    assert "'Flu' has 40 % of people and a bound of 58 %" in said
    assert 'against = "reader", with tight cuts; or theta = 1.8' in said  # 1.8 · 0.4 + 0.1 = 0.82
    assert said.count("What would leave room") == 1
    told = json.loads(run("publish", "people.csv", "-p", "p.toml", "-o", "again", "--json").out)
    assert (told["method"], told["basis"], len(told["made"])) == ("boxes", "safe", 1)


def test_explain_shows_error_and_exposure_of_every_way(crowd: Path, run: Run) -> None:
    done = run("explain", "people.csv", "-p", "p.toml")
    assert done.code == 0
    rows = [line.split() for line in done.out.splitlines()]
    names = [row[0] for row in rows if row and row[0] in ("independence", "blind", "soft", "tight")]
    assert names == ["independence", "blind", "soft", "tight"]
    assert "soft ← yours" in done.out
    assert "fixed in advance" in words(done.out)
    told = json.loads(run("explain", "people.csv", "-p", "p.toml", "--json").out)["measured"]
    assert [row["name"] for row in told["rows"]] == ["blind", "soft", "tight"]
    assert told["workloads"] == ["random sets", "ranges"]
    assert told["prior_exposure"] == pytest.approx(0.295)
    assert listing(crowd) == {"people.csv", "p.toml"}


def test_explain_measures_the_owners_questions(crowd: Path, run: Run) -> None:
    (crowd / "mine.sql").write_text("-- what we ask\nsex = 'f' AND illness = 'Flu'\nage < 40 AND illness = 'Gout'\nage > 200\n")
    told = json.loads(run("explain", "people.csv", "-p", "p.toml", "--workload", "mine.sql", "--json").out)["measured"]
    assert (told["workloads"], told["questions"], told["unmet"]) == (["mine.sql"], [2], 1)
    shown = run("explain", "people.csv", "-p", "p.toml", "--workload", "mine.sql", "--all")
    assert "Questions: 2 mine.sql" in words(shown.out)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"age <\n", "mine.sql: line 1: "),
        (b"# nothing\n", "mine.sql: the workload holds no query"),
        (b"agee < 3\n", "mine.sql: question 1: "),
        (b"age > 200\n", "nobody in the table meets any question"),
        (b"SELECT COUNT(*) GROUP BY sex\n", "question 1 has a GROUP BY"),
        (b"\xff\xfe", "mine.sql: not UTF-8"),
        (None, "mine.sql: there is no such file"),
    ],
)
def test_a_workload_that_is_none_is_bad_input(crowd: Path, run: Run, content: bytes | None, told: str) -> None:
    if content is not None:
        (crowd / "mine.sql").write_bytes(content)
    done = run("explain", "people.csv", "-p", "p.toml", "--workload", "mine.sql")
    assert (done.code, done.out) == (2, "")
    assert told in done.err


def test_quick_leaves_measuring_out(crowd: Path, run: Run) -> None:
    done = run("explain", "people.csv", "-p", "p.toml", "--quick")
    assert done.code == 0
    assert "by soft cuts" in words(done.out)
    assert "Median error" not in done.out
    assert run("explain", "people.csv", "-p", "p.toml", "--quick", "--workload", "mine.sql").code == 2


def test_an_answer_without_interval_is_not_dressed_as_one_with_an_error_bar(crowd: Path, run: Run) -> None:
    assert run("publish", "people.csv", "-p", "p.toml", "-o", "release").code == 0
    done = run("query", "release", "age < 40 AND illness = 'Flu'", "--estimator", "paper")
    assert done.code == 0
    assert "±" not in done.out
    assert "no interval (estimator: " in done.out
    assert "(standard error" not in done.out
    assert "note: no interval: " in done.out
    grouped = run("query", "release", "SELECT COUNT(*) WHERE age < 40 AND illness = 'Flu' GROUP BY sex", "--estimator", "paper")
    assert grouped.out.count("no interval") >= 2


def test_of_a_few_boxes_what_is_certain_is_said_without_an_error_bar(crowd: Path, run: Run) -> None:
    method('name = "boxes"\nfloor = 1000')(crowd)
    assert run("publish", "people.csv", "-p", "p.toml", "-o", "release").code == 0
    assert len(sizes(crowd)) < 10
    done = run("query", "release", "age < 40 AND illness = 'Flu'")
    assert done.code == 0
    assert "±" not in done.out
    assert "certain: " in done.out
    assert "certain, no interval" in words(done.out)


def test_any_number_of_workers_gives_the_same_release_and_answer(crowd: Path, run: Run) -> None:
    answers = []
    for name, workers in (("a", ["--workers", "1"]), ("b", ["--workers", str(most())]), ("c", [])):
        assert run("publish", "people.csv", "-p", "p.toml", "-o", name, "--seed", "1", *workers).code == 0
        answers.append(run("query", name, "age < 40 AND illness = 'Flu'", "--json", *workers).out)
    tables = [pq.read_table(crowd / name / "qit.parquet") for name in "abc"]
    assert tables[0].equals(tables[1])
    assert tables[0].equals(tables[2])
    assert answers[0] == answers[1] == answers[2]


def most() -> int:
    return int(getattr(numba.config, "NUMBA_NUM_THREADS"))  # noqa: B009


@pytest.mark.parametrize(
    "verb", [["publish", "people.csv", "-p", "p.toml", "-o", "r"], ["explain", "people.csv", "-p", "p.toml"]]
)
@pytest.mark.parametrize("workers", [0, -1, 100_000])
def test_a_number_of_workers_that_cannot_be_is_refused(crowd: Path, run: Run, verb: list[str], workers: int) -> None:
    before = listing(crowd)
    done = run(*verb, "--workers", workers)
    assert (done.code, done.err.startswith("error: --workers: ")) == (2, True)
    assert listing(crowd) == before


def test_the_limit_on_workers_holds_inside_and_ends_outside() -> None:
    before = numba.get_num_threads(), pa.cpu_count()
    with limited(1):
        assert (numba.get_num_threads(), pa.cpu_count()) == (1, 1)
    assert (numba.get_num_threads(), pa.cpu_count()) == before


def test_the_demo_puts_near_people_together_and_its_answers_have_intervals(place: Path, run: Run) -> None:
    done = run("demo")
    assert "by soft cuts: " in words(done.out)
    assert "no interval" not in done.out
    assert done.out.count("±") == len(demo_verb.QUESTIONS)
