"""Charts hold the figures that they show, and say what to install."""

from __future__ import annotations

import html
import sys
from fractions import Fraction

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import SfumatoError
from sfumato.query import Estimate
from sfumato.query.plots import plot_answer
from tests.query.test_crosstab import drawn


def test_a_chart_has_a_point_for_every_cell_in_the_order_of_the_answer() -> None:
    answer = drawn(1, 1.0, 0.5).count("SELECT ill, AVG(age) GROUP BY ill ORDER BY avg_age DESC")
    rows = answer.plot().to_dict()["data"]["values"]
    assert [row["cell"] for row in rows] == [key["ill"] for key, _ in answer]
    assert [row["value"] for row in rows] == [one.value for _, one in answer]
    assert [row["low"] for row in rows] == [one.low for _, one in answer]


def test_one_estimate_is_one_point() -> None:
    chart = Estimate(3.0, 1.0, 1.0, 5.0, 0.95, "likelihood", measure="share").plot().to_dict()
    assert len(chart["data"]["values"]) == 1
    assert "95 %" in str(chart["title"])


def test_a_heat_map_has_the_lift_of_every_cell() -> None:
    table = drawn(1, 1.0, 0.5).crosstab("ill", "sex")
    rows = table.plot().to_dict()["data"]["values"]
    assert [(row["row"], row["column"]) for row in rows] == [(row, column) for row, column, _, _ in table.named()]
    assert [row["lift"] for row in rows] == [lift.value for _, _, _, lift in table.named()]


def test_layers_that_leave_cells_out_do_not_change_the_order() -> None:
    cells = [
        (name, Estimate(1.0, 1.0, low, high, 0.95, "likelihood")) for name, low, high in (("b", None, None), ("a", 0.5, 2.0))
    ]
    chart = plot_answer(cells, ["sex"], "altair").to_dict()
    assert [layer["encoding"]["y"]["sort"] for layer in chart["layer"]] == [["b", "a"]] * 2


def test_the_picture_of_a_release_has_shares_beliefs_and_bounds_of_every_value() -> None:
    people = pa.table({"age": [i % 50 + 20 for i in range(120)], "ill": ["Flu", "Flu", "Gout", "Asthma"] * 30})
    rule = sf.FPrivacy(theta=2, offset="0.1", bounds={"Flu": 1})
    release = sf.publish(people, rule, quasi=["age"], sensitive="ill", random=1)
    assert release.manifest.values is not None
    chart = release.plot("altair").to_dict()
    shown = {(row["cell"], row["what"]): row["sure"] for row in chart["data"]["values"]}
    beliefs = release.beliefs(release.tables()["qit"]).max(axis=0)
    for place, entry in enumerate(release.manifest.values):
        value, bound = entry["value"], Fraction(entry["bound"])
        assert shown[value, "share of all"] == entry["count"] / release.rows
        assert shown[value, "largest share in a group"] == pytest.approx(beliefs[place])
        assert shown.get((value, "bound"), 1.0) == pytest.approx(float(bound))


@pytest.mark.parametrize("library", ["altair", "matplotlib"])
def test_every_picture_has_a_title_and_says_in_words_what_it_shows(library: str) -> None:
    release = drawn(1, 1.0, 0.5)
    made = {
        "count by sex": release.count("SELECT sex, COUNT(*) GROUP BY sex"),
        "ill and sex: lift": release.crosstab("ill", "sex"),
        "What a reader may learn of one person: ill": release,
    }
    for title, thing in made.items():
        picture = thing.plot(library)
        if library == "altair":
            told = picture.to_dict()
            assert (told["title"]["text"], len(told["description"]) > 60) == (title, True)
        else:
            assert picture.axes[0].get_title(loc="left") == title
            assert f'alt="{html.escape(picture.words)}"' in picture._repr_html_()
            assert len(picture.words) > 60


def test_matplotlib_draws_the_figures_of_the_answer_and_takes_no_dollar_for_a_formula() -> None:
    cells = [("$a", Estimate(3.0, 1.0, 1.0, 5.0, 0.95, "likelihood")), ("b$", Estimate(4.0, 1.0, None, None, 0.95, "likelihood"))]
    axes = plot_answer(cells, ["pay"], "matplotlib").axes[0]
    assert [list(line.get_xdata()) for line in axes.lines] == [[1.0, 5.0], [3.0], [4.0]]
    assert [label.get_text() for label in axes.get_yticklabels()] == [r"\$a", r"b\$"]


def test_the_first_library_that_is_installed_draws_and_without_any_the_error_names_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answer = Estimate(3.0, 1.0, 1.0, 5.0, 0.95, "likelihood")
    monkeypatch.setitem(sys.modules, "altair", None)
    assert answer.plot().axes[0].get_title(loc="left") == "count"
    with pytest.raises(SfumatoError, match=r"sfumato\[report\]"):
        answer.plot("altair")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(SfumatoError, match=r"sfumato\[report\]"):
        answer.plot()
    with pytest.raises(SfumatoError, match="no library 'plotly'"):
        answer.plot("plotly")  # type: ignore[arg-type]
