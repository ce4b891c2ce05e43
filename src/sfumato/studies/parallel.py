"""Several studies on several processors: one seed of a study is a task, and what was measured is on disk when it is done."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from sfumato.studies.catalogue import study_of, with_methods
from sfumato.studies.results import SHARED, found, measured, seeds_of
from sfumato.studies.source import OwnTable, Source
from sfumato.studies.study import Size, Study


class Task(NamedTuple):
    """Studies of one seed that share cases, so that one process does them in turn."""

    names: tuple[str, ...]
    seed: int


class Asked(NamedTuple):
    """What is the same for all tasks: how large, where results lie, a table of one's own, and methods of other packages."""

    size: Size
    results: Path
    table: Path | None = None
    policy: Path | None = None
    also: tuple[str, ...] = ()

    def source(self) -> Source | None:
        """Return the table of one's own, None for the bundled ones."""
        if self.table is None or self.policy is None:
            return None
        from sfumato.policy import Policy

        whole = Policy.load(self.policy, data=self.table).read_table(self.table)
        mark = sha256(self.table.read_bytes() + self.policy.read_bytes()).hexdigest()[:8]
        return OwnTable(whole, f"{self.table.name} ({whole.rows:,} people, table and policy {mark})")

    def study(self, name: str) -> Study:
        """Return a study, with the other packages' methods where it compares any."""
        study, _ = study_of(name)
        return with_methods(study, self.also)


def tasks(names: Sequence[str], asked: Asked) -> Iterator[Task]:
    """Yield what is to be done, those with many seeds first."""
    own = asked.source()
    left = [name for name in names if found(name, asked.study(name), asked.size, asked.results, source=own) is None]
    together = [tuple(name for name in left if name in SHARED), *((name,) for name in left if name not in SHARED)]
    all_of_them = [Task(group, seed) for group in together if group for seed in seeds_of(asked.study(group[0]), asked.size)]
    yield from sorted(all_of_them, key=lambda task: task.seed)


def work(names: Sequence[str], asked: Asked, processes: int, tell: Callable[[str, float], None]) -> None:
    """Do all tasks on so many processors; one that fails does not stop the others, and is met again where results are told."""
    given = list(tasks(names, asked))
    if processes < 2 or len(given) < 2:
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(processes, len(given)), mp_context=context) as pool:
        under_way: dict[Future[None], Task] = {pool.submit(_do, task, asked): task for task in given}
        try:
            for done, future in enumerate(as_completed(under_way), 1):
                task = under_way[future]
                tell(f"{', '.join(task.names)}, seed {task.seed}", done / len(given))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _do(task: Task, asked: Asked) -> None:
    own = asked.source()
    for name in task.names:
        study = asked.study(name)
        measured(name, study, asked.size, task.seed, asked.results, source=own or study.source())
