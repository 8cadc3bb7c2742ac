"""Read logs back: tolerant of torn and broken lines, in constant memory. A log is input like any other, perhaps hostile."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from typing import BinaryIO

import msgspec
from msgspec import Struct

from agent.protocol.errors import IoError, NotFound
from agent.protocol.events import Record, decode
from agent.recording.bounds import MAX_LINE
from agent.recording.naming import check_id, find_log, parse_name


class BadLine(Struct, frozen=True):
    """A line that is no record. `number` counts from 1; `torn` is a last line without its end, as a crash leaves it."""

    number: int
    reason: str
    torn: bool = False


class SessionFile(Struct, frozen=True):
    """One log in a folder. `size` in bytes, `modified` in seconds since the epoch."""

    path: str
    session_id: str
    date: str
    size: int
    modified: float


def read_log(path: str) -> Iterator[Record | BadLine]:
    """Every line of a log, in order. Raises IoError where the file cannot be read."""
    try:
        with open(path, "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise IoError(f"{path} is not a regular file")
            yield from _lines(file)
    except OSError as error:
        raise IoError(f"cannot read {path}: {error.strerror or error}") from error


def read_records(path: str) -> Iterator[Record]:
    """The records of a log without what cannot be read."""
    return (line for line in read_log(path) if isinstance(line, Record))


def _lines(file: BinaryIO) -> Iterator[Record | BadLine]:
    number = 0
    while line := file.readline(MAX_LINE + 1):
        number += 1
        if len(line) > MAX_LINE and not line.endswith(b"\n"):
            yield BadLine(number, f"longer than {MAX_LINE:,} bytes")
            while line and not line.endswith(b"\n"):
                line = file.readline(MAX_LINE)
        else:
            yield _parsed(line, number)


def _parsed(line: bytes, number: int) -> Record | BadLine:
    torn = not line.endswith(b"\n")
    try:
        return decode(line)
    except RecursionError:
        return BadLine(number, "nested too deeply", torn)
    except (msgspec.MsgspecError, ValueError) as error:
        return BadLine(number, f"not a record: {str(error)[:200]}", torn)


def list_sessions(folder: str) -> list[SessionFile]:
    """The logs in `folder`, oldest first; nothing for a folder that does not exist. Raises IoError."""
    found = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                parsed = parse_name(entry.name)
                if parsed is None or not entry.is_file(follow_symlinks=False):
                    continue
                info = entry.stat(follow_symlinks=False)
                found.append(SessionFile(entry.path, parsed[1], parsed[0], info.st_size, info.st_mtime))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise IoError(f"cannot read the session folder {folder}: {error.strerror or error}") from error
    return sorted(found, key=lambda session: (session.date, session.modified, session.session_id))


def path_of(folder: str, session_id: str) -> str:
    """The log of `session_id`. Raises NotFound, InvalidRequest."""
    try:
        path = find_log(folder, check_id(session_id))
    except OSError:
        path = None
    if path is None:
        raise NotFound("session", session_id, hint=f"`:session` shows the current one; logs are in {folder}")
    return path
