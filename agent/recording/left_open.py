"""Find goals that a crash left open: which session ended without warning in the middle of one. Quick, as it looks from the end.

And plans that were left before their end, which only somebody who asks for them waits for."""

from __future__ import annotations

import os
import stat
import time
from itertools import islice

import msgspec
from msgspec import Struct

from agent.config.paths import make_folder
from agent.config.private_file import closing, replace_file
from agent.protocol.errors import CoreError
from agent.protocol.events.goal import GoalFinished, GoalStarted
from agent.protocol.events.session import LogRotated, SessionFinished, SessionPruned
from agent.protocol.records import Record
from agent.recording.disk import is_being_written
from agent.recording.reader import SessionFile, has_goals, list_sessions, record_in

_MOST_SESSIONS = 5
_MOST_AGE = 7 * 24 * 3600.0
_FIRST_WINDOW = 64 * 1024
_LAST_WINDOW = 16 * 1024 * 1024


class LeftOpen(Struct, frozen=True):
    """`seq` is the session's last record: with another one it is another crash. `goal`: "" for one that stays out of histories."""

    session_id: str
    goal: str
    seq: int

    @property
    def key(self) -> str:
        return f"{self.session_id}:{self.seq}"


def left_open(folder: str, *, besides: str = "", now: float | None = None) -> LeftOpen | None:
    """The newest session of the last days that ended in the middle of a goal, and that nobody is writing. Never raises."""
    try:
        found = (_of(session) for session in _newest(folder, besides, now))
        return next((each for each in found if each is not None), None)
    except (OSError, CoreError):
        return None  # a courtesy; what is wrong with the folder is said where it matters


def left_plan(folder: str, cwd: str, *, besides: str = "", now: float | None = None) -> str:
    """The id of the newest session of the last days that left a plan whose next step begins in `cwd`, "" for none. Never raises.

    What somebody is writing does not count, and no plan of another folder: its steps would act on other files here.
    """
    from agent.recording.past import past_of

    try:
        for session in _newest(folder, besides, now):
            if session.size > _LAST_WINDOW or is_being_written(session.path):
                continue
            plan = past_of(session.path).plan
            if plan is not None and plan.cwd == cwd:
                return session.session_id
    except (OSError, CoreError):
        pass
    return ""


def _newest(folder: str, besides: str, now: float | None) -> list[SessionFile]:
    """The last sessions in which something was asked for, the newest first."""
    since = (time.time() if now is None else now) - _MOST_AGE
    sessions = [session for session in list_sessions(folder) if session.modified >= since]
    in_order = sorted(sessions, key=lambda session: session.modified, reverse=True)
    others = (session for session in in_order if session.session_id != besides and has_goals(session))
    return list(islice(others, _MOST_SESSIONS))


def _of(session: SessionFile) -> LeftOpen | None:
    paths = session.files
    last: Record | None = None
    ended: set[str] = set()
    for record in _backwards(paths[-1]):
        if last is None:
            if isinstance(record.event, (SessionFinished, SessionPruned, LogRotated)):
                return None
            last = record
        if isinstance(record.event, SessionFinished):
            return None  # an earlier process, which ended in order
        if isinstance(record.event, GoalFinished):
            ended.add(record.goal_id)
        if isinstance(record.event, GoalStarted):
            if record.goal_id in ended or is_being_written(paths[0]):
                return None
            event = record.event
            return LeftOpen(session.session_id, "" if event.private or event.unlisted else event.goal, last.seq)
    return None


def _backwards(path: str) -> list[Record]:
    """The records at the end of a file, the last one first, as far back as a start of a goal (or of what is bearable)."""
    with closing(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)) as fd:
        info = os.fstat(fd)
        if not stat.S_ISREG(info.st_mode):
            return []
        window = _FIRST_WINDOW
        while True:
            start = max(0, info.st_size - window)
            lines = os.pread(fd, info.st_size - start, start).split(b"\n")
            whole = lines if start == 0 else lines[1:]  # the first one may have lost its beginning
            found = [record for line in reversed(whole) if line and (record := record_in(line)) is not None]
            enough = any(isinstance(record.event, (GoalStarted, SessionFinished)) for record in found)
            if enough or start == 0 or window >= _LAST_WINDOW:
                return found
            window *= 8


class Offered:
    """The crashes that a person was told of: each once. Kept in the file at `path`; where that cannot be written, they hear it again."""

    _MOST = 50

    def __init__(self, path: str) -> None:
        self._path = path

    def first_time(self, found: LeftOpen) -> bool:
        """Tell whether it was never offered; from now on it was."""
        known = self._read()
        if found.key in known:
            return False
        try:
            self._write([*known, found.key][-self._MOST :])
        except OSError:
            pass
        return True

    def _read(self) -> list[str]:
        try:
            with open(self._path, "rb") as file:
                return msgspec.json.decode(file.read(64 * 1024), type=list[str])
        except (OSError, msgspec.MsgspecError, ValueError):
            return []

    def _write(self, keys: list[str]) -> None:
        make_folder(os.path.dirname(self._path))
        replace_file(self._path, msgspec.json.encode(keys))
