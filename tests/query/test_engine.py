"""The one engine: every form fulfils its protocol, is laid out once, and is answered by the same rules."""

import gc
import weakref

import pyarrow as pa
import pytest

from sfumato import Schema, Table
from sfumato.errors import QueryError
from sfumato.query.answering import _interval
from sfumato.query.count import ENGINES, count, engine_of
from sfumato.query.engine import CountEstimate, add_up
from sfumato.query.group_by import reconcile
from sfumato.query.language.predicate import Query
from sfumato.release.base import RELEASES
from tests.makers import people, skewed
from tests.query._fragments import columns_of, views_of
from tests.query._releases import release_of as buckets_of
from tests.release._randomized import one_part
from tests.release._randomized import release_of as randomized_of
from tests.release._ranges import of_groups
from tests.release._synthetic import release_of as synthetic_of


def releases():
    table = skewed()
    groups = [row % 12 for row in range(table.rows)]
    yield of_groups(table, groups)
    yield columns_of(table, groups)
    yield views_of(table, groups, ["age"])
    yield buckets_of(table, table.sensitive.codes.astype("int64") * 0, basis="blind")
    yield randomized_of(table, one_part(table))
    yield synthetic_of(table)


def test_every_form_has_an_engine():
    assert set(ENGINES) == set(RELEASES) == {release.form for release in releases()}


@pytest.mark.parametrize("release", list(releases()), ids=lambda release: release.form)
def test_every_form_is_asked_in_the_same_way(release):
    question = engine_of(release).ask(Query(group_by=("sex",)), "paper")
    grouped = [question.vocabulary.find("sex")]
    answer = count(release, "SELECT sex, COUNT(*) GROUP BY sex", estimator="paper")
    cells = question.cells(grouped, _everybody(question))
    assert [key["sex"] for key, _ in answer] == [grouped[0][2].decode(code) for (code,) in cells]
    assert question.guess(_everybody(question)).inside == pytest.approx(release.rows)
    assert sum(cell.value for _, cell in answer) == pytest.approx(release.rows)
    assert engine_of(release) is engine_of(release)


def _everybody(question):
    from sfumato.query.language.compile import compile_condition

    return compile_condition(Query().condition, question.vocabulary).pieces


def test_an_engine_goes_with_its_release():
    release = of_groups(people(list("ab"), age=[1, 2]), [0, 0])
    count(release, "age = 1")
    engine, gone = weakref.ref(engine_of(release)), weakref.ref(release)
    del release
    gc.collect()
    assert gone() is None
    assert engine() is None


def test_a_form_without_an_engine_is_refused(monkeypatch):
    release = of_groups(people(list("ab"), age=[1, 2]), [0, 0])
    monkeypatch.delitem(ENGINES, "ranges")
    with pytest.raises(QueryError, match="'ranges'"):
        count(release, "age = 1")


def test_where_both_extremes_of_a_partly_met_condition_are_certain_they_are_its_interval():
    schema = Schema(quasi=["age"], sensitive=["value"], recode={"age": {"width": 5}})
    table = Table.from_frame(pa.table({"age": [20, 21, 33, 34], "value": list("abab")}), schema)
    found = count(of_groups(table, [0, 0, 1, 1]), "age BETWEEN 20 AND 31")
    assert (found.value, found.low, found.high) == (pytest.approx(2 + 2 * 2 / 5), 2.0, 4.0)
    assert "in bands of 5" in found.note


def test_cells_move_by_their_variance_and_stay_within_what_is_certain():
    parts = [CountEstimate(10.0, 3.0, 0.0, 20.0), CountEstimate(5.0, 1.0, 0.0, 20.0), CountEstimate(4.0, 0.0, 4.0, 4.0)]
    moved = reconcile(parts, CountEstimate(29.0, 1.0, 0.0, 44.0))
    assert [part.value for part in moved] == pytest.approx([19.0, 6.0, 4.0])
    unbiased = reconcile([CountEstimate(-2.0, 1.0, 0.0, 5.0, raw=-2.0)], CountEstimate(1.0, 1.0, 0.0, 5.0))[0]
    assert (unbiased.inside, unbiased.value, unbiased.raw) == (pytest.approx(1.0), -2.0, -2.0)


def test_pieces_add_up_with_the_worst_case_of_their_errors():
    both = add_up([CountEstimate(1.0, 2.0, 0.0, 3.0), CountEstimate(2.0, 3.0, 1.0, 4.0, "no interval: why")], 5)
    assert (both.value, both.std_error, both.least, both.most, both.no_interval) == (3.0, 5.0, 1.0, 5.0, "no interval: why")
    assert add_up([], 5) == CountEstimate(0, 0, 0, 0)


def test_what_weights_leave_open_reaches_up_by_a_factor_and_down_as_before():
    plain, loose = CountEstimate(80.0, 60.0, 0.0, 1000.0), CountEstimate(80.0, 60.0, 0.0, 1000.0, loose=3600.0)
    reach = 1.959964 * 60
    assert _interval(plain, 0.95) == pytest.approx((0.0, 80 + reach), rel=1e-6)
    assert _interval(loose, 0.95) == pytest.approx((0.0, 80 * 2.718281828 ** (reach / 80)), rel=1e-6)
    partly = _interval(CountEstimate(800.0, 50.0, 0.0, 1000.0, loose=900.0), 0.95)
    factor = 800 * (2.718281828 ** (1.959964 * 30 / 800) - 1)
    assert partly == pytest.approx((800 - 1.959964 * 50, 800 + (factor**2 + (1.959964 * 40) ** 2) ** 0.5), rel=1e-6)
    assert _interval(CountEstimate(0.01, 5.0, 0.0, 1000.0, loose=25.0), 0.95) == pytest.approx(
        (0.0, 0.01 + 1.959964 * 5), rel=1e-6
    )
    assert _interval(CountEstimate(90.0, 200.0, 0.0, 120.0, loose=40_000.0), 0.95) == (0.0, 120.0)


def test_pieces_leave_open_what_their_weights_do_together():
    parts = [CountEstimate(10.0, 3.0, 0.0, 50.0, loose=4.0), CountEstimate(20.0, 5.0, 0.0, 50.0, loose=9.0)]
    assert add_up(parts, 100).loose == pytest.approx(25.0)
