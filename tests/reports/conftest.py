import pyarrow as pa
import pytest

import sfumato as sf

HOSTILE = "<script>alert('x')</script>"


@pytest.fixture(scope="session")
def people():
    rows = 400
    illness = ["Flu", "Gout", "Asthma", HOSTILE, "Cold"]
    return pa.table(
        {
            "age": [20 + (7 * i) % 50 for i in range(rows)],
            "town": [("Ulm", "Bonn & co", "Köln")[i % 3] for i in range(rows)],
            "illness": [illness[(i * i + i // 7) % 5] for i in range(rows)],
        }
    )


@pytest.fixture(scope="session")
def table(people):
    return sf.Table.from_frame(people, sf.Schema(quasi=["age", "town"], sensitive=["illness"]))


@pytest.fixture(scope="session")
def release(table):
    return sf.publish(table, sf.FPrivacy(theta="1.6", against="reader"), method=sf.Boxes(floor=20), random=1)


@pytest.fixture(scope="session")
def private(release, table, tmp_path_factory):
    return sf.report(release, table, out=tmp_path_factory.mktemp("report") / "private.html", attacks=["random-worlds", "nb"])


@pytest.fixture(scope="session")
def public(release, tmp_path_factory):
    return sf.report(release, out=tmp_path_factory.mktemp("report") / "public.html", public=True)
