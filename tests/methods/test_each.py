"""Several sensitive columns, each protected by itself: published, saved, read, audited, asked and explained."""

import json
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import FormatError, Infeasible, NotProvable, PolicyError
from sfumato.policy import Policy
from sfumato.privacy.bounds import Bounds
from sfumato.release.files import read_release
from tests.makers import tells

ROLES = {"quasi": ["age", "town"], "sensitive": ["illness", "income"], "protect": "each"}
ILLNESSES, INCOMES = ["Asthma", "Cold", "Flu", "Gout", "HIV"], ["high", "low", "middle", "none"]


def people(rows=3000, seed=1):
    coins = np.random.default_rng(seed)
    age = coins.integers(20, 80, rows)
    ill = np.where(age > 50, coins.choice(ILLNESSES, rows), coins.choice(ILLNESSES[:3], rows))
    return pa.table(
        {
            "age": age,
            "town": coins.integers(0, 60, rows),
            "illness": ill.tolist(),
            "income": np.where(ill == "HIV", "low", coins.choice(INCOMES, rows)).tolist(),
        }
    )


def table(rows=3000, **more):
    return sf.Table.from_frame(people(rows), sf.Schema(**{**ROLES, **more}))


RULE = {"theta": 3, "offset": "0.05"}
OWN = sf.FPrivacy(theta=2, offset="0.05", sets={"poor": {"values": ["low", "none"], "bound": "0.8"}})

WAYS = [
    (sf.Boxes(), sf.FPrivacy(**RULE, columns={"income": OWN})),
    (sf.Boxes(), sf.FPrivacy(**RULE, columns={"income": OWN}, against="reader")),
    (sf.Boxes(patience=0), sf.FPrivacy(**RULE)),
    (sf.Boxes(form="ranges"), sf.FPrivacy(**RULE)),
    (sf.NearGroups(form="buckets"), sf.LDiversity(l=2)),
    (sf.NearGroups(), sf.LDiversity(l=2)),
    (sf.Ambiguity(), sf.PresenceAssociation("0.9", "0.7", columns={"income": sf.LDiversity(l=2)})),
    (sf.Ambiguity(grouping="halves"), sf.PresenceAssociation("0.9", "0.7")),
]


@pytest.fixture(params=WAYS, ids=[f"{way.name}-{way.form}-{asked.against}-{k}" for k, (way, asked) in enumerate(WAYS)])
def made(request):
    method, asked = request.param
    return sf.publication(table(), asked, method=method, random=1), asked


def test_every_group_keeps_the_bounds_of_every_column_and_the_release_survives_the_disk(made, tmp_path):
    release, asked = made[0].release, made[1]
    release.save(tmp_path / "release")
    read = sf.Release.load(tmp_path / "release")
    assert {name: one.to_pydict() for name, one in read.tables().items()} == {
        name: one.to_pydict() for name, one in release.tables().items()
    }
    for audit in (sf.audit(tmp_path / "release"), sf.audit(tmp_path / "release", table())):
        assert audit.holds is True, audit.problems
        assert not audit.problems
    for name, part, people_of in zip(ROLES["sensitive"], read.each, table().each(), strict=True):
        limits = asked.of(name).bounds(people_of.sensitive.histogram()).limits[: len(part.labels)]
        beliefs = part.beliefs(people())
        assert (np.nanmax(beliefs, axis=0) <= [float(limit) + 1e-12 for limit in limits]).all()
    assert read.beliefs(people().slice(0, 3)).shape == (3, len(ILLNESSES) + len(INCOMES)) == (3, len(read.labels))


def test_a_release_shows_each_column_alone_and_no_combination(made):
    tables = made[0].release.tables()
    if made[0].release.form == "ranges":
        return
    assert set(tables["st"]["secret"].to_pylist()) == {"illness", "income"}
    assert tables["st"].column_names == ["group", "secret", "value", "count"]
    assert all(not {"illness", "income"} <= set(one.column_names) for one in tables.values())


