"""How often does naive Bayes name a person's value, from β-like releases and from differentially private records?

Without and with Laplace's correction; of PrivBayes' records also by how near a number must be to a person's own to count, δ.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean
from typing import Any

from sfumato.charts import Chart
from sfumato.studies.cells import Cell
from sfumato.studies.census import GENERATED
from sfumato.studies.draw import lines
from sfumato.studies.matching._figures import BUREL, FULL, NOISE, OURS, PRINTED, QUICK, SCHEMES, measured
from sfumato.studies.matching.measured import AT, NEAR
from sfumato.studies.matching.tables import CENSUS, INSURANCE
from sfumato.studies.source import Source
from sfumato.studies.study import Claims, Rows, Study, Verdict

POINT = 0.01
PLAIN = "without correction"
VARIANTS = {PLAIN: "no correction", "": "corrected"}
CORRECTED = {"no correction": "", "corrected": ", corrected"}


def measure(source: Source, *, ways: Sequence[str], seed: int, **settings: Any) -> Rows:
    """Return how often naive Bayes is right, against β and, of synthetic records, against δ."""
    rows: list[dict[str, Any]] = []
    for place in (CENSUS, INSURANCE) if source is CENSUS else (source,):
        for way in ways:
            for one in measured(place, way, seed=seed, **settings):
                same = {"table": one["table"], "way": way, "largest": one["largest"]}
                for variant, words in VARIANTS.items():
                    near = one["right"].get(f"{NEAR}, {variant}" if variant else NEAR)
                    right = {"right": one["right"][variant], "near": near}
                    rows.append({**same, "axis": "β", "at": float(one["beta"]), "variant": words, **right})
                if one["beta"] == AT:
                    for key, right in one["near"].items():
                        corrected, distance = key.split()
                        words = "corrected" if corrected == "1" else "no correction"
                        rows.append({**same, "axis": "δ", "at": float(distance), "variant": words, "right": right, "near": None})
    return rows


def draw(rows: Rows) -> Chart:
    """Return success against β without and with correction on both tables, and against δ."""
    shown = [
        {**row, "panel": f"{row['table']}, {row['variant']}, against β", "series": row["way"]}
        for row in rows
        if row["axis"] == "β"
    ]
    near = [row for row in rows if row["axis"] == "δ"]
    shown += [
        {**row, "panel": f"{row['table']}, against δ (β = {AT})", "series": row["way"] + CORRECTED[row["variant"]]}
        for row in near
    ]
    return lines(shown, x="at", y="right", series="series", panel="panel", x_title="", y_title="named rightly", steps=True)


def judge(rows: Rows) -> Verdict:
    """Return whether the schemes stay unaffected by β, and whether PrivBayes grows easier prey and is easier than they."""
    by = {(row["table"], row["variant"], row["at"], row["way"]): row for row in rows if row["axis"] == "β"}
    tables = list(dict.fromkeys(row["table"] for row in rows))
    last, first = (pick(row["at"] for row in rows if row["axis"] == "β") for pick in (max, min))

    def ends(name: str, way: str, words: str = "no correction") -> tuple[float, float]:
        return by[(name, words, first, way)]["right"], by[(name, words, last, way)]["right"]

    def right(way: str, beta: float, words: str) -> float:
        row = by[(tables[0], words, beta, way)]
        return float(row["near"] or row["right"])

    betas = sorted({key[2] for key in by if key[0] == tables[0] and key[3] == NOISE})
    mine = [way for way in SCHEMES if all((tables[0], "corrected", beta, way) in by for beta in betas)]
    gained = {
        way: [right(way, beta, "corrected") - right(way, beta, "no correction") for beta in betas]
        for way in (*mine, BUREL, NOISE)
    }
    spread = [max(one) - min(one) for one in ([right(way, beta, "no correction") for beta in betas] for way in mine)]
    noise = [right(NOISE, beta, "no correction") for beta in betas]
    helped = min(mean(gained[way]) for way in (NOISE, BUREL))
    hardly = max(max(gained[way]) for way in mine)

    def resist(other: str) -> list[bool]:
        """Return of every scheme whether fewer are named than of another way, at every β and with and without correction."""
        return [right(way, beta, w) < right(other, beta, w) for way in mine for beta in betas for w in VARIANTS.values()]

    claims: Claims = {
        f"β leaves the schemes unaffected ({100 * POINT:g} point at most)": max(spread) <= POINT,
        "PrivBayes is named more often at the largest ε than at the least": noise[-1] > noise[0],
        "the correction helps with PrivBayes and with BuReL, on average over β": helped > 0,
        f"the correction hardly helps with the schemes ({100 * POINT:g} point at most)": hardly <= POINT,
        "the schemes resist better than PrivBayes": resist(NOISE),
        "the schemes resist better than BuReL": resist(BUREL),
    }
    told = []
    for name in tables:
        largest = next(row["largest"] for row in rows if row["table"] == name)
        figures = ", ".join(
            f"{way} {100 * ends(name, way, 'corrected')[0]:.1f} → {100 * ends(name, way, 'corrected')[1]:.1f} %"
            for way in ("HG", "BuReL", NOISE, OURS)
        )
        told.append(f"{name}, where the largest value has {100 * largest:.1f} %: {figures}")
    why = f"From β = {first:g} to {last:g} corrected naive Bayes names ({'; '.join(told)}). Without correction the schemes' "
    why += f"share moves by up to {100 * max(spread):.1f} points over β on the census, PrivBayes' from {100 * noise[0]:.1f} to "
    why += f"{100 * noise[-1]:.1f} %. Claims are judged on the census, which is the paper's."
    return Verdict(claims, why)


def table(rows: Rows) -> list[dict[str, Cell]]:
    """Return how many of 100 are named, a line for each table, way and variant."""
    lined: dict[tuple[str, str, str], dict[str, Cell]] = {}
    for row in rows:
        if row["axis"] == "β":
            for words, right in ((row["variant"], row["right"]), (f"{row['variant']}, near numbers too", row["near"])):
                if right is not None:
                    key = row["table"], row["way"], words
                    line = lined.setdefault(key, {"table": key[0], "named rightly, %": key[1], "naive Bayes": words})
                    line[f"β = {row['at']:g}"] = f"{100 * right:.1f}"
    return list(lined.values())


STUDY = Study(
    paper="003",
    figure="Figure 11",
    says="naive Bayes is as right at every β on β-like data, and ever more on PrivBayes' as ε grows; the correction helps it "
    "with PrivBayes and BuReL, hardly with the schemes.",
    printed=PRINTED,
    full=FULL,
    quick=QUICK,
    measure=measure,
    draw=draw,
    judge=judge,
    table=table,
    source=lambda: CENSUS,
    stand_in=(GENERATED,),
)
