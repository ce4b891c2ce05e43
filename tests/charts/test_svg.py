import re

import pytest

from sfumato.charts import library, picture_page, picture_svg, save_picture
from sfumato.charts.look import DARK, LIGHT
from sfumato.charts.svg import colour
from sfumato.errors import InputError


@pytest.fixture
def chart():
    alt = library.altair()
    data = alt.Data(values=[{"x": "<b>", "y": 1}, {"x": "b", "y": 2}])
    return alt.Chart(data).mark_bar(color=colour(0)).encode(x="x:N", y="y:Q")


def test_a_picture_is_named_for_whoever_does_not_see_it(chart):
    svg = picture_svg(chart, title="Bars & more", description="two <bars>", numbered="one")
    assert '<title id="one-title">Bars &amp; more</title><desc id="one-desc">two &lt;bars&gt;</desc>' in svg
    assert 'role="img" aria-labelledby="one-title" aria-describedby="one-desc"' in svg
    assert "<b>" not in svg


def test_colours_are_names_that_a_page_sets(chart):
    assert set(re.findall(r"var\(--sf-(\w+)\)", picture_svg(chart, title="x"))) <= set(LIGHT)
    page = picture_page(chart, title="x")
    for scheme in (LIGHT, DARK):
        assert f"--sf-0:{scheme['0']};" in page
    assert LIGHT.keys() == DARK.keys()


def test_identifiers_of_two_pictures_of_a_page_differ(chart):
    ids = [set(re.findall(r'id="([^"]+)"', picture_svg(chart, title="x", numbered=name))) for name in ("one", "two")]
    assert ids[0]
    assert not ids[0] & ids[1]


def test_the_same_chart_is_the_same_picture(chart, tmp_path):
    first = save_picture(chart, tmp_path / "a" / "x.svg", title="x").read_text()
    assert first == save_picture(chart, tmp_path / "y.svg", title="x").read_text()


def test_without_the_library_the_error_names_the_extra():
    with pytest.raises(InputError, match="no_such_charts".replace("_", "-")) as refused:
        library.chart_library("no_such_charts")
    assert "sfumato[report]" in refused.value.hint


def test_many_dots_are_written_once_and_stand_where_they_were():
    alt = library.altair()
    data = alt.Data(values=[{"x": k, "y": k * k} for k in range(30)])
    scale = alt.Scale(domain=[0, 29], nice=False)
    chart = alt.Chart(data).mark_circle(size=20).encode(x=alt.X("x:Q", scale=scale), y="y:Q").properties(width=290, height=100)
    svg = picture_svg(chart, title="x", numbered="n")
    places = [float(found) for found in re.findall(r'<use href="#n-m0" x="([^"]+)"', svg)]
    assert places == [10.0 * k for k in range(30)]
    assert svg.count('id="n-m0"') == 1
