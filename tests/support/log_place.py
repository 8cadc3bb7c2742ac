"""A place with session logs and heads, and short ways to write, verify and change a log."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec import structs

from agent.protocol.events.goal import GoalFinished, GoalStarted
from agent.protocol.events.session import Notice, SessionStarted
from agent.protocol.records import Record
from agent.recording.disk import REAL_DISK, Disk
from agent.recording.envelope import SystemClock
from agent.recording.integrity.verify import Checked, verify_folder
from agent.recording.jsonl import JsonlRecorder, open_session
from agent.recording.reader import list_sessions, read_records


class Place:
    """`sessions` and `heads` are its folders."""

    def __init__(self, root: Path) -> None:
        self.sessions = str(root / "sessions")
        self.heads = str(root / "state" / "heads")
        self._open: list[JsonlRecorder] = []

    def open(self, session_id: str = "a", disk: Disk = REAL_DISK, **more: Any) -> JsonlRecorder:
        more.setdefault("heads", self.heads)
        recorder = open_session(
            more.pop("folder", self.sessions),
            session_id=session_id,
            clock=SystemClock(),
            redactor=None,
            started=SessionStarted(session_id="", program="test"),
            disk=disk,
            **more,
        )
        self._open.append(recorder)
        return recorder

    def write(self, events: int = 4, session_id: str = "a", **more: Any) -> Path:
        """A finished session with a goal of so many events; its first file."""
        recorder = self.open(session_id, **more)
        self.fill(recorder, events)
        recorder.close()
        return Path(recorder.path or "")

    def fill(self, recorder: JsonlRecorder, events: int = 4) -> None:
        recorder.append(GoalStarted(goal="count"), goal_id="g")
        for number in range(events):
            recorder.append(Notice(text=f"number {number}"), goal_id="g")
        recorder.append(GoalFinished(goal="count", status="completed", exit_code=0), goal_id="g")

    def crash(self, recorder: JsonlRecorder) -> None:
        """The process is gone, without a word."""
        recorder._release()

    def verify(self, **more: Any) -> list[Checked]:
        return list(verify_folder(more.pop("folder", self.sessions), more.pop("heads", self.heads), **more))

    def one(self, **more: Any) -> Checked:
        (checked,) = self.verify(**more)
        return checked

    def files(self) -> list[Path]:
        return sorted(Path(self.sessions).glob("*.jsonl"))

    def close(self) -> None:
        for recorder in self._open:
            recorder._release()


def told(place: Place) -> list[str]:
    """The texts of all notices that the log holds."""
    found = list_sessions(place.sessions)
    return [record.event.text for record in read_records(found[0]) if isinstance(record.event, Notice)] if found else []


def shouted(record: Record) -> Record:
    """A change for `rewrite_session`."""
    if isinstance(record.event, Notice) and record.event.text.startswith("number"):
        return structs.replace(record, event=Notice(text=record.event.text.upper()))
    return record
