"""What a release teaches, kept between runs: fitted once, read back when the same release is asked again.

A file holds the arrays of one model: a line with the format, the sha-256 of all that follows, a line of JSON that says what they
are (the sha-256 of the release's manifest, which fixes its tables; the model, its version and the code that fitted it; name,
type and shape of each array), then the arrays' bytes. Nothing in it is executed. A file that is not exactly that, that anybody
else could have written, or whose arrays do not fit the release, is not used: the model is fitted again, the answer the same.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np

from sfumato import __version__
from sfumato.arrays import Array
from sfumato.errors import FormatError
from sfumato.places import is_own, private_directory, user_cache
from sfumato.query.models.protocol import Model
from sfumato.release.files import read_file

FORMAT = b"sfumato-model 1\n"
SUFFIX = ".model"

MOST_FILES = 64
"""So many models are kept; of more, those that were not used longest are removed."""

LEFT = 3600
"""A draft that was not written to for so many seconds was left by a run that was killed."""

LARGEST = 1 << 31
"""A file beyond so many bytes is neither written nor read."""

_TYPES = ("|b1", "|u1", "<u2", "<u4", "<i2", "<i4", "<i8", "<f4", "<f8")

M = TypeVar("M", bound=Model[Any, Any])


def user_models() -> Path | None:
    """Return where a user's models lie, whether or not they are there: in `SFUMATO_CACHE` if that is set, else in her cache."""
    stated = os.environ.get("SFUMATO_CACHE")
    home = Path(os.path.abspath(stated)) if stated else user_cache()
    return None if home is None else home / "models"


@dataclass(frozen=True)
class ModelCache:
    """Where the models of one release are kept, known by the sha-256 of its manifest.

    Of several secrets that are protected each by itself, each has models of its own: `secret` is its place.
    """

    place: Path
    manifest: str
    secret: int | None = None

    @classmethod
    def of_user(cls, manifest: str) -> ModelCache | None:
        """Return the user's models of a release: in `SFUMATO_CACHE` if that is set, else in her cache; None without one."""
        place = private_directory(user_models())
        return cls(place, manifest) if place is not None and is_own(place) else None

    def take(self, name: str, kind: type[M], engine: Any) -> M | None:
        """Return the model kept under a name, None where there is none that can be trusted and fits."""
        path = self._path(name, kind)
        try:
            if not is_own(self.place) or not is_own(path):
                return None
            arrays = _read(path, self._stated(name, kind))
            model = kind.from_arrays(arrays, engine)
        except (OSError, FormatError, ValueError, KeyError, IndexError, TypeError, RecursionError, MemoryError):
            return None
        with contextlib.suppress(OSError):
            os.utime(path)
        return model

    def put(self, name: str, model: Model[Any, Any]) -> None:
        """Keep a model, or do nothing where that is not possible."""
        arrays = {key: np.asarray(value) for key, value in model.to_arrays().items()}
        if sum(array.nbytes for array in arrays.values()) > LARGEST:
            return
        orders: dict[str, Literal["C", "F"]] = {key: "F" if array.flags.fnc else "C" for key, array in arrays.items()}
        listed = [(key, array.dtype.str, list(array.shape), orders[key]) for key, array in arrays.items()]
        header = json.dumps({**self._stated(name, type(model)), "arrays": listed}).encode() + b"\n"
        body = b"".join([header, *(array.tobytes(orders[key]) for key, array in arrays.items())])
        path = self._path(name, type(model))
        draft = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
        with contextlib.suppress(OSError):
            try:
                with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
                    stream.write(FORMAT + hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
                os.replace(draft, path)
            finally:
                draft.unlink(missing_ok=True)
            self._forget()

    def _path(self, name: str, kind: type[Model[Any, Any]]) -> Path:
        return self.place / f"{self.manifest[:32]}.{self._named(name)}.{kind.version}{SUFFIX}"

    def _named(self, name: str) -> str:
        return name if self.secret is None else f"{self.secret + 1}-{name}"

    def _stated(self, name: str, kind: type[Model[Any, Any]]) -> dict[str, Any]:
        return {
            "manifest": self.manifest,
            "model": self._named(name),
            "version": kind.version,
            "software": f"sfumato {__version__}",
            "code": _code(),
        }

    def _forget(self) -> None:
        """Remove what was not used longest, and drafts of runs that were killed."""
        used = {path: path.stat().st_mtime for path in self.place.glob(f"*{SUFFIX}*")}
        files = sorted((path for path in used if path.suffix == SUFFIX), key=used.__getitem__)
        drafts = [path for path in used if path.suffix != SUFFIX and used[path] < time.time() - LEFT]
        for path in (*files[: max(0, len(files) - MOST_FILES)], *drafts):
            path.unlink(missing_ok=True)


def fitting(
    arrays: Mapping[str, Array], name: str, shape: tuple[int | None, ...], kind: str = "<f8", *, below: int | None = None
) -> Array:
    """Return an array of this type and shape (None fits any length); `ValueError` for another, which a kernel might misread.

    With `below` it holds whole numbers from 0 to before that.
    """
    array = arrays[name]
    given = array.shape
    if array.dtype.str != kind or len(given) != len(shape) or any(b not in (None, a) for a, b in zip(given, shape, strict=True)):
        raise ValueError(f"{name} does not fit")
    if below is not None and len(array) and not 0 <= int(array.min()) <= int(array.max()) < below:
        raise ValueError(f"{name}: a number out of range")
    return array


def _read(path: Path, stated: Mapping[str, Any]) -> dict[str, Array]:
    """Return the arrays in a file that says exactly what is expected of it; `ValueError` or `FormatError` for any other."""
    data = read_file(path, LARGEST + (1 << 20))
    start = len(FORMAT) + 65
    if data[: len(FORMAT)] != FORMAT or data[start - 1 : start] != b"\n":
        raise ValueError("not a file of this format")
    body = memoryview(data)[start:]
    if hashlib.sha256(body).hexdigest().encode() != data[len(FORMAT) : start - 1]:
        raise ValueError("damaged")
    end = data.index(b"\n", start)
    header = json.loads(data[start:end])
    listed = header.pop("arrays")
    if header != dict(stated):
        raise ValueError("of something else")
    arrays, at = {}, end + 1
    for key, kind, shape, order in listed:
        if (
            kind not in _TYPES
            or order not in ("C", "F")
            or not all(isinstance(size, int) and 0 <= size < 1 << 40 for size in shape)
        ):
            raise ValueError("an array of another kind")
        count = int(np.prod(shape, dtype=object)) if shape else 1
        size = count * np.dtype(kind).itemsize
        if at + size > len(data):
            raise ValueError("too short")
        # A copy: kernels are compiled for arrays of their own memory. In the order it had, so that sums round as they did.
        arrays[str(key)] = np.frombuffer(data, kind, count=count, offset=at).reshape(shape, order=order).copy(order)
        at += size
    if at != len(data):
        raise ValueError("too long")
    return arrays


@cache
def _code() -> str:
    """Return a digest of the code that fits models, so that what an older one fitted is not used."""
    digest = hashlib.sha256()
    for path in sorted((Path(__file__).parent / "models").glob("*.py")):
        digest.update(path.name.encode() + b"\n" + path.read_bytes())
    return digest.hexdigest()
