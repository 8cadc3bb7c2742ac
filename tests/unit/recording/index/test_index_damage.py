"""An index that is damaged, foreign, locked or cannot be written never costs a person more than time."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.audit.queries import listing
from agent.audit.queries.conditions import Conditions
from agent.audit.queries.search import search
from agent.recording.index import access, database
from agent.recording.index.access import LogIndex
from agent.recording.index.rows import VERSION
from benchmarks.audit_logs import write_sessions

GOALS = 30


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("logs")
    write_sessions(str(folder), goals=GOALS, seed=2, goals_per_session=10)
    return folder


@pytest.fixture
def folder(logs: Path, tmp_path: Path) -> Path:
    place = tmp_path / "s"
    place.mkdir(mode=0o700)
    for path in logs.glob("*.jsonl"):
        os.link(path, place / path.name)
    return place


def count(folder: Path, state: Path | None = None, **options: bool) -> tuple[int, str, list[str]]:
    """How many goals the index has, where it is, and its notes."""
    with LogIndex(str(folder), str(state or "")) as index:
        rows = index.ask(lambda found: listing.goals(found, str(folder), Conditions()), **options)
        words = index.ask(lambda found: search(found, str(folder), ("e",), Conditions()))
        assert len(words.hits) <= len(rows)
        return len(rows), index.place, index.notes


def zeros(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def garbage(path: Path) -> None:
    path.write_bytes(b"this is no database at all" * 1000)


def middle(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[4096:] = os.urandom(len(data) - 4096)
    path.write_bytes(bytes(data))


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def empty(path: Path) -> None:
    os.truncate(path, 0)


def newer(path: Path) -> None:
    _run(path, f"PRAGMA user_version = {VERSION + 1}")


def trigger(path: Path) -> None:
    _run(path, "CREATE TRIGGER t AFTER INSERT ON goals BEGIN DELETE FROM sessions; END")


def view(path: Path) -> None:
    _run(path, "DROP TABLE goals", "CREATE VIEW goals AS SELECT 1 AS id")


def other_table(path: Path) -> None:
    _run(path, "ALTER TABLE goals ADD COLUMN more TEXT")


def lost_text(path: Path) -> None:
    _run(path, "DELETE FROM texts_data")


def lies(path: Path) -> None:
    """A copy of an index whose rows say something else: it is another file."""
    _run(path, "UPDATE goals SET goal = 'planted'")
    data = path.read_bytes()
    os.rename(path, path.with_name("kept"))
    path.write_bytes(data)


def _run(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


@pytest.mark.few(5)
@pytest.mark.parametrize(
    "damage",
    [zeros, garbage, middle, cut, empty, newer, trigger, view, other_table, lost_text, lies],
    ids=lambda damage: damage.__name__,
)
def test_damage_is_repaired(folder: Path, damage: Callable[[Path], None]) -> None:
    assert count(folder)[0] == GOALS
    path = folder / database.NAME
    damage(path)
    assert count(folder) == (GOALS, str(path), [])
    with LogIndex(str(folder), "") as index:
        rows = index.ask(lambda found: listing.goals(found, str(folder), Conditions()))
    assert not [row for row in rows if row["goal"] == "planted"]


def test_a_link_in_its_place_is_not_followed(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "precious"
    target.write_text("mine")
    os.symlink(target, folder / database.NAME)
    found, place, _ = count(folder, tmp_path / "state")
    assert (found, target.read_text()) == (GOALS, "mine")
    assert place.startswith(str(tmp_path / "state" / "index"))


@pytest.mark.parametrize("what", ["-wal", "-shm", "-lock", ""])
def test_folders_in_its_place(folder: Path, what: str) -> None:
    (folder / (database.NAME + what)).mkdir()
    found, place, notes = count(folder)
    assert (found, place, len(notes)) == (GOALS, "", 1) and "no index of the sessions is kept" in notes[0]


def test_a_folder_shared_with_others_gets_no_index(folder: Path, tmp_path: Path) -> None:
    folder.chmod(0o777)
    state = tmp_path / "state"
    assert count(folder, state)[:2] == (GOALS, str(next((state / "index").glob("*.sqlite3"))))
    assert not list(folder.glob(".index*"))
    found, place, notes = count(folder)
    assert (found, place, len(notes)) == (GOALS, "", 1) and "no index of the sessions is kept" in notes[0]


def test_a_folder_that_does_not_exist_has_no_sessions(tmp_path: Path) -> None:
    assert count(tmp_path / "none", tmp_path / "state")[0] == 0


def test_somebody_who_holds_it_does_not_stop_us(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.05)
    assert count(folder)[0] == GOALS
    log = next(folder.glob("*.jsonl"))
    os.unlink(log)  # something has changed, so it wants to write
    holder = sqlite3.connect(folder / database.NAME, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    try:
        found, _, notes = count(folder)
        assert (found, set(notes)) == (GOALS, {access.STALE})  # as it was: better than nothing, and it is said
        holder.execute("COMMIT")
        holder.execute("PRAGMA locking_mode = EXCLUSIVE")
        holder.execute("BEGIN EXCLUSIVE")
        assert 0 < count(folder)[0] <= GOALS
    finally:
        holder.close()
    assert count(folder)[0] < GOALS


def test_it_is_not_replaced_under_somebody_who_reads_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.05)
    with LogIndex(str(folder), "") as reader:
        assert len(reader.ask(lambda found: listing.goals(found, str(folder), Conditions()))) == GOALS
        inode = os.stat(folder / database.NAME).st_ino
        assert count(folder, rebuild=True)[:2] == (GOALS, "")
        assert os.stat(folder / database.NAME).st_ino == inode
        assert len(reader.ask(lambda found: listing.goals(found, str(folder), Conditions()))) == GOALS


def test_many_at_once(folder: Path) -> None:
    """Eight builders of the same index: each sees all goals, once."""
    seen: list[object] = []

    def one() -> None:
        try:
            seen.append(count(folder)[0])
        except BaseException as error:
            seen.append(error)

    threads = [threading.Thread(target=one) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [GOALS] * 8


def test_without_full_text_search(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "FULL_TEXT", "CREATE VIRTUAL TABLE texts USING fts_that_is_not_there(goal)")
    with LogIndex(str(folder), "") as index:
        words = ("--verbose",), ("permission",), ("nosuchthing",), ("DENIED", "perm")
        plain = [len(index.ask(lambda d, w=word: search(d, str(folder), w, Conditions())).hits) for word in words]  # type: ignore[misc]
    monkeypatch.undo()
    with LogIndex(str(folder), "") as index:
        full = [len(index.ask(lambda d, w=word: search(d, str(folder), w, Conditions())).hits) for word in words]  # type: ignore[misc]
    assert plain == full and sum(full)
