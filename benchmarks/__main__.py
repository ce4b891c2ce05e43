"""Run all benchmarks, or the named ones: `python -m benchmarks [name …] [--quick] [--table FILE [--sensitive COLUMN]]`."""

from __future__ import annotations

import argparse
import importlib
import inspect
import sys
import time
from pathlib import Path

from benchmarks._show import Show

HERE = Path(__file__).parent


def names() -> list[str]:
    """Return the benchmarks there are: every module here whose name does not begin with an underscore."""
    return sorted(file.stem for file in HERE.glob("*.py") if not file.stem.startswith("_"))


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmarks asked for; return 0, or 2 for a name that does not exist."""
    known = names()
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="The papers' studies, ours beside theirs.")
    parser.add_argument("names", nargs="*", metavar="name", help="which to run (all by default): " + ", ".join(known))
    parser.add_argument("--quick", action="store_true", help="smaller tables and fewer repetitions")
    parser.add_argument("--list", action="store_true", help="say what there is, and the question of each")
    parser.add_argument("--table", type=Path, metavar="FILE", help="a table of one's own (Parquet), where a benchmark takes one")
    parser.add_argument(
        "--sensitive", metavar="COLUMN", help="the sensitive column of that table, where a benchmark asks for one"
    )
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in known]
    if unknown:
        print(f"no benchmark named {', '.join(unknown)}; there are: {', '.join(known)}", file=sys.stderr)
        return 2
    for name in options.names or known:
        module = importlib.import_module(f"benchmarks.{name}")
        question = (module.__doc__ or name).strip()
        if options.list:
            print(f"{name}: {question.splitlines()[0]}")
            continue
        given = {key: value for key in ("table", "sensitive") if (value := getattr(options, key)) is not None}
        missing = [key for key in given if key not in inspect.signature(module.run).parameters]
        if missing:
            print(f"{name} takes no {missing[0]}", file=sys.stderr)
            return 2
        show = Show(name, question, HERE / "results", quick=options.quick)
        start = time.perf_counter()
        module.run(show, options.quick, **given)
        show.close(time.perf_counter() - start)
    return 0


if __name__ == "__main__":
    sys.exit(main())
