"""Mutants of release directories: the manifest, the bytes of tables, what the tables say, what is claimed."""

from __future__ import annotations

import hashlib
import json
import random
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sfumato import Release, Table
from sfumato.errors import SfumatoError
from tests.fuzz.bases import BASES, FORMATS, tables
from tests.fuzz.claim_lies import claim_more
from tests.fuzz.drafts import Draft, NoDraftError
from tests.fuzz.lies import tell_lies
from tests.fuzz.noise import mutate_bytes, mutate_json, mutate_text, number_beyond
from tests.fuzz.oracle import check_release


@dataclass
class Work:
    """Where the honest releases are, and where mutants are written."""

    bases: Path
    scratch: Path
    drafts: dict[str, Draft] = field(default_factory=dict)

    def pick(self, coins: random.Random) -> tuple[str, str, Table]:
        """Return a base, a format, and the table that the base is a release of."""
        name = coins.choice(BASES).name
        return name, coins.choice(FORMATS), tables()[name]

    def files(self, name: str, kind: str) -> dict[str, bytes]:
        """Return the files of a base."""
        place = self.bases / name / kind
        return {str(path.relative_to(place)): path.read_bytes() for path in sorted(place.rglob("*")) if path.is_file()}

    def release(self, name: str, kind: str) -> Release:
        """Return a base as a release."""
        return Release.load(self.bases / name / kind)

    def draft(self, name: str) -> Draft:
        """Return a base taken apart, to be changed."""
        if name not in self.drafts:
            self.drafts[name] = Draft.of(self.release(name, "parquet"))
        return self.drafts[name].copy()

    def fresh(self, name: str = "mutant") -> Path:
        """Return a path in the scratch directory where nothing is."""
        place = self.scratch / name
        shutil.rmtree(place, ignore_errors=True)
        return place

    def put(self, files: dict[str, bytes]) -> Path:
        """Write the files of a mutant and return their directory."""
        place = self.fresh()
        place.mkdir()
        for name, data in files.items():
            (place / name).parent.mkdir(exist_ok=True)
            (place / name).write_bytes(data)
        return place


def spelled(document: Any) -> bytes:
    """Return a manifest in the one spelling that manifests have."""
    return (json.dumps(document, indent=2, ensure_ascii=False, sort_keys=True) + "\n").encode("utf-8", "surrogatepass")


def manifest_mutant(coins: random.Random, work: Work) -> str:
    """Change the manifest: anywhere in its structure, in its spelling, or in its bytes."""
    name, kind, table = work.pick(coins)
    files = work.files(name, kind)
    honest = json.loads(files["manifest.json"])
    document = json.loads(files["manifest.json"])
    way = coins.random()
    if way < 0.75:
        for _ in range(coins.choice([1, 1, 1, 2, 3])):
            mutate_json(coins, document)
        try:
            files["manifest.json"] = spelled(document)
        except TypeError:  # keys of several types
            return "no mutant"
    elif way < 0.9:
        files["manifest.json"] = _other_spelling(coins, files["manifest.json"].decode(), document).encode(
            "utf-8", "surrogatepass"
        )
    else:
        files["manifest.json"] = mutate_bytes(coins, files["manifest.json"])
    return check_release(work.put(files), table, honest, coins)


def _other_spelling(coins: random.Random, text: str, document: Any) -> str:
    """Return the same content spelled otherwise, or nearly the same."""
    twice = text.splitlines(keepends=True)
    line = coins.randrange(1, len(twice) - 1)
    return coins.choice(
        [
            json.dumps(document),
            json.dumps(document, indent=2, sort_keys=True),
            text.replace(" ", "  ", 1),
            text + " ",
            text.replace("\n", "\r\n"),
            "\ufeff" + text,
            "".join([*twice[:line], twice[line], *twice[line:]]),
            text.replace(': "', ': "\\u0041', 1),
            text.replace("0", "00", 1),
            text.replace("1", "1.0", 1),
            text.replace("true", "NaN", 1),
            "[" * 100_000,
            mutate_text(coins, text),
        ]
    )


def table_bytes_mutant(coins: random.Random, work: Work) -> str:
    """Change the bytes of a table file, and mostly the manifest's sha-256 and row counts with them."""
    name, kind, table = work.pick(coins)
    files = work.files(name, kind)
    document = json.loads(files["manifest.json"])
    honest = json.loads(files["manifest.json"])
    chosen = coins.choice([one for one in files if one != "manifest.json"])
    files[chosen] = mutate_bytes(coins, files[chosen])
    if coins.random() < 0.95:
        facts = document["tables"][chosen.rpartition(".")[0]]
        facts["files"][0]["sha256"] = hashlib.sha256(files[chosen]).hexdigest()
        if coins.random() < 0.1:
            facts["rows"] = facts["files"][0]["rows"] = facts["rows"] + coins.choice([-1, 1, 100, 2**31 - 1 - facts["rows"]])
        files["manifest.json"] = spelled(document)
    return check_release(work.put(files), table, honest, coins)


def lie_mutant(coins: random.Random, work: Work) -> str:
    """Change what the tables say; the files are in canonical order and bytes again."""
    return _drafted(coins, work, tell_lies)


def claim_mutant(coins: random.Random, work: Work) -> str:
    """Change what is claimed, required, declared or said of the method."""
    return _drafted(coins, work, claim_more)


def number_mutant(coins: random.Random, work: Work) -> str:
    """Put numbers of requirement, method and parameters beyond their ranges; often the rest of the manifest follows them."""
    if coins.random() < 0.5:
        return _drafted(coins, work, _numbers_beyond)
    name, kind, table = work.pick(coins)
    files = work.files(name, kind)
    honest, document = json.loads(files["manifest.json"]), json.loads(files["manifest.json"])
    number_beyond(coins, [document[key] for key in NUMBERED])
    files["manifest.json"] = spelled(document)
    return check_release(work.put(files), table, honest, coins)


NUMBERED = ("requirement", "requirement", "method", "parameters", "values", "schema")


def _numbers_beyond(coins: random.Random, draft: Draft) -> None:
    number_beyond(coins, [draft.manifest[key] for key in NUMBERED])
    draft.claim_anew()
    if coins.random() < 0.7:
        draft.keep_books()


def _drafted(coins: random.Random, work: Work, change: Any) -> str:
    name, kind, table = work.pick(coins)
    honest = work.draft(name).manifest
    place = drafted(coins, work, work.draft(name), change, kind)
    return place if isinstance(place, str) else check_release(place, table, honest, coins)


def drafted(coins: random.Random, work: Work, draft: Draft, change: Any, kind: str) -> Path | str:
    """Return where a draft lies after a change, or why there is none."""
    try:
        change(coins, draft)
        place = work.fresh()
        draft.save(place, kind)
    except NoDraftError:
        return "no mutant"
    except SfumatoError:
        return "refused"
    except (ArithmeticError, ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        if _in_product(error):
            raise
        return "no mutant"
    return place


def _in_product(error: BaseException) -> bool:
    """Return whether an error comes from sfumato's own code, and not from a mutator that met its own mutant."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
        if f"{Path('/')}sfumato/" in trace.tb_frame.f_code.co_filename.replace("\\", "/"):
            return True
    return False
