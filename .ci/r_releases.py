"""Releases for the tests of the R package, with their models and Python's answers: made anew at every run, from made-up tables.

python .ci/r_releases.py DIRECTORY
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np

import sfumato as sf
from sfumato.errors import QueryError
from sfumato.query.model_file import write_model
from sfumato.release.files import MANIFEST, sha256
from sfumato.table.generators import hospital, sample

QUASI = ["age", "sex", "ward", "insurance"]
QUESTIONS = 24
RULE = sf.FPrivacy(theta=4, offset="1/10")
TWO = {"sensitive": ["diagnosis", "ward"], "quasi": ["age", "sex", "insurance"]}
BOTH = {"sensitive": ["insurance", "ward"], "quasi": ["age", "sex"], "protect": "combination"}


def publications():
    """Yield a name and a release for every basis and kind of secret of the form buckets, then of every other form."""
    people = hospital(rows=3000, seed=4)
    methods = {
        "boxes": sf.Boxes(),
        "tight": sf.Boxes(patience=0),
        "near": sf.NearGroups(form="buckets"),
        "multi-size": sf.MultiSize(),
        "anatomy": sf.Anatomy(),
        "decoys": sf.Decoys(),
        "few-groups": sf.Boxes(floor=700),
        "ranges": sf.Boxes(form="ranges"),
        "randomized": sf.SmallDomain(),
    }
    for name, method in methods.items():
        rule = sf.LDiversity(3) if name in ("anatomy", "decoys") else RULE
        yield name, publish(people, rule, method, quasi=QUASI, sensitive="diagnosis")
    shares = dict.fromkeys(sorted(set(people["diagnosis"].to_pylist())), "1/60")
    noisy = sf.NoisyBoxes(values=list(shares), otherwise="Flu", floor=60)
    yield "noisy", publish(people, sf.Differential("1"), noisy, quasi=QUASI, sensitive="diagnosis")
    tables = sf.NoisyBoxes(values=list(shares), otherwise="Flu", floor=60, margins="0.7")
    yield "margins", publish(people, sf.Differential("1"), tables, quasi=QUASI, sensitive="diagnosis")
    yield "each", publish(people, RULE, sf.Boxes(), protect="each", **TWO)
    yield "together", publish(people, RULE, sf.MultiSize(), **BOTH)
    for name in ("census", "insurance"):
        table = sample(name, 3000, 5)
        drafted = sf.draft(table.to_pandas(), reviewed=True)
        yield name, sf.publish(table.to_pandas(), drafted, random=3)
    drafted = sf.draft(people.to_pandas(), reviewed=True)
    yield "hospital", sf.publish(people.to_pandas(), drafted, random=3)


def publish(people, rule, method, **columns):
    """Return a release of these columns."""
    return sf.publish(people.to_pandas(), rule, method=method, random=7, **columns)


def conditions(release, count, coins):
    """Yield questions about up to three quasi columns and values of one secret, as SQL and as an R formula."""
    recoded = release.manifest.schema["declared"]["recode"]
    for number in range(count):
        secret = release.each[number % len(release.each)]
        chosen = coins.choice(len(secret.quasi), coins.integers(0, min(3, len(secret.quasi)) + 1), replace=False)
        parts = [quasi_part(secret.quasi[j], secret.quasi[j].name in recoded, coins) for j in chosen]
        if number % 6 or not parts:
            parts.append(secret_part(secret.domain, coins))
        yield " AND ".join(part[0] for part in parts), "~ " + " & ".join(part[1] for part in parts)


def quasi_part(column, recoded, coins):
    """Return a condition on a column: some texts, or from a number or day on, and up to another where no band is cut."""
    listed = [one for one in column.arrow().dictionary_encode().dictionary.to_pylist() if one is not None]
    if column.kind == "categorical":
        return among(column.name, coins.choice(sorted(listed), min(len(listed), int(coins.integers(1, 4))), replace=False))
    # the first band may be open below: from its edge on it is cut
    low, high = sorted(sorted(listed)[k] for k in coins.integers(int(recoded), len(listed), 2))
    day = column.kind == "date"
    sql = [f'"{column.name}" >= ' + (f"'{low}'" if day else f"{low}")]
    r = [f"`{column.name}` >= " + (f'as.Date("{low}")' if day else f"{low}")]
    if not recoded:
        sql.append(f'"{column.name}" <= ' + (f"'{high}'" if day else f"{high}"))
        r.append(f"`{column.name}` <= " + (f'as.Date("{high}")' if day else f"{high}"))
    return " AND ".join(sql), " & ".join(r)


def secret_part(domain, coins):
    """Return a condition on one column of a secret: one value, or some."""
    place = int(coins.integers(0, len(domain.names)))
    listed = sorted({str(label).split(" / ")[place] for label in domain.labels})
    some = coins.choice(listed, min(len(listed) - 1, int(coins.choice([1, 1, 2, 5]))), replace=False)
    return among(domain.names[place], some, numbers=domain.kinds[place] == "numeric" and listed[0].isdigit())


def among(name, values, *, numbers=False):
    """Return the condition that a text, or a number, is one of these."""
    if numbers:
        listed = ", ".join(map(str, values))
        return f'"{name}" IN ({listed})', f"`{name}` %in% c({listed})"
    sql = ", ".join("'" + str(one).replace("'", "''") + "'" for one in values)
    return f'"{name}" IN ({sql})', f"`{name}` %in% {r_texts(map(str, values))}"


def r_texts(values):
    """Return texts as R writes them: those that are JSON texts too."""
    return "c(" + ", ".join(json.dumps(one, ensure_ascii=False) for one in values) + ")"


def answers(release, coins):
    """Return Python's answers by both estimators, where there are two."""
    found = []
    for sql, formula in conditions(release, QUESTIONS, coins):
        for estimator in (None, "paper"):
            one = release.count(sql, estimator=estimator)
            told = {"value": one.value, "std_error": one.std_error, "low": one.low, "high": one.high}
            found.append({"sql": sql, "formula": formula, "estimator": one.estimator, "default": estimator is None, **told})
    return found


