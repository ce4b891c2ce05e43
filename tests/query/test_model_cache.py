"""What a release teaches is kept between runs: the same answers, and a file that is not exactly right is not used."""

from __future__ import annotations

import json
import os
import stat
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.query import model_cache as room
from sfumato.query.count import engine_of, remember
from sfumato.query.model_cache import FORMAT, MOST_FILES, ModelCache, fitting
from sfumato.query.models.trend import Trend
from sfumato.release import Release

COUNT = 3000
DIGEST = "5" * 64
QUESTION = "age BETWEEN 30 AND 47 AND sex = 'f' AND illness = 'Gout'"


def table() -> sf.Table:
    coins = np.random.default_rng(0)
    columns = {
        "age": coins.integers(20, 80, COUNT),
        "sex": coins.choice(["f", "m"], COUNT),
        "town": coins.choice(list("abcdef"), COUNT),
        "illness": coins.choice(["Flu", "Gout", "HIV", "Asthma"], COUNT, p=[0.4, 0.3, 0.2, 0.1]),
    }
    return sf.Table.from_frame(pa.table(columns), sf.Schema(quasi=["age", "sex", "town"], sensitive=["illness"]))


WAYS = {
    "trend": sf.Boxes(),
    "association": sf.MultiSize(),
    "as_fitted": sf.Boxes(form="ranges"),
    "rates": sf.SmallDomain(),
    "records": sf.SmallDomain(),
}
"""Methods by what their releases teach."""


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("releases")
    for name, method in WAYS.items():
        sf.publish(table(), sf.FPrivacy(theta=2, offset="0.1"), method=method, random=1).save(home / name)
    return home


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "models").mkdir(mode=0o700)
    return tmp_path / "models"


def ask(release: Path, place: Path | None) -> sf.Estimate:
    loaded = Release.load(release)
    remember(loaded, None if place is None else ModelCache(place, DIGEST))
    answer = loaded.count(QUESTION, estimator="likelihood")
    assert isinstance(answer, sf.Estimate)
    return answer


