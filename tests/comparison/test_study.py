import json

import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.comparison import pool
from sfumato.comparison.candidates import candidates
from sfumato.errors import OutputError, PolicyError
from sfumato.table.generators import sample

COLUMNS = {"quasi": ["age", "sex"], "sensitive": "diagnosis"}
POLICY = sf.FPrivacy(theta=8, offset="0.02", against="reader")
METHODS = ["boxes", "uniform"]


@pytest.fixture(scope="module")
def people():
    return sample("hospital", 1500, 1)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("study") / "study"


@pytest.fixture(scope="module")
def study(people, place):
    return sf.compare(people, POLICY, METHODS, vary={"theta": [4, 8]}, out=place, workers=2, attacks=(), **COLUMNS)


def test_every_method_runs_under_every_bound_and_the_policys_own_runs_come_first(study):
    assert len(study.runs) == 4
    assert all(run.made for run in study.runs)
    assert [run.policy for run in study.runs] == [True, True, False, False]
    assert (study.marked.method, study.marked.varied) == ("boxes", {"theta": 8})
    assert study.runs[0].error <= study.runs[1].error


def test_a_run_has_the_figures_of_the_same_release_made_here(study, people):
    from sfumato.comparison.study import _asked
    from sfumato.utility import error_of

    table = sf.Table.from_frame(
        people.select(["age", "sex", "diagnosis"]), sf.Schema(quasi=["age", "sex"], sensitive=["diagnosis"])
    )
    made = sf.Boxes().run(table, POLICY, random=0)
    asked, _ = _asked(table, "random", None)
    run = study.marked
    assert run.error == pytest.approx(error_of(made.release, asked).median, rel=1e-9)
    assert run.exposure == made.audit.exposure
    assert run.worst == float(made.audit.claims[0].worst)
    assert run.groups == len(made.release.sizes)
    assert run.suppressed == 0


def test_typical_questions_have_the_truth_beside_the_answer(study, people, place):
    asked = study.marked.typical
    assert [one["question"].split()[0] for one in asked] == ["age", "sex"]
    sex, value = asked[1]["question"].removeprefix("sex ").split(", ")
    meant = [row for row in people.to_pylist() if row["sex"] == sex and row["diagnosis"] == value]
    assert asked[1]["truth"] == len(meant) > 0
    assert asked[1]["low"] <= asked[1]["answer"] <= asked[1]["high"]
    kept = [json.loads(file.read_text()) for file in (place / "runs").glob("*.json")]
    assert sum(one["of"]["own"] and one["of"]["policy"] for one in kept) == 1


def test_looser_bounds_expose_more(study):
    tight, loose = study.line(study.marked)
    assert (tight.varied["theta"], loose.varied["theta"]) == (4, 8)
    assert tight.exposure < loose.exposure
    assert "theta = 8 → theta = 4" in study.steps()[0]


def test_it_says_plainly_that_choosing_is_a_choice_made_on_the_data(study):
    assert any("made on the data" in line for line in study.about())


def test_results_are_one_parquet_and_a_picture_that_marks_the_policy(study, place):
    rows = pq.read_table(place / "results.parquet").to_pylist()
    assert [(row["rank"], row["method"]) for row in rows] == [(k, run.method) for k, run in enumerate(study.runs, 1)]
    assert json.loads(rows[0]["varied"]) == {"theta": 8}
    assert rows[0]["size"] > 0
    picture = (place / "picture.svg").read_text()
    assert "your policy: boxes" in picture
    assert "theta = 8 → theta = 4, with boxes" in picture
    assert "prefers-color-scheme:dark" in picture
    assert json.loads(json.dumps(study.to_dict()))["runs"][0]["method"] == study.runs[0].method


def test_what_is_kept_is_for_its_owner_alone(place, study):
    assert place.stat().st_mode & 0o077 == 0
    assert all(one.stat().st_mode & 0o077 == 0 for one in (place / "runs").iterdir())


