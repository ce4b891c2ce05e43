"""A small honest release of every form with its table, and everybody's sensitive value as one text to smuggle."""

from __future__ import annotations

from functools import cache

import pytest

import sfumato as sf
from sfumato import Ring
from sfumato.errors import FormatError
from sfumato.methods import Mondrian
from sfumato.privacy import FPrivacy, LDiversity, PresenceAssociation
from tests.makers import people
from tests.release import _synthetic
from tests.release._forge import refusal
from tests.release._fragments import columns_of, views_of
from tests.release._randomized import release_of

VALUES = ["flu", "cold", "äche", "flu", "cold", "äche", "flu", "cold", "äche", "flu", "cold", "äche"]
TABLE = people(VALUES, age=[20, 21, 22, 23, 24, 25, 60, 61, 62, 63, 64, 65], sex=list("fmfmfmmfmfmf"), town=list("aabbccaabbcc"))
GROUPS = [0] * 6 + [1] * 6
SECRET = "; ".join(f"{age}: {value}" for age, value in zip(TABLE.column("age").arrow().to_pylist(), VALUES, strict=True))

FORMS = ("buckets", "ranges", "columns", "views", "randomized", "synthetic")
FORMATS = ("parquet", "csv")
COUNTED = ("buckets", "ranges", "columns", "views")
"""The forms whose manifests list the sensitive values with their counts."""


def table_of(form):
    """Return the table as it is read for this form: synthetic records are drawn from declared domains."""
    return _synthetic.declared(TABLE) if form == "synthetic" else TABLE


@cache
def honest(form):
    """Return a release of this form, or of a method that says more in its parameters: "weaker" or "note"."""
    asked = PresenceAssociation(1, "1/2", against="reader")
    if form == "buckets":
        return sf.publish(TABLE, LDiversity(3), method=sf.MultiSize(), random=1)
    if form == "ranges":
        return Mondrian().run(TABLE, LDiversity(2, against="reader"), random=1).release
    if form == "columns":
        return columns_of(TABLE, GROUPS, asked)
    if form == "views":
        return views_of(TABLE, GROUPS, ["sex"], asked)
    if form == "randomized":
        return release_of(TABLE, [{0: 4, 1: 2}, {1: 2, 2: 4}], requirement=FPrivacy(offset="9/10"), retention="1/5")
    if form == "synthetic":
        return _synthetic.release_of(TABLE)
    if form == "weaker":
        return Ring(accept_weaker_claim=True).run(TABLE, LDiversity(3, against="reader"), random=1).release
    assert form == "note"
    return Mondrian(k=2, constraint="distinct", l=2).run(TABLE, LDiversity(1, against="reader"), random=1).release


EVERYWHERE = [(form, format) for form in FORMS for format in FORMATS]
everywhere = pytest.mark.parametrize(("form", "format"), EVERYWHERE)


def saved(tmp_path, form, format):
    directory = tmp_path / "release"
    honest(form).save(directory, format=format)
    assert sf.audit(directory, table_of(form)).holds is True
    return directory


def assert_refused(directory, form="buckets"):
    """Neither loading nor auditing, with or without the table, accepts what is there."""
    with pytest.raises(FormatError):
        sf.Release.load(directory)
    assert refusal(directory)
    assert refusal(directory, table_of(form))
