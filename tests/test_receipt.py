"""The private receipt: written with the release or not at all, and able to tell a table that was published before."""

from __future__ import annotations

import json
import os
import signal
import stat
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import OutputError
from sfumato.receipt import check_outputs, save_with_receipt
from sfumato.register import Earlier, earlier_publications, open_register, receipt_of, user_register, warnings_of
from sfumato.release.atomic import move_new
from sfumato.release.files import sha256
from sfumato.table import Fingerprint, Schema, Table
from tests.makers import tells


def people(count: int = 420, changed: int = 0, seed: int = 0) -> Table:
    """Return people whose ages are random; the last `changed` of them are others in each variant."""
    ages = np.random.default_rng(seed).integers(0, 10**6, count)
    ages[count - changed :] += 10**7
    frame = pa.table({"age": ages, "illness": [["Flu", "Gout", "HIV"][i % 3] for i in range(count)]})
    return Table.from_frame(frame, Schema(quasi=["age"], sensitive=["illness"]))


def save(table: Table, directory: Path, receipts: Path | None = None) -> Path:
    made = sf.publication(table, sf.LDiversity(3), random=1)
    return save_with_receipt(
        made.release,
        directory,
        format="parquet",
        receipts=receipts,
        fingerprint=table.fingerprint,
        policy="the policy",
        figures=made.private,
        audit=made.audit.to_dict(),
    )


def test_a_receipt_says_first_that_it_is_private_and_remembers_the_release(tmp_path: Path) -> None:
    table = people()
    path = save(table, tmp_path / "release")
    assert path == tmp_path / "release.receipt.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert '"private": "PRIVATE' in path.read_text().splitlines()[1]
    document = json.loads(path.read_text())
    assert document["release"] == {
        "directory": str(tmp_path / "release"),
        "manifest_sha256": sha256(tmp_path / "release" / "manifest.json"),
    }
    assert document["table"]["digest"] == table.fingerprint.digest
    assert document["policy"] == "the policy"
    assert document["figures"]["loss"] > 0
    assert document["audit"]["holds"] is True
    assert document["audit"]["exposure"] == pytest.approx(1 / 3)


def test_nothing_private_is_inside_the_release(tmp_path: Path) -> None:
    table = people()
    save(table, tmp_path / "release")
    assert sorted(os.listdir(tmp_path / "release")) == ["manifest.json", "qit.parquet", "st.parquet"]
    content = b"".join(path.read_bytes() for path in (tmp_path / "release").iterdir())
    for secret in (table.fingerprint.digest, "the policy", "exposure", str(tmp_path)):
        assert secret.encode() not in content


def test_an_older_receipt_is_never_overwritten(tmp_path: Path) -> None:
    first = save(people(), tmp_path / "a" / "release", tmp_path / "receipts")
    text = first.read_text()
    second = save(people(), tmp_path / "b" / "release", tmp_path / "receipts")
    assert (first.name, second.name) == ("release.receipt.json", "release.2.receipt.json")
    assert first.read_text() == text


def test_when_the_receipt_cannot_be_written_there_is_no_release(tmp_path: Path) -> None:
    (tmp_path / "receipts").write_text("a file where a directory should be")
    with pytest.raises(OutputError, match="nothing was left behind"):
        save(people(), tmp_path / "new" / "release", tmp_path / "receipts")
    assert os.listdir(tmp_path) == ["receipts"]


def test_a_release_that_appears_meanwhile_is_not_touched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = sha256

    def meanwhile(path: Path) -> str:
        (tmp_path / "release").mkdir(exist_ok=True)
        return real(path)

    monkeypatch.setattr("sfumato.receipt.sha256", meanwhile)
    with pytest.raises(OutputError, match="exists already"):
        save(people(), tmp_path / "release")
    assert os.listdir(tmp_path) == ["release"]
    assert os.listdir(tmp_path / "release") == []


def test_the_same_table_is_recognised_in_any_row_order(tmp_path: Path) -> None:
    table = people()
    save(table, tmp_path / "release")
    (found,) = earlier_publications(table.take(np.arange(420)[::-1]).fingerprint, [tmp_path, tmp_path])
    assert (found.kind, found.similarity, found.release) == ("same", 1.0, str(tmp_path / "release"))
    (warning,) = warnings_of([found])
    assert warning.startswith("This very table")
    assert tells(warning, "combined")


def test_nearly_the_same_table_is_recognised(tmp_path: Path) -> None:
    save(people(), tmp_path / "release")
    (found,) = earlier_publications(people(changed=42).fingerprint, [tmp_path])
    assert found.kind == "similar"
    assert found.similarity == pytest.approx(378 / 420, abs=0.08)
    assert "This table shares about" in warnings_of([found])[0]
    assert "shares about 90 %" in warnings_of([Earlier(tmp_path, "similar", 0.9)])[0]


