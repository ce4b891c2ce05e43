import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.errors import FormatError
from sfumato.release.links import Links

LISTS = pa.list_(pa.int32())


@pytest.mark.parametrize(
    ("linked", "carried"),
    [([[0, None], [1]], [0, 1]), ([[0, 1], None], [0, 1]), ([[0, 1], [1]], [0, None])],
)
def test_a_link_without_a_row_is_no_link(tmp_path, linked, carried):
    pq.write_table(pa.table({"linked": pa.array(linked, LISTS), "carried": pa.array(carried, pa.int64())}), tmp_path / "links")
    with pytest.raises(FormatError, match="file of links"):
        Links.load(tmp_path / "links")
