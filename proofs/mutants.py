"""Mistakes put into the model, one at a time: the proofs must stop compiling, each at the lemma that should fail.

`python3 mutants.py` needs coqc and nothing else. The mistakes are those of docs/guarantees.md, "What must be kept", as far as
they are mistakes of the model.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
SOFT = ("exchange", "coins", "soft_cuts", "soft_proof", "program")


class Mutant(NamedTuple):
    """A mistake, how it is put into the files, and where it must be noticed."""

    mistake: str
    changes: dict[str, list[tuple[str, str]]]  # file: (text, what stands in its place)
    fails: str  # the lemma at which compiling stops; empty for what the proofs do not need
    files: tuple[str, ...] = SOFT


KEPT = "(keep (account * coin size))"
KEPT_OF_BOX = "(keep (account * coin #|B|))"
FREE = "(keep (account * if true then 1 else coin {}))"
NOT_CHARGED = [(KEPT, FREE.format("size")), (KEPT_OF_BOX, FREE.format("#|B|"))]
AFFORDS = "keeps h (left + right) (keep (account * coin (left + right)))"
MUTANTS = [
    Mutant("nothing is wrong", {}, ""),
    Mutant(
        "a refusal is not charged",
        {"soft_cuts": NOT_CHARGED},
        "exchange_chance",
    ),
    Mutant(
        "not charged to descendants of a box that refused",
        {"soft_cuts": [("let sides one two := chance w one (B :&: L) account", "let sides one two := chance w one (B :&: L) 1")]},
        "exchange_chance",
    ),
    Mutant(
        "safe cuts without the account",
        {"soft_cuts": [("keeps h (minn left right) account then Safe", "keeps h (minn left right) 1 then Safe")]},
        "finals_keep",
    ),
    Mutant("slack of one side", {"soft_cuts": [("(i : E * bool | (cap", "(i : E * bool | i.2 && (cap")]}, "passed_keeps"),
    Mutant(
        "slack over events that a side has",
        {"soft_cuts": [("(i : E * bool | (cap", "(i : E * bool | (0 < here i.1)%N && (cap")]},
        "slack_moves",
    ),
    Mutant(
        "slack is a sum over events, which several exchanges of one person move",
        {"soft_cuts": [(r"\big[Order.min/(left + right)%:Z]_", r"\sum_")]},
        "slack_moves",
    ),
    Mutant("a coin more", {"coins": [("q ^+ n.+1 else 1", "q ^+ n.+2 else 1")]}, "refusal_moves"),
    Mutant(
        "it is not asked whether a refusal is affordable",
        {"soft_cuts": [(f"~~ {AFFORDS}", f"~~ ({AFFORDS} || true)")]},
        "finals_keep",
    ),
    Mutant(
        "the account is shown rounded up",
        {"soft_proof": [("0 <= show T <= T.", "0 <= show T <= 2%:R * T.")]},
        "weight_exchange",
    ),
    Mutant(
        "the account is kept rounded up",
        {"soft_proof": [("0 <= keep T <= T.", "0 <= keep T <= 2%:R * T.")]},
        "exchange_chance",
    ),
    Mutant("strata overlap", {"soft_proof": [("[disjoint A & B]) strata.", "true) strata.")]}, "release_exchange"),
    Mutant(
        "whether a cut is possible is not asked: the proofs do not need it",
        {"soft_cuts": [("~~ possible h left right account", "false")]},
        "",
    ),
    Mutant(
        "noise of half the scale",
        {"noisy_boxes": [("* r ^+ `|k|%N", "* r ^+ (2 * `|k|)%N")]},
        "noise_moves",
        ("exchange", "noisy_boxes"),
    ),
]


def stops(folder: Path, files: tuple[str, ...]) -> str:
    """Compile the files and return the lemma at which that stops, nothing if it does not."""
    for name in files:
        command = ["coqc", "-q", "-w", "none", "-Q", ".", "Sfumato", f"{name}.v"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode:
            line = int(re.search(r"line (\d+)", done.stderr)[1])
            above = "\n".join((folder / f"{name}.v").read_text(encoding="utf-8").splitlines()[:line])
            return re.findall(r"^(?:Lemma|Theorem|Corollary) (\w+)", above, flags=re.MULTILINE)[-1]
    return ""


def tried(mutant: Mutant) -> str:
    """Return the lemma at which a mutant stops, nothing if it compiles."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for name in mutant.files:
            shutil.copy(HERE / f"{name}.v", folder)
        for name, changes in mutant.changes.items():
            text = (folder / f"{name}.v").read_text(encoding="utf-8")
            for old, new in changes:
                if old not in text:
                    sys.exit(f"{mutant.mistake}: {name}.v has no {old!r}")
                text = text.replace(old, new)
            (folder / f"{name}.v").write_text(text, encoding="utf-8")
        return stops(folder, mutant.files)


def main() -> None:
    """Try all mutants; end with an error if one is not noticed where it should be."""
    wrong = 0
    for mutant in MUTANTS:
        where = tried(mutant)
        expected = re.fullmatch(mutant.fails, where) is not None
        wrong += not expected
        print(f"{mutant.mistake}: {f'stops at {where}' if where else 'compiles'}{'' if expected else ', NOT AS IT SHOULD'}")
    sys.exit(f"{wrong} mutants" if wrong else None)


if __name__ == "__main__":
    main()
