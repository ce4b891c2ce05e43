"""A manifest can be written down in one way: no key, word, spelling or order in it is free to carry anything."""

import json
import re

import pytest

import sfumato as sf
from sfumato.errors import FormatError
from tests.release._forge import forge, refusal
from tests.release._one_way import COUNTED, FORMATS, SECRET, TABLE, assert_refused, everywhere, honest, saved


def any_table(document):
    return next(iter(document["tables"].values()))


def any_claim(document):
    """Return the first claim; a release that makes none gets one, which it may not have either."""
    none = {"adversary": "engineer", "kind": "association", "statement": "Nobody learns anything."}
    document["claims"] = document["claims"] or [none]
    return document["claims"][0]


PLACES = {
    "the top": lambda d: d,
    "schema": lambda d: d["schema"],
    "schema.declared": lambda d: d["schema"]["declared"],
    "schema.quasi[0]": lambda d: d["schema"]["quasi"][0],
    "schema.sensitive[0]": lambda d: d["schema"]["sensitive"][0],
    "requirement": lambda d: d["requirement"],
    "method": lambda d: d["method"],
    "parameters": lambda d: d["parameters"],
    "claims[0]": any_claim,
    "tables.x": any_table,
    "tables.x.columns[0]": lambda d: any_table(d)["columns"][0],
    "tables.x.files[0]": lambda d: any_table(d)["files"][0],
}
LISTED = {"values[0]": lambda d: d["values"][0], "values[0].values[0]": lambda d: d["values"][0]["values"][0]}


@pytest.mark.parametrize("place", PLACES)
@everywhere
def test_unknown_keys_are_refused_at_every_level(tmp_path, form, format, place):
    directory = saved(tmp_path, form, format)
    forge(directory, lambda document: PLACES[place](document).update(diary=SECRET))
    assert_refused(directory, form)


@pytest.mark.parametrize("place", LISTED)
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("form", COUNTED)
def test_unknown_keys_are_refused_where_values_are_listed(tmp_path, form, format, place):
    directory = saved(tmp_path, form, format)
    forge(directory, lambda document: LISTED[place](document).update(diary=SECRET))
    assert_refused(directory, form)


@pytest.mark.parametrize("format", FORMATS)
def test_unknown_keys_are_refused_in_parts(tmp_path, format):
    directory = saved(tmp_path, "randomized", format)
    forge(directory, lambda document: document["parameters"]["parts"][0].update(diary=SECRET))
    assert_refused(directory)


FREE_TEXT = {
    "software": lambda d: d.update(software=SECRET),
    "software with a remark": lambda d: d.update(software=f"{d['software']} {SECRET}"),
    "a claim's statement": lambda d: any_claim(d).update(statement=SECRET),
    "a claim's statement, prolonged": lambda d: any_claim(d).update(statement=f"{any_claim(d)['statement']} {SECRET}"),
    "weaker_claim": lambda d: d["parameters"].update(weaker_claim=SECRET),
    "note": lambda d: d["parameters"].update(note=SECRET),
    "a table's name": lambda d: d["tables"].update({SECRET: any_table(d)}),
    "a file's name": lambda d: any_table(d)["files"][0].update(file=SECRET),
    "a column's name": lambda d: any_table(d)["columns"][0].update(name=SECRET),
    "a column's type": lambda d: any_table(d)["columns"][0].update(type=SECRET),
    "a kind": lambda d: d["schema"]["quasi"][0].update(kind=SECRET),
    "the form": lambda d: d.update(form=SECRET),
    "the method's name": lambda d: d["method"].update(name=SECRET),
    "the model": lambda d: d["requirement"].update(model=SECRET),
    "values": lambda d: d.update(
        values=[
            {
                "columns": [column["name"] for column in d["schema"]["sensitive"]],
                "values": [{"value": SECRET, "count": 12, "bound": "1"}],
            }
        ]
    ),
    "types of other columns": lambda d: d["schema"]["declared"]["types"].update({SECRET: "numeric"}),
    "domains of other columns": lambda d: d["schema"]["declared"]["domains"].update({SECRET: ["x"]}),
}