def test_a_killed_study_goes_on_with_what_is_missing(study, people, place, monkeypatch):
    kept = sorted((place / "runs").iterdir())
    kept[0].unlink()
    kept[1].write_text("{ cut off")
    begun = []
    usual = pool._one
    monkeypatch.setattr(pool, "_one", lambda task, *rest: begun.append(task.method["name"]) or usual(task, *rest))
    told = []
    again = sf.compare(
        people,
        POLICY,
        METHODS,
        vary={"theta": [4, 8]},
        out=place,
        workers=2,
        attacks=(),
        progress=lambda stage, _: told.append(stage),
        **COLUMNS,
    )
    assert len(begun) == 2
    first = next(stage for stage in told if " runs" in stage)
    assert first.startswith("2 of 4 runs (2 from before), ")  # and how long the others took tells the time left at once
    assert first.endswith(" left")
    assert [(run.method, run.error) for run in again.runs] == [(run.method, run.error) for run in study.runs]


def test_a_study_begins_with_one_run_of_each_method_under_the_owners_bounds(people, monkeypatch):
    begun = []

    def noted(task, *_):
        begun.append((task.method["name"], task.requirement["theta"]))
        return {"note": "not run"}

    monkeypatch.setattr(pool, "_one", noted)
    sf.compare(people, POLICY, ["boxes", "mondrian"], vary={"theta": [2, 4, 8]}, workers=1, attacks=(), **COLUMNS)
    assert begun[:2] == [("mondrian", "8"), ("boxes", "8")]
    assert sorted(begun[2:]) == [("boxes", "2"), ("boxes", "4"), ("mondrian", "2"), ("mondrian", "4")]
    assert begun[2][0] == "mondrian"


def test_synthetic_data_stands_beside_also_where_methods_are_named(people, monkeypatch):
    monkeypatch.setattr(pool, "_one", lambda *_: {"note": "not run"})
    study = sf.compare(people, POLICY, ["boxes", "privbayes"], workers=1, attacks=(), **COLUMNS)
    assert {run.method: bool(run.translated) for run in study.runs} == {"boxes": False, "privbayes": True}
    assert not study.left_out


def test_other_questions_are_another_study(study, people, place, monkeypatch):
    def stopped(*_):
        raise PolicyError("begun")

    monkeypatch.setattr(pool, "_one", stopped)
    with pytest.raises(PolicyError, match="begun"):
        sf.compare(people, POLICY, METHODS, workload="crosstabs", vary={"theta": [4, 8]}, out=place, attacks=(), **COLUMNS)


def test_a_lost_process_is_a_note_and_is_tried_again(people, tmp_path, monkeypatch):
    monkeypatch.setattr(pool, "_one", lambda *_: {"note": pool.LOST, "failed": True})
    lost = sf.compare(people, POLICY, ["boxes"], out=tmp_path / "s", attacks=(), **COLUMNS)
    assert not lost.runs[0].made
    assert lost.runs[0].note == pool.LOST
    assert not list((tmp_path / "s" / "runs").iterdir())