@pytest.mark.parametrize("name", WAYS)
def test_the_same_answers_to_the_last_bit_and_nothing_is_fitted_twice(
    releases: Path, place: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = ask(releases / name, place)
    (path,) = place.glob(f"{DIGEST[:32]}.{name}.*.model")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600

    def never(*given: object) -> None:
        raise AssertionError("fitted again")

    kind = type(engine_of(Release.load(releases / name)))
    monkeypatch.setattr(getattr(kind, name), "fit", never)
    assert ask(releases / name, place) == first
    monkeypatch.undo()
    assert ask(releases / name, None) == first


def damage(path: Path, how: str) -> None:
    data = path.read_bytes()
    start = len(FORMAT) + 65
    end = data.index(b"\n", start)
    header = json.loads(data[start:end])
    if how == "cut":
        path.write_bytes(data[:-9])
    elif how == "bit":
        path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    elif how == "empty":
        path.write_bytes(b"")
    elif how == "pipe":
        path.unlink()
        os.mkfifo(path)
    elif how == "link":
        path.rename(path.with_name("elsewhere"))
        path.symlink_to("elsewhere")
    elif how == "open to others":
        path.chmod(0o622)
    else:
        header = {**header, **json.loads(how)}
        body = json.dumps(header).encode() + data[end:]
        path.write_bytes(FORMAT + room.hashlib.sha256(body).hexdigest().encode() + b"\n" + body)


@pytest.mark.parametrize(
    "how",
    [
        "cut",
        "bit",
        "empty",
        "pipe",
        "link",
        "open to others",
        '{"manifest": "6666"}',
        '{"version": 2}',
        '{"code": ""}',
        '{"arrays": [["levels", "|O8", [1], "C"]]}',
        '{"arrays": [["levels", "|u1", [1099511627775, 1099511627775], "C"]]}',
        '{"arrays": []}',
    ],
)
def test_what_is_not_exactly_right_is_fitted_again(
    releases: Path, place: Path, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = ask(releases / "trend", place)
    path = place / f"{DIGEST[:32]}.trend.1.model"
    damage(path, how)
    fitted = []
    kept = type(engine_of(Release.load(releases / "trend"))).trend
    real = kept.fit
    monkeypatch.setattr(kept, "fit", lambda engine: fitted.append(1) or real(engine))
    assert ask(releases / "trend", place) == first
    assert fitted == [1]


def test_arrays_that_do_not_fit_the_release_are_refused_before_a_kernel_reads_them(releases: Path) -> None:
    engine = engine_of(Release.load(releases / "trend"))
    arrays = dict(engine.trend.to_arrays())  # type: ignore[attr-defined]
    assert Trend.from_arrays(arrays, engine).sums.shape == arrays["sums"].shape
    for name, wrong in (
        ("levels", arrays["levels"][:-1]),
        ("levels", np.full_like(arrays["levels"], 255)),
        ("sums", arrays["sums"][:, 1:]),
        ("score", arrays["score"].astype(np.float32)),
        ("blocks", arrays["blocks"] + 100),
    ):
        with pytest.raises(ValueError, match=r"does not fit|without features"):
            Trend.from_arrays({**arrays, name: wrong}, engine)
    with pytest.raises(KeyError):
        fitting({}, "levels", (1,))


def test_a_place_that_others_can_write_to_is_not_used_and_a_missing_one_does_no_harm(releases: Path, place: Path) -> None:
    first = ask(releases / "trend", place)
    place.chmod(0o777)
    assert ModelCache(place, DIGEST).take("trend", Trend, engine_of(Release.load(releases / "trend"))) is None
    assert ask(releases / "trend", place / "nowhere") == first


def test_the_least_used_of_many_are_forgotten(place: Path) -> None:
    for number in range(MOST_FILES + 3):
        (place / f"{number:03}.model").write_bytes(b"")
        os.utime(place / f"{number:03}.model", (number, number))
    ModelCache(place, DIGEST).put("numbers", _Numbers([1.0, 2.0]))
    names = {path.name for path in place.iterdir()}
    assert len(names) == MOST_FILES
    assert f"{DIGEST[:32]}.numbers.7.model" in names
    assert "003.model" not in names
    assert ModelCache(place, DIGEST).take("numbers", _Numbers, None) == _Numbers([1.0, 2.0])
    assert ModelCache(place, "6" * 64).take("numbers", _Numbers, None) is None


def test_drafts_of_runs_that_were_killed_are_removed_and_one_that_is_being_written_is_not(place: Path) -> None:
    name = f".{DIGEST[:32]}.trend.1.model."
    (place / f"{name}00aa").write_bytes(b"left")
    os.utime(place / f"{name}00aa", (0, 0))
    (place / f"{name}00bb").write_bytes(b"under way")
    (place / "unknown").write_bytes(b"of somebody else")
    os.utime(place / "unknown", (0, 0))
    ModelCache(place, DIGEST).put("numbers", _Numbers([1.0]))
    assert {path.name for path in place.iterdir()} == {f"{name}00bb", "unknown", f"{DIGEST[:32]}.numbers.7.model"}


@dataclass(frozen=True)
class _Numbers:
    numbers: list[float]

    version = 7

    def to_arrays(self) -> dict[str, np.ndarray]:
        return {"numbers": np.array(self.numbers)}

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray], engine: object) -> _Numbers:
        return cls([float(number) for number in fitting(arrays, "numbers", (None,))])


@pytest.mark.parametrize("variable", ["SFUMATO_CACHE", "XDG_CACHE_HOME"])
def test_the_users_cache_is_where_she_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    monkeypatch.delenv("SFUMATO_CACHE", raising=False)
    monkeypatch.setenv(variable, str(tmp_path))
    found = ModelCache.of_user(DIGEST)
    assert found is not None
    assert found.place == (tmp_path if variable == "SFUMATO_CACHE" else tmp_path / "sfumato") / "models"
    assert stat.S_IMODE(found.place.stat().st_mode) == 0o700
