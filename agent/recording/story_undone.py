"""Which runs were taken back later: told by the same log further on, or by the log of whoever took them back."""

from __future__ import annotations

import heapq
from collections.abc import Iterable

import msgspec

from agent.protocol.events import UndoFinished, decode
from agent.recording.reader import SessionFile

_WORD = b'"undo.finished"'
_OWN_BYTES = 32 * 1024 * 1024  # of the session itself: what comes later is told where it stands
_OTHER_BYTES = 256 * 1024  # a log that was opened for an undo alone is small
_MOST_OTHERS = 400


def undone_states(session: SessionFile, others: Iterable[SessionFile] = ()) -> dict[str, str]:
    """The state ("undone", "committed") of each run that is known to have been taken back, by undo id. Looks at the beginning of
    `session`, and at the small ones of `others` that were written after it began. What cannot be read counts for nothing.
    """
    states: dict[str, str] = {}
    for path in session.paths or (session.path,):
        _look(path, _OWN_BYTES, states)
    later = [other for other in others if other.path != session.path and other.date >= session.date]
    newest = heapq.nlargest(_MOST_OTHERS, later, key=lambda other: other.modified)
    for other in reversed(newest):
        if other.size <= _OTHER_BYTES:
            _look(other.path, _OTHER_BYTES, states)
    return states


def _look(path: str, limit: int, states: dict[str, str]) -> None:
    try:
        with open(path, "rb") as file:
            data = file.read(limit)
    except OSError:
        return
    at = data.find(_WORD)
    while at >= 0:
        start = data.rfind(b"\n", 0, at) + 1
        end = data.find(b"\n", at)
        line = data[start : end if end >= 0 else len(data)]
        try:
            event = decode(line).event
        except (msgspec.MsgspecError, ValueError, RecursionError):
            event = None
        if isinstance(event, UndoFinished):
            states[event.undo_id] = event.state
        at = data.find(_WORD, start + len(line) + 1)
