"""SIGKILL before every single thing that a change of a file and an undo do to the disk: the log knows of it, and the journal goes on."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

import agent
from agent.execution.journal import syscalls
from agent.execution.journal.journal_folder import JournalFolder
from agent.execution.journal.store import Journals
from agent.protocol.actions import DeleteFile, FileAction, RenameFile, WriteFile
from agent.protocol.events.command import CommandFinished, CommandStarted, UndoFinished, UndoStarted
from agent.protocol.events.known import Event
from agent.protocol.events.session import SessionStarted
from agent.recording.envelope import SystemClock
from agent.recording.jsonl import JsonlRecorder, open_session
from agent.recording.reader import list_sessions, read_records
from tests.support import warm_program
from tests.support.fakes import FakePerson
from tests.support.processes import killed_after
from tests.support.undo_world import RealFacts, ScriptedUndoPerson, undo_actions
from tests.unit.gate.test_file_actions import World

_TOUCHES = ("open", "unlink", "mkdir", "rmdir", "replace", "rename", "link", "fsync", "pwrite", "write")


def killed_before(count: int, work: Callable[[], object]) -> bool:
    """Do `work` in a child that is killed before it touches the disk for the `count`th time; whether it came to that."""

    def counted(watch: Callable[[str], None]) -> None:
        for owner, names in ((os, _TOUCHES), (syscalls, ("move", "exchange"))):
            for name in names:
                setattr(owner, name, _watched(getattr(owner, name), watch))
        work()

    return killed_after(count, counted)


def _watched(real: Callable[..., object], watch: Callable[[str], None]) -> Callable[..., object]:
    def call(*args: object, **kwargs: object) -> object:
        watch(getattr(real, "__name__", ""))
        return real(*args, **kwargs)

    return call


class Killed:
    """A folder with one file, a real log and a real journal."""

    def __init__(self, base: Path) -> None:
        self.folder = Path(os.path.realpath(base)) / "work"
        self.folder.mkdir(parents=True)
        self.file = self.folder / "a.txt"
        self.file.write_text("one\n")
        self.state, self.logs = self.folder.parent / "state", str(self.folder.parent / "logs")

    def recorder(self) -> JsonlRecorder:
        started = SessionStarted(session_id="", program="test")
        return open_session(self.logs, clock=SystemClock(), redactor=None, started=started, session_id="s")

    def tree(self) -> dict[str, str]:
        """What a person sees; what a write had begun beside the file is none of it."""
        files = [path for path in self.folder.rglob("*") if path.is_file() and not path.name.endswith(".tmp")]
        return {path.name: path.read_text() for path in files}

    def perform(self, action: FileAction) -> None:
        World(self.folder, FakePerson(), self.recorder()).perform(action)  # type: ignore[arg-type]

    def undo(self) -> None:
        store = Journals(str(self.state))
        gate = undo_actions(store, ScriptedUndoPerson(), self.recorder(), facts=RealFacts())  # type: ignore[arg-type]
        asyncio.run(gate.turn(store.entries()[0]))

    def cli(self, *words: str) -> str:
        """What `agent-shell` prints in a process of its own, with this state and these logs."""
        home = self.folder.parent
        with suppress(FileExistsError):
            (home / "agent-shell").symlink_to(self.state)
        environ = {"PATH": os.environ["PATH"], "HOME": str(home), "XDG_STATE_HOME": str(home), "LC_ALL": "C.UTF-8"}
        root = Path(agent.__file__).parents[1]
        line = [sys.executable, str(root / "agent_shell.py"), *words, "--session-dir", self.logs]
        done = warm_program.run(line, env=environ, cwd=root, capture_output=True, text=True, check=True)
        return " ".join(done.stdout.split())

    def events(self) -> list[Event]:
        """What the log says once somebody went on with it."""
        recorder = self.recorder()
        recorder.close()
        return [record.event for record in read_records(str(recorder.path))]


def lives(events: list[Event], begins: type, ends: type) -> tuple[int, int]:
    """How many began, and how many have an ending."""
    return sum(isinstance(each, begins) for each in events), sum(isinstance(each, ends) for each in events)


KINDS = ("write", "new", "rename", "delete")
# In `make test` some moments of two kinds, in `make test-thorough` every one of all.
MOMENTS = pytest.mark.parametrize(
    "kind, every", [("new", 25), ("write", 25), *(pytest.param(kind, 1, marks=pytest.mark.thorough) for kind in KINDS)]
)


def action_of(case: Killed, kind: str) -> FileAction:
    path, new = str(case.file), str(case.folder / "sub/b.txt") if kind == "new" else str(case.folder / "b.txt")
    if kind == "rename":
        return RenameFile(path=path, target=new)
    return DeleteFile(path=path) if kind == "delete" else WriteFile(path=path if kind == "write" else new, content="x")


@pytest.mark.few(1)
@MOMENTS
def test_killed_while_a_file_is_changed(tmp_path: Path, kind: str, every: int) -> None:
    count, changed = 1, 0
    while True:
        case = Killed(tmp_path / str(count))
        before = case.tree()
        action = action_of(case, kind)
        was_killed = killed_before(count, lambda case=case, action=action: case.perform(action))
        events = case.events()
        began, ended = lives(events, CommandStarted, CommandFinished)
        assert began == ended, count
        if case.tree() != before:
            changed += 1
            assert began == 1, count
            (entry,) = Journals(str(case.state)).entries()
            assert entry.state == "committed", (count, entry)
            Journals(str(case.state)).turn(entry.undo_id)
        assert case.tree() == before, count
        assert all(entry.state != "pending" for entry in Journals(str(case.state)).entries())
        if not was_killed:
            break
        count += every
    assert changed and count > 20


@pytest.mark.few(1)
@MOMENTS
def test_killed_while_it_is_taken_back(tmp_path: Path, kind: str, every: int) -> None:
    count, undone = 1, 0
    while True:
        case = Killed(tmp_path / str(count))
        before = case.tree()
        action = action_of(case, kind)
        World(case.folder, FakePerson()).perform(action)
        after = case.tree()
        was_killed = killed_before(count, case.undo)
        events = case.events()
        began, ended = lives(events, UndoStarted, UndoFinished)
        assert began == ended, count
        (entry,) = Journals(
            str(case.state)
        ).entries()  # what was interrupted is brought to an end by whoever asks first
        assert entry.state in ("committed", "undone"), (count, entry)
        assert case.tree() == (after if entry.state == "committed" else before), count
        if entry.state == "undone":
            undone += 1
            assert began == 1, count
        if not was_killed:
            break
        count += every
    assert undone and count > 20


@pytest.mark.thorough
def test_what_another_process_brings_to_an_end_is_told(tmp_path: Path) -> None:
    """SIGKILL in the middle of an undo: the log of whoever finishes it says so, and so does the story of the one that began."""
    for count in range(60, 600, 5):
        case = Killed(tmp_path / str(count))
        recorder = case.recorder()
        World(case.folder, FakePerson(), recorder).perform(action_of(case, "write"))  # type: ignore[arg-type]
        recorder.close()
        journal = JournalFolder(str(case.state))
        assert killed_before(count, case.undo)
        (entry,) = filter(None, map(journal.read, journal.ids()))
        if entry.phase == "undoing":
            break
    assert "no end in this log; it is brought to an end when undo is used next" in case.cli("sessions", "show", "s")
    case.cli("undo", "--list")
    (finished,) = [session for session in list_sessions(case.logs) if session.session_id != "s"]
    (told,) = [record.event for record in read_records(finished) if isinstance(record.event, UndoFinished)]
    assert (told.undo_id, told.state, told.reason) == (entry.undo_id, "undone", "") and "interrupted" in told.resumed
    assert "had been left open by a crash" in case.cli("sessions", "show", finished.session_id)
    assert "no end in this log; finished later: the run is undone" in case.cli("sessions", "show", "s")
    assert not any(isinstance(event, UndoFinished) and not event.reason for event in case.events())
