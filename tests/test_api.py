"""What the verbs of Python share with the command line."""

import dataclasses
import inspect
import typing
import warnings

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import did_you_mean
from sfumato.privacy import Requirement
from sfumato.randomness import SeededRandomness
from sfumato.release import manifest
from sfumato.table.columns import Columns, Roles
from tests.makers import closed_for, skewed

PEOPLE = pa.table(
    {"age": [20 + k % 40 for k in range(400)], "illness": [("flu", "cold", "gout", "HIV")[k * k % 7 % 4] for k in range(400)]}
)
OPEN = sf.FPrivacy(theta=2, offset="0.2", bounds={"flu": 1})


def warned(*given, **options):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        sf.publish(*given, **options)
    return [str(one.message) for one in said if issubclass(one.category, sf.PublicationWarning)]


@pytest.mark.parametrize("engine", [None, "duckdb"])
def test_publish_warns_of_what_is_shown_openly_and_of_a_seed(tmp_path, engine):
    options = {"quasi": ["age"], "sensitive": "illness", "random": 1}
    said = warned(PEOPLE, OPEN, **options, **({} if engine is None else {"engine": engine, "out": tmp_path / "out"}))
    assert any("shown openly: 'flu'" in text for text in said)
    assert any("seed" in text or "reproduc" in text for text in said)
    assert warned(PEOPLE, sf.FPrivacy(theta="1.5", offset="0.2"), quasi=["age"], sensitive="illness") == []


def test_publish_warns_of_what_a_policy_says_in_vain():
    policy = sf.Policy.parse(
        """
        [columns]
        quasi = ["age"]
        sensitive = ["value"]
        other = ["sex"]
        [recode]
        sex = { prefix = 1 }
        [requirement]
        model = "f-privacy"
        theta = 3
        offset = "0.1"
        """
    )
    assert any("without effect" in text for text in warned(skewed().to_arrow(), policy))


def test_an_unknown_parameter_is_said_to_be_one():
    asked = sf.LDiversity(2)
    for verb, wrong, meant in [
        (sf.publish, "methd", "method"),
        (sf.publish, "sed", "seed"),
        (sf.publication, "sensitiv", "sensitive"),
        (sf.explain, "quik", "quick"),
        (sf.compare, "qasi", "quasi"),
    ]:
        for table in (skewed(), PEOPLE):
            with pytest.raises(sf.PolicyError, match=f"{wrong}=….:") as found:
                verb(table, asked, **{wrong: 1})
            assert found.value.hint == f"did you mean {meant!r}?"
    with pytest.raises(sf.PolicyError, match="sed=…") as found:
        sf.publish("nowhere.parquet", asked, engine="duckdb", out="nowhere", sed=1)
    assert found.value.hint == "did you mean 'seed'?"
    with pytest.raises(sf.PolicyError, match="sensitve=…"):
        sf.draft(PEOPLE, sensitve="illness")


def test_every_parameter_of_a_verb_stands_in_its_signature_and_columns_are_those_of_a_schema():
    columns = {one.name for one in dataclasses.fields(sf.Schema)}
    assert set(Columns.__annotations__) == {*columns, "schema"}
    for name, kind in typing.get_type_hints(sf.Schema).items():
        assert Columns.__annotations__[name] == (str | kind if name in Roles.__annotations__ else kind)
    for verb in (sf.publish, sf.publication, sf.explain, sf.compare):
        parameters = inspect.signature(verb).parameters
        assert {*columns, "schema", "method"} <= set(parameters)
        assert all(one.kind is not one.VAR_KEYWORD for one in parameters.values())
    assert set(Roles.__annotations__) <= set(inspect.signature(sf.draft).parameters)


def same(one, two):
    return all(one.tables()[name].equals(two.tables()[name]) for name in one.tables())


def test_seed_and_random_are_one_parameter_wherever_coins_are_drawn(tmp_path):
    table, schema = skewed(3000), sf.Schema(quasi=["age"], sensitive=["illness"])
    asked = sf.LDiversity(2)
    release = sf.publish(table, asked, seed=1)
    assert same(release, sf.publish(table, asked, random=1))
    assert same(release, sf.publish(table, asked, random=SeededRandomness(1)))
    assert same(*(sf.Boxes().run(table, asked, **coins).release for coins in ({"seed": 1}, {"random": 1})))
    assert release.impute(1, seed=3)[0].equals(release.impute(1, random=3)[0])
    assert not release.impute(1, seed=3)[0].equals(release.impute(1, seed=4)[0])
    found = [sf.attack(release, table, "definetti", **coins)[0] for coins in ({"seed": 5}, {"random": 5})]
    assert dataclasses.replace(found[0], seconds=0.0) == dataclasses.replace(found[1], seconds=0.0)
    for twice in (
        lambda: sf.publish(table, asked, seed=1, random=1),
        lambda: sf.publish(
            PEOPLE, asked, quasi="age", sensitive="illness", engine="duckdb", out=tmp_path / "x", seed=1, random=1
        ),
        lambda: sf.Boxes().run(table, asked, seed=1, random=1),
        lambda: release.impute(1, seed=1, random=1),
        lambda: sf.attack(release, table, "nb", seed=1, random=1),
        lambda: sf.Table.from_frame(PEOPLE, schema, seed=1, random=1),
    ):
        with pytest.raises(sf.PolicyError, match="seed and random"):
            twice()
    with pytest.raises(sf.PolicyError, match="seed: expected"):
        sf.publish(table, asked, seed="one")