def test_the_same_table_with_other_roles_is_recognised_by_its_columns(tmp_path: Path) -> None:
    table = people()
    save(table, tmp_path / "release")
    known = table.fingerprint
    changed = Fingerprint("0" * 32, known.rows, (), dict(known.columns))
    (found,) = earlier_publications(changed, [tmp_path])
    assert found.kind == "columns"
    assert set(found.columns) == set(known.columns)
    assert "the same columns" in warnings_of([found])[0]
    assert earlier_publications(Fingerprint("0" * 32, known.rows + 1, (), dict(known.columns)), [tmp_path]) == []


def staff(numbers: range, year: int) -> Table:
    """Return people of these numbers, with ages and illnesses that are other ones every year."""
    draws = np.random.default_rng(year)
    ages, illness = draws.integers(0, 10**6, len(numbers)), draws.choice(["Flu", "Gout", "HIV"], len(numbers))
    frame = pa.table({"number": list(numbers), "age": ages, "illness": illness})
    return Table.from_frame(frame, Schema(identifier=["number"], quasi=["age"], sensitive=["illness"]))


def test_the_same_people_are_recognised_a_year_later_by_their_identifiers(tmp_path: Path) -> None:
    first = staff(range(1000), 2026)
    made = sf.publication(first, sf.LDiversity(2), random=1)
    options = {"figures": {}, "audit": {}, "policy": "", "format": "parquet"}
    save_with_receipt(made.release, tmp_path / "release", fingerprint=first.fingerprint, **options)
    (found,) = earlier_publications(staff(range(500, 1500), 2027).fingerprint, [tmp_path])
    assert found.kind == "people"
    # Half of a thousand and a thousand: a third of 256 draws are in both, so that ±.2 are four standard deviations.
    assert found.similarity == pytest.approx(0.5, abs=0.2)
    assert "identifiers" in warnings_of([found])[0]
    assert earlier_publications(staff(range(2000, 3000), 2027).fingerprint, [tmp_path]) == []


def test_another_table_is_not_warned_of(tmp_path: Path) -> None:
    save(people(), tmp_path / "release")
    assert earlier_publications(people(seed=9).fingerprint, [tmp_path, tmp_path / "nowhere"]) == []


def test_a_damaged_receipt_is_pointed_out_and_a_foreign_one_ignored(tmp_path: Path) -> None:
    (tmp_path / "a.receipt.json").write_text("{")
    (tmp_path / "b.receipt.json").write_text('{"format": "a shop\'s receipt"}')
    found = earlier_publications(people().fingerprint, [tmp_path])
    assert found == [Earlier(tmp_path / "a.receipt.json", "unreadable")]
    assert warnings_of(found) == [
        f"{tmp_path}/a.receipt.json cannot be read, so it is not known whether this table was published before."
    ]


def test_outputs_are_checked_before_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_outputs(tmp_path / "release")
    with pytest.raises(OutputError, match="there is no directory"):
        check_outputs(tmp_path / "new" / "er" / "release")
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="exists already"):
        check_outputs(tmp_path / "file")
    with pytest.raises(OutputError, match="not a directory"):
        check_outputs(tmp_path / "release", tmp_path / "file")
    monkeypatch.setattr("sfumato.receipt.os.access", lambda path, mode: False)
    with pytest.raises(OutputError, match="no permission"):
        check_outputs(tmp_path / "release")


@pytest.mark.parametrize("inside", ["release", "release/below", "release/deep/below"])
def test_nothing_private_is_written_into_a_release_that_exists(tmp_path: Path, inside: str) -> None:
    save(people(), tmp_path / "release")
    before = sorted(tmp_path.rglob("*"))
    for out, receipts in ((tmp_path / inside / "new", None), (tmp_path / "new", tmp_path / inside)):
        for refused in (lambda o=out, r=receipts: check_outputs(o, r), lambda o=out, r=receipts: save(people(), o, r)):
            with pytest.raises(OutputError, match="lies in a release"):
                refused()
    assert sorted(tmp_path.rglob("*")) == before


def test_a_link_into_a_release_is_followed_and_a_foreign_manifest_is_not_minded(tmp_path: Path) -> None:
    save(people(), tmp_path / "release")
    (tmp_path / "link").symlink_to(tmp_path / "release")
    with pytest.raises(OutputError, match=r"--receipts .* lies in a release"):
        check_outputs(tmp_path / "new", tmp_path / "link")
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "manifest.json").write_text('{"name": "a web page"}')
    check_outputs(tmp_path / "app" / "release", tmp_path / "app" / "receipts")
    assert save(people(), tmp_path / "app" / "release") == tmp_path / "app" / "release.receipt.json"


