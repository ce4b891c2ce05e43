"""Every model of the inside of groups is fitted, asked and kept in the same way."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.query.count import engine_of
from sfumato.query.language.compile import Piece, RowCondition
from sfumato.query.language.disjoint import disjoint
from sfumato.query.models.classes import ClassModel
from sfumato.query.models.inside import Inside
from sfumato.query.models.likelihood import Association
from sfumato.query.models.protocol import Moments
from sfumato.query.models.rates import AskedRecords, Rates
from sfumato.query.models.records import RecordModel
from sfumato.query.models.spread import AskedBoxes, Spreads
from sfumato.query.models.trend import Trend
from tests.query.test_model_cache import table

FORMS: dict[str, Any] = {
    "boxes": sf.Boxes(floor=60),
    "noisy": sf.NoisyBoxes(shares={"Flu": 4, "Gout": 3, "HIV": 2, "Asthma": 1}, otherwise="Flu", floor=100),
    "blind": sf.MultiSize(),
    "ranges": sf.Boxes(form="ranges", floor=60),
    "columns": sf.Ambiguity(),
    "randomized": sf.SmallDomain(),
}
MODELS = [
    ("boxes", Trend),
    ("boxes", Inside),
    ("noisy", Trend),
    ("noisy", Inside),
    ("blind", Association),
    ("ranges", Spreads),
    ("columns", Spreads),
    ("columns", ClassModel),
    ("randomized", Rates),
    ("randomized", RecordModel),
]


@pytest.fixture(scope="module")
def engines() -> dict[str, Any]:
    asked: dict[str, Any] = {
        "columns": sf.PresenceAssociation("1", "1/2"),
        "noisy": sf.FPrivacy(theta=8, offset="0.1", against="insider"),
    }
    usual, people = sf.FPrivacy(theta=2, offset="0.1"), table()
    closed = sf.Table.from_frame(people.to_arrow(), FORMS["noisy"].close(people.schema))
    return {
        name: engine_of(sf.publish(closed if name == "noisy" else people, asked.get(name, usual), method=method, random=1))
        for name, method in FORMS.items()
    }


def asked_of(name: str, engine: Any, values: np.ndarray, column: int) -> Any:
    """Return a question about the first half of the values of a column, in the terms of the form's groups."""
    size = engine.vocabulary.quasi[column].size
    piece = Piece(values, RowCondition({column: np.arange(size) < size // 2}))
    if name in ("ranges", "columns"):
        return AskedBoxes(disjoint(piece.rows), values, (None,) * len(engine.columns))
    if name == "randomized":
        rows, people = engine.table.find(piece.rows)
        return AskedRecords(values, rows, people, engine.shown(rows, people))
    return engine.asked(piece)


@pytest.mark.parametrize(("name", "model"), MODELS)
def test_every_model_is_fitted_to_groups_and_estimates_a_question(name: str, model: Any, engines: dict[str, Any]) -> None:
    engine = engines[name]
    fitted = model.fit(engine)
    first, both = np.array([True, False, False, False]), np.array([True, True, False, False])
    answers = [fitted.estimate(asked_of(name, engine, values, 0)) for values in (first, both)]
    for answer in answers:
        assert isinstance(answer, Moments)
        assert math.isfinite(answer.value)
        assert 0.0 < answer.variance < math.inf
        assert isinstance(answer.note, str)
    assert 0.0 < answers[0].value < answers[1].value < 3000


@pytest.mark.parametrize(("name", "model"), MODELS)
def test_what_was_fitted_comes_back_from_its_arrays_with_the_same_answer(name: str, model: Any, engines: dict[str, Any]) -> None:
    engine = engines[name]
    fitted = model.fit(engine)
    kept = {key: np.array(value) for key, value in fitted.to_arrays().items()}
    question = asked_of(name, engine, np.array([False, True, False, True]), 1)
    assert model.from_arrays(kept, engine).estimate(question) == fitted.estimate(question)
