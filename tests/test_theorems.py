"""The page of guarantees and the folder of theorems name the same things; Coq itself is asked by `make theorems`."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROOFS = ROOT / "proofs"
PAGE = (ROOT / "docs" / "guarantees.md").read_text(encoding="utf-8")
NAMES = r"((?:`\w+`(?:, (?:and )?)?)+)"


def stated():
    """Return what the files of the folder state, by name: where, and whether it is a definition only."""
    found = {}
    for file in PROOFS.glob("*.v"):
        text = file.read_text(encoding="utf-8")
        for kind, name in re.findall(r"^(Lemma|Theorem|Corollary|Definition) (\w+)", text, re.MULTILINE):
            found.setdefault(name, (file.name, kind))
    return found


def named(pattern, text=PAGE):
    return [name for names in re.findall(pattern, text) for name in re.findall(r"`(\w+)`", names)]


def printed():
    return re.findall(r"^Print Assumptions (\w+)\.$", (PROOFS / "assumptions.v").read_text(encoding="utf-8"), re.MULTILINE)


def test_every_lemma_and_theorem_of_the_page_names_what_coq_checked():
    headings = re.findall(r"\*\*(?:Lemma|Theorem|Corollary)[^*]*\*\*([^.]*)\.", PAGE)
    assert len(headings) >= 3
    assert [one for one in headings if not re.fullmatch(rf" \({NAMES}\)", one)] == []


def test_what_the_page_names_exists_and_coq_is_asked_what_it_assumes():
    names = named(rf"\*\*(?:Lemma|Theorem|Corollary)\*\* \({NAMES}\)") + named(rf"\*Checked by Coq:\* (?:[a-z][a-z ]*)?{NAMES}")
    assert len(names) > 30
    assert set(names) <= set(printed())
    assert set(names) <= set(stated())


def test_coq_is_asked_once_about_each_theorem_that_exists():
    names = printed()
    assert len(names) == len(set(names))
    assert set(names) <= set(stated())


def test_the_folders_own_page_names_nothing_else_and_says_what_every_theorem_is_about():
    table = [line for line in (PROOFS / "README.md").read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    names = [name for line in table for name in re.findall(r"`(\w+)`", line.split("|")[2])]
    assert set(names) <= set(printed())
    assert {name for name, (_, kind) in stated().items() if kind == "Theorem" and name in printed()} <= set(names)


@pytest.mark.parametrize("word", ["Axiom", "Admitted", "admit", "Parameter", "Conjecture"])
def test_nothing_is_assumed_in_the_files_either(word):
    for file in PROOFS.glob("*.v"):
        assert not re.search(rf"^\s*{word}\b", file.read_text(encoding="utf-8"), re.MULTILINE), file.name


def test_functions_and_tests_that_the_folders_page_points_to_exist():
    for line in (PROOFS / "README.md").read_text(encoding="utf-8").splitlines():
        for path in re.findall(r"`((?:src|tests)/[\w/]+\.py)", line):
            assert (ROOT / path).is_file(), path
        for path, name in re.findall(r"`(src/[\w/]+\.py):(\w+)`", line):
            assert re.search(rf"^(?:    )?(?:def|class) {name}\b", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE), name
