"""In a notebook: frames go in directly, answers come out as frames, and what is shown is short, escaped and shows nobody."""

from __future__ import annotations

import doctest
import importlib
import re
from html.parser import HTMLParser

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sfumato as sf

HOSTILE = "<script>alert('x')</script>\u202e"


class Balanced(HTMLParser):
    """Collects text, and fails on tags that are not closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        assert tag in ("div", "strong", "p", "table", "thead", "tbody", "tr", "th", "td")
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data + " "


def shown(thing: object) -> str:
    """Return the text of a thing's HTML, after checking that it is whole and nothing in it runs."""
    reader = Balanced()
    html = thing._repr_html_()  # type: ignore[attr-defined]
    reader.feed(html)
    assert reader.open == []
    assert "<script" not in html
    assert "\u202e" not in html
    return reader.text


def frame(count: int = 40) -> pa.Table:
    return pa.table(
        {
            "name": [f"Person{i}" for i in range(count)],
            "age": [7 * i % 60 + 20 for i in range(count)],
            "sex": ["f", "m"] * (count // 2),
            "illness": [["Flu", "Gout", "Asthma", HOSTILE][i // 2 % 4] for i in range(count)],
        }
    )


TOLD = {"quasi": ["age", "sex"], "sensitive": "illness"}


@pytest.fixture(scope="module")
def release() -> sf.Release:
    return sf.publish(frame(), sf.LDiversity(3), random=1, **TOLD)


def test_a_frame_is_published_with_its_columns_told_and_the_others_are_not_in_it(release: sf.Release) -> None:
    assert release.rows == 40
    assert [column["name"] for column in release.manifest.schema["quasi"]] == ["age", "sex"]
    assert not any("Person" in str(table.to_pydict()) for table in release.tables().values())
    table = sf.Table.from_frame(frame(), sf.Schema(quasi=["age", "sex"], sensitive=["illness"], other=["name"]))
    same = sf.publish(table, sf.LDiversity(3), random=1)
    assert all(same.tables()[name].equals(made) for name, made in release.tables().items())


@pytest.mark.parametrize("kind", [pa.Table.to_pandas, pl.from_arrow, lambda table: table], ids=["pandas", "polars", "pyarrow"])
def test_answers_come_back_as_the_callers_kind_of_frame(kind: object) -> None:
    given = kind(frame())  # type: ignore[operator]
    made = sf.publish(given, sf.LDiversity(3), random=1, **TOLD)
    one, many = made.count("sex = 'f'"), made.count("SELECT sex, COUNT(*) GROUP BY sex")
    assert type(one.frame()) is type(given)
    assert type(many.frame()) is type(given)  # type: ignore[union-attr]
    assert isinstance(one.to_pandas(), pd.DataFrame)
    assert one.to_pandas()["count"].tolist() == [pytest.approx(20)]
    assert many.to_pandas()["sex"].tolist() == ["f", "m"]
    assert many.to_pandas()["count"].sum() == pytest.approx(40)


def test_reprs_are_short_and_html_is_escaped(release: sf.Release) -> None:
    schema = sf.Schema(quasi=["age", HOSTILE], sensitive=["illness"], recode={"age": {"width": 5}}, missing={"age": "drop"})
    table = sf.Table.from_frame(frame(), sf.Schema(quasi=["age", "sex"], sensitive=["illness"], other=["name"]))
    audit = sf.audit(release, table)
    answer = release.count("SELECT illness, COUNT(*) GROUP BY illness")
    about = sf.explain(table, sf.LDiversity(3), quick=True)
    for thing, words in (
        (table, ("Table of 40 rows", "quasi", "sensitive", "age")),
        (schema, ("Schema", "width", "missing: drop")),
        (release, ("40 people", "the first of them", "engineer")),
        (audit, ("Audit: holds", "engineer")),
        (answer, ("4 cells", "in all", "95 % interval")),
        (release.count("sex = 'f'"), ("20.0",)),
        (about, ("The bounds can be kept", "Unique", "private: figures of the original table", "Found")),
    ):
        text = shown(thing)
        assert all(word in text for word in words), text
        assert "object at 0x" not in repr(thing)
        assert max(map(len, repr(thing).splitlines())) < 400
        assert "Person" not in repr(thing) + text


def test_a_table_shows_no_value_of_anybody() -> None:
    table = sf.Table.from_frame(frame(), sf.Schema(quasi=["age", "sex"], sensitive=["illness"], other=["name"]))
    text = repr(table) + shown(table)
    assert not re.search("Flu|Gout|Asthma|alert|Person|27", text)


def test_explain_takes_a_frame() -> None:
    about = sf.explain(frame(), sf.LDiversity(3), quick=True, **TOLD)
    assert isinstance(about, sf.Explanation)


def test_a_draft_of_a_frame_is_explained_and_published_only_when_reviewed() -> None:
    given = frame(200).to_pandas()
    policy = sf.draft(given, sensitive="illness", quasi=["age", "sex"], identifier="name")
    assert isinstance(policy, sf.Policy)
    assert repr(policy).startswith("Policy(a draft, not reviewed; ")
    assert len(repr(policy)) < 200
    assert str(policy) == policy.text
    assert not policy.reviewed
    assert (list(policy.schema.sensitive), list(policy.schema.identifier)) == (["illness"], ["name"])
    assert sf.explain(given, policy, quick=True).table.rows == 200
    with pytest.raises(sf.PolicyError, match="unreviewed draft"):
        sf.publish(given, policy, random=1)
    looked_at = sf.draft(given, sensitive="illness", quasi=["age", "sex"], identifier="name", reviewed=True)
    assert sf.publish(given, looked_at, random=1).rows == 200
    with pytest.raises(sf.PolicyError, match="unknown parameter"):
        sf.draft(given, secret="illness")


def test_columns_beside_a_table_or_a_policy_are_refused_and_a_frame_without_them_too() -> None:
    table = sf.Table.from_frame(frame(), sf.Schema(quasi=["age", "sex"], sensitive=["illness"], other=["name"]))
    with pytest.raises(sf.PolicyError, match="has its own schema"):
        sf.publish(table, sf.LDiversity(3), quasi=["age"])
    with pytest.raises(sf.PolicyError, match="got a Table") as refused:
        sf.publish(frame(), sf.LDiversity(3))
    assert "sensitive=…" in str(refused.value.hint)
    with pytest.raises(sf.PolicyError, match="unknown parameter"):
        sf.publish(frame(), sf.LDiversity(3), quasy=["age"], sensitive="illness")
    with pytest.raises(sf.PolicyError, match="requirement: got a int"):
        sf.publish(frame(), 3, **TOLD)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "module",
    ["api", "auditor.result", "explanation.explanation", "query.answer", "release.base", "table.schema", "table.table"],
)
def test_the_examples_in_docstrings_run_as_shown(module: str) -> None:
    found = doctest.testmod(importlib.import_module(f"sfumato.{module}"))
    assert found.attempted > 0
    assert found.failed == 0