def test_in_ranges_the_values_of_one_row_tell_nothing_of_one_another():
    """Everybody with HIV has a low income: records that kept that would show it, and these are as if drawn apart."""
    records = sf.publish(table(), sf.FPrivacy(**RULE), method=sf.Boxes(form="ranges"), random=1).tables()["records"].to_pylist()
    together = sum(row["illness"] == "HIV" and row["income"] == "low" for row in records)
    expected = 0.0
    for group in {row["group"] for row in records}:
        mine = [row for row in records if row["group"] == group]
        counts = sum(row["illness"] == "HIV" for row in mine), sum(row["income"] == "low" for row in mine)
        expected += counts[0] * counts[1] / len(mine)
    truth = people().to_pandas().query("illness == 'HIV' and income == 'low'").shape[0]
    assert abs(together - expected) < 4 * expected**0.5 < truth - expected


def test_ranges_with_another_order_of_one_columns_values_are_refused(tmp_path):
    release = sf.publish(table(), sf.FPrivacy(**RULE), method=sf.Boxes(form="ranges"), random=1)
    records = release.tables()["records"]
    income = records["income"].to_pylist()
    group = records["group"].to_pylist()
    a = 0
    b = next(k for k in range(1, len(income)) if group[k] == group[a] and income[k] != income[a])
    income[a], income[b] = income[b], income[a]
    place = records.column_names.index("income")
    changed = release.tables() | {"records": records.set_column(place, "income", pa.array(income))}
    with pytest.raises(FormatError, match="canonical order"):
        type(release).from_tables(release.manifest, changed)


def test_the_claim_says_that_no_link_between_secrets_is_seen_and_the_audit_finds_other_words(tmp_path):
    release = sf.publish(table(), sf.FPrivacy(**RULE), random=1)
    words = release.claims[0].statement
    assert "nor between one sensitive column and another" in words
    assert "a given value of a given sensitive column" in words
    release.save(tmp_path / "r")
    path = tmp_path / "r" / "manifest.json"
    path.write_text(path.read_text().replace(", nor between one sensitive column and another", ""))
    audit = sf.audit(tmp_path / "r")
    assert audit.holds is False
    assert audit.claims[0].note == "the claim is not worded as this version words such claims"


@pytest.mark.parametrize("name", ["illness", "income"])
def test_an_audit_finds_a_count_over_its_bound_in_either_column(name):
    release = sf.publish(table(), sf.FPrivacy(**RULE), random=1)
    tables, place = dict(release.tables()), 0
    shown = tables["st"]
    counts = shown["count"].to_pylist()
    first = [k for k, row in enumerate(shown.to_pylist()) if (row["group"], row["secret"]) == (1, name)]
    counts[first[0]] += sum(counts[k] - 1 for k in first[1:])
    for k in first[1:]:
        counts[k] = 1
    tables["st"] = shown.set_column(shown.column_names.index("count"), "count", pa.array(counts, pa.int64()))
    from sfumato.auditor.audit import audit_tables

    audit = audit_tables(release.manifest, tables)
    assert audit.holds is False
    assert audit.claims[place].value.startswith(name)


def test_what_is_not_declared_of_a_column_is_found(tmp_path):
    release = sf.publish(table(), sf.FPrivacy(**RULE, columns={"income": OWN}), random=1)
    release.save(tmp_path / "r")
    path = tmp_path / "r" / "manifest.json"
    document = json.loads(path.read_text())
    assert [one["columns"] for one in document["values"]] == [["illness"], ["income"]]
    assert [one["set"] for one in document["values"][1]["sets"]] == ["poor"]
    document["values"][1]["values"][0]["bound"] = "1/2"
    path.write_text(json.dumps(document, indent=2, ensure_ascii=False, sort_keys=True) + "\n")
    assert any("income: high: its bound" in problem for problem in sf.audit(tmp_path / "r").problems)
    assert read_release(tmp_path / "r").manifest.secrets == ("illness", "income")


@pytest.mark.parametrize("form", ["buckets", "ranges"])
def test_a_forged_claim_about_presence_is_refused_where_the_form_makes_none(form, tmp_path):
    from sfumato.release.manifest import Claim

    release = sf.publish(table(), sf.FPrivacy(**RULE, columns={"income": OWN}), method=sf.Boxes(form=form), random=1)
    release.save(tmp_path / "r")
    path = tmp_path / "r" / "manifest.json"
    document = json.loads(path.read_text())
    document["claims"].append(vars(Claim.presence("stranger")))
    path.write_text(json.dumps(document, indent=2, ensure_ascii=False, sort_keys=True) + "\n")
    found = sf.audit(tmp_path / "r")
    assert found.holds is False
    assert tells([one for one in found.problems if "presence" in one], form, "no claim")


