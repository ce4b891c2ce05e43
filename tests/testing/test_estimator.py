"""The conformance suite for estimators takes sfumato's own, and refuses intervals that are too narrow."""

from importlib.metadata import EntryPoint

import pytest

import sfumato as sf
from sfumato import plugins
from sfumato.query.models.installed import GROUP
from sfumato.query.models.protocol import Moments
from sfumato.testing import ConformanceError, check_estimator
from sfumato.testing.designs import example_tables


class Sure:
    """The papers' estimate, with an error of a tenth of a person."""

    @classmethod
    def fit(cls, groups):
        return cls()

    def estimate(self, question):
        return Moments(question.uniform.value, 0.01)


@pytest.fixture
def sure(monkeypatch):
    entry = EntryPoint("sure", "tests.testing.test_estimator:Sure", GROUP)
    monkeypatch.setattr(plugins, "installed", lambda group: {"sure": entry} if group == GROUP else {})


def test_the_likelihood_estimator_passes():
    assert len(check_estimator("likelihood")) == 4


def test_an_interval_that_is_too_narrow_is_refused(sure):
    with pytest.raises(ConformanceError, match="intervals_hold_the_truth"):
        check_estimator("sure")


def test_an_installed_estimator_is_asked_by_name_and_its_interval_names_the_package(sure):
    release = sf.publish(example_tables()["plain"], sf.LDiversity(2), method=sf.MultiSize(), random=1)
    answer = release.count("age < 40 AND value = 'v1'", estimator="sure")
    assert (answer.estimator, answer.std_error) == ("sure", 0.1)
    assert "'tests'" in answer.note
    assert release.count("age < 40 AND value = 'v1'").estimator == "likelihood"
    assert release.count("value = 'v1'", estimator="sure").note == ""  # what the tables leave no doubt of rests on nobody
    with pytest.raises(sf.QueryError, match="counts only"):
        release.count("SELECT AVG(age) WHERE value = 'v1'", estimator="sure")
    ranges = sf.publish(example_tables()["plain"], sf.LDiversity(2), method=sf.MultiSize(form="ranges"), random=1)
    with pytest.raises(sf.QueryError, match="'buckets'"):
        ranges.count("value = 'v1'", estimator="sure")
