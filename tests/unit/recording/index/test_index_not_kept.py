"""Where no index can be kept, the answer is the same, and it is said why each call reads the logs."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.audit.queries import figures, listing
from agent.audit.queries.conditions import Conditions
from agent.audit.queries.search import Found, search
from agent.recording.index.access import LogIndex
from agent.recording.index.database import Database
from benchmarks.audit_logs import write_sessions
from tests.support.session_folder import SessionFolder


@pytest.fixture
def made(tmp_path: Path) -> SessionFolder:
    folder = SessionFolder(tmp_path)
    write_sessions(str(folder.path), goals=60, seed=3, goals_per_session=2)
    return folder


def test_every_answer_is_that_of_an_index_that_is_kept(made: SessionFolder, tmp_path: Path) -> None:
    folder = str(made.path)

    def found(database: Database) -> Found:
        return search(database, folder, ("docker",), Conditions(), numbered=True)

    questions = (
        lambda database: listing.sessions(database, folder, Conditions()),
        lambda database: listing.goals(database, folder, Conditions(), 9),
        lambda database: figures.figures(database, Conditions()),
        figures.past,
        found,
    )
    with LogIndex(folder, str(tmp_path / "state")) as index:
        expected = [index.ask(question) for question in questions]
        assert index.place and index.ask(found).hits
    made.path.chmod(0o777)  # others can write to it
    (tmp_path / "file").touch()
    with LogIndex(folder, str(tmp_path / "file")) as index:
        assert [index.ask(question) for question in questions] == expected
        assert not index.place
        assert len(index.notes) == 1 and "no index of the sessions is kept" in index.notes[0]


def test_people_are_told_once(
    made: SessionFolder, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    made.path.chmod(0o777)
    monkeypatch.setattr("agent.frontends.sessions.shared.state_dir", lambda environ: "/dev/null/state")
    for arguments, status in ((["list"], 0), (["list", "--goals"], 0), (["stats"], 0), (["search", "nosuchword"], 1)):
        assert made.run(*arguments) == status
        told = capfd.readouterr()
        assert told.err.count("no index of the sessions is kept") == 1 and "others can write to" in told.err
