"""Mutants given to the command itself, in a process of its own."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

from sfumato.errors import SfumatoError
from tests.fuzz.claim_lies import claim_more
from tests.fuzz.drafts import NoDraftError
from tests.fuzz.input_kinds import POLICY, odd_file, stored
from tests.fuzz.lies import tell_lies
from tests.fuzz.noise import mutate_bytes, mutate_json
from tests.fuzz.oracle import Wrong
from tests.fuzz.question_kinds import odd_policy
from tests.fuzz.release_kinds import Work, spelled
from tests.fuzz.sql import question

SECONDS = 120


def command_mutant(coins: random.Random, work: Work) -> str:
    """Run a verb on a mutant: exit 0, 1 or 2, and a sentence where it is not 0."""
    return coins.choice([_release_verb, _release_verb, _input_verb])(coins, work)


def _release_verb(coins: random.Random, work: Work) -> str:
    name, kind, table = work.pick(coins)
    if coins.random() < 0.5:
        files = work.files(name, kind)
        chosen = coins.choice(list(files))
        files[chosen] = mutate_bytes(coins, files[chosen])
        place = work.put(files)
    else:
        draft = work.draft(name)
        try:
            coins.choice([tell_lies, claim_more])(coins, draft)
            place = work.fresh()
            draft.save(place, kind)
        except (NoDraftError, SfumatoError, ArithmeticError, LookupError, TypeError, ValueError, AttributeError):
            document = draft.manifest
            files = work.files(name, kind)
            mutate_json(coins, document)
            try:
                files["manifest.json"] = spelled(document)
            except TypeError:
                return "no mutant"
            place = work.put(files)
    if coins.random() < 0.5:
        return run("audit", str(place), *coins.choice([[], ["--json"]]))
    return run("query", str(place), question(coins, [column.name for column in table.quasi] + ["value"]))


def _input_verb(coins: random.Random, work: Work) -> str:
    policy = work.scratch / "policy.toml"
    if coins.random() < 0.5:
        data = odd_file(coins, work)
        policy.write_text(POLICY, encoding="utf-8")
    else:
        data = work.scratch / "people.csv"
        data.write_bytes(stored(".csv"))
        policy.write_text(odd_policy(coins), encoding="utf-8")
    verb = coins.choice(["init", "explain", "publish"])
    if verb == "init":
        return run("policy", "init", str(data))
    if verb == "explain":
        return run("explain", str(data), "--policy", str(policy), "--quick")
    return run("publish", str(data), "--policy", str(policy), "--out", str(work.fresh("out")), "--receipts", str(work.scratch))


def run(*arguments: str) -> str:
    """Run the command and return its exit code in words; what must not happen is raised."""
    source = str(Path(__file__).resolve().parents[2] / "src")
    paths = os.pathsep.join(filter(None, [source, os.environ.get("PYTHONPATH", "")]))
    arguments = tuple(argument.replace("\x00", "") for argument in arguments)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "sfumato", *arguments],
            capture_output=True,
            timeout=SECONDS,
            env={**os.environ, "PYTHONPATH": paths, "NO_COLOR": "1"},
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise Wrong(f"`sfumato {arguments[0]}` does not end within {SECONDS} seconds") from None
    if done.returncode not in (0, 1, 2):
        raise Wrong(f"`sfumato {arguments[0]}` ends with {done.returncode}: {done.stderr.decode(errors='replace')[-300:]}")
    if b"Traceback" in done.stderr:
        raise Wrong(f"`sfumato {arguments[0]}` shows a traceback")
    return f"exit {done.returncode}"