def test_several_columns_without_a_word_on_what_is_protected_are_refused_with_both_spellings():
    with pytest.raises(PolicyError, match=r"illness.*income.*by itself") as found:
        sf.Schema(quasi=["age"], sensitive=["illness", "income"])
    assert 'protect = "each"' in found.value.hint
    assert 'protect = "combination"' in found.value.hint
    with pytest.raises(PolicyError, match="'each' or 'combination'"):
        sf.Schema(quasi=["age"], sensitive=["illness", "income"], protect="all")
    assert sf.Schema(quasi=["age"], sensitive=["illness"], protect="each").protect is None


@pytest.mark.parametrize(
    "method",
    [sf.MultiSize(), sf.Anatomy(), sf.Mondrian(), sf.BuReL(), sf.SmallDomain(), sf.NearGroups()],
    ids=lambda one: one.name,
)
def test_other_methods_refuse_with_a_reason(method):
    with pytest.raises(NotProvable, match="several sensitive columns") as found:
        sf.publish(table(), sf.FPrivacy(**RULE, against="reader"), method=method)
    assert 'protect = "combination"' in found.value.hint


def test_requirements_of_columns_are_checked():
    asked = sf.FPrivacy(**RULE, columns={"inkome": OWN})
    with pytest.raises(PolicyError, match="inkome: no such"):
        sf.publish(table(), asked)
    with pytest.raises(PolicyError, match="by itself"):
        sf.publish(table(protect="combination"), sf.FPrivacy(**RULE, columns={"income": OWN}))
    with pytest.raises(PolicyError, match="a set has values"):
        sf.publish(table(), sf.FPrivacy(**RULE, sets={"x": {"values": ["Flu"], "bound": "0.5"}}))
    with pytest.raises(PolicyError, match="against 'insider'"):
        sf.FPrivacy(**RULE, columns={"income": sf.LDiversity(l=2, against="insider")})
    with pytest.raises(Infeasible, match=r"(?s)income: l-diversity.*\[requirement\.columns\.income\] l = \d"):
        sf.publish(table(), sf.FPrivacy(**RULE, columns={"income": sf.LDiversity(l=4)}))


def test_bounds_of_several_secrets_are_one_list_of_events():
    bounds = {name: OWN.bounds(one.sensitive.histogram()) for name, one in zip("ab", [table().each()[1]] * 2, strict=True)}
    both = Bounds.together(bounds)
    assert both.people == 3000
    assert both.secret_of_event == (0, 0, 0, 0, 1, 1, 1, 1, 0, 1)
    assert (both.events[-1], both.labels[-1], both.values[4]) == ("poor", "any of b: poor", "b: high")
    assert both.members[1] == tuple(4 + place for place in both.members[0])
    assert both.counts[-1] == sum(both.counts[place] for place in both.members[1])
    assert [one.limits for one in both.each] == [one.limits for one in bounds.values()]
    assert [one.members for one in both.each] == [one.members for one in bounds.values()]


def test_secrets_with_other_declared_counts_are_brought_to_the_same_number_of_people():
    half, third = (Bounds.of(("x", "y"), counts, (Fraction(1, 2), Fraction(1))) for counts in ((1, 1), (1, 2)))
    both = Bounds.together({"a": half, "b": third})
    assert (both.people, both.counts) == (6, (3, 3, 2, 4))
    assert [one.shares for one in both.each] == [half.shares, third.shares]


