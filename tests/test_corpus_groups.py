"""Blind groups, published cuts and decoys, and what papers publish, are as recorded in tests/corpus."""

import pytest

from tests.corpus.cases import family
from tests.corpus.check import check

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.mark.parametrize("name", [*family("groups"), *family("papers")])
def test_a_publication_is_as_recorded(name):
    check(name)