def tables(release):
    """Return Python's cross tables of a quasi column of few values with a secret, and of two quasi columns."""
    few = sorted(release.quasi, key=lambda column: column.size)
    pairs = [(few[0].name, release.each[-1].domain.names[0]), (few[0].name, few[1].name)]
    found = []
    for a, b in pairs:
        rows = release.crosstab(a, b).to_arrow().to_pylist()
        for row in rows:
            row["row"], row["column"] = row.pop(a), row.pop(b)
        found.append({"a": a, "b": b, "cells": rows})
    return found


def pooled():
    """Return results of three tables, and what they are together."""
    fits = [
        ([0.1, 2.0], [[0.04, 0.01], [0.01, 0.5]]),
        ([0.3, 2.5], [[0.05, 0.0], [0.0, 0.4]]),
        ([0.2, 1.0], [[0.04, 0.0], [0.0, 0.6]]),
    ]
    combined = sf.combine(fits, names=["a", "b"], freedom=40)
    return {"fits": [{"coef": one, "vcov": two} for one, two in fits], "combined": combined.to_arrow().to_pylist()}


def main(place):
    """Write everything to a new directory."""
    place.mkdir(parents=True)
    expected = {"releases": {}, "refused": [], "pooled": pooled()}
    warnings.simplefilter("ignore")
    for number, (name, made) in enumerate(publications()):
        made.save(place / name, format="csv")
        release = sf.Release.load(place / name)
        try:
            kind = "json" if name == "boxes" else "json.gz"
            write_model(release, place / f"{name}.{kind}", manifest=sha256(place / name / MANIFEST))
        except QueryError:
            expected["refused"].append(name)
            continue
        coins = np.random.default_rng(number)
        expected["releases"][name] = {"answers": answers(release, coins), "tables": tables(release)}
    completed = place / "completed"
    completed.mkdir()
    from sfumato.table.write import write_table

    for number, table in enumerate(sf.Release.load(place / "boxes").impute(5, seed=1, kind="pyarrow"), 1):
        write_table(table, completed / f"completed-{number:02d}.csv")
    (place / "expected.json").write_text(json.dumps(expected, allow_nan=False), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
