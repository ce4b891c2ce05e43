"""The values of several secrets in one table: as text, from which each comes back in its own type, and in one way."""

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import FormatError, InputError
from sfumato.release.secrets import as_texts, from_texts

DAYS = [dt.date(2020, 1, 2), dt.date(1999, 12, 31)]
MOMENTS = [dt.datetime(2020, 1, 2), dt.datetime(2020, 1, 2, 3, 4, 5, 60)]
SECRETS = {
    "name": ("categorical", pa.array(["10", "9", "a / b", "(missing)", None])),
    "whole": ("numeric", pa.array([9, 10, -3, 0, None])),
    "part": ("numeric", pa.array([9.0, 10.5, 1e22, 0.1, None])),
    "day": ("date", pa.array([*DAYS, DAYS[0], None, DAYS[1]])),
    "moment": ("date", pa.array([*MOMENTS, None, *MOMENTS], pa.timestamp("us"))),
}


@pytest.mark.parametrize("name", SECRETS)
def test_a_value_and_its_type_follow_from_its_text(name):
    kind, values = SECRETS[name]
    texts = as_texts(values)
    assert texts.type == pa.string()
    assert texts.null_count == values.null_count  # a missing value is none, and no text
    assert from_texts(texts.drop_null(), kind).equals(values.drop_null())


@pytest.mark.parametrize(
    ("kind", "texts"),
    [
        ("numeric", ["+3"]),
        ("numeric", ["03"]),
        ("numeric", ["3", "3.5"]),
        ("numeric", ["3.50"]),
        ("numeric", ["-0.0"]),
        ("numeric", ["nan"]),
        ("numeric", ["three"]),
        ("numeric", ["9223372036854775808"]),
        ("date", ["2020-1-2"]),
        ("date", ["2020-01-02", "2020-01-02 03:04:05"]),
        ("date", ["2020-01-02T03:04:05"]),
    ],
)
def test_another_spelling_is_refused(kind, texts):
    with pytest.raises(FormatError, match="canonical"):
        from_texts(pa.array(texts), kind)


def people(rows=400):
    coins = np.random.default_rng(3)
    pay = coins.choice([9, 10, 100], rows)
    since, letters = [[*DAYS, None][k] for k in coins.integers(0, 3, rows)], coins.choice(list("abc"), rows)
    return pa.table({"age": coins.integers(20, 70, rows), "value": pay, "secret": letters, "since": since})


def table():
    roles = {"quasi": ["age"], "sensitive": ["value", "secret", "since"], "protect": "each", "missing": {"since": "value"}}
    return sf.Table.from_frame(people(), sf.Schema(**roles))


@pytest.fixture(scope="module", params=["buckets", "ranges"])
def release(request):
    """Secrets of three types, two of them called as the columns of the table are."""
    return sf.publish(table(), sf.FPrivacy(offset="0.9"), method=sf.Boxes(form=request.param, floor=20), random=1)


def test_every_secret_comes_back_from_the_disk_in_its_own_type_and_passes_its_audit(release, tmp_path):
    for kind in ("parquet", "csv"):
        release.save(tmp_path / kind, format=kind)
        read = sf.Release.load(tmp_path / kind)
        assert [str(one.domain.table.schema[0].type) for one in read.each] == ["int64", "string", "date32[day]"]
        assert read.of("value").labels == ("9", "10", "100")
        assert read.of("since").labels == ("1999-12-31", "2020-01-02", "(missing)")
        audit = sf.audit(tmp_path / kind, table())
        assert (audit.holds, audit.problems) == (True, ())
        assert read.count("value >= 10").value == release.count("value >= 10").value


def test_rows_stand_by_group_then_secret_then_size(release):
    if release.form == "ranges":
        return
    rows = [(row["group"], row["secret"], row["value"]) for row in release.tables()["st"].to_pylist()]
    order = {"value": ["9", "10", "100"], "secret": ["a", "b", "c"], "since": ["1999-12-31", "2020-01-02", None]}
    ranks = [(group, list(order).index(secret), order[secret].index(value)) for group, secret, value in rows]
    assert ranks == sorted(ranks)
    assert len({group for group, *_ in rows}) == release.manifest.parameters["groups"] > 1


def changed(release, **columns):
    st = release.tables()["st"].to_pydict() | columns
    return release.tables() | {"st": pa.table(st, schema=release.tables()["st"].schema)}


def test_other_names_orders_and_sums_of_secrets_are_refused(release):
    if release.form == "ranges":
        return
    st = release.tables()["st"].to_pydict()
    read = type(release).from_tables
    with pytest.raises(FormatError, match="value, secret"):
        read(release.manifest, changed(release, secret=["pay", *st["secret"][1:]]))
    with pytest.raises(FormatError, match="400 people"):
        read(release.manifest, changed(release, count=[st["count"][0] + 1, *st["count"][1:]]))
    turned = [k for _, k in sorted((group, -k) for k, group in enumerate(st["group"]))]
    other = {name: [column[-k] for k in turned] for name, column in st.items()}
    with pytest.raises(FormatError, match="canonical order"):
        read(release.manifest, changed(release, **other))
    assert read(release.manifest, changed(release, **other), in_any_order=True).tables()["st"].equals(release.tables()["st"])


def test_a_release_of_one_secret_is_the_release_of_that_secret():
    alone = sf.Table.from_frame(people().select(["age", "value"]), sf.Schema(quasi=["age"], sensitive=["value"]))
    release = sf.publish(alone, sf.FPrivacy(offset="0.9"), method=sf.Boxes(floor=20), random=1)
    assert release.secrets == ("value",)
    assert release.of("value") is release
    assert release.each == (release,)
    assert release.tables()["st"].column_names == ["group", "value", "count"]
    assert str(release.tables()["st"]["value"].type) == "int64"
    with pytest.raises(InputError, match="no secret 'valu'"):
        release.of("valu")
