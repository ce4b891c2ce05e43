"""Reading tables that may be in another order than a release has, so that everything else about them can still be said."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import pyarrow as pa

from sfumato.errors import FormatError
from sfumato.release.base import Release
from sfumato.release.manifest import Manifest

Form = TypeVar("Form", bound=Release)


def arranged(form: type[Form], manifest: Manifest, tables: Mapping[str, pa.Table]) -> tuple[Form, Mapping[str, pa.Table]]:
    """Return the release and its tables, row by row and group by group the same: both as given, or both put in order."""
    try:
        return form.from_tables(manifest, tables), tables  # type: ignore[return-value]
    except FormatError:
        release = form.from_tables(manifest, tables, in_any_order=True)
        return release, release.tables()  # type: ignore[return-value]
