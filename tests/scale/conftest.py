"""Whom every engine publishes."""

import pyarrow as pa
import pytest

from sfumato.table.generators import sample


@pytest.fixture(scope="module")
def people():
    table = sample("census", rows=6000, seed=3)
    return table.set_column(6, "country", table["country"].cast(pa.string()))
