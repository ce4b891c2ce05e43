"""What is looked at in a publication: its files, its audits, its answers, what is explained; or its refusal."""

import functools
import hashlib
import json
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

import sfumato as sf
from tests.corpus.tables import read

TOLD = (
    "boxes engineer one",
    "boxes[form=ranges] reader each",
    "near-groups engineer bins",
    "multi-size engineer combination",
    "noisy-boxes[shares=…] insider one",
    "small-domain engineer one",
    "ambiguity engineer presence",
    "heterogeneous reader one",
)
"""The cases whose explanations are kept as text; those of the others are hashed part by part."""
SHORT = 60
"""A longer value in a manifest is hashed: a hash is written with a ~ before it."""


def digest(content: bytes | str) -> str:
    """Return the first 32 bits of a sha-256: enough to see a change, and small."""
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()[:8]


def observed(case: Any, seed: int, place: Path) -> dict[str, Any]:
    """Return what there is to see of a case by a seed, as plain JSON values: all of it, or files and verdicts alone."""
    try:
        method = case.make()
        table = read(case.kind, method, declared=case.declared)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = sf.publication(table, case.required(), method=method, random=seed, register=place / "register")
    except sf.SfumatoError as error:
        return {"refused": [type(error).__name__, error.sentence]}
    made.release.save(place / "release")
    release = sf.Release.load(place / "release")
    audit = sf.audit(release, table, links=made.links)
    found: dict[str, Any] = {"files": saved_files(place / "release"), "audit": _verdicts(audit)}
    if case.whole and seed == case.seeds[0]:
        alone = sf.audit(place / "release")
        found["audit"] = {**_audited(audit), "alone": [alone.holds, *_verdicts(alone), *alone.problems]}
        found["figures"] = dict(made.private)
        found["answers"] = answers(release, case)
        made.release.save(place / "csv", format="csv")
        found["csv"] = {path.name: digest(_unversioned(path)) for path in sorted((place / "csv").iterdir())}
        found["explained"] = explained(case, method, table)
    return plain(found)


def _verdicts(audit: Any) -> list[Any]:
    return [f"{one.adversary}: {one.holds}, {one.worst} of {one.bound}" for one in audit.claims]


def _audited(audit: Any) -> dict[str, Any]:
    """Return an audit as its JSON, without what is empty or follows; of stronger attacks the figures, which texts round."""
    told = audit.to_dict()
    told.pop("checked_with_table")
    told["stronger"] = {name: one["figure"] for name, one in told["stronger"].items()}
    told["claims"] = [
        {key: value for key, value in one.items() if value not in (None, "") and key != "used"} for one in told["claims"]
    ]
    return {key: value for key, value in told.items() if value not in (None, "", [], {})}


def saved_files(directory: Path) -> dict[str, Any]:
    """Return, for each file of a release, the hash of its bytes, and of what each column or each key holds."""
    return {path.name: _manifest(path) if path.suffix == ".json" else _table(path) for path in sorted(directory.iterdir())}


def _unversioned(path: Path) -> bytes:
    """Return what a file holds, a manifest without the version of the software: a release of sfumato changes nothing else."""
    content = path.read_bytes()
    return content.replace(f'"sfumato {sf.__version__}"'.encode(), b'"sfumato"') if path.suffix == ".json" else content


def _manifest(path: Path) -> dict[str, Any]:
    content = _unversioned(path)
    keys = {}
    for key, value in json.loads(content).items():
        text = json.dumps(value, sort_keys=True, ensure_ascii=False)
        keys[key] = value if len(text) <= SHORT else f"~{digest(text)}"
    return {"bytes": digest(content), "keys": keys}


def _table(path: Path) -> dict[str, Any]:
    content = pq.read_table(path)
    columns = {
        name: f"{column.type} {digest(json.dumps(column.to_pylist(), default=str, ensure_ascii=False))}"
        for name, column in zip(content.column_names, content.columns, strict=True)
    }
    return {"rows": content.num_rows, "bytes": digest(path.read_bytes()), "columns": columns}


