"""Linear algebra on small matrices is done by one thread, and by as many as before afterwards."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from sfumato.query import engine
from sfumato.query.buckets import BucketsEngine
from sfumato.query.engine import fitted, one_thread
from sfumato.query.randomized import RandomizedEngine
from sfumato.query.ranges import BoxesEngine


def threads():
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def two_threads():
    np.linalg.inv(np.eye(2))
    with one_thread():  # finds the libraries
        pass
    with threadpool_limits(2, user_api="blas"):
        assert threads() == {2}
        yield


def test_a_block_has_one_thread_and_leaves_the_setting_as_it_was():
    with one_thread():
        assert threads() == {1}
        with one_thread():
            assert threads() == {1}
        assert threads() == {1}
    assert threads() == {2}


def test_blocks_in_many_threads_leave_the_setting_as_it_was():
    def work(_):
        with one_thread():
            return np.linalg.inv(np.eye(3))

    with ThreadPoolExecutor(8) as pool:
        assert len(list(pool.map(work, range(200)))) == 200
    assert threads() == {2}


def test_an_error_inside_leaves_the_setting_as_it_was():
    with pytest.raises(ZeroDivisionError), one_thread():
        raise ZeroDivisionError
    assert threads() == {2}


def test_what_is_fitted_to_a_release_is_fitted_once_and_by_one_thread():
    class Asked:
        @fitted
        def model(self):
            return [threads()]

    asked = Asked()
    assert asked.model == [{1}]
    assert asked.model is asked.model
    assert threads() == {2}


def test_every_model_is_fitted_so():
    models = (BucketsEngine.association, BucketsEngine.trend, RandomizedEngine.rates, RandomizedEngine.records)
    models += (BoxesEngine.evenly, BoxesEngine.as_fitted, BoxesEngine.classes)
    assert all(isinstance(model, fitted) for model in models)


def test_the_libraries_are_looked_for_once():
    assert engine._libraries(True) is engine._libraries(True)


def test_a_library_that_comes_while_a_block_runs_is_limited_by_the_next_one_inside(monkeypatch):
    every = engine._libraries(True)
    known = iter([every[:1], every])
    monkeypatch.setattr(engine, "_libraries", lambda learns: next(known))
    with one_thread(loaded=True):  # as a question that has to learn first
        assert [library.get_num_threads() for library in every] == [1] + [2] * (len(every) - 1)
        with one_thread():
            assert threads() == {1}
        assert [library.get_num_threads() for library in every] == [1] + [2] * (len(every) - 1)
    assert threads() == {2}
