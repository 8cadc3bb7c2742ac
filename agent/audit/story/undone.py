"""Find the runs that were taken back later: told by the same log further on, or by the log of whoever took them back."""

from __future__ import annotations

import heapq
import os
from collections.abc import Iterable

import msgspec

from agent.protocol.events import UndoFinished, decode
from agent.recording.reader import SessionFile

_WORD = b'"undo.finished"'
_CHUNK = 2 * 1024 * 1024
_QUICK = 4 * 1024 * 1024  # bytes of each end of a long log that are looked at when somebody waits
_AROUND = 64 * 1024  # of a match to each side: a line of this kind is short
_OTHER_BYTES = 256 * 1024  # a log that was opened for an undo alone is small
_MOST_OTHERS, _MOST_OTHERS_THOROUGH = 64, 4_000


def undone_states(
    session: SessionFile, others: Iterable[SessionFile] = (), *, thorough: bool = False
) -> dict[str, str]:
    """The state ("undone", "committed") of each run that is known to have been taken back, by undo id. What cannot be read counts
    for nothing.

    Looks at `session` (at both ends of a long one, at all of it where it is to be `thorough`), and at the newest of `others` that are
    small and were written after it began.
    """
    states: dict[str, str] = {}
    for path in session.files:
        _look(path, states, thorough=thorough)
    later = [
        other
        for other in others
        if other.size <= _OTHER_BYTES and other.path != session.path and other.date >= session.date
    ]
    most = _MOST_OTHERS_THOROUGH if thorough else _MOST_OTHERS
    newest = heapq.nlargest(most, later, key=lambda other: other.modified)
    for other in reversed(newest):
        _look(other.path, states, thorough=True)
    return states


def _look(path: str, states: dict[str, str], *, thorough: bool) -> None:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return
    try:
        size = os.fstat(fd).st_size
        if thorough or size <= 2 * _QUICK:
            _search(fd, 0, size, states)
        else:
            _search(fd, 0, _QUICK, states)
            _search(fd, size - _QUICK, size, states)
    except OSError:
        pass  # not readable after all: less is known
    finally:
        os.close(fd)


def _search(fd: int, start: int, end: int, states: dict[str, str]) -> None:
    while start < end:
        data = os.pread(fd, min(_CHUNK + len(_WORD), end - start), start)
        at = data.find(_WORD)
        while at >= 0:
            _take(fd, start + at, states)
            at = data.find(_WORD, at + len(_WORD))
        if not data:
            return
        start += _CHUNK


def _take(fd: int, place: int, states: dict[str, str]) -> None:
    before = min(place, _AROUND)
    around = os.pread(fd, before + _AROUND, place - before)
    begin = around.rfind(b"\n", 0, before) + 1
    end = around.find(b"\n", before)
    try:
        event = decode(around[begin : end if end >= 0 else len(around)]).event
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return
    if isinstance(event, UndoFinished):
        states[event.undo_id] = event.state
