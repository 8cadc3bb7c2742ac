"""Both databases, each new for a test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.postgres_server import NoServer, fresh_database


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.thorough)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of an empty database."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/interviews.sqlite3"
        return
    pytest.importorskip("psycopg", reason="the extra `postgres` is not installed")
    try:
        with fresh_database() as made:
            yield made
    except NoServer as error:
        pytest.skip(f"needs postgres: {error}")