@pytest.mark.parametrize("below", ["", "receipts"])
def test_receipts_are_not_put_into_the_new_release(tmp_path: Path, below: str) -> None:
    for refused in (check_outputs, lambda out, receipts: save(people(), out, receipts)):
        with pytest.raises(OutputError, match="private receipt"):
            refused(tmp_path / "z", tmp_path / "z" / below)
    assert os.listdir(tmp_path) == []


def test_an_interrupt_right_after_the_last_step_leaves_release_and_receipt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def moved(*given: Path) -> None:
        move_new(*given)
        if given[1] == tmp_path / "release":
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr("sfumato.receipt.move_new", moved)
    with pytest.raises(KeyboardInterrupt):
        save(people(), tmp_path / "release")
    assert sorted(os.listdir(tmp_path)) == ["release", "release.receipt.json"]
    assert sf.Release.load(tmp_path / "release").rows == 420


def test_the_receipt_of_a_release_is_found_by_its_manifest_and_else_by_its_place(tmp_path: Path) -> None:
    assert receipt_of(tmp_path / "nowhere") is None
    first = save(people(), tmp_path / "release")
    found = receipt_of(tmp_path / "release")
    assert found is not None
    assert (found.path, found.policy, found.same) == (first, "the policy", True)
    manifest = tmp_path / "release" / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"rows": 420', '"rows": 421', 1))
    found = receipt_of(tmp_path / "release")
    assert found is not None
    assert (found.path, found.same) == (first, False)
    (tmp_path / "release").rename(tmp_path / "elsewhere")
    assert receipt_of(tmp_path / "elsewhere") is None


def test_a_release_that_replaced_an_older_one_in_its_place_is_known_by_its_own_receipt(tmp_path: Path) -> None:
    save(people(), tmp_path / "release")
    for path in (tmp_path / "release").iterdir():
        path.unlink()
    (tmp_path / "release").rmdir()
    second = save(people(seed=3), tmp_path / "release")
    found = receipt_of(tmp_path / "release")
    assert found is not None
    assert (found.path, found.same) == (second, True)


def test_a_pipe_among_receipts_is_told_and_not_waited_for(tmp_path: Path) -> None:
    table = people()
    save(table, tmp_path / "release")
    os.mkfifo(tmp_path / "a.receipt.json")
    found = earlier_publications(table.fingerprint, [tmp_path])
    assert {(earlier.receipt.name, earlier.kind) for earlier in found} == {
        ("a.receipt.json", "unreadable"),
        ("release.receipt.json", "same"),
    }
    kept = receipt_of(tmp_path / "release")
    assert kept is not None
    assert kept.same


def test_sixteen_earlier_publications_give_one_warning_that_counts_them_and_names_the_latest(tmp_path: Path) -> None:
    same = [Earlier(tmp_path / str(i), "same", 1.0, release=f"r{i}", date=f"2026-01-{i + 1:02}T00:00") for i in range(14)]
    alike = [Earlier(tmp_path / "x", "similar", 0.9, date="2026-02-01"), Earlier(tmp_path / "y", "similar", 0.3)]
    (warning,) = warnings_of([*reversed(same), *alike])
    assert "14 times, last on 2026-01-14 as r13" in warning
    assert "2 other releases" in warning
    (less,) = warnings_of(alike)
    assert "about 90 % of its rows" in less
    assert "and much with 1 more." in less
    (both,) = warnings_of([Earlier(tmp_path / "a", "unreadable"), Earlier(tmp_path / "b", "unreadable")])
    assert both.startswith(f"{tmp_path}/a and 1 more cannot be read")


def test_the_latest_of_equally_alike_publications_comes_first(tmp_path: Path) -> None:
    table = people()
    for name, date in (("a", "2026-01-01"), ("b", "2026-03-01"), ("c", "2026-02-01")):
        path = save(table, tmp_path / name)
        path.write_text(json.dumps({**json.loads(path.read_text()), "date": date}))
    assert [one.date[5:7] for one in earlier_publications(table.fingerprint, [tmp_path])] == ["03", "02", "01"]


def test_a_receipt_in_the_users_register_is_found_for_its_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    register = open_register()
    assert register == tmp_path / "data" / "sfumato" / "receipts"
    assert [stat.S_IMODE(place.stat().st_mode) for place in (register, register.parent)] == [0o700, 0o700]
    path = save(people(), tmp_path / "out" / "release", register)
    found = receipt_of(tmp_path / "out" / "release")
    assert found is not None
    assert (found.path, found.same) == (path, True)


@pytest.mark.parametrize("home", ["file", "relative", "none"])
def test_a_user_without_a_place_for_a_register_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: str) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file") if home == "file" else "relative")
    monkeypatch.setenv("HOME", str(tmp_path / "file"))
    if home == "none":

        def nobody() -> Path:
            raise RuntimeError("no home directory")

        monkeypatch.setattr(Path, "home", nobody)
        assert user_register() is None
    assert open_register() is None
    assert os.listdir(tmp_path) == ["file"]
