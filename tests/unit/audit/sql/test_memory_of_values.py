"""Values that a query makes up are bounded, too: a clear error, and nothing else ends."""

from __future__ import annotations

import resource
import sys

import pytest

pytest.importorskip("duckdb", reason="the extra `audit` is not installed")

from agent.audit.sql.database import LogDatabase
from agent.audit.sql.query_limits import bounded
from agent.audit.sql.sources import find_sources
from agent.protocol.errors import IoError
from tests.support.audit_world import write_world
from tests.support.each import each

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux counts what is mapped")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(write_world(tmp_path_factory.mktemp("world"))[0])


def limit() -> tuple[int, int]:
    return resource.getrlimit(resource.RLIMIT_DATA)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT repeat('x', 2000000000::BIGINT)",
        "SELECT printf('%2000000000d', 1)",
        "SELECT range(2000000000)",
    ],
)
def test_more_than_there_is_room_for(folder: str, query: str) -> None:
    before = limit()
    with LogDatabase(find_sources([folder], default="", here="here")) as database:
        with pytest.raises(IoError) as said:
            list(database.ask(query).rows())
        assert "more than" in said.value.message
        assert list(database.ask("SELECT count(*) > 0 FROM goals").rows()) == [(True,)]
    assert limit() == before


def test_the_bound_is_taken_away_and_a_smaller_one_stays() -> None:
    before = limit()
    with bounded("143.0 MiB") as is_bound:
        assert is_bound
        inner = limit()
        assert 1 << 30 < inner[0] < 1 << 42
        assert inner[1] == before[1]
        with bounded("16.0 GiB"):
            assert limit()[0] == inner[0]
        with pytest.raises(MemoryError):
            bytearray(inner[0])
    assert limit() == before


@each("written", ["", "lots", "0 bytes", "1e999 GiB"])
def test_a_limit_that_cannot_be_read_counts_for_nothing(written: str) -> None:
    with bounded(written) as is_bound:
        assert is_bound
