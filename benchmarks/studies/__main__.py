"""Run all studies, or the named ones, and write the page: `python -m benchmarks.studies [name …] [--quick] [--again]`."""

from __future__ import annotations

import argparse
import sys
import time
import traceback

from benchmarks.studies._page import write_page
from benchmarks.studies._study import Size, names, run, study_of


def main(arguments: list[str] | None = None) -> int:
    """Run the studies asked for; return 0, 1 if one failed, or 2 for a name that does not exist."""
    known = names()
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.studies", description="The papers' figures and tables, asked again."
    )
    parser.add_argument(
        "names", nargs="*", metavar="name", help="which to run (all by default); a beginning stands for all with it"
    )
    parser.add_argument("--quick", action="store_true", help="small settings: all of them in minutes")
    parser.add_argument("--again", action="store_true", help="measure again what is there with the same settings")
    parser.add_argument("--list", action="store_true", help="say what there is, and run nothing")
    parser.add_argument("--page", action="store_true", help="write the page from what is there, and run nothing")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if not any(one.startswith(name) for one in known)]
    if unknown:
        print(f"no study named {', '.join(unknown)}; there are: {', '.join(known)}", file=sys.stderr)
        return 2
    chosen = [one for one in known if not options.names or any(one.startswith(name) for name in options.names)]
    if options.list:
        for name in chosen:
            study, question = study_of(name)
            print(f"{name}: {study.figure}. {question}")
        return 0
    failed = (
        [] if options.page else [name for name in chosen if not _one(name, "quick" if options.quick else "full", options.again)]
    )
    print(f"written: {write_page()}")
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def _one(name: str, size: Size, again: bool) -> bool:
    """Run a study and tell its verdict; return whether it went through: one that fails does not stop the others."""
    study, _ = study_of(name)
    start = time.perf_counter()
    try:
        result, fresh = run(name, study, size, again=again)
        verdict = study.judge(result.rows)
    except Exception:
        traceback.print_exc()
        return False
    took = f"{time.perf_counter() - start:.0f} s" if fresh else "as it was"
    print(f"{name} ({study.figure}; {took}): {verdict.word}. {verdict.why}", flush=True)
    return True


if __name__ == "__main__":
    sys.exit(main())