@pytest.mark.parametrize("place", FREE_TEXT)
@everywhere
def test_free_text_is_refused_wherever_words_stand(tmp_path, form, format, place):
    directory = saved(tmp_path, form, format)
    forge(directory, FREE_TEXT[place])
    assert_refused(directory, form)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(("form", "key"), [("weaker", "weaker_claim"), ("note", "note")])
def test_weaker_claims_and_notes_are_made_in_fixed_words(tmp_path, form, key, format):
    directory = tmp_path / "release"
    honest(form).save(directory, format=format)
    assert sf.audit(directory, TABLE).problems == ()
    forge(directory, lambda document: document["parameters"].update({key: f"{document['parameters'][key]} {SECRET}"}))
    assert_refused(directory, form)


def upside_down(found):
    """Return a document with its keys in another order at every level."""
    if isinstance(found, dict):
        return {key: upside_down(found[key]) for key in sorted(found, reverse=True)}
    return [upside_down(one) for one in found] if isinstance(found, list) else found


SPELLINGS = {
    "a duplicated key": lambda text: text.replace("{", '{\n  "software": ' + json.dumps(SECRET, ensure_ascii=False) + ",", 1),
    "a duplicated key, deeper": lambda text: text.replace('"schema": {', '"schema": {\n    "declared": 1,', 1),
    "keys in another order": lambda text: json.dumps(upside_down(json.loads(text)), indent=2, ensure_ascii=False) + "\n",
    "other indentation": lambda text: json.dumps(json.loads(text), indent=1, ensure_ascii=False, sort_keys=True) + "\n",
    "no indentation": lambda text: json.dumps(json.loads(text), ensure_ascii=False, sort_keys=True) + "\n",
    "an escaped letter": lambda text: text.replace('"sfumato-release"', '"\\u0073fumato-release"'),
    "an escaped slash": lambda text: text.replace("sfumato ", "sfumato\\u0020"),
    "1.0 instead of 1": lambda text: text.replace('"version": 3', '"version": 3.0'),
    "1.0 rows": lambda text: text.replace('"rows": 12', '"rows": 12.0'),
    "an exponent": lambda text: text.replace('"rows": 12', '"rows": 12e0'),
    "blanks at the end": lambda text: text + " ",
    "blanks at a line's end": lambda text: text.replace(",\n", ", \n", 1),
    "a line more": lambda text: text + "\n",
    "no line feed at the end": lambda text: text.rstrip("\n"),
    "carriage returns": lambda text: text.replace("\n", "\r\n"),
    "a byte order mark": lambda text: "\ufeff" + text,
    "something behind it": lambda text: text + json.dumps(SECRET) + "\n",
}


@pytest.mark.parametrize("spelling", SPELLINGS)
@everywhere
def test_a_manifest_is_spelled_in_one_way(tmp_path, form, format, spelling):
    directory = saved(tmp_path, form, format)
    path = directory / "manifest.json"
    text = path.read_bytes().decode()
    other = SPELLINGS[spelling](text)
    assert other != text
    path.write_bytes(other.encode())
    assert_refused(directory, form)


FRACTIONS = {"2/4": "1/2", "01/2": "1/2", "0.5": "1/2", " 1/2": "1/2", "1/1": "1", "5e-1": "1/2", "+1": "1", "१": "1"}


@pytest.mark.parametrize("written", FRACTIONS)
@everywhere
def test_a_fraction_is_in_lowest_terms(tmp_path, form, format, written):
    directory = saved(tmp_path, form, format)
    number = {"model": "f-privacy", "theta": "0", "offset": FRACTIONS[written], "bounds": {}, "against": "reader"}
    forge(directory, lambda document: document.update(requirement=number))
    sf.Release.load(directory)
    forge(directory, lambda document: document["requirement"].update(offset=written))
    assert_refused(directory, form)
    assert "requirement.offset" in refusal(directory)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("form", COUNTED)
