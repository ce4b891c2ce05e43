"""Editing a policy: everything that is wrong at once, in the words of whoever reads it, and what a change means."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import InputError, PolicyError
from sfumato.policy import Policy, differences, review
from sfumato.policy.wording import hint_in_toml
from tests.makers import tells

POLICY = """\
[columns]
identifier = ["name"]
quasi      = ["age", "sex"]
sensitive  = ["illness"]
[recode]
age = { width = 5 }
[requirement]
model = "f-privacy"
theta = 2
offset = "0.1"
"""
TABLE = (
    "name,age,sex,illness\n" + "\n".join(f"P{i},{20 + i % 40},{'fm'[i % 2]},{['Flu', 'Gout'][i % 2]}" for i in range(80)) + "\n"
)


def problems(text: str) -> list[str]:
    with pytest.raises(PolicyError) as caught:
        Policy.parse(text)
    return [one.message for one in caught.value.problems or (caught.value,)]


def test_all_problems_of_a_policy_are_told_at_once() -> None:
    text = POLICY.replace("width", "widht").replace("theta", "thetta").replace('"name"', "3") + '[metod]\nname = "boxs"\n'
    assert problems(text) == [
        "unknown section [metod]",
        "[columns] identifier: expected a list of texts, got a list",
        "[requirement] thetta: unknown key",
    ]
    text = (
        POLICY.replace("width", "widht")
        + '[missing]\nsex = "ignore"\nillness = "dropp"\n[bins]\nage = [1, 2]\n[method]\nflor = 3\n'
    )
    assert problems(text) == [
        "[bins] 'age' is a column of role quasi, and bins is for sensitive columns",
        "[missing] sex: got 'ignore', expected one of value, drop, error",
        "[missing] illness: got 'dropp', expected one of value, drop, error",
        "[recode] age: unknown key 'widht'",
        "[method] flor: unknown key",
    ]


def test_a_changed_role_costs_one_run_and_not_one_for_every_rule() -> None:
    rules = "".join(f"c{i} = { {'prefix': 1} }\n".replace("{'prefix': 1}", "{ prefix = 1 }") for i in range(40))
    columns = ", ".join(f'"c{i}"' for i in range(40))
    text = POLICY.replace('"illness"]', f'"illness"]\nother = [{columns}]').replace("[recode]\n", f"[recode]\n{rules}")
    policy = Policy.parse(text)
    assert len(policy.warnings) == 1
    assert policy.warnings[0].startswith("[recode] 'c0', 'c1', ")
    assert tells(policy.warnings[0], "without effect")
    assert policy.schema.to_dict()["recode"] == {"age": {"width": 5}}


def test_which_of_two_spellings_is_wrong_is_said_by_the_table(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(TABLE)
    (tmp_path / "p.toml").write_text(POLICY.replace('"age"', '"aeg"'))
    assert problems(POLICY.replace('"age"', '"aeg"')) == ["[recode] no column 'age' under [columns]"]
    with pytest.raises(PolicyError) as caught:
        Policy.load(tmp_path / "p.toml", data=tmp_path / "t.csv")
    assert tells(caught.value.message, "p.toml", "[columns] quasi", "'aeg'")
    assert caught.value.hint == "did you mean 'age'?"
    (tmp_path / "p.toml").write_text(POLICY.replace("age =", "aeg ="))
    with pytest.raises(PolicyError) as caught:
        Policy.load(tmp_path / "p.toml", data=tmp_path / "t.csv")
    assert tells(caught.value.message, "p.toml", "[recode]", "'aeg'")
    assert tells(caught.value.hint, "'aeg'", "'age'")


def test_a_first_line_that_may_be_a_person_is_not_quoted(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("Anna Meyer,thirty-four,f,HIV\nHans Kim,35,m,Flu\n")
    (tmp_path / "p.toml").write_text(POLICY.replace('"age"', '"aeg"'))
    with pytest.raises(PolicyError) as caught:
        Policy.load(tmp_path / "p.toml", data=tmp_path / "t.csv")
    assert "Anna" not in str(caught.value)
    assert "thirty-four" not in str(caught.value)


@pytest.mark.parametrize(
    ("make", "message", "hint"),
    [
        (lambda: sf.FPrivacy(thetta=8), "FPrivacy(thetta=…): unknown parameter", "did you mean 'theta'?"),  # type: ignore[call-arg]
        (lambda: sf.Boxes(flor=8), "Boxes(flor=…): unknown parameter", "did you mean 'floor'?"),  # type: ignore[call-arg]
        (lambda: sf.Schema(quasy=["a"]), "Schema(quasy=…): unknown parameter", "did you mean 'quasi'?"),  # type: ignore[call-arg]
        (
            lambda: sf.Schema(quasi=["age"], sensitive=["ill"], recode={"agee": {"width": 5}}),
            "recode: no column 'agee' in the schema",
            "one of 'agee' and 'age' is misspelt: write it as the table does",
        ),
        (lambda: sf.Schema(quasi=["age"]), "the schema names no sensitive column", 'name one: sensitive=["…"]'),
    ],
)
def test_python_gets_errors_as_good_and_in_python(make: object, message: str, hint: str) -> None:
    with pytest.raises(PolicyError) as caught:
        make()  # type: ignore[operator]
    assert (caught.value.message, caught.value.hint) == (message, hint)


@pytest.mark.parametrize(
    ("python", "toml"),
    [
        ('missing={"a b": "value"} makes', '[missing] "a b" = "value" makes'),
        ('missing={"age": "value"} makes', '[missing] age = "value" makes'),
        ('for a numeric column: {"width": 5, "top": 90}', "for a numeric column: { width = 5, top = 90 }"),
        ('drop with other=["phone", "mail"]', 'drop with [columns] other = ["phone", "mail"]'),
        ('types={"age": "numeric"}', '[types] age = "numeric"'),
        ("did you mean 'age'?", "did you mean 'age'?"),
        (None, None),
    ],
)
def test_hints_of_python_objects_are_written_for_a_policy_as_it_writes_them(python: str | None, toml: str | None) -> None:
    assert hint_in_toml(python) == toml


def test_dropping_people_is_not_the_first_advice(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("name,age,sex,illness\nA,1,f,\nB,2,m,Flu\n")
    with pytest.raises(InputError) as caught:
        Policy.parse(POLICY).read_table(tmp_path / "t.csv")
    assert str(caught.value.hint).startswith('[missing] illness = "value" makes')
    schema = sf.Schema(identifier=["name"], quasi=["age", "sex"], sensitive=["illness"])
    with pytest.raises(InputError) as caught:
        sf.Table.read(tmp_path / "t.csv", schema)
    assert str(caught.value.hint).startswith('missing={"illness": "value"} makes')


def texts(rows: int, alone: int) -> str:
    """Return a table in which so many people are the only one with their nickname."""
    names = [f"n{i}" if i < alone else f"n{alone + (i - alone) // 2}" for i in range(rows)]
    return "nick,illness\n" + "\n".join(f"{name},{['Flu', 'Gout'][i % 2]}" for i, name in enumerate(names))


@pytest.mark.parametrize(("alone", "refused"), [(20, True), (18, False)])
def test_texts_that_nearly_name_people_are_published_only_if_that_is_meant(tmp_path: Path, alone: int, refused: bool) -> None:
    (tmp_path / "t.csv").write_text(texts(100, alone))
    schema = sf.Schema(quasi=["nick"], sensitive=["illness"])
    requirement = sf.FPrivacy(theta="1.5", offset="0.1")
    if not refused:
        assert sf.publish(sf.Table.read(tmp_path / "t.csv", schema), requirement, random=1).rows == 100
        return
    with pytest.raises(InputError) as caught:
        sf.publish(sf.Table.read(tmp_path / "t.csv", schema), requirement)
    assert "'nick': 20 of 100 people (20 %)" in caught.value.message
    assert 'allow_unique=["nick"]' in str(caught.value.hint)
    meant = sf.Schema(quasi=["nick"], sensitive=["illness"], allow_unique=["nick"])
    assert sf.publish(sf.Table.read(tmp_path / "t.csv", meant), requirement, random=1).rows == 100


@pytest.mark.parametrize(("alone", "refused"), [(1_100, True), (980, False)])
def test_numbers_that_name_people_are_published_only_if_that_is_meant(alone: int, refused: bool) -> None:
    rows = 1_200
    numbers = [i if i < alone else alone + (i - alone) // 2 for i in range(rows)]
    frame = pa.table({"number": numbers, "illness": ["Flu", "Gout"] * (rows // 2)})
    requirement = sf.FPrivacy(theta="1.5", offset="0.1")
    asked: dict[str, Any] = {"quasi": ["number"], "sensitive": ["illness"]}
    assert sf.publish(frame, requirement, **asked, allow_unique=["number"], random=1).rows == rows
    if refused:
        with pytest.raises(InputError, match="'number': 1,100 of 1,200 people"):
            sf.publish(frame, requirement, **asked)
    else:
        assert sf.publish(frame, requirement, **asked, random=1).rows == rows


def test_allow_unique_is_for_quasi_columns() -> None:
    assert Policy.parse(POLICY.replace("[recode]", 'allow_unique = ["sex"]\n[recode]')).schema.allow_unique == ("sex",)
    text = POLICY.replace("[recode]", 'allow_unique = ["name"]\n[recode]')
    assert problems(text) == ["[columns] allow_unique: 'name' is no quasi column"]


def test_a_policy_that_does_not_say_is_reviewed_and_a_draft_is_not(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(TABLE)
    assert Policy.parse(POLICY).reviewed is True
    draft = Policy.parse("reviewed = false\n" + POLICY)
    with pytest.raises(PolicyError) as caught:
        draft.require_reviewed(tmp_path / "t.csv", named="p.toml")
    assert [one.message for one in caught.value.problems] == [
        "age: quasi; others may know it (age)",
        "sex: quasi; others may know it (sex)",
        "illness: sensitive; it is called like something about health",
        "name: identifier; it is called like a person's name, address or contact",
    ]
    assert problems("reviewed = 1\n" + POLICY) == ["reviewed: expected true or false, got a whole number (1)"]


def test_a_role_that_a_draft_would_not_give_is_doubtful(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(TABLE)
    policy = Policy.parse(POLICY.replace('identifier = ["name"]', "").replace('"sex"]', '"sex", "name"]'))
    first = review(tmp_path / "t.csv", policy.schema, policy.options)[0]
    assert (first.column, first.role, first.sure) == ("name", "quasi", False)
    assert first.why == "a draft would say identifier: it is called like a person's name, address or contact"


def test_the_difference_of_two_policies_is_told_in_sentences() -> None:
    old = Policy.parse("reviewed = false\n" + POLICY)
    changed = POLICY.replace("theta = 2", "theta = 3").replace("width = 5", "width = 10").replace(', "sex"]', "]")
    changed = changed.replace('"illness"]', '"illness"]\nother = ["sex"]').replace("theta", 'against = "reader"\ntheta')
    new = Policy.parse(changed + '[requirement.bounds]\nFlu = 1\nGout = "0.55"\n[method]\nname = "anatomy"\n')
    assert differences(old, old) == []
    assert differences(old, new) == [
        "It is reviewed now, and can be published.",
        "'sex' was quasi (published, as what a reader may know) and is now other (dropped).",
        "'age' is published { width = 10 } in place of { width = 5 }.",
        "The promise is now against reader, who knows less than engineer.",
        "theta goes from 2 to 3: a reader may become surer.",
        "'Flu': no bound of its own becomes no bound, a reader may become certain.",
        "'Gout': no bound of its own becomes a bound of 55 %.",
        "The method was the default and is now anatomy.",
    ]


def test_odds_are_told_as_stricter_or_laxer_also_where_they_come_or_go() -> None:
    without = Policy.parse(POLICY)
    eight, four = (Policy.parse(POLICY.replace("theta = 2", f"theta = 2\nodds = {odds}")) for odds in (8, 4))
    assert differences(without, eight) == ["odds goes from nothing said to 8: a reader may become less sure."]
    assert differences(eight, four) == ["odds goes from 8 to 4: a reader may become less sure."]
    assert differences(four, without) == ["odds goes from 4 to nothing said: a reader may become surer."]
