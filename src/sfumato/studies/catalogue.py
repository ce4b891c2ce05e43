"""Which studies there are: every module of a paper's folder that has a STUDY, by the paper's number and the figure's."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path

from sfumato.errors import InputError, did_you_mean
from sfumato.plugins import LeftOutError, part_of, parts_left_out
from sfumato.studies.study import Paper, Study

FOLDERS: Mapping[Paper, str] = {"001": "buckets", "002": "domain", "003": "matching", "004": "fragments"}
_FIGURE = re.compile(r"(fig\d+|table\d+|theorem\d+|section\d+|partitions)")


@cache
def _modules() -> dict[str, str]:
    """Return the module of every study by its name, Figure 3 before Figure 11."""
    here = Path(__file__).parent
    found = {
        f"{paper}-{figure.group()}": f"sfumato.studies.{folder}.{file.stem}"
        for paper, folder in FOLDERS.items()
        for file in (here / folder).glob("*.py")
        if (figure := _FIGURE.match(file.stem))
    }
    return {name: found[name] for name in sorted(found, key=_in_order)}


def _in_order(name: str) -> list[tuple[int, str]]:
    return [(int(part) if part.isdigit() else 0, part) for part in re.split(r"(\d+)", name)]


def names() -> list[str]:
    """Return the names of all studies that can be asked."""
    return [name for name in _modules() if name not in _lacking()]


@cache
def _lacking() -> dict[str, str]:
    """Return the studies that ask something of a part of sfumato which this installation leaves out, with that part."""
    found = {}
    for name, module in _modules().items() if parts_left_out() else ():
        try:
            import_module(module)
        except ModuleNotFoundError as error:
            part = error.part if isinstance(error, LeftOutError) else part_of(error.name or "")
            if part not in parts_left_out():
                raise
            found[name] = part
    return found


def chosen(asked: list[str]) -> list[str]:
    """Return the studies that are asked for: all without a name, all of a paper by its number."""
    lacking = [known for known in _lacking() if any(known == name or known.startswith(f"{name}-") for name in asked)]
    if lacking:
        part = _lacking()[lacking[0]]
        raise InputError(f"the study {lacking[0]} needs the part {part}, which this installation leaves out")
    unknown = [name for name in asked if not any(known == name or known.startswith(f"{name}-") for known in names())]
    if unknown:
        guess = did_you_mean(unknown[0], [*names(), *FOLDERS, "list"])
        hint = guess if guess.startswith("did") else "`sfumato study list` says which there are"
        raise InputError(f"there is no study {unknown[0]!r}", hint=hint)
    return [known for known in names() if not asked or any(known == name or known.startswith(f"{name}-") for name in asked)]


def study_of(name: str) -> tuple[Study, str]:
    """Return a study and its question."""
    module = import_module(_modules()[name])
    study = module.STUDY
    assert isinstance(study, Study)
    return study, (module.__doc__ or name).strip().splitlines()[0]


def compares(study: Study) -> bool:
    """Return whether methods of other packages can stand in a study."""
    return "ways" in study.full


def with_methods(study: Study, also: Sequence[str]) -> Study:
    """Return a study with methods of installed packages beside its own, where it compares any."""
    from sfumato.methods import METHODS

    unknown = [name for name in also if name not in METHODS]
    if unknown:
        raise InputError(f"--also: there is no method {unknown[0]!r}", hint=did_you_mean(unknown[0], METHODS))
    if not also or not compares(study):
        return study
    full, quick = ({**settings, "ways": (*settings["ways"], *also)} for settings in (study.full, study.quick))
    return replace(study, full=full, quick=quick)
