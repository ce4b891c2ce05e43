"""What pipelines hear: nothing unless they listen, then stages and results, and never what only the publisher may see."""

import logging
import subprocess
import sys

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.progress import listening, silent

PEOPLE = pa.table({"age": [20 + k % 40 for k in range(120)], "illness": [("Flu", "Gout", "Rare")[k % 3] for k in range(120)]})
PUBLISHES = (
    "import pyarrow as pa, sfumato as sf; "
    "people = pa.table({'age': [31, 44], 'ill': ['a', 'b']}); "
    "sf.publish(people, sf.LDiversity(2), method=sf.Anatomy(), quasi=['age'], sensitive='ill')"
)


def publish(**options):
    return sf.publish(PEOPLE, sf.LDiversity(2), method=sf.Anatomy(), quasi=["age"], sensitive="illness", seed=1, **options)


def test_without_a_listener_nothing_is_printed():
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", PUBLISHES], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")


def test_stages_and_the_result_are_logged_once_at_info(caplog):
    caplog.set_level(logging.INFO, logger="sfumato")
    told = []
    with listening(lambda stage, done: told.append(stage)) as outer:
        publish(progress=outer)
    heard = [(one.name, one.levelname, one.getMessage()) for one in caplog.records]
    stages = [stage for place, stage in enumerate(told) if place == 0 or told[place - 1] != stage]
    assert [text for *_, text in heard] == [*stages, "made and audited a release by anatomy"]
    assert {(name, level) for name, level, _ in heard} == {("sfumato", "INFO")}
    assert not any(value in text for *_, text in heard for value in ("Flu", "Gout", "Rare"))


def test_explaining_is_heard_too(caplog):
    caplog.set_level(logging.INFO, logger="sfumato")
    sf.explain(PEOPLE, sf.LDiversity(2), method=sf.MultiSize(), quasi=["age"], sensitive="illness", quick=True)
    assert caplog.messages[-1] == "done"
    assert [text for text in caplog.messages if text.startswith("searching: ")]


def test_a_stage_that_goes_on_is_logged_once(caplog):
    caplog.set_level(logging.INFO, logger="sfumato")
    with listening(silent) as tell:
        tell("cutting", 0.1)
        tell("cutting", 0.2)
        tell("writing", 0.9)
    assert caplog.messages == ["cutting", "writing"]


def test_an_engine_says_where_a_release_went(caplog, tmp_path):
    pytest.importorskip("duckdb")
    caplog.set_level(logging.INFO, logger="sfumato")
    sf.publish(
        PEOPLE, sf.LDiversity(2), method=sf.Boxes(floor=20), quasi=["age"], sensitive="illness", seed=1,
        engine="duckdb", out=tmp_path / "release",
    )  # fmt: skip
    assert caplog.messages[-1] == f"published 120 rows by boxes to {tmp_path / 'release'}"
    assert len(caplog.messages) > 2