def test_the_values_are_listed_in_one_order(tmp_path, form, format):
    directory = saved(tmp_path, form, format)
    forge(directory, lambda document: document["values"][0]["values"].reverse())
    assert_refused(directory, form)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(
    "change",
    [
        lambda parts: parts.reverse(),
        lambda parts: [part.update(part=3 - part["part"]) for part in parts],
        lambda parts: [part.update(part=part["part"] + 1) for part in parts],
        lambda parts: parts[0]["values"].reverse(),
        lambda parts: parts[0].update(retention=parts[0]["retention"][0]),
        lambda parts: parts[0].update(values=[[value] for value in parts[0]["values"]]),
        lambda parts: parts.append({**parts[1], "part": 3}),
    ],
    ids=["listed backwards", "renumbered", "a gap", "values backwards", "one retention for all", "lists of one", "nobody's"],
)
def test_parts_are_told_in_one_way(tmp_path, change, format):
    directory = saved(tmp_path, "randomized", format)
    forge(directory, lambda document: change(document["parameters"]["parts"]))
    assert_refused(directory)


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("requirement", {"bounds": {"Ana has HIV": "1/2"}}),
        ("method", {"weights": {"Ana has HIV": 2}}),
    ],
)
def test_names_of_values_and_columns_that_nobody_has_are_refused(tmp_path, place, told):
    sf.publish(TABLE, sf.FPrivacy(theta=1, offset="0.3"), method=sf.Boxes(), random=1).save(tmp_path / "release")
    forge(tmp_path / "release", manifest=lambda document: document[place].update(told))
    with pytest.raises(FormatError, match="columns that the release"):
        sf.Release.load(tmp_path / "release")
    assert_refused(tmp_path / "release")


NOTE = "k-anonymity makes no claim about sensitive values"
SECOND = {
    "a method of another form": ("ranges", lambda d: d.update(method=sf.Anatomy(l=3).to_dict())),
    "a basis that the method has not": ("ranges", lambda d: d.update(basis="matched")),
    "a locality, which older manifests had": ("ranges", lambda d: d["parameters"].update(locality="near")),
    "matches of a method that has none": ("ranges", lambda d: d["parameters"].update(matches=3)),
    "dummies of a method that has none": ("ranges", lambda d: d["parameters"].update(dummies=3)),
    "a note beside a claim": ("buckets", lambda d: d["parameters"].update(note=NOTE)),
    "no list of values": ("buckets", lambda d: d.update(values=None)),
    "decoys that are not there": ("buckets", lambda d: d["method"].update(decoys=5)),
    "a whole number with a fraction": ("buckets", lambda d: d["method"].update(time_limit=30.0)),
    "negative zero": ("buckets", lambda d: d["method"].update(gap=-0.0)),
    "weights of nothing": ("buckets", lambda d: d["method"].update(weights={})),
    "a version with zeros before it": ("buckets", lambda d: d.update(software="sfumato 000.1.00")),
    "reproducible without a seed": ("buckets", lambda d: d.update(seeded=False, reproducible=True)),
}


@pytest.mark.parametrize("what", SECOND)
def test_what_is_said_of_the_making_has_one_spelling_and_goes_together(tmp_path, what):
    form, change = SECOND[what]
    directory = saved(tmp_path, form, "parquet")
    forge(directory, manifest=change)
    assert_refused(directory, form)


@pytest.mark.parametrize("number", ["1e999", "-1e999", "1e400"])
def test_a_number_beyond_all_numbers_is_refused(tmp_path, number):
    directory = saved(tmp_path, "buckets", "parquet")
    text = (directory / "manifest.json").read_text()
    (directory / "manifest.json").write_text(re.sub(r'"time_limit": 30', f'"time_limit": {number}', text))
    assert number in (directory / "manifest.json").read_text()
    assert_refused(directory)
