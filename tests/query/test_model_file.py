"""The model of a release as a file: what is in it adds up to what the release shows, and other forms are refused."""

import base64
import gzip
import json

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import OutputError, QueryError
from sfumato.query.model_file import model_document, write_model
from sfumato.table.generators import hospital


def published(method, **more):
    people = hospital(rows=1500, seed=3).to_pandas()
    rule = sf.FPrivacy(theta=6, offset="1/10")
    return sf.publish(people, rule, method=method, quasi=["age", "sex"], random=1, **{"sensitive": "diagnosis", **more})


@pytest.fixture(scope="module")
def boxes():
    return published(sf.Boxes())


def array(one):
    return np.frombuffer(base64.b64decode(one["data"]), one["type"]).reshape(one["shape"])


def test_the_chances_of_a_box_add_up_to_what_it_shows(boxes):
    (one,) = model_document(boxes, "hash")["secrets"]
    cell, inner = array(one["cells"]["cell"]), one["multiplying"]
    people = np.bincount(cell)
    box = np.zeros(len(people), np.int64)
    box[cell] = boxes.group
    many = np.bincount(box)[boxes.st_group]
    chances = np.split(array(inner["chance"]), np.cumsum(many)[:-1])
    found = [unit * own @ people[box == g] for unit, own, g in zip(array(inner["unit"]), chances, boxes.st_group, strict=True)]
    assert np.abs(np.array(found) - boxes.st_count).max() < 0.02
    assert (array(one["value"]) == boxes.st_value).all()


def test_lines_are_levels_column_by_column(boxes):
    (one,) = model_document(boxes, "hash")["secrets"]
    line, levels = array(one["cells"]["line"]), one["cells"]["levels"]
    assert line[:, 0].max() < levels[0] <= line[:, 1].min()
    assert line[:, 1].max() < sum(levels) == len(array(one["multiplying"]["directions"]))
    sex = boxes.quasi[1].codes
    assert (line[array(one["cells"]["cell"]), 1] - levels[0] == sex).all()


def test_a_file_is_written_once_and_may_be_compressed(boxes, tmp_path):
    write_model(boxes, tmp_path / "m.json", manifest="h")
    size = write_model(boxes, tmp_path / "m.json.gz", manifest="h")
    packed = (tmp_path / "m.json.gz").read_bytes()
    assert size == len(packed)
    assert json.loads(gzip.decompress(packed)) == json.loads((tmp_path / "m.json").read_bytes())
    with pytest.raises(OutputError):
        write_model(boxes, tmp_path / "m.json", manifest="h")
    with pytest.raises(OutputError):
        write_model(boxes, tmp_path / "none" / "m.json", manifest="h")


def test_each_secret_has_its_own_model_and_other_forms_have_none():
    both = published(sf.Boxes(), sensitive=["diagnosis", "ward"], protect="each")
    assert [one["columns"] for one in model_document(both, "h")["secrets"]] == [["diagnosis"], ["ward"]]
    blind = model_document(published(sf.MultiSize()), "h")["secrets"][0]
    assert (blind["model"], blind["noise"]) == ("blind", None)
    with pytest.raises(QueryError, match="ranges"):
        model_document(published(sf.Boxes(form="ranges")), "h")


def test_the_model_of_boxes_and_tables_together_is_in_no_file(tmp_path):
    people = hospital(rows=1500, seed=3).to_pandas()
    values = sorted(set(people["diagnosis"]))
    for margins, held in (("0.7", False), ("0", True)):
        method = sf.NoisyBoxes(values=values, otherwise=values[0], floor=60, margins=margins)
        made = sf.publish(people, sf.Differential("1"), method=method, quasi=["age", "sex"], sensitive="diagnosis", random=1)
        if held:
            assert write_model(made, tmp_path / "boxes.json", manifest="h") > 0
        else:
            with pytest.raises(QueryError, match="margins"):
                write_model(made, tmp_path / "tables.json", manifest="h")
    assert not (tmp_path / "tables.json").exists()
