"""The picture of noisy boxes: what one box holds, and what is published of it.

`python -m benchmarks._noisy_picture` draws noise for the made-up table of the first picture, and shows the fullest
box of it, in docs/pictures.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import sfumato as sf
from benchmarks._first_picture import FREQUENT, GROWING, PICTURES, people
from sfumato.charts import altair, save_picture
from sfumato.charts.svg import colour
from sfumato.studies.draw import titled, values

EPSILON = "1"


def draw_box(path: Path) -> Path:
    """Write the true counts of a box as bars, and the noisy ones as points, and return the path."""
    alt = altair()
    method = sf.NoisyBoxes(values=[GROWING, *FREQUENT], otherwise="Flu", floor=60)
    schema = sf.Schema(identifier=["name"], quasi=["age", "sex"], sensitive=["illness"])
    table = sf.Table.from_frame(people(), method.close(schema))
    release: Any = method.run(table, sf.Differential(EPSILON), random=1).release  # `run` books no draw
    box = int(np.argmax(release.sizes))
    shown = {row["illness"]: row["count"] for row in release.tables()["st"].to_pylist() if row["group"] == box + 1}
    inside = {(row["age"], row["sex"]) for row in release.tables()["qit"].to_pylist() if row["group"] == box + 1}
    have = [row["illness"] for row in people().to_pylist() if (row["age"], row["sex"]) in inside]
    rows = [{"value": value, "true": have.count(value), "shown": count} for value, count in shown.items()]
    rows.sort(key=lambda row: -row["true"])
    y = alt.Y("value:N", sort=[row["value"] for row in rows], axis=alt.Axis(title=None, ticks=False, labelLimit=160))
    x = alt.X("true:Q", axis=alt.Axis(title="people: bars as they are, points as published", tickCount=6))
    base = values(rows)
    over, under = ([row for row in rows if (row["shown"] >= row["true"]) == above] for above in (True, False))
    chart = alt.layer(
        base.mark_bar(color=colour(7), opacity=0.45).encode(x=x, y=y),
        base.mark_rule(color=colour(0), strokeWidth=1.6).encode(x="true:Q", x2="shown:Q", y=y),
        base.mark_point(filled=True, size=90, opacity=1, color=colour(0)).encode(x="shown:Q", y=y),
        *(
            values(some).mark_text(align=align, dx=dx, fontSize=12).encode(x="shown:Q", y=y, text="shown:Q")
            for align, dx, some in (("left", 8, over), ("right", -8, under))
        ),
    )
    title = f"One box of {len(have)} people: every count has noise of its own"
    note = f"ε = {EPSILON} · counts are published as they come, also below 0 and where nobody has the value"
    return save_picture(titled(chart.properties(width=520, height=240), title, note), path, title=title)


if __name__ == "__main__":
    print(draw_box(PICTURES / "noisy-boxes.svg"))