def test_a_question_about_one_secret_is_answered_by_its_own_release_and_one_about_two_by_independence():
    release = sf.publish(table(), sf.FPrivacy(**RULE), random=1)
    alone = release.of("illness")
    assert release.count("illness = 'HIV' AND age > 60").value == alone.count("illness = 'HIV' AND age > 60").value
    both = release.count("illness = 'HIV' AND income = 'low'")
    assert "independent inside groups" in both.note
    rows = release.tables()["st"].to_pylist()
    shown = {name: [row for row in rows if row["secret"] == name] for name in ROLES["sensitive"]}
    expected = 0.0
    for bucket in {row["group"] for row in shown["illness"]}:
        size = sum(row["count"] for row in shown["illness"] if row["group"] == bucket)
        have = [
            sum(row["count"] for row in shown[name] if row["group"] == bucket and row["value"] == value)
            for name, value in (("illness", "HIV"), ("income", "low"))
        ]
        expected += have[0] * have[1] / size
    assert both.value == pytest.approx(expected)
    cells = release.count("SELECT illness, income, COUNT(*) FROM t GROUP BY illness, income").cells
    assert sum(one.value for _, one in cells) == pytest.approx(3000)
    with pytest.raises(sf.errors.QueryError, match="inkome"):
        release.count("inkome = 'low'")


POLICY = """
[columns]
quasi = ["age", "town"]
sensitive = ["illness", "income"]
[requirement]
protect = "each"
model = "f-privacy"
theta = 3
offset = "0.05"
[requirement.columns.income]
theta = 2
[requirement.columns.income.sets]
poor = { values = ["low", "none"], bound = "0.8" }
"""


def test_a_policy_gives_a_column_numbers_of_its_own_and_the_rest_is_that_of_all():
    policy = Policy.parse(POLICY)
    assert policy.schema.protect == "each"
    own = policy.requirement.of("income")
    assert (own.theta, own.offset, own.sets[0].name) == (2, Fraction(1, 20), "poor")
    assert policy.requirement.of("illness").theta == 3
    with pytest.raises(PolicyError, match=r"columns\] income thetta"):
        Policy.parse(POLICY.replace("theta = 2", "thetta = 2"))
    with pytest.raises(PolicyError, match=r"\[requirement\] protect: ") as found:
        Policy.parse(POLICY.replace('protect = "each"', ""))
    assert 'protect = "each"' in found.value.hint


def test_explain_speaks_of_each_column():
    policy = Policy.parse(POLICY)
    told = sf.explain(people(), policy, quick=True)
    assert told.feasible
    assert {value.value.split(": ")[0] for value in told.rule.values} == {"illness", "income"}
    assert [one.value for one in told.rule.sets] == ["income: poor"]
    text = " ".join(told.sentences())
    assert "illness and income" in text
    assert "nor between one sensitive column and another" in text
    assert told.to_dict()["protect"] == "each"


NOISY = {
    "shares": {"illness": dict.fromkeys(ILLNESSES, 1), "income": dict.fromkeys(INCOMES, 1)},
    "otherwise": {"illness": "Flu", "income": "none"},
}


def test_noisy_boxes_protect_each_with_the_product_of_what_all_columns_tell(tmp_path):
    method = sf.NoisyBoxes(**NOISY)
    closed = sf.Table.from_frame(people(), method.close(sf.Schema(**ROLES)))
    asked = sf.FPrivacy(theta=2, offset="0.1", against="insider", columns={"income": sf.LDiversity(l=2)})
    made = sf.publication(closed, asked, method=method, random=1)
    # A share of 1/4 may become 1/2, threefold odds; one of 1/5 may become 1/2, fourfold: the least of both is for all columns.
    assert made.private["gamma"] == "3"
    ratio = Fraction(made.release.manifest.parameters["ratio"])
    assert ratio**4 * 3 >= 1 > (ratio - Fraction(1, 1 << 30)) ** 4 * 3
    assert "who may know how the sensitive columns go together" in made.release.claims[0].statement
    made.release.save(tmp_path / "r")
    assert sf.audit(tmp_path / "r", closed).holds is True
    path = tmp_path / "r" / "manifest.json"
    path.write_text(path.read_text().replace('"gamma": "3"', '"gamma": "4"'))
    assert sf.audit(tmp_path / "r").holds is False


