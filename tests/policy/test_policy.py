"""The policy file: every key arrives, and every slip is told with its place and what would work."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from sfumato.errors import PolicyError
from sfumato.methods import Ambiguity, Anatomy, Boxes, Mondrian, MultiSize
from sfumato.policy import Policy
from sfumato.privacy import BetaLikeness, FPrivacy, LDiversity, RhoPrivacy

FULL = """
[input]
delimiter = ";"
decimal = ","
encoding = "latin-1"
null = ["", "NA", "?"]
one_row_per_person = false

[columns]
identifier = ["name"]
quasi      = ["age", "sex", "postcode", "admitted"]
sensitive  = ["diagnosis", "cost"]
other      = ["weight"]

[types]
postcode = "categorical"
cost = "numeric"
[recode]
age      = { width = 5, top = 90 }
postcode = { prefix = 2 }
admitted = { to = "month" }
[bins]
cost = [0, 10.5, inf]
[domains]
sex = ["f", "m"]
[missing]
diagnosis = "value"

[requirement]
protect = "combination"
model   = "f-privacy"
against = "reader"
theta   = 8
offset  = "0.02"
[requirement.bounds]
"HIV" = 0.29
"Flu" = "1"

[method]
name = "multi-size"
strategy = "top-down"
max_size = 40
time_limit = 2.5
"""

SMALL = """
[columns]
quasi = ["age"]
sensitive = ["diagnosis"]
[requirement]
model = "l-diversity"
l = 3
"""


def refusal(text: str) -> str:
    with pytest.raises(PolicyError) as caught:
        Policy.parse(text)
    return str(caught.value)


def test_every_key_of_the_file_arrives() -> None:
    policy = Policy.parse(FULL)
    options, schema = policy.options, policy.schema
    assert (options.delimiter, options.decimal, options.encoding) == (";", ",", "latin-1")
    assert tuple(options.null) == ("", "NA", "?")
    assert schema.one_row_per_person is False
    assert (schema.identifier, schema.other) == (("name",), ("weight",))
    assert schema.quasi == ("age", "sex", "postcode", "admitted")
    assert schema.sensitive == ("diagnosis", "cost")
    assert schema.types == {"postcode": "categorical", "cost": "numeric"}
    assert schema.to_dict()["recode"] == {"age": {"width": 5, "top": 90}, "postcode": {"prefix": 2}, "admitted": {"to": "month"}}
    assert schema.to_dict()["bins"] == {"cost": [0, 10.5, "inf"]}
    assert schema.to_dict()["domains"] == {"sex": ["f", "m"]}
    assert schema.missing_rule("diagnosis") == "value"
    assert policy.requirement == FPrivacy(theta=8, offset="1/50", bounds={"HIV": "29/100", "Flu": 1}, against="reader")
    assert policy.method == MultiSize(strategy="top-down", max_size=40, time_limit=2.5)
    assert policy.text == FULL


@pytest.mark.parametrize("written", ["0.29", "0.57", "0.07", "0.1", "0.30000000000000004", "2.9e-1"])
def test_a_decimal_is_taken_as_written(written: str) -> None:
    text = FULL.replace("0.29", written)
    requirement = Policy.parse(text).requirement
    assert isinstance(requirement, FPrivacy)
    assert requirement.own_bounds["HIV"] == Fraction(written)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ('model = "l-diversity"\nl = 4', LDiversity(4)),
        ('model = "beta-likeness"\nbeta = 0.7\nenhanced = true', BetaLikeness("7/10", enhanced=True)),
        ('model = "rho-privacy"\nrho1 = 0.1\nrho2 = "1/3"', RhoPrivacy("1/10", "1/3")),
        ('model = "f-privacy"\noffset = "5%"', FPrivacy(offset="1/20")),
    ],
)
def test_every_model_can_be_asked_for(lines: str, expected: object) -> None:
    text = SMALL.replace('model = "l-diversity"\nl = 3', lines)
    assert Policy.parse(text).requirement == expected


def test_without_a_method_the_table_decides_which_one_is_used() -> None:
    assert Policy.parse(SMALL).method is None
    assert Policy.parse(SMALL + "[method]\n").method is None


def test_method_options_without_a_name_belong_to_the_usual_method() -> None:
    assert Policy.parse(SMALL + "[method]\nfloor = 30\n").method == Boxes(floor=30)
    hiding = SMALL.replace('"l-diversity"\nl = 3', '"presence-association"\nalpha = 0.1\nbeta = 0.2')
    assert Policy.parse(hiding + "[method]\nfloor = 30\n").method == Ambiguity(floor=30)


@pytest.mark.parametrize("key", ["inside", "decoys", "guard_decoys", "strategy", "max_size"])
def test_an_option_of_another_method_is_an_unknown_key(key: str) -> None:
    assert refusal(SMALL + f"[method]\nname = 'boxes'\n{key} = 1\n").startswith(f"[method] {key}: unknown key")


def test_anatomy_can_be_chosen_with_its_options() -> None:
    chosen = Policy.parse(SMALL + '[method]\nname = "anatomy"\nl = 5\nsuppress = true\n').method
    assert chosen == Anatomy(l=5, suppress=True)


def test_every_option_of_boxes_arrives() -> None:
    text = '[method]\nname = "boxes"\nform = "ranges"\nfloor = 30\nweights = { age = 2.5 }\n'
    assert Policy.parse(SMALL + text).method == Boxes(form="ranges", floor=30, weights={"age": 2.5})
    learned = Policy.parse(SMALL + '[method]\nname = "boxes"\nweights = "association"\n').method
    assert learned == Boxes(weights="association")


@pytest.mark.parametrize(
    ("written", "expected"), [("0.2", "1/5"), ('"1/3"', "1/3"), ('"20%"', "1/5"), ("0.1000000000000000055", None)]
)
def test_exact_options_of_mondrian_are_taken_as_written(written: str, expected: str | None) -> None:
    text = f"[method]\nname = 'mondrian'\nconstraint = 't-closeness'\nt = {written}\n"
    method = Policy.parse(SMALL.replace("l = 3", "l = 3\nagainst = 'reader'") + text).method
    assert isinstance(method, Mondrian)
    assert method.t == Fraction(expected or written)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("l = 3", "ll = 3", ["[requirement] ll", "unknown key"]),
        ("l = 3", "", ["[requirement] l", "missing"]),
        ("l = 3", 'l = "three"', ["[requirement] l: expected a whole number", "three"]),
        ("l = 3", "l = true", ["[requirement] l: expected a whole number from 1 on, got true"]),
        ('"l-diversity"', '"l-divrsity"', ["[requirement] model", "did you mean 'l-diversity'?"]),
        ('"l-diversity"\nl = 3', '"presence-association"\nalpha = 0.1', ["[requirement] beta", "missing"]),
        (
            '"l-diversity"\nl = 3',
            '"presence-association"\nalpha = 2\nbeta = 0.1',
            ["[requirement] alpha: expected a number", "got 2"],
        ),
        (
            '"l-diversity"\nl = 3',
            '"presence-association"\nalpha = 0.1\nbeta = { model = "l-diversity", k = 3 }',
            ["[requirement] beta: l-diversity has no parameter 'k'"],
        ),
        ('"l-diversity"', "3", ["[requirement] model", "expected text", "whole number"]),
        ('model = "l-diversity"\n', "", ["[requirement] model", "missing", "f-privacy"]),
        ("[requirement]", "[requiremnt]", ["unknown section [requiremnt]", "did you mean [requirement]?"]),
        ("[columns]", "[column]", ["unknown section [column]", "did you mean [columns]?"]),
        ("[columns]", "[Columns]", ["unknown section [Columns]", "did you mean [columns]?"]),
        ("[columns]", "theta = 8\n[columns]", ["theta", "outside of all sections"]),
        ("[columns]", "reveiwed = true\n[columns]", ["reveiwed", "did you mean reviewed?"]),
        ("quasi =", "quasy =", ["[columns] quasy", "did you mean 'quasi'?"]),
        ('["age"]', '"age"', ["[columns] quasi", "a list of texts", 'quasi = ["age"]']),
        ('["age"]', "[1]", ["[columns] quasi", "a list of texts"]),
        ('["age"]', "[]", ["[columns] quasi: no column is named"]),
        ('["age"]', '["diagnosis"]', ["[columns] 'diagnosis' is listed as quasi and"]),
        ("l = 3", "L = 3", ["[requirement] L", "did you mean 'l'?"]),
        ('["age"]', '["age"', ["not valid TOML", "line 4"]),
        ("l = 3", 'l = 3\nagainst = "readr"', ["[requirement] against: expected one of", "did you mean 'reader'?"]),
        ("l = 3", 'l = 3\n[requirement.bounds]\nHIV = "0.1"', ["[requirement] bounds", "unknown key"]),
        ("l = 3", "l = 3\nl = 4", ["not valid TOML", "line 8"]),
    ],
)
def test_a_slip_is_told_with_its_place_and_what_would_work(old: str, new: str, told: list[str]) -> None:
    assert old in SMALL
    message = refusal(SMALL.replace(old, new, 1))
    for words in told:
        assert words in message


@pytest.mark.parametrize(
    ("section", "told"),
    [
        ("[input]\ndelimeter = ';'", ["[input] delimeter", "did you mean 'delimiter'?"]),
        ("[input]\ndelimiter = 3", ["[input] delimiter", "expected text", "(3)"]),
        ("[input]\ndelimiter = ';;'", ["[input] delimiter", "one character"]),
        ("[input]\nnull = 'NA'", ["[input] null", "list of texts"]),
        ("[input]\none_row_per_person = 'yes'", ["[input] one_row_per_person", "true or false"]),
        ("[input]\nencoding = 'utf-88'", ["[input] encoding", "utf-88"]),
        ("[types]\nage = 'number'", ["[types] age: got 'number', expected one of numeric", "did you mean 'numeric'?"]),
        ("[types]\nagee = 'numeric'", ["[types] no column 'agee' under [columns]", "one of 'agee' and 'age' is misspelt"]),
        ("[types]\nAGE = 'numeric'", ["[types] no column 'AGE' under [columns]", "one of 'AGE' and 'age' is misspelt"]),
        (
            "[recode]\ndiagnosis = { width = 2 }",
            ["[recode] 'diagnosis' is sensitive, and width, top or bottom is for quasi", "bins"],
        ),
        ("[recode]\nage = { widht = 5 }", ["[recode] age: unknown key 'widht'", "width"]),
        ("[bins]\ndiagnosis = [3, 1]", ["[bins] diagnosis: edges must ascend"]),
        ("[domains]\nage = { min = 3 }", ["[domains] age: needs both min and max"]),
        ("[missing]\ndiagnosis = 'ignore'", ["[missing] diagnosis: got 'ignore', expected one of value, drop, error"]),
        ("[method]\nname = 'boxs'", ["[method] name", "did you mean 'boxes'?"]),
        ("[method]\nname = 'multi-size'\nmaxsize = 3", ["[method] maxsize", "did you mean 'max_size'?"]),
        ("[method]\nname = 'multi-size'\nmax_size = 0", ["[method] max_size: expected a whole number"]),
        ("[method]\nname = 'multi-size'\nmax_size = 2.5", ["[method] max_size: expected a whole number"]),
        ("[method]\nname = 'multi-size'\nmax_size = 1", ["[method] max_size: a bucket of 1 person hides nothing", "50"]),
        ("[method]\nname = 'multi-size'\nstrategy = 'best'", ["[method] strategy: expected one of 'optimal'"]),
        ("[method]\nfloor = 0", ["[method] floor: expected a whole number from 1 on"]),
        ("[method]\nform = 'columns'", ["[method] form: expected one of 'buckets', 'ranges'"]),
        ("[method]\nweights = 3", ["[method] weights: expected column = weight pairs or 'association'"]),
        ("[method]\nweights = { agee = 2 }", ["[method] weights agee: unknown key", "did you mean 'age'?"]),
        (
            "[method]\naccept_weaker_claim = true",
            ["[method] accept_weaker_claim", "for ambiguity, priview, heterogeneous"],
        ),
        ("[extra]\nx = 1", ["unknown section [extra]", "the sections are [input], [people], [columns]"]),
    ],
)
def test_a_slip_in_an_optional_part_is_told_too(section: str, told: list[str]) -> None:
    message = refusal(SMALL + section + "\n")
    for words in told:
        assert words in message


@pytest.mark.parametrize("bound", ["0", "1.01", '"2"', "-0.5", "nan", "inf", '"much"', "true", "[1]"])
def test_a_bound_that_is_none_is_refused(bound: str) -> None:
    text = FULL.replace('"HIV" = 0.29', f'"HIV" = {bound}')
    message = refusal(text)
    assert message.startswith(("[requirement.bounds] HIV: expected a number", "[requirement.bounds] the bound of 'HIV' must"))
    assert "FPrivacy" not in message


def test_a_rule_that_bounds_everything_by_0_is_refused_in_the_words_of_the_file() -> None:
    message = refusal(FULL.replace("theta   = 8", "theta = 0").replace('"0.02"', "0"))
    assert message.startswith("[requirement] theta = 0 with offset = 0")


@pytest.mark.parametrize("name", ["types", "recode", "bins", "domains", "missing", "input", "method"])
def test_a_key_where_a_table_belongs_is_refused(name: str) -> None:
    message = refusal(f"{name} = 3\n" + SMALL)
    assert message.startswith(f"[{name}]: expected a table, got a whole number (3)")


@pytest.mark.parametrize("name", ["columns", "requirement"])
def test_a_missing_table_is_named(name: str) -> None:
    kept = {"columns": SMALL[SMALL.index("[requirement]") :], "requirement": SMALL[: SMALL.index("[requirement]")]}[name]
    message = refusal(kept)
    assert f"[{name}]: missing" in message
    assert "sfumato policy init" in message


def test_a_file_is_read_with_or_without_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_bytes(b"\xef\xbb\xbf" + SMALL.encode())
    assert Policy.load(path).requirement == LDiversity(3)


def test_errors_of_a_file_name_the_file(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_text(SMALL.replace("l = 3", "ll = 3"))
    with pytest.raises(PolicyError, match=r"p\.toml: \[requirement\] ll"):
        Policy.load(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(PolicyError, match="not UTF-8"):
        Policy.load(path)
    with pytest.raises(PolicyError, match="no such policy file"):
        Policy.load(tmp_path / "q.toml")
    with pytest.raises(PolicyError, match="a directory, expected a file"):
        Policy.load(tmp_path)


@pytest.mark.parametrize(
    ("section", "told"),
    [
        ("[recode]\nsex = { width = 5 }", "[recode] sex: "),
        ("[domains]\nage = { min = '2024-01-01', max = '2024-12-31' }", "[domains] age: the column is numeric"),
        ("[bins]\nillness = [0, 1]", "[bins] 'illness' is categorical, and only numbers have bins"),
    ],
)
def test_what_does_not_fit_the_table_is_told_in_the_words_of_the_file(tmp_path: Path, section: str, told: str) -> None:
    (tmp_path / "t.csv").write_text("age,sex,illness\n34,f,Flu\n35,m,Gout\n")
    columns = '[columns]\nquasi = ["age", "sex"]\nsensitive = ["illness"]\n[requirement]\nmodel = "l-diversity"\nl = 2\n'
    with pytest.raises(PolicyError) as caught:
        Policy.parse(columns + section).read_table(tmp_path / "t.csv")
    assert caught.value.message.startswith(told)
