"""Who published a release: a detached Ed25519 signature over the bytes of its manifest, which binds every file by its SHA-256.

Keys are PEM files: PKCS#8 for the private one, with or without a passphrase, SubjectPublicKeyInfo for the public one. The
signature lies beside the release, in `<release>.signature.json`, since nothing else may lie in it. It tells nothing that the
manifest does not, but for a fingerprint of the key.

A signature says who stands behind these bytes, not that a claim holds: that is the audit's word. It is worth as much as the way
on which the public key came: whoever can change a release can change what lies beside it.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os
import stat
from importlib import import_module
from pathlib import Path
from typing import Any

from sfumato.errors import ClaimBroken, InputError, OutputError, SfumatoError, SignatureError
from sfumato.receipt import refuse_in_release
from sfumato.release.files import LARGEST_MANIFEST, MANIFEST, read_file, read_manifest
from sfumato.reports.making import save
from sfumato.table.source import refusal

FORMAT, VERSION, ALGORITHM = "sfumato-signature", 1, "Ed25519"
SUFFIX, PUBLIC = ".signature.json", ".pub"
_LONGEST = 1 << 14
"""Keys and signatures have fewer bytes."""
_ASK = "ask the publisher for the file that ends in .pub"
_KEYS = ("format", "version", "algorithm", "key", "signature")


def keygen(path: str | Path, *, passphrase: str | None = None) -> str:
    """Write a new pair of keys, the private one to `path` and the public one to `path.pub`, and return its fingerprint.

    The private key is readable for its owner alone, and encrypted where a passphrase is given. Files that exist are not replaced.
    """
    private, public = Path(path), Path(f"{path}{PUBLIC}")
    for place in (private, public):
        if place.exists() or place.is_symlink():
            raise OutputError(f"{place} exists already, and a key is never replaced", hint="choose another name")
    refuse_in_release(Path(os.path.abspath(private)))
    if passphrase == "":
        raise InputError("an empty passphrase protects nothing", hint="give one, or leave it out")
    kinds = _library("hazmat.primitives.serialization")
    key = _library("hazmat.primitives.asymmetric.ed25519").Ed25519PrivateKey.generate()
    lock = kinds.NoEncryption() if passphrase is None else kinds.BestAvailableEncryption(passphrase.encode())
    own = key.private_bytes(kinds.Encoding.PEM, kinds.PrivateFormat.PKCS8, lock)
    open_ = key.public_key().public_bytes(kinds.Encoding.PEM, kinds.PublicFormat.SubjectPublicKeyInfo)
    save(own, private, public=False)
    try:
        save(open_, public, public=True)
    except BaseException:
        private.unlink()  # half a pair is none
        raise
    return _fingerprint(key.public_key())


def sign(release: str | Path, key: str | Path, *, passphrase: str | None = None, out: str | Path | None = None) -> Path:
    """Sign a release directory with a private key and return the file of the signature, beside the release unless `out` says.

    It is audited first, from its files: a release that is not what it says, or breaks a claim, is not signed.
    """
    from sfumato.api import audit

    place, target = Path(release), signature_place(release) if out is None else Path(out)
    private = _private(Path(key), passphrase)
    if target.exists() or target.is_symlink():
        raise OutputError(f"{target} exists already", hint="remove it to sign again, or choose another --out")
    refuse_in_release(Path(os.path.abspath(target)), why="an audit refuses a release with files that are not its own")
    before = _manifest(place)
    audited = audit(place)
    if audited.holds is False:
        raise ClaimBroken(f"{place} does not pass its audit, and is not signed", hint="`sfumato audit` says why", audit=audited)
    document = {
        "format": FORMAT,
        "version": VERSION,
        "algorithm": ALGORITHM,
        "key": _fingerprint(private.public_key()),
        "signature": base64.b64encode(private.sign(before)).decode("ascii"),
    }
    save((json.dumps(document, indent=2) + "\n").encode(), target, public=True)
    return target


def verify(release: str | Path, key: str | Path, *, signature: str | Path | None = None) -> str:
    """Return the fingerprint of the publisher's public key if the manifest of a release is signed with it; else raise.

    A `SignatureError` says that it is not: no signature, one that cannot be read, of other bytes, or with another key. Whether
    the files are those of the manifest, and whether claims hold, `audit` says: only both together speak of the release.
    """
    public = _public(Path(key))
    place = signature_place(release) if signature is None else Path(signature)
    manifest = _manifest(Path(release))
    stated, signed = _read_signature(place)
    own = _fingerprint(public)
    try:
        public.verify(signed, manifest)
    except _library("exceptions").InvalidSignature:
        if stated != own:
            message = f"the release is signed with another key ({stated[:16]}…) than the one given ({own[:16]}…)"
            hint = "signed again by somebody else, or the wrong key: ask the publisher for her key's fingerprint"
            raise SignatureError(message, hint=hint) from None
        raise SignatureError(
            "the manifest is not the one that was signed with this key", hint="get release and signature again"
        ) from None
    if stated != own:
        raise SignatureError(f"{place.name} names another key than the one it was made with", hint="get it again")
    return own


def signature_place(release: str | Path) -> Path:
    """Return where the signature of a release lies: beside it."""
    whole = Path(os.path.abspath(release))
    return whole.with_name(whole.name + SUFFIX)


def _manifest(release: Path) -> bytes:
    read_manifest(release)
    return read_file(release / MANIFEST, LARGEST_MANIFEST)


def _read_signature(place: Path) -> tuple[str, bytes]:
    """Return the fingerprint and the signature in a file; whatever else it holds is refused."""
    if refusal(place) == "there is no such file":
        raise SignatureError(f"there is no signature at {place}", hint="--signature FILE names it, if it lies elsewhere")
    try:
        document = json.loads(_content(place).decode("utf-8"))
    except (InputError, ValueError, RecursionError) as error:
        why = error.message if isinstance(error, SfumatoError) else f"{place} is no signature of sfumato"
        raise SignatureError(why, hint="get it again") from None
    known = isinstance(document, dict) and tuple(sorted(document)) == tuple(sorted(_KEYS))
    if not known or (document["format"], document["version"], document["algorithm"]) != (FORMAT, VERSION, ALGORITHM):
        raise SignatureError(f"{place} is no signature of sfumato, format version {VERSION}", hint="get it again")
    key, signature = document["key"], document["signature"]
    try:
        signed = base64.b64decode(signature, validate=True)
        if len(bytes.fromhex(key)) != 32 or key != key.lower() or len(signed) != 64:
            raise ValueError
    except (TypeError, ValueError, binascii.Error):
        raise SignatureError(f"{place}: key and signature are not as long as they should be", hint="get it again") from None
    return key, signed


def is_locked(key: str | Path) -> bool:
    """Return whether a private key has a passphrase."""
    return b"ENCRYPTED" in _content(Path(key))


def _private(path: Path, passphrase: str | None) -> Any:
    """Return the private key in a file that nobody else may read."""
    content = _content(path)
    if b"PRIVATE KEY" not in content:
        hint = f"give the private one, {path.with_suffix('')}" if path.suffix == PUBLIC else "`sfumato keygen FILE` makes one"
        raise InputError(f"{path}: this is no private key in PEM", hint=hint)
    if os.name == "posix" and stat.S_IMODE(os.stat(path).st_mode) & 0o077:
        raise InputError(f"{path}: others may read or write this private key", hint=f"chmod 600 {path}")
    locked = is_locked(path)
    if locked and passphrase is None:
        raise InputError(f"{path}: the key has a passphrase", hint="give it: SFUMATO_PASSPHRASE, or passphrase=…")
    if passphrase is not None and not locked:
        raise InputError(f"{path}: the key has no passphrase, and one was given", hint="leave it out (SFUMATO_PASSPHRASE too)")
    kinds = _library("hazmat.primitives.serialization")
    try:
        key = kinds.load_pem_private_key(content, None if passphrase is None else passphrase.encode())
    except (ValueError, TypeError, _library("exceptions").UnsupportedAlgorithm):
        wrong = "the passphrase is wrong, or the file is damaged" if locked else "the file is damaged"
        raise InputError(f"{path}: this private key cannot be read", hint=wrong) from None
    if not isinstance(key, _library("hazmat.primitives.asymmetric.ed25519").Ed25519PrivateKey):
        raise InputError(f"{path}: this is no Ed25519 key", hint="`sfumato keygen FILE` makes one")
    return key


def _public(path: Path) -> Any:
    content = _content(path)
    if b"PRIVATE KEY" in content:
        raise InputError(
            f"{path}: this is a private key, which nobody but its owner should have", hint=f"give the public one, {path}{PUBLIC}"
        )
    kinds = _library("hazmat.primitives.serialization")
    try:
        key = kinds.load_pem_public_key(content)
    except (ValueError, TypeError, _library("exceptions").UnsupportedAlgorithm):
        raise InputError(f"{path}: this is no public key in PEM", hint=_ASK) from None
    if not isinstance(key, _library("hazmat.primitives.asymmetric.ed25519").Ed25519PublicKey):
        raise InputError(f"{path}: this is no Ed25519 key", hint=_ASK)
    return key


def _fingerprint(key: Any) -> str:
    """Return the SHA-256 of the 32 bytes of a public key."""
    kinds = _library("hazmat.primitives.serialization")
    return hashlib.sha256(key.public_bytes(kinds.Encoding.Raw, kinds.PublicFormat.Raw)).hexdigest()


def _content(path: Path) -> bytes:
    """Return the bytes of a small regular file."""
    refused = refusal(path)
    if refused is not None:
        raise InputError(f"{path}: {refused}", hint="check the path")
    try:
        with path.open("rb") as stream:
            content = stream.read(_LONGEST + 1)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or 'the disk refused'}") from None
    if len(content) > _LONGEST:
        raise InputError(f"{path}: too long for a key or a signature", hint="check the path")
    return content


def _library(part: str) -> Any:
    """Return a part of the library of the extra `sign`, or say how to get it."""
    try:
        return import_module(f"cryptography.{part}")
    except ImportError:
        raise InputError(
            "releases are signed with the package cryptography, which is not installed", hint="pip install 'sfumato[sign]'"
        ) from None