def questions(case: Any) -> dict[str, str]:
    """Return the questions that every release of a kind of secret is asked."""
    quasi, secret = {
        "odd": ("smokes = true", "illness"),
        "presence": ("city = 'Bari'", "illness"),
        "bins": ("sex = 'f'", "pay"),
        "combination": ("sex = 'f'", "job"),
    }.get(case.kind, ("sex = 'f'", "illness"))
    number = "weight" if case.kind == "odd" else "age"
    named = {"pay": "pay >= 40", "job": "job = 'nurse'"}.get(secret, "illness = 'Asthma'")
    asked = {
        "all": "",
        "quasi": f"{quasi} AND {number} BETWEEN 30 AND 61",
        "value": named,
        "both": f"{quasi} AND {named}",
        "either": f"NOT {quasi} OR {named}",
        "one way": f"SELECT {secret}, COUNT(*) GROUP BY {secret}",
        "two ways": f"SELECT {quasi.split()[0]}, {secret}, COUNT(*) GROUP BY {quasi.split()[0]}, {secret}",
        "average": f"SELECT AVG({number}) WHERE {named}",
        "median": f"SELECT MEDIAN({number}) WHERE {named}",
        "share": f"SELECT SHARE({named}) WHERE {quasi}",
    }
    if case.kind == "bins":
        asked["average secret"] = "SELECT AVG(pay) WHERE sex = 'f'"
    if case.kind == "each":
        asked |= {"other secret": "job = 'nurse' AND sex = 'm'", "two secrets": "job = 'nurse' AND illness = 'Flu'"}
    return asked


def answers(release: Any, case: Any) -> dict[str, Any]:
    """Return the answers to the fixed questions, a difference, a test of association, and what is believed of a few people."""
    asked = questions(case)
    found = {name: _tried(lambda text=text: _figures(release.count(text))) for name, text in asked.items()}
    found["both, paper"] = _tried(lambda: _figures(release.count(asked["both"], estimator="paper")))
    found["two ways"] = _tried(lambda: [one.value for _, one in release.count(asked["two ways"])])
    two = [asked["share"], asked["share"].replace("WHERE ", "WHERE NOT ")]
    found["difference"] = _tried(lambda: _compared(release.compare(*two)))
    names = asked["two ways"].rsplit("GROUP BY ", 1)[1].split(", ")
    found["association"] = _tried(lambda: [*vars(release.crosstab(*names).test).values()])
    people = some_people(case)
    found["beliefs"] = _tried(lambda: release.beliefs(people).max(axis=1).tolist())
    if case.kind == "presence":
        found["presence"] = _tried(lambda: release.presence(people).tolist())
    return found


def some_people(case: Any) -> Any:
    """Return three people of the table by their quasi values as published."""
    method = case.make()
    return read(case.kind, method, declared=case.declared).to_arrow().slice(0, 3)


def _tried(ask: Any) -> Any:
    """Return what an asked figure is, or how it is refused."""
    try:
        return ask()
    except sf.SfumatoError as error:
        return [type(error).__name__, error.sentence]


def _figures(answer: Any) -> Any:
    """Return an estimate as its figures; one estimate per cell of a GROUP BY as value and error alone."""
    if isinstance(answer, sf.GroupedAnswer):
        return {" / ".join(str(key[name]) for name in answer.columns): [one.value, one.error] for key, one in answer}
    figures = [answer.value, answer.std_error, answer.low, answer.high]
    return [*figures, answer.note] if answer.note else figures


def _compared(found: Any) -> list[Any]:
    return [*_figures(found.difference)[:4], *([] if found.ratio is None else _figures(found.ratio)[:4])]


def explained(case: Any, method: Any, table: Any) -> Any:
    """Return what explain says, without measuring: as text, or a hash of each of its parts."""
    told = sf.explain(table, case.required(), method=method, quick=True)
    parts = [told.verdict(), told.highlights(), told.measured(), told.details()]
    return [*parts] if case.name in TOLD else [f"~{digest(chr(10).join(part))}" for part in parts]


def plain(value: Any) -> Any:
    """Return plain JSON values, numbers with twelve digits."""
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float):
        return float(f"{value:.12g}") if value == value and abs(value) != float("inf") else str(value)
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)


def watched(case: Any) -> dict[str, Any]:
    """Return what there is to see of a case by all its seeds; a refusal once, since it follows from no coins."""
    with tempfile.TemporaryDirectory(prefix="corpus-") as folder:
        found: dict[str, Any] = {}
        for seed in case.seeds:
            place = Path(folder) / str(seed)
            place.mkdir()
            one = observed(case, seed, place)
            if "refused" in one and not found:
                return one
            if found and "files" in one:
                del one["files"]["manifest.json"]["keys"]  # of one policy and table most are those of the first seed
            found[f"seed {seed}"] = one
        return found


def versions() -> dict[str, str]:
    """Return what hashes of CSV files, fits of other libraries and last digits depend on."""
    from importlib.metadata import PackageNotFoundError, version

    found = {}
    for name in ("pyarrow", "numpy", "scipy", "mbi", "jax"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return {"python": ".".join(map(str, sys.version_info[:3])), "arithmetic": arithmetic(), **found}


@functools.cache
def arithmetic() -> str:
    """Return for which processor kernels and matrix products are compiled here: another one adds up in another order."""
    from llvmlite.binding import get_host_cpu_name
    from threadpoolctl import threadpool_info

    return " ".join([get_host_cpu_name(), *sorted({pool.get("architecture", "") for pool in threadpool_info()})])