def test_noisy_boxes_of_several_columns_are_explained_on_people_that_nobody_is():
    method = sf.NoisyBoxes(**NOISY)
    closed = sf.Table.from_frame(people(1000), method.close(sf.Schema(**ROLES)))
    asked = sf.FPrivacy(theta=2, offset="0.1", against="insider", columns={"income": sf.LDiversity(l=2)})
    found = sf.explain(closed, asked, method=method)
    odds = found.cost.odds.to_dict()
    assert odds["gamma"] == "3"
    assert odds["secrets"] == ["illness", "income"]
    assert odds["same"]["income: ℓ"] == pytest.approx(2)  # of four equal shares threefold odds make a half
    assert odds["same"]["illness: ℓ"] == pytest.approx(7 / 3)  # of five: 3/7
    assert odds["usual"]["ℓ = 2"] == pytest.approx(np.log(3))  # income's; illness alone would allow log 4
    assert f"the noise of each is that of ε = {np.log(3) / 2:.2f}" in str(found.sentences())
    [own] = [row for row in found.study.rows if row.chosen]
    assert own.groups > 1
    assert all(error is not None for error in own.errors)
    assert found.study.generated


def test_noisy_boxes_with_the_values_of_one_attribute_do_not_protect_each():
    method = sf.NoisyBoxes(shares=dict.fromkeys(ILLNESSES, 1), otherwise="Flu")
    with pytest.raises(PolicyError, match="each has declared values"):
        method.close(sf.Schema(**ROLES))
    with pytest.raises(PolicyError, match="needs its own"):
        sf.NoisyBoxes(shares=NOISY["shares"], otherwise="Flu")


@pytest.mark.parametrize("form", ["buckets", "ranges"])
def test_the_order_of_the_input_changes_nothing(form):
    frame = people(800)
    order = np.random.default_rng(4).permutation(800)
    tables = [
        sf.publish(one, sf.FPrivacy(**RULE), random=1, method=sf.Boxes(form=form, floor=40), **ROLES).tables()
        for one in (frame, frame.take(pa.array(order)))
    ]
    assert {name: one.to_pydict() for name, one in tables[0].items()} == {
        name: one.to_pydict() for name, one in tables[1].items()
    }


def test_each_column_is_attacked_by_itself():
    everybody = table(600)
    release = sf.publish(everybody, sf.FPrivacy(**RULE), random=1, method=sf.Boxes(floor=50))
    found = sf.attack(release, everybody, ["random-worlds"], random=1)
    assert [one.variant for one in found] == ["illness", "income"]
    assert {one.verdict for one in found} == {"claimed"}
    assert all(one.worst <= one.bound for one in found)


def test_other_figures_are_those_of_the_column_they_name():
    release = sf.publish(table(), sf.FPrivacy(**RULE), random=1)
    question = "SELECT AVG(age) FROM t WHERE illness = 'HIV'"
    assert release.count(question).value == release.of("illness").count(question).value


def test_a_study_and_the_loss_of_ranges_take_columns_with_requirements_of_their_own():
    own = {"income": sf.FPrivacy(theta=2, offset="0.1")}
    asked = sf.FPrivacy(**RULE, columns=own)
    found = sf.compare(table(600), asked, methods=["boxes"], vary={"against": ["engineer", "reader"]})
    assert len(found.runs) == 2
    assert all(row.made for row in found.runs), [row.note for row in found.runs]
    assert {row.against for row in found.runs} == {"engineer", "reader"}
    assert all(row.holds for row in found.runs)
    release = sf.publish(table(600), asked, method=sf.Boxes(floor=50), random=1)
    assert sf.utility.gcp(release).value == sf.utility.gcp(release.of("income")).value


def test_each_column_has_odds_of_its_own_or_those_of_all(tmp_path):
    text = """[columns]
quasi = ["age", "town"]
sensitive = ["illness", "income"]
[requirement]
protect = "each"
model = "f-privacy"
theta = 8
offset = "0.02"
odds = 8
[requirement.columns.income]
odds = 4
"""
    policy = Policy.parse(text)
    assert (policy.requirement.of("illness").odds, policy.requirement.of("income").odds) == (8, 4)
    made = sf.publication(people(), policy, random=1)
    made.release.save(tmp_path / "release")
    manifest = json.loads((tmp_path / "release/manifest.json").read_text())
    assert manifest["requirement"]["odds"] == "8"
    assert manifest["requirement"]["columns"]["income"]["odds"] == "4"
    audit = sf.audit(tmp_path / "release", table())
    assert audit.holds is True
    manifest["requirement"]["columns"]["income"]["odds"] = "1"
    (tmp_path / "release/manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(FormatError):
        sf.audit(tmp_path / "release", table())
