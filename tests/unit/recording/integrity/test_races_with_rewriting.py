"""Somebody opens a log while it is being rewritten, or it goes away: nothing is lost, nothing is made that was not there."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.protocol.errors import RecordingError
from agent.protocol.events.session import Notice, SessionPruned
from agent.recording.disk import Disk
from agent.recording.integrity.rewriting import bury_session, rewrite_session
from agent.recording.logfile import LogFile
from agent.recording.reader import list_sessions
from tests.support.log_place import Place, shouted, told


class Meanwhile(Disk):
    """Somebody else does something each time a log was opened and not yet locked, or before it is opened."""

    def __init__(self, path: Path, happens: Callable[[], None], times: int, *, before: bool = False) -> None:
        self.path = str(path)
        self.happens = happens
        self.times = times
        self.before = before

    def open(self, path: str, flags: int, mode: int = 0o600) -> int:
        due = path == self.path and self.times > 0
        self.times -= due
        if due and self.before:
            self.happens()
        fd = os.open(path, flags, mode)
        if due and not self.before:
            self.happens()
        return fd


def scrub(place: Place) -> None:
    (session,) = list_sessions(place.sessions)
    rewrite_session(session, place.heads, shouted, note=lambda _: Notice(text="scrubbed"), now="2026")


def bury(place: Place) -> None:
    (session,) = list_sessions(place.sessions)
    bury_session(session, place.heads, lambda _: SessionPruned(before="", events=0, bytes=0), now="2026")


@pytest.mark.parametrize("rewrite", [scrub, bury])
def test_a_writer_that_starts_while_a_rewriting_ends_goes_on_in_the_new_log(
    place: Place, rewrite: Callable[[Place], None]
) -> None:
    path = place.write()
    place.write(2, disk=Meanwhile(path, lambda: rewrite(place), 1))
    assert place.one().state == "whole"
    assert [text for text in told(place) if text.startswith("number")] == ["number 0", "number 1"]
    assert ("NUMBER 3" in told(place)) == (rewrite is scrub)


def test_a_writer_waits_for_a_rewriting_that_is_about_to_end(place: Place) -> None:
    path = place.write()
    held = LogFile(str(path))
    timer = threading.Timer(0.06, held.close)
    timer.start()
    place.write(1)
    timer.join()
    assert place.one().state == "whole"


def test_a_log_that_is_replaced_without_end_is_an_error_and_no_file_stays_open(place: Place) -> None:
    path = place.write()

    def replaced() -> None:
        copy = path.with_name("copy")
        copy.write_bytes(path.read_bytes())
        os.replace(copy, path)

    before = os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else []
    with pytest.raises(RecordingError, match="again and again"):
        LogFile(str(path), Meanwhile(path, replaced, 1000))
    assert len(os.listdir("/proc/self/fd") if before else []) == len(before)


@pytest.mark.parametrize("times", [0, 1], ids=["gone before", "gone between"])
@pytest.mark.parametrize("pruned", [False, True])
def test_a_log_that_is_gone_since_it_was_listed_leaves_no_empty_file(place: Place, pruned: bool, times: int) -> None:
    path = place.write()
    (session,) = list_sessions(place.sessions)
    disk = Meanwhile(path, path.unlink, times, before=True)
    if not times:
        path.unlink()
    with pytest.raises(RecordingError, match="no such file"):
        if pruned:
            bury_session(
                session, place.heads, lambda _: SessionPruned(before="", events=0, bytes=0), now="2026", disk=disk
            )
        else:
            rewrite_session(session, place.heads, shouted, note=lambda _: Notice(text="x"), now="2026", disk=disk)
    assert os.listdir(place.sessions) == []
    assert [each.state for each in place.verify()] == ["gone"]


def test_a_log_that_is_removed_once_it_is_locked_stays_removed(place: Place) -> None:
    path = place.write()
    (session,) = list_sessions(place.sessions)
    with pytest.raises(RecordingError):
        rewrite_session(
            session,
            place.heads,
            shouted,
            note=lambda _: Notice(text="x"),
            now="2026",
            disk=Meanwhile(path, path.unlink, 1),
        )
    assert os.listdir(place.sessions) == []
