"""The lines of a log that tell what was judged, and of those only the fields that count: a log is large, and it is hostile input."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import msgspec
from msgspec import Struct

from agent.recording.bounds import MAX_LINE
from agent.recording.disk import open_log

_EMPTY = msgspec.Raw(b"")
_WANTED = frozenset(
    {
        b"session.started", b"goal.started", b"goal.finished", b"command.proposed", b"command.rated", b"command.confirmed",
        b"command.started",
    }
)  # fmt: skip


class Environment(Struct):
    """What a planner was told of the machine."""

    home: str = ""


class Report(Struct):
    """A rating; `findings` as they stand there."""

    command: str = ""
    level: str = ""
    findings: msgspec.Raw = _EMPTY


class Verdict(Struct):
    """What policy said."""

    action: str = ""
    rule: str = ""
    reason: str = ""


class Line(Struct):
    """The fields of all events that tell of a command; each has some of them."""

    type: str = ""
    time: str = ""
    session: str = ""
    goal_id: str = ""
    command_id: str = ""
    command: str = ""
    cwd: str = ""
    origin: Any = None
    report: Report | None = None
    verdict: Verdict | None = None
    known: msgspec.Raw = _EMPTY
    stage: str = ""
    decision: str = ""
    by: str = ""
    approve: str = "ask"
    safety_off: bool = False
    is_root: bool = False
    environment: Environment | None = None


class Trouble(Struct):
    """What could not be read: how many lines, and where the first of them is."""

    lines: int = 0
    first: str = ""


@cache
def _decoder() -> msgspec.json.Decoder[Line]:
    return msgspec.json.Decoder(Line)


@cache
def _head() -> re.Pattern[bytes]:
    """The envelope as we write it, up to the type: most lines are passed by without looking further."""
    text = rb'"[^"\\]*"'
    prefix = rb'\{"v":\d+,"seq":\d+,"time":%b,"session":%b,"run":%b,"goal_id":%b,(?:"prev":%b,)?'
    return re.compile(prefix % ((text,) * 5) + rb'"type":"([^"\\]*)"')


def read_lines(path: str, trouble: Trouble) -> Iterator[Line]:
    """The lines of one file that count, in order; what cannot be read is counted in `trouble`. Raises IoError."""
    head, decode = _head().match, _decoder().decode
    with open_log(path) as file:
        number = 0
        while line := file.readline(MAX_LINE + 1):
            number += 1
            found = head(line)
            if found is not None and found[1] not in _WANTED:
                if len(line) > MAX_LINE and not line.endswith(b"\n"):
                    _skip_line(file, line)
                continue
            if len(line) > MAX_LINE and not line.endswith(b"\n"):
                _skip_line(file, line)
                _note(trouble, path, number)
                continue
            try:
                yield decode(line)
            except (msgspec.MsgspecError, ValueError, RecursionError):
                _note(trouble, path, number)


def _skip_line(file: Any, line: bytes) -> None:
    while line and not line.endswith(b"\n"):
        line = file.readline(MAX_LINE)


def _note(trouble: Trouble, path: str, number: int) -> None:
    trouble.lines += 1
    trouble.first = trouble.first or f"{path}:{number}"