def test_a_directory_that_holds_something_else_is_left_alone(people, tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(OutputError, match="directory of a study"):
        sf.compare(people, POLICY, ["boxes"], out=tmp_path, attacks=(), **COLUMNS)


def test_a_study_is_not_written_into_a_release(people, tmp_path):
    sf.publish(people, POLICY, random=1, **COLUMNS).save(tmp_path / "release")
    with pytest.raises(OutputError, match="lies in a release"):
        sf.compare(people, POLICY, ["boxes"], out=tmp_path / "release" / "study", attacks=(), **COLUMNS)


def test_an_unknown_workload_names_the_known_ones(people):
    with pytest.raises(PolicyError, match="workload: unknown 'crosstab'"):
        sf.compare(people, POLICY, ["boxes"], workload="crosstab", **COLUMNS)


def test_recodings_are_compared_on_the_values_as_they_came(people, monkeypatch):
    seen = []

    def noted(task, *_):
        seen.append((task.table.quasi[0].size, task.asked.queries[0].terms, len(task.asked.queries)))
        return {"note": "not run"}

    monkeypatch.setattr(pool, "_one", noted)
    sf.compare(people, POLICY, ["boxes"], vary={"recode.age": ["none", 10]}, workers=1, attacks=(), **COLUMNS)
    sizes, terms, questions = zip(*seen, strict=True)
    assert min(sizes) == len({age // 10 for age in people["age"].to_pylist()})
    assert max(sizes) == len(set(people["age"].to_pylist()))
    assert set(terms) == {"original"}
    assert len(set(questions)) == 1


def test_another_recoding_needs_the_table_as_it_came(people):
    table = sf.Table.from_frame(
        people.select(["age", "sex", "diagnosis"]), sf.Schema(quasi=["age", "sex"], sensitive=["diagnosis"])
    )
    with pytest.raises(PolicyError, match="the table as"):
        sf.compare(table, POLICY, ["boxes"], vary={"recode.age": [10]}, attacks=())


def insider(people):
    shares = dict(zip(*(column.to_pylist() for column in people["diagnosis"].value_counts().flatten()), strict=True))
    method = sf.NoisyBoxes(shares=shares, otherwise="Flu")
    schema = sf.Schema(quasi=["age", "sex"], sensitive=["diagnosis"])
    frame = people.select(["age", "sex", "diagnosis"])
    return sf.Table.from_frame(frame, method.close(schema)), method


def test_against_an_insider_nobodys_own_value_is_used_unless_the_budget_is_spent(people, tmp_path, monkeypatch):
    table, method = insider(people)
    policy = sf.BetaLikeness(3, against="insider")
    given = []
    monkeypatch.setattr(pool, "_one", lambda task, *_: given.append(task) or {"note": "not run"})
    made = sf.compare(table, policy, ["noisy-boxes"], method=method, attacks=())
    assert made.generated
    assert any("generated" in line for line in made.about())
    assert given[0].spending is None
    assert (given[0].table.sensitive.codes != table.sensitive.codes).mean() > 0.5
    spent = sf.compare(table, policy, ["noisy-boxes"], method=method, attacks=(), spend=True, register=tmp_path)
    assert spent.spent
    assert any("booked" in line for line in spent.about())
    assert given[1].spending.register == str(tmp_path)
    assert (given[1].table.sensitive.codes == table.sensitive.codes).all()


def test_a_spent_draw_is_booked(people, tmp_path):
    from sfumato.comparison.measure import DrawBudget, RunTask, measure
    from sfumato.comparison.study import _asked

    table, method = insider(people)
    policy = sf.BetaLikeness(3, against="insider")
    asked, _ = _asked(table, "crosstabs", None)
    found = measure(RunTask(table, asked, method.to_dict(), policy.to_dict(), (), DrawBudget(str(tmp_path), None)))
    assert found["error"] > 0
    assert len(list(tmp_path.glob("*.booking.json"))) == 1


def test_spending_is_only_for_draws_against_an_insider(people):
    with pytest.raises(PolicyError, match="draws against an insider"):
        sf.compare(people, POLICY, ["boxes"], spend=True, **COLUMNS)


def test_names_of_runs_differ_by_table_and_by_settings(people):
    table = sf.Table.from_frame(
        people.select(["age", "sex", "diagnosis"]), sf.Schema(quasi=["age", "sex"], sensitive=["diagnosis"])
    )
    [boxes] = candidates(table, POLICY, sf.Boxes(), methods=["boxes"])[0]
    [other] = candidates(table, POLICY, sf.Boxes(), methods=[sf.Boxes(floor=50)])[0]
    assert len({boxes.key("x"), boxes.key("y"), other.key("x")}) == 3
