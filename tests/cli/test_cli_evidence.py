"""Signatures and gates by the command: exit codes, and summaries for machines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import POLICY, Run

pytest.importorskip("cryptography")


def test_the_command_makes_keys_signs_and_verifies(place: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("publish", "people.csv", "--policy", "p.toml", "--out", "r").code == 0
    monkeypatch.setenv("SFUMATO_PASSPHRASE", "tree")
    made = run("keygen", "key")
    assert made.code == 0
    assert run("sign", "r", "--key", "key").code == 0
    monkeypatch.delenv("SFUMATO_PASSPHRASE")
    assert run("keygen", "key").code == 2
    assert run("sign", "r", "--key", "key", "--out", "two.json").code == 2  # no passphrase, and nobody to ask
    good = run("audit", "r", "--verify", "key.pub", "--json")
    assert (good.code, json.loads(good.out)["signature"]["valid"]) == (0, True)
    assert json.loads(good.out)["signature"]["key"] in made.out.replace("\n", "")
    assert run("audit", "r", "--signature", "two.json").code == 2
    assert run("audit", "r", "--verify", "p.toml").code == 2
    assert run("keygen", "other").code == 0
    (place / "r.signature.json").unlink()
    assert "no signature" in run("audit", "r", "--verify", "key.pub").out.replace("\n", " ")
    assert run("sign", "r", "--key", "other").code == 0
    bad = run("audit", "r", "--verify", "key.pub", "--json")
    assert (bad.code, json.loads(bad.out)["holds"], json.loads(bad.out)["signature"]["valid"]) == (1, False, False)
    (place / "r" / "st.parquet").write_bytes(b"PAR1")
    assert run("sign", "r", "--key", "other", "--out", "two.json").code == 1


def test_a_gate_lets_pass_what_keeps_its_policy_or_more(place: Path, run: Run) -> None:
    """Exit code 0 for the policy and a looser one, 1 for a stricter one with the value that is too likely, 2 for none."""
    assert run("publish", "people.csv", "--policy", "p.toml", "--out", "r").code == 0
    (place / "looser.toml").write_text(POLICY.replace("theta  = 2", "theta  = 3").replace('"0.2"', '"0.3"'))
    (place / "stricter.toml").write_text(POLICY.replace('HIV = "0.2"', 'HIV = "0.19"'))
    (place / "draft.toml").write_text("reviewed = false\n" + POLICY)
    for policy, code in (("p", 0), ("looser", 0), ("stricter", 1), ("draft", 2), ("nowhere", 2)):
        done = run("audit", "r", "--gate", f"{policy}.toml", "--json")
        assert done.code == code, policy
        if code < 2:
            summary = json.loads(done.out)["gate"]
            assert summary["passes"] is (code == 0)
            assert [check["check"] for check in summary["checks"]] == ["audit", "columns", "adversary", "requirement", "coins"]
            assert ["HIV" in check["why"] for check in summary["checks"]] == [False, False, False, code == 1, False]
    shown = run("audit", "r", "--gate", "stricter.toml", "--table", "people.csv")
    assert shown.code == 1
    assert "does not pass" in shown.out
    (place / "r" / "more.txt").write_text("x")
    broken = run("audit", "r", "--gate", "p.toml", "--json")
    assert broken.code == 1
    assert not json.loads(broken.out)["gate"]["checks"][0]["passes"]
