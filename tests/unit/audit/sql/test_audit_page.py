"""docs/audit.md: every query of the page is run, and gives what the page says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("duckdb", reason="the extra `audit` is not installed")

from agent.audit.sql.database import LogDatabase
from agent.audit.sql.sources import find_sources
from tests.support.audit_world import write_world

PAGE = Path(__file__).resolve().parents[4] / "docs" / "audit.md"
QUESTIONS = re.findall(r"^## (\d+)\. (.*?)\n\n```sql\n(.*?)```", PAGE.read_text(), re.MULTILINE | re.DOTALL)

# question -> the column that tells the rows apart, and its values
ANSWERS: dict[str, tuple[str, list[object]]] = {
    "1": ("run", ["sudo systemctl restart nginx", "mkfs.ext4 /dev/sdb1"]),
    "2": ("run", ["ls"]),
    "3": ("verdict_rule", ["no-force"]),
    "4": ("run", ["rm -rf /etc/nginx", "mkfs.ext4 /dev/sdb1"]),
    "5": ("run", ["rm -r build/tmp"]),
    "6": ("session", ["three"]),
    "7": ("failures", [2]),
    "8": ("sessions", [2]),
    "9": ("run", ["rm -r build/tmp"]),
    "10": ("cost", [0.75]),
    "11": ("run", ["rm -rf /etc/nginx", "mkfs.ext4 /dev/sdb1"]),
    "12": ("session", ["two"]),
}


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LogDatabase]:
    folders = write_world(tmp_path_factory.mktemp("world"))
    with LogDatabase(find_sources([str(folder) for folder in folders], default="", here="here")) as opened:
        yield opened


def test_the_page_has_at_least_ten_questions() -> None:
    assert len(QUESTIONS) >= 10
    assert [number for number, _, _ in QUESTIONS] == list(ANSWERS)


@pytest.mark.parametrize(("number", "title", "query"), QUESTIONS, ids=[number for number, _, _ in QUESTIONS])
def test_question(database: LogDatabase, number: str, title: str, query: str) -> None:
    answer = database.ask(query)
    rows = [dict(zip(answer.columns, row, strict=True)) for row in answer.rows()]
    column, wanted = ANSWERS[number]
    assert sorted((row[column] for row in rows), key=str) == sorted(wanted, key=str), title
