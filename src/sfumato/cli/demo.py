"""`sfumato demo`: the whole job on a made-up hospital table, in one command."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli._options import Format
from sfumato.cli._run import verb
from sfumato.cli._show import console, grid
from sfumato.cli._state import STATE

if TYPE_CHECKING:
    from rich.console import Console

    from sfumato.release import Release
    from sfumato.table import Table

MARKER = ".sfumato-demo"
"""A file that tells a directory of ours from one that somebody else made."""

POLICY = """\
# The policy of the demo. HIV is bounded tightly, flu is nobody's secret, everything else follows the rule.
[columns]
identifier = ["patient"]
quasi      = ["age", "sex", "postcode", "admitted", "ward", "insurance"]
sensitive  = ["diagnosis"]

[types]
postcode = "categorical"        # leading zeros are part of it

[recode]                        # what is published instead of the exact values
age      = { width = 5, top = 90 }
postcode = { prefix = 2 }
admitted = { to = "month" }

[requirement]
model   = "f-privacy"
against = "engineer"
theta   = 8                     # a reader may become at most 8 · share + 0.02 sure of a diagnosis
offset  = "0.02"

[requirement.bounds]
HIV = "0.03"                    # at most 3 % sure
Flu = "1"                       # no bound

[method]
name     = "boxes"              # near people share a bucket
floor    = 100                  # at least so many people in a bucket
weights  = { ward = 2 }         # questions are often about wards: cut them apart sooner
"""

QUESTIONS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("Heart failure and atrial fibrillation in cardiology", "ward = 'Cardiology'", ("Heart failure", "Atrial fibrillation")),
    ("Asthma and bronchitis among children up to 14", "age < 15", ("Asthma", "Bronchitis")),
    ("Men under 40 with high blood pressure", "sex = 'male' AND age < 40", ("Hypertension",)),
)
"""What is asked, the condition on quasi columns, and the diagnoses: a large, a middle and a small count."""


@verb
def demo(
    *,
    directory: Annotated[Path, typer.Option("--dir", help="Where everything is put.")] = Path("sfumato-demo"),
    rows: Annotated[int, typer.Option(help="Number of made-up patients.", min=1000)] = 20_000,
) -> None:
    """Make a hospital table, publish it, audit the release and ask it three questions."""
    home = fresh_directory(directory)
    try:
        run(home, rows, console())
    except BaseException:
        shutil.rmtree(home, ignore_errors=True)
        STATE.written = ""
        raise


def fresh_directory(wanted: Path) -> Path:
    """Return a new directory: an earlier demo of ours is replaced, anything else is left alone and a numbered name used."""
    from sfumato.errors import OutputError

    place = wanted
    number = 2
    while place.exists() or place.is_symlink():
        if (place / MARKER).is_file() and not place.is_symlink():
            shutil.rmtree(place)
            break
        place = wanted.with_name(f"{wanted.name}-{number}")
        number += 1
    try:
        place.mkdir(parents=True)
        (place / MARKER).write_text(
            "made by `sfumato demo`, which replaces this directory when it runs again\n", encoding="utf-8"
        )
    except OSError as error:
        raise OutputError(f"cannot make {place}: {error.strerror or error}", hint="choose another --dir") from None
    return place


def run(home: Path, rows: int, screen: Console) -> None:
    """Do the whole job in an empty directory, and tell each step."""
    from sfumato.cli.audit import claim_lines
    from sfumato.cli.publish import deliver
    from sfumato.policy import Policy
    from sfumato.release import Release
    from sfumato.table.generators import sample
    from sfumato.table.write import write_table

    data, policy, release = home / "patients.csv", home / "policy.toml", home / "release"
    write_table(sample("hospital", rows, seed=0), data)
    policy.write_text(POLICY, encoding="utf-8")
    table = Policy.load(policy).read_table(data)
    screen.rule("1  A table about people", align="left", characters="─")
    _show_table(screen, table)
    screen.rule("2  Published once", align="left", characters="─")
    document, found = deliver(data, policy, release, seed=None, format=Format.parquet, receipts=home)
    for line in document["made"]:
        screen.print(line)
    screen.rule("3  Audited, against the original table", align="left", characters="─")
    for line in claim_lines(found, document["baseline"]):
        screen.print(line)
    screen.print(_worst_of(Release.load(release), "HIV"))
    screen.rule("4  Three questions, answered from the release alone", align="left", characters="─")
    _show_answers(screen, Release.load(release), table)
    screen.rule("Where everything lies", align="left", characters="─")
    _show_places(screen, data, policy, release, Path(document["receipt"]))


def _show_table(screen: Console, table: Table) -> None:
    from sfumato.exact import percent

    counts = table.sensitive.histogram()
    screen.print(
        f"{table.rows:,} made-up patients, {len(counts)} diagnoses. {percent(table.unique_share(), 0)} of them are the only one "
        f"with their {', '.join(column.name for column in table.quasi)} as published."
    )
    rule = {"Flu": "no bound", "HIV": "a reader may become at most 3 % sure"}
    for value in ("Flu", "Depression", "HIV"):
        share = counts[value] / table.rows
        allowed = rule.get(value, f"a reader may become at most {percent(8 * share + 0.02)} sure")
        screen.print(f"  {value}: {percent(share)} of people now; {allowed}")


def _worst_of(release: Release, value: str) -> str:
    """Return the highest share of one value in any bucket, from what is published."""
    import pyarrow.compute as pc

    from sfumato.exact import percent

    tables = release.tables()
    people = tables["qit"].group_by("bucket").aggregate([("bucket", "count")])
    shown = tables["st"].filter(pc.field("diagnosis") == value).join(people, "bucket")
    worst = pc.max(pc.divide(shown["count"].cast("float64"), shown["bucket_count"].cast("float64"))).as_py()
    return f"  {value}: the highest share in any bucket is {percent(worst)}; the bound is 3 %"


def _show_answers(screen: Console, release: Release, table: Table) -> None:
    from sfumato.cli.query import interval
    from sfumato.query.answer import Estimate

    shares = table.sensitive.histogram()
    shown = grid("question", "truth", "from the release", "95 % interval", "independence", right=(1, 2, 3, 4))
    for question, condition, values in QUESTIONS:
        answer = release.count(f"{condition} AND {diagnosis_in(values)}")
        everybody = release.count(condition)
        if not isinstance(answer, Estimate) or not isinstance(everybody, Estimate):
            raise TypeError("a question without GROUP BY has one answer")
        blind = everybody.value * sum(shares[value] for value in values) / table.rows
        truth = true_count(table, condition, values)
        shown.add_row(question, f"{truth:,}", f"{answer.value:,.0f} ± {answer.std_error:,.0f}", interval(answer), f"{blind:,.0f}")
    screen.print(shown)
    screen.print("independence: what somebody would say who only knows how frequent each diagnosis is.")
    screen.print("A very strong link inside a bucket, such as a cancer that only one sex has, comes out weaker than it is.")
    screen.print("`sfumato explain`, below, shows what buckets drawn at random would answer and expose instead.")


def diagnosis_in(values: tuple[str, ...]) -> str:
    """Return the condition that the diagnosis is one of these."""
    return "diagnosis IN (" + ", ".join("'" + value.replace("'", "''") + "'" for value in values) + ")"


def true_count(table: Table, condition: str, values: tuple[str, ...]) -> int:
    """Return the true number of people, which only the publisher can know."""
    from sfumato.query import parse_sql, true_answers

    return int(true_answers(table, [parse_sql(f"{condition} AND {diagnosis_in(values)}")])[0])


def _show_places(screen: Console, data: Path, policy: Path, release: Path, receipt: Path) -> None:
    from rich.markup import escape

    shown = grid("what", "where", "for whom")
    shown.add_row("the table", escape(str(data)), "nobody else")
    shown.add_row("the policy", escape(str(policy)), "the publisher; tells no figure of the table")
    shown.add_row("the release", escape(str(release)), "everybody")
    shown.add_row("the receipt", escape(str(policy.parent / receipt.name)), "nobody else")
    screen.print(shown)
    screen.print("Try next:")
    question = "SELECT sex, COUNT(*) WHERE age >= 80 AND diagnosis = 'Heart failure' GROUP BY sex"
    for line in (
        f"sfumato explain {data} --policy {policy}",
        f"sfumato audit {release} --table {data}",
        f'sfumato query {release} "{question}"',
    ):
        screen.print("  " + escape(line), soft_wrap=True)
