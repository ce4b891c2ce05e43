"""Whose release it is: signed, tampered with, signed again by somebody else; keys and signatures that are none."""

from __future__ import annotations

import json
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.errors import InputError, OutputError, SignatureError
from tests.cli.conftest import people

pytest.importorskip("cryptography")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a signed release, two pairs of keys and an encrypted one."""
    here = tmp_path_factory.mktemp("signed")
    (here / "people.csv").write_text(people())
    schema = sf.Schema(identifier=["name"], quasi=["age", "sex"], sensitive=["illness"])
    sf.publish(sf.Table.read(here / "people.csv", schema), sf.LDiversity(2), out=here / "release", seed=1)
    for name in ("office", "stranger"):
        sf.keygen(here / name)
    sf.keygen(here / "locked", passphrase="öffne dich")
    sf.sign(here / "release", here / "office")
    return here


@pytest.fixture
def here(made: Path, tmp_path: Path) -> Path:
    """A copy of that directory, to be spoilt."""
    return Path(shutil.copytree(made, tmp_path / "copy"))


def test_a_signed_release_is_the_publishers_and_passes_its_audit(made: Path) -> None:
    assert sf.verify(made / "release", made / "office.pub") == sf.verify(f"{made}/release/", made / "office.pub")
    assert sf.audit(made / "release").holds  # nothing was put into it
    assert stat.S_IMODE((made / "office").stat().st_mode) == 0o600
    assert stat.S_IMODE((made / "release.signature.json").stat().st_mode) == 0o644


def test_the_signature_is_ed25519_over_the_bytes_of_the_manifest(here: Path) -> None:
    """OpenSSL, which knows nothing of sfumato, says so too."""
    import base64

    (here / "raw").write_bytes(base64.b64decode(json.loads((here / "release.signature.json").read_text())["signature"]))
    command = ["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", "office.pub", "-rawin", "-in", "release/manifest.json"]
    if shutil.which("openssl") is None:
        pytest.skip("no openssl")
    done = subprocess.run([*command, "-sigfile", "raw"], cwd=here, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_tampered_manifest_is_caught(here: Path) -> None:
    manifest = here / "release" / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"seeded": true', '"seeded": false'))
    with pytest.raises(SignatureError, match="was signed"):
        sf.verify(here / "release", here / "office.pub")


def test_a_tampered_table_is_caught_by_the_manifest_that_is_signed(here: Path) -> None:
    table = here / "release" / "st.parquet"
    content = bytearray(table.read_bytes())
    content[-100] ^= 1
    table.write_bytes(content)
    sf.verify(here / "release", here / "office.pub")  # the manifest is as it was
    assert sf.audit(here / "release").holds is False


def test_another_table_with_its_own_manifest_is_caught(here: Path) -> None:
    shutil.rmtree(here / "release")
    schema = sf.Schema(identifier=["name"], quasi=["age", "sex"], sensitive=["illness"])
    sf.publish(sf.Table.read(here / "people.csv", schema), sf.LDiversity(2), out=here / "release", seed=2)
    assert sf.audit(here / "release").holds
    with pytest.raises(SignatureError):
        sf.verify(here / "release", here / "office.pub")


def test_a_release_that_somebody_else_has_signed_again_is_caught(here: Path) -> None:
    (here / "release.signature.json").unlink()
    sf.sign(here / "release", here / "stranger")
    with pytest.raises(SignatureError, match="another key"):
        sf.verify(here / "release", here / "office.pub")
    forged = json.loads((here / "release.signature.json").read_text())
    forged["key"] = "0" * 64
    (here / "release.signature.json").write_text(json.dumps(forged))
    with pytest.raises(SignatureError, match="names another key"):
        sf.verify(here / "release", here / "stranger.pub")


def test_a_passphrase_is_needed_and_the_wrong_one_opens_nothing(here: Path) -> None:
    out = here / "other.json"
    with pytest.raises(InputError, match="has a passphrase"):
        sf.sign(here / "release", here / "locked", out=out)
    with pytest.raises(InputError, match="cannot be read"):
        sf.sign(here / "release", here / "locked", passphrase="open", out=out)
    with pytest.raises(InputError, match="has no passphrase"):
        sf.sign(here / "release", here / "office", passphrase="open", out=out)
    sf.sign(here / "release", here / "locked", passphrase="öffne dich", out=out)
    assert sf.verify(here / "release", here / "locked.pub", signature=out)
    assert b"ENCRYPTED" in (here / "locked").read_bytes()


def test_nothing_is_overwritten_and_nothing_lies_in_a_release(here: Path) -> None:
    before = (here / "office").read_bytes()
    for taken in ("office", "office.pub"):
        (here / "new.pub").unlink(missing_ok=True)
        with pytest.raises(OutputError, match="never replaced"):
            sf.keygen(here / taken.removesuffix(".pub"))
    (here / "new.pub").write_text("mine")
    with pytest.raises(OutputError, match=r"new\.pub exists"):
        sf.keygen(here / "new")
    assert not (here / "new").exists()
    with pytest.raises(OutputError, match="exists already"):
        sf.sign(here / "release", here / "office")
    with pytest.raises(OutputError, match="lies in a release"):
        sf.sign(here / "release", here / "office", out=here / "release" / "signature.json")
    with pytest.raises(OutputError, match="lies in a release"):
        sf.keygen(here / "release" / "key")
    with pytest.raises(InputError, match="empty passphrase"):
        sf.keygen(here / "fresh", passphrase="")
    assert (here / "office").read_bytes() == before


def test_a_release_that_does_not_pass_its_audit_is_not_signed(here: Path) -> None:
    (here / "release" / "note.txt").write_text("more")
    with pytest.raises(sf.ClaimBroken, match="not signed"):
        sf.sign(here / "release", here / "office", out=here / "new.json")
    assert not (here / "new.json").exists()


def test_a_private_key_that_others_can_read_is_not_used_and_none_is_taken_for_a_public_one(here: Path) -> None:
    (here / "office").chmod(0o640)
    with pytest.raises(InputError, match="others may read"):
        sf.sign(here / "release", here / "office", out=here / "new.json")
    with pytest.raises(InputError, match="a private key"):
        sf.verify(here / "release", here / "stranger")
    with pytest.raises(InputError, match="this is no private key") as refused:
        sf.sign(here / "release", here / "office.pub", out=here / "new.json")
    assert refused.value.hint == f"give the private one, {here / 'office'}"


RSA = (
    "-----BEGIN PUBLIC KEY-----\nMFwwDQYJKoZIhvcNAQEBBQADSwAwSAJBALn6fW1fZb4C3ZHgdJUeUo6p5c5kFq9G\n"
    "zqN5pYF0yW3mHbHk3mP7mH0H9v4m2m9dG9y0m2nT3u6w1dFz7w1rj7kCAwEAAQ==\n-----END PUBLIC KEY-----\n"
)
HOSTILE = [
    b"",
    b"null",
    b"[]",
    b"\x00" * 40,
    b"{" * 9000,
    b"x" * 20_000,
    RSA.encode(),
    "\ud800".encode("utf-8", "surrogatepass"),
    b"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n",
    b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
    b"-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n",
]


@pytest.mark.parametrize("content", HOSTILE)
def test_hostile_files_give_a_sentence(here: Path, content: bytes) -> None:
    bad = here / "bad"
    bad.write_bytes(content)
    bad.chmod(0o600)
    with pytest.raises(InputError):
        sf.verify(here / "release", bad)
    with pytest.raises(InputError):
        sf.sign(here / "release", bad, out=here / "new.json")
    with pytest.raises(SignatureError):
        sf.verify(here / "release", here / "office.pub", signature=bad)


@pytest.mark.parametrize(
    "change",
    [
        {"signature": "AAAA"},
        {"signature": 5},
        {"signature": None},
        {"key": "zz"},
        {"key": ["a"]},
        {"version": 2},
        {"algorithm": "none"},
        {"format": {}},
        {"more": 1},
    ],
)
def test_a_signature_of_another_shape_is_none(here: Path, change: dict[str, object]) -> None:
    place = here / "release.signature.json"
    place.write_text(json.dumps(json.loads(place.read_text()) | change))
    with pytest.raises(SignatureError):
        sf.verify(here / "release", here / "office.pub")


def test_places_that_are_no_files_are_refused(here: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        sf.verify(here / "release", here / "nobody.pub")
    with pytest.raises(InputError, match="directory"):
        sf.verify(here / "release", here)
    with pytest.raises(SignatureError, match="no signature"):
        sf.verify(here / "release", here / "office.pub", signature=here / "nowhere")
    with pytest.raises(SignatureError, match="directory"):
        sf.verify(here / "release", here / "office.pub", signature=here)
    with pytest.raises(sf.FormatError):
        sf.verify(tmp_path, here / "office.pub")
