"""`python -m tests.corpus.record`: publish every case again, say what differs from the record, and write it anew.

With `--check` nothing is written, and the exit code is 1 where anything differs. Names of families (boxes, groups, …) record
those alone.
"""

import argparse
import sys
import warnings
from typing import Any

import numba

from tests.corpus.cases import FAMILIES, family
from tests.corpus.compare import GOLDEN, differences, golden, write
from tests.corpus.mapping import mapped
from tests.corpus.observe import explained, plain, read, versions, watched


def main() -> int:
    """Record what is asked for and print what changed."""
    parser = argparse.ArgumentParser(prog="python -m tests.corpus.record", description="Record the golden corpus.")
    parser.add_argument("families", nargs="*", help=f"some of {', '.join(FAMILIES)}; all without any")
    parser.add_argument("--check", action="store_true", help="write nothing; 1 where anything differs")
    parser.add_argument("--words", action="store_true", help="explanations alone, for a change of wording; nothing is published")
    given = parser.parse_args()
    unknown = set(given.families) - set(FAMILIES)
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    warnings.simplefilter("ignore")
    numba.set_num_threads(1)
    old, by = golden() if (GOLDEN / "about.json").exists() else ({}, {})
    records, changed, made = {}, 0, 0
    for name in FAMILIES:
        if given.families and name not in given.families:
            records[name] = {key: old[key] for key in family(name) if key in old}
            continue
        again = (lambda case, key: told_anew(case, old[key])) if given.words else (lambda case, key: watched(case))
        records[name] = {key: again(case, key) for key, case in family(name).items()}
        for key, found in records[name].items():
            made += sum(part.startswith("seed ") for part in found)
            lines = differences(mapped(key, old[key]), found) if key in old else ["new"]
            changed += bool(lines)
            print("".join(f"{key}: {line}\n" for line in lines), end="", flush=True)
    gone = set(old) - {key for cases in records.values() for key in cases}
    print("".join(f"{key}: gone\n" for key in sorted(gone)), end="")
    print(f"{made} releases in {sum(map(len, records.values()))} cases; {changed} cases changed, {len(gone)} gone")
    if given.check:
        return int(bool(changed or gone))
    write(records, by if given.families or given.words else versions())
    return 0


def told_anew(case: Any, before: dict[str, Any]) -> dict[str, Any]:
    """Return a case as it was recorded, with what explain says of it now."""
    return {
        seed: {**found, "explained": plain(explained(case, case.make(), read(case.kind, case.make(), declared=case.declared)))}
        if isinstance(found, dict) and "explained" in found
        else found
        for seed, found in before.items()
    }


if __name__ == "__main__":
    sys.exit(main())
