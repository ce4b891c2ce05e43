"""How estimates are shown: a standard error stands only where there is an interval."""

from __future__ import annotations

import pytest

from sfumato.cli._answers import estimate_dict, show_answer
from sfumato.query.answer import Estimate, GroupedAnswer
from tests.query.test_crosstab import drawn

WITHOUT = Estimate(0.513, 0.015, None, None, 0.95, "paper", "no interval: it is biased", measure="share")
WITH = Estimate(0.513, 0.015, 0.48, 0.54, 0.95, "likelihood", measure="share")


def test_an_estimate_without_an_interval_shows_no_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert WITHOUT.error is None
    show_answer(WITHOUT)
    for text in (str(WITHOUT), repr(WITHOUT), WITHOUT._repr_html_(), capsys.readouterr().out):
        assert "0.513" in text
        assert "0.015" not in text
        assert "standard error" not in text
        assert "±" not in text
    assert estimate_dict(WITHOUT)["std_error"] is None
    assert WITHOUT.to_arrow()["std_error"].to_pylist() == [None]
    assert (WITH.error, estimate_dict(WITH)["std_error"], WITH.to_arrow()["std_error"].to_pylist()) == (0.015, 0.015, [0.015])
    assert "0.015" in repr(WITH)


def test_nor_does_a_cell_of_a_grouped_answer_or_of_a_crosstab(capsys: pytest.CaptureFixture[str]) -> None:
    release = drawn(1, 1.0, 0.5, rows=600)
    found = release.count("SELECT sex, COUNT(*) WHERE ill = 'a' GROUP BY sex", estimator="paper")
    assert isinstance(found, GroupedAnswer)
    show_answer(found)
    shown = capsys.readouterr().out
    for _, one in found:
        assert one.std_error > 0
        for text in (str(found), found._repr_html_(), shown):
            assert one.written(one.value, ",") in text
            assert one.written(one.std_error, ",") not in text
    assert found.to_arrow()["std_error"].null_count == 2
    table = release.crosstab("ill", "sex", estimator="paper").to_arrow()
    assert table["std_error"].null_count == table.num_rows
