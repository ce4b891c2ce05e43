import re
from fractions import Fraction
from html.parser import HTMLParser
from typing import get_args

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import OutputError, PolicyError
from sfumato.exact import percent
from sfumato.reports.boxes import _ends, _most_divided
from sfumato.reports.case import ReportCase
from sfumato.reports.evidence import Audience
from sfumato.reports.page import facts_of, html_of, page_with

from .conftest import HOSTILE

SECTIONS = ["published", "promise", "audit", "beliefs", "unique", "attacks", "useful", "boxes", "settings", "glossary"]


class Outline(HTMLParser):
    """Headings, identifiers, tags and what each table has."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.tags, self.headings, self.links = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.tags.append(tag)
        self.ids += [given["id"]] if "id" in given else []
        self.headings += [given.get("id", tag)] if tag in ("h1", "h2") else []
        self.links += [given["href"]] if tag == "a" else []


def text_of(path):
    return path.read_text(encoding="utf-8")


def test_the_private_report_has_every_section_and_links_to_each(private):
    page = Outline(text_of(private))
    assert page.headings == ["h1", *SECTIONS]
    assert [link for link in page.links if link != "#content"] == [f"#{name}" for name in SECTIONS]
    assert len(page.ids) == len(set(page.ids))


def test_it_loads_nothing_and_runs_nothing(private, public):
    for path in (private, public):
        text = text_of(path)
        assert set(re.findall(r"https?://[^\"'\s<]+", text)) <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
        assert not {"script", "link", "img", "iframe", "object"} & set(Outline(text).tags)
        assert "default-src 'none'" in text


def test_what_a_table_says_is_escaped_everywhere_charts_too(private):
    text = text_of(private)
    assert HOSTILE not in text
    assert "&lt;script&gt;" in text
    assert "Bonn & co" not in text


def test_every_picture_has_a_name_and_its_numbers(private):
    text = text_of(private)
    pictures = re.findall(r"<svg [^>]*>", text)
    assert len(pictures) >= 5
    ids = set(Outline(text).ids)
    for one in pictures:
        assert re.search(r'role="img"', one)
        assert re.search(r'aria-labelledby="([^"]+)"', one).group(1) in ids
    assert text.count("<summary>The numbers</summary>") == text.count("<figure>")


def test_it_is_marked_on_the_screen_in_its_title_and_on_every_printed_page(private, public):
    text = text_of(private)
    assert "<title>PRIVATE · " in text
    assert re.search(r'@top-left\{content:"PRIVATE', text)
    assert '<div class="mark private"' in text
    assert "PRIVATE" not in text_of(public)
    assert re.search(r'@top-left\{content:"Public', text_of(public))


def test_the_exposure_it_tells_is_the_audits_and_the_private_file_is_for_its_owner(private, release, table):
    exposure = percent(sf.audit(release, table).exposure, 1)
    assert f"<b>{exposure}</b><span>exposure" in text_of(private)
    assert private.stat().st_mode & 0o077 == 0


def test_what_somebody_who_learns_links_reaches_is_said_in_words(private, tmp_path):
    assert "Not promised, and reached" not in text_of(private)  # nobody beats guessing there
    rows = range(600)
    people = {"age": [20 + i % 60 for i in rows], "town": [i % 3 for i in rows], "ill": ["ABC"[(i % 60) // 20] for i in rows]}
    table = sf.Table.from_frame(pa.table(people), sf.Schema(quasi=["age", "town"], sensitive=["ill"]))
    release = sf.publish(table, sf.FPrivacy(theta="1.8", against="reader"), method=sf.Boxes(floor=20), random=1)
    page = text_of(sf.report(release, table, out=tmp_path / "r.html", attacks=["nb"]))
    best = max(sf.attack(release, table, "nb", random=0), key=lambda one: one.success)
    assert f"({best.name}) names the value of {percent(best.success, 1)} of people; guessing names" in page
    assert ("more firmly than its bound" in page) == (best.over > 0)


def test_the_public_report_is_the_same_whoever_has_which_value(table, people, tmp_path):
    """Values moved among people of a group make the same release, and so the same page."""
    release = sf.publish(table, sf.FPrivacy(theta="1.6", against="reader"), method=sf.Boxes(floor=20), random=1)
    release.save(tmp_path / "release")
    first = sf.report(release, out=tmp_path / "a.html", public=True)
    again = sf.report(tmp_path / "release", out=tmp_path / "b.html", public=True)
    dropped = re.compile(r"<table>\s*<caption>The files.*?</table>", re.S)
    strip = lambda path: re.sub(r"\s+", "", dropped.sub("", text_of(path)))  # noqa: E731
    assert len(strip(first)) > 10_000
    assert abs(len(strip(again)) - len(strip(first))) < 400  # the second also lists the files
    for name in ("exposure: mean belief", 'id="attacks"', "Measured against the original table", "The policy"):
        assert name not in text_of(first)


def test_a_public_report_takes_no_table(release, table, tmp_path):
    with pytest.raises(PolicyError, match="from the release alone"):
        sf.report(release, table, out=tmp_path / "r.html", public=True)


def test_a_report_is_not_written_into_a_release_nor_over_something(release, table, tmp_path):
    release.save(tmp_path / "release")
    with pytest.raises(OutputError, match="files that are not its own"):
        sf.report(release, out=tmp_path / "release" / "report.html", public=True)
    assert sf.audit(tmp_path / "release").holds
    with pytest.raises(OutputError, match="lies in a release"):
        sf.report(release, table, out=tmp_path / "release" / "report.html", attacks=[])
    (tmp_path / "mine.html").write_text("mine")
    with pytest.raises(OutputError, match="exists already"):
        sf.report(release, table, out=tmp_path / "mine.html", attacks=[])
    assert (tmp_path / "mine.html").read_text() == "mine"


def test_beliefs_are_those_of_the_release_and_bounds_those_of_its_manifest(release, table):
    case = ReportCase(release, sf.audit(release, table), table)
    expected = release.mean_beliefs(table.to_arrow().select(["age", "town"]))
    assert np.array_equal(case.beliefs, expected)
    assert case.bounds["Flu"] == min(Fraction(1), Fraction(8, 5) * case.shares["Flu"])
    chosen = case.beliefs[case.truth]
    assert chosen.mean() == pytest.approx(sf.audit(release, table).exposure, abs=0.02)  # over rows that fit, not one's own group


def test_people_alike_are_counted_once_a_combination(release, table):
    case = ReportCase(release, sf.audit(release))
    rows = list(zip(*(table.to_arrow()[name].to_pylist() for name in ("age", "town")), strict=True))
    assert sorted(case.alike.tolist()) == sorted(rows.count(one) for one in set(rows))


def test_boxes_hold_their_people(release):
    first, second = _most_divided(release.quasi, release.group)
    for column in (first, second):
        low, high = _ends(column, release.group)
        assert (low[release.group] <= column.codes).all()
        assert (high[release.group] >= column.codes).all()
        for group in range(len(release.sizes)):
            mine = column.codes[release.group == group]
            assert (low[group], high[group]) == (mine.min(), mine.max())


READER = sf.FPrivacy(theta="1.6", against="reader")


@pytest.mark.parametrize(
    ("method", "requirement"),
    [
        (sf.NearGroups(), READER),
        (sf.UniformPerturbation(), READER),
        (sf.Ambiguity(), sf.PresenceAssociation(1, {"model": "f-privacy", "theta": "1.6"}, against="reader")),
        (sf.PriView(), sf.PresenceAssociation(1, "0.75", against="reader")),
        (sf.Ring(accept_weaker_claim=True, l=2), sf.LDiversity(2, against="reader")),
    ],
    ids=lambda one: getattr(one, "name", ""),
)
def test_every_form_has_a_report(method, requirement, table, tmp_path):
    release = sf.publish(table, requirement, method=method, random=1)
    page = Outline(text_of(sf.report(release, table, out=tmp_path / "private.html", attacks=[])))
    assert {"published", "promise", "audit", "useful", "settings", "glossary"} <= set(page.headings)
    sf.report(release, out=tmp_path / "public.html", public=True)


def test_a_column_that_is_published_coarser_is_said_to_be(people, tmp_path):
    policy = sf.FPrivacy(theta="1.6", against="reader")
    schema = sf.Schema(
        quasi=["age", "town"],
        sensitive=["illness"],
        recode={"age": {"width": 10, "top": 60}, "town": {"map": {"Ulm": "south"}, "other": "west"}},
    )
    release = sf.publish(sf.Table.from_frame(people, schema), policy, method=sf.Boxes(floor=20), random=1)
    page = sf.report(release, out=tmp_path / "public.html", public=True).read_text()
    assert "in bands of 10, 60 and more as one" in page
    assert "put together as south, all else as west" in page
    assert "as it is" not in page
    assert "exact quasi values" not in page


def test_noise_is_promised_against_an_insider_and_nobody_else(people, tmp_path):
    method = sf.NoisyBoxes(values=["Flu", "Gout", "Asthma", "Other"], otherwise="Other", floor=50)
    table = sf.Table.from_frame(people, method.close(sf.Schema(quasi=["age", "town"], sensitive=["illness"])))
    release = sf.publish(table, sf.Differential("2"), method=method, random=1, register=tmp_path)
    page = text_of(sf.report(release, out=tmp_path / "public.html", public=True))
    rows = dict(
        re.findall(
            r"<tr>\s*<t[hd][^>]*>(reader|engineer|insider)</t[hd]>.*?<td[^>]*>(yes|no)\b[^<]*</td>\s*</tr>", page, re.DOTALL
        )
    )
    assert rows == {"reader": "no", "engineer": "no", "insider": "yes"}


def test_records_by_declared_shares_are_promised_to_whoever_believed_these(people, tmp_path):
    shares = {"Flu": "0.02", "Gout": "0.2", "Asthma": "0.2", "Other": "0.58"}
    method = sf.UniformPerturbation(parameters="declared", shares=shares, otherwise="Other")
    table = sf.Table.from_frame(people, method.close(sf.Schema(quasi=["age", "town"], sensitive=["illness"])))
    release = sf.publish(table, sf.FPrivacy(theta=2, offset="0.1", against="insider"), method=method, random=1)
    case = ReportCase(release, sf.audit(release), table=table)
    assert case.bounds["Flu"] == pytest.approx(0.14)  # of the declared 2 %, where 20 % of this table have it
    assert case.covered == ("insider",)
    page = text_of(sf.report(release, table, out=tmp_path / "private.html", attacks=[]))
    assert "yes, from the belief before that it names" in page
    assert "In plain words" not in page


def test_where_nothing_is_claimed_nothing_is_said_to_hold(table, tmp_path):
    release = sf.publish(table, sf.LDiversity(2, against="reader"), method=sf.Ring(accept_weaker_claim=True, l=2), random=1)
    page = text_of(sf.report(release, table, out=tmp_path / "private.html", attacks=["nb"]))
    assert "Nothing wrong was found, and nothing is claimed" in page
    assert "Nothing is promised that an attack could break" in page
    assert "Every claim holds" not in page


def test_each_secret_has_a_sentence_of_its_own_and_nothing_is_said_of_combinations(people, tmp_path):
    frame = people.append_column("second", [["abcd"[(i * i) % 4] for i in range(people.num_rows)]])
    schema = sf.Schema(quasi=["age", "town"], sensitive=["illness", "second"], protect="each")
    table = sf.Table.from_frame(frame, schema)
    release = sf.publish(table, sf.FPrivacy(theta="1.6", against="reader"), method=sf.Boxes(floor=20), random=1)
    page = text_of(sf.report(release, out=tmp_path / "public.html", public=True))
    assert "In plain words, of illness: a reader who uses no link between columns becomes at most" in page
    assert "In plain words, of second:" in page
    assert "combination" not in page.split("The audit")[0].split("What is promised")[1]


def test_a_rule_with_odds_is_said_alone_in_explanation_and_report(table, tmp_path):
    rule = sf.FPrivacy(theta=8, offset="0.02", odds=8, against="reader")
    grown = "of what at least one in nine people have, odds grow at most 8-fold"
    told = sf.explain(table, rule, quick=True).highlights()
    assert f"Rule: {grown}" in " ".join(told)
    release = sf.publish(table, rule, method=sf.Boxes(floor=20), random=1)
    page = text_of(sf.report(release, out=tmp_path / "public.html", public=True))
    assert f"In plain words: {grown}" in page
    assert not any("who uses no link between columns" in text for text in (page, *told))


def test_people_with_several_values_have_a_report_of_rows_people_and_facts(tmp_path):
    from tests.makers import encounters, visits

    table = visits(
        encounters(600, seed=7),
    )
    release = sf.publish(table, sf.FPrivacy(theta=2, offset="0.3"), seed=1)
    text = text_of(sf.report(release, table, out=tmp_path / "private.html", attacks=[]))
    assert table.choice.sentence.split(";")[0].rstrip(".") in text
    assert " facts" in table.choice.sentence
    assert "it is shown, and not protected" in text
    assert "exposure: mean belief in what a person has, over all facts" in text
    case = ReportCase(release, sf.audit(release, table), table).each[0]
    who, value = case.truth
    assert len(value) == case.table.bundles.facts
    assert case.beliefs[who, value].min() > 0
    assert case.shares["i0"] == Fraction(case.table.sensitive.histogram()["i0"], table.rows)
    public = text_of(sf.report(release, out=tmp_path / "public.html", public=True))
    assert "How often somebody was there is shown, as the band of her number of rows, and not protected." in public
    assert " facts" not in public


@pytest.fixture(scope="module")
def documents(release, table, tmp_path_factory):
    """The same facts for each kind of reader, private; the internal one also public, from the release alone."""
    place = tmp_path_factory.mktemp("documents")
    case = ReportCase(release, sf.audit(release, table), table)
    facts = facts_of(case, attacks=["nb"])
    for kind in get_args(Audience):
        (place / kind).write_text(html_of(page_with(case, facts, kind)), encoding="utf-8")
    sf.report(release, out=place / "public", audience="internal", public=True)
    return {kind: place / kind for kind in (*get_args(Audience), "public")}


def test_every_kind_of_reader_gets_the_same_figures_under_headings_of_its_own(documents, private):
    figures = re.compile(r"<b>[\d.]+ %</b>")
    facts = [len(set(figures.findall(text_of(path)))) for path in documents.values()]
    assert facts[:4] == [len(set(figures.findall(text_of(private))))] * 4
    for kind, path in documents.items():
        if kind == "public":
            continue
        text = text_of(path)
        page = Outline(text)
        assert page.headings == ["h1", *(f"chapter-{number}" for number in range(1, len(page.headings)))]
        assert len(page.ids) == len(set(page.ids))
        titles = " ".join(re.findall(r"<h2[^>]*>([^<]*)</h2>", text))
        for needed in ("urpose", "ecipients and controls", "Threats and adversaries", "ethod", "Measured risk", "Review date"):
            assert needed in titles.replace("measured risk", "Measured risk").replace("threats", "Threats"), (kind, needed)
        assert re.search("[Rr]esidual risk", titles)
        assert "Who signs" in titles
        for fact in ("Exposure: a reader is", "The values that come closest", "are the only one with their quasi values"):
            assert text.count(fact) == text_of(private).count(fact) > 0


def test_a_document_says_nothing_that_the_product_cannot_answer_for(documents):
    for path in documents.values():
        text = text_of(path).lower()
        for word in ("complian", "complies", "conform", "certif", "anonymous", "lawful", "approved", "acceptable risk"):
            assert word not in text, word
        assert text.count('<table class="fill">') >= 4
        for blanks in re.findall(r'<table class="fill">(.*?)</table>', text, re.DOTALL):
            assert blanks.count("<td></td>") == blanks.count("<td") > 0  # empty, whatever was measured


def test_a_public_document_is_made_from_the_release_alone(documents):
    text = text_of(documents["public"])
    assert "PRIVATE" not in text
    for private in ("Exposure:", "What attacks reach", "The policy", "Measured beyond the claims"):
        assert private not in text


def test_a_stated_population_is_in_the_private_report_and_in_what_is_left(release, people, tmp_path):
    schema = sf.Schema(quasi=["age", "town"], sensitive=["illness"], population=90_000)
    table = sf.Table.from_frame(people, schema)
    text = text_of(sf.report(release, table, out=tmp_path / "r", audience="gdpr", attacks=[]))
    assert "In the population (90,000 people" in text
    assert "alone among 90,000 people" in text


def test_a_weight_is_shown_as_one_and_what_no_claim_covers_is_left(tmp_path):
    frame = pa.table({"age": [20 + i % 40 for i in range(400)], "wt": [10.0, 30.0] * 200, "ill": ["a", "b", "c", "d"] * 100})
    release = sf.publish(frame, sf.LDiversity(2), quasi=["age"], sensitive="ill", weight={"column": "wt", "floor": 50}, random=1)
    text = text_of(sf.report(release, out=tmp_path / "r", audience="hipaa", public=True))
    assert re.search(r"wt</th>\s*<td[^>]*>weight</td>\s*<td[^>]*>one number for each of 2 bins of at least 50 people<", text)
    assert text.count("may have been made with secrets") == 2  # in the claim, and in what is left


def test_another_reader_is_not_known(release, tmp_path):
    with pytest.raises(PolicyError, match="audience: unknown 'hippa'"):
        sf.report(release, out=tmp_path / "r", audience="hippa")