def test_the_seed_also_chooses_among_equally_early_rows_of_one_person():
    visits = pa.table(
        {
            "who": [k // 3 for k in range(600)],
            "day": [1] * 600,
            "age": [20 + k % 40 for k in range(600)],
            "ill": [*"abcdef"] * 100,
        }
    )
    rule = {"key": "who", "keep": "first by day"}
    told = {"identifier": "who", "quasi": "age", "sensitive": "ill", "people": rule}
    asked = sf.LDiversity(2)
    assert same(*(sf.publish(visits, asked, seed=1, **told) for _ in range(2)))
    policy = sf.Policy.parse(
        """
        [people]
        key = "who"
        keep = "first by day"
        [columns]
        identifier = ["who"]
        other = ["day"]
        quasi = ["age"]
        sensitive = ["ill"]
        [requirement]
        model = "l-diversity"
        l = 2
        """
    )
    assert same(*(sf.publish(visits, policy, seed=1) for _ in range(2)))


def test_a_schema_says_all_of_the_columns_or_none():
    schema = sf.Schema(quasi=["age"], sensitive=["illness"])
    by_schema = sf.publish(PEOPLE, sf.LDiversity(2), schema=schema, seed=1)
    assert same(by_schema, sf.publish(PEOPLE, sf.LDiversity(2), quasi="age", sensitive="illness", seed=1))
    assert same(by_schema, sf.publish(PEOPLE, sf.LDiversity(2), schema=schema, quasi=None, seed=1))
    with pytest.raises(sf.PolicyError, match="quasi: already"):
        sf.publish(PEOPLE, sf.LDiversity(2), schema=schema, quasi="age")
    with pytest.raises(sf.PolicyError, match="one person"):
        sf.compare(PEOPLE, sf.LDiversity(2), schema=schema, people=100)


def counting(monkeypatch, place, name):
    """Return a list that gets longer with every call of a function."""
    real, calls = getattr(place, name), []

    def counted(*given, **options):
        calls.append(name)
        return real(*given, **options)

    monkeypatch.setattr(place, name, counted)
    return calls


@pytest.mark.parametrize("way", ["default", "blind", "noisy", "engine"])
def test_a_publication_computes_its_bounds_once_and_reading_validates_a_manifest_once(way, monkeypatch, tmp_path):
    table, asked, options = skewed(), sf.LDiversity(2), {}
    if way == "blind":
        options = {"method": sf.MultiSize()}
    if way == "noisy":
        method = sf.NoisyBoxes(values=table.sensitive.labels, otherwise="v8")
        table, asked, options = closed_for(method, table), sf.Differential(1), {"method": method}
    if way == "engine":
        table, options = table.to_arrow(), {"quasi": ["age", "sex"], "sensitive": "value", "engine": "duckdb"}
    computed, validated = counting(monkeypatch, Requirement, "bounds"), counting(monkeypatch, manifest, "require_shape")
    sf.publish(table, asked, out=tmp_path / "release", seed=1, **options)
    assert len(computed) == 1
    for read in (sf.Release.load, sf.audit):
        validated.clear()
        read(tmp_path / "release")
        assert len(validated) == 1


def test_a_table_that_is_refused_books_no_draw(tmp_path):
    method = sf.NoisyBoxes(values=["flu", "other"], otherwise="other")
    people = pa.table({"group": [k % 40 for k in range(400)], "ill": ["flu", "gout"] * 200})
    with pytest.raises(sf.SfumatoError, match="group"):
        sf.publication(people, sf.Differential(1), method=method, quasi="group", sensitive="ill", register=tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("word", "meant"), [("Age", "Age (yrs)"), ("wage", "Wage €"), ("diagg", "diag"), ("prewge", "prewage"), ("sex", "Sex")]
)
def test_a_hint_names_the_column_whose_first_word_was_written(word, meant):
    assert did_you_mean(word, ["Age (yrs)", "prewage", "diag", "Wage €", "Sex", "Sexual health"]) == f"did you mean {meant!r}?"
