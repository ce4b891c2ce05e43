"""Tasks on several processors: in order, shared out once, and stopped by an error."""

from __future__ import annotations

import threading
import time

import numba
import pytest

from sfumato.threads import in_threads


@pytest.fixture(autouse=True)
def several():
    if numba.config.NUMBA_NUM_THREADS < 2:
        pytest.skip("one processor")


def test_results_come_in_the_order_of_tasks_whichever_is_done_first():
    waits = [0.05, 0.0, 0.02, 0.0]
    assert list(in_threads(lambda k: (time.sleep(waits[k]), k)[1], range(4))) == [0, 1, 2, 3]


def test_tasks_run_beside_each_other():
    both = threading.Barrier(2, timeout=30)
    assert sorted(in_threads(lambda _: both.wait(), range(2))) == [0, 1]


def test_a_task_that_divides_itself_stays_in_its_thread():
    def names(_: int) -> set[str]:
        return set(in_threads(lambda _: threading.current_thread().name, range(3)))

    assert all(len(found) == 1 for found in in_threads(names, range(4)))


def test_after_an_error_no_further_task_is_begun():
    begun = []

    def fail(k: int) -> None:
        begun.append(k)
        time.sleep(0.01)
        raise ValueError(k)

    with pytest.raises(ValueError, match="0"):
        list(in_threads(fail, range(100)))
    assert len(begun) < 100
