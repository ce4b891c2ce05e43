"""`python -m tests.fuzz`: mutants for FUZZ_SECONDS (300), or FUZZ_MUTANTS of them.

With a number: that one again, with its traceback; FUZZ_KEEP names a new directory in which its files stay.
"""

from __future__ import annotations

import os
import secrets
import sys
import tempfile
from pathlib import Path

from tests.fuzz.bases import prepare
from tests.fuzz.mutant import kind_of, run_mutant
from tests.fuzz.part_kinds import prepare_parts
from tests.fuzz.release_kinds import Work
from tests.fuzz.runner import run


def main() -> int:
    """Return 1 if anything is wrong."""
    seed = int(os.environ.get("FUZZ_SEED") or secrets.randbelow(10**6))
    if len(sys.argv) > 1:
        with tempfile.TemporaryDirectory(prefix="sfumato-fuzz-") as name:
            place = Path(os.environ.get("FUZZ_KEEP") or name)
            prepare(place / "bases")
            prepare_parts(place / "bases")
            (place / "scratch").mkdir()
            number = int(sys.argv[1])
            print(f"{kind_of(seed, number)}: {run_mutant(seed, number, Work(place / 'bases', place / 'scratch'))}")
        return 0
    many = os.environ.get("FUZZ_MUTANTS")
    seconds = None if many else float(os.environ.get("FUZZ_SECONDS") or 300)
    print(f"FUZZ_SEED={seed}", flush=True)
    report = run(seed=seed, seconds=seconds, mutants=int(many) if many else None)
    print(report)
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main())
