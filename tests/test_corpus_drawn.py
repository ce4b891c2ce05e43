"""Noise, randomized and synthetic records are as recorded in tests/corpus."""

import pytest

from tests.corpus.cases import family
from tests.corpus.check import check, installed_as_recorded

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.mark.parametrize("name", family("drawn"))
def test_a_publication_is_as_recorded(name):
    check(name)


@pytest.mark.skipif(not installed_as_recorded("mbi", "jax"), reason="the fit of noisy tables is that of one version of mbi")
@pytest.mark.parametrize("name", family("tables"))
def test_noisy_tables_are_as_recorded(name):
    check(name)
