"""Read logs back: tolerant of torn and broken lines, in constant memory; one record of a long log by its number.

A log is input like any other, perhaps hostile.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import BinaryIO

import msgspec
from msgspec import Struct, structs

from agent.protocol.errors import IoError
from agent.protocol.records import Record, decode
from agent.recording.bounds import MAX_LINE
from agent.recording.chained_lines import ChainedLine, log_lines, read_chained
from agent.recording.disk import open_log, without_links
from agent.recording.naming import parse_name, parse_segment, segment_paths

_NEAR = 256 * 1024  # bytes in which lines are gone through one by one
_END = 256 * 1024  # bytes of a log's end


class BadLine(Struct, frozen=True):
    """A line that is no record. `number` counts from 1 in its file `path`; `torn`: a last line without its end, as a crash leaves it."""

    number: int
    reason: str
    torn: bool = False
    path: str = ""


class SessionFile(Struct, frozen=True):
    """One session in a folder: `paths` are its files in order, `path` the first. `size` is all their bytes, `modified` is in
    seconds since the epoch.
    """

    path: str
    session_id: str
    date: str
    size: int
    modified: float
    paths: tuple[str, ...] = ()

    @property
    def files(self) -> tuple[str, ...]:
        """`paths`, also where only the first is known."""
        return self.paths or (self.path,)

    @property
    def by_writing(self) -> tuple[float, str, str]:
        """Sorts sessions as `last`, `-1`, `-2` and listings count them: the one that was written last is the greatest."""
        return self.modified, self.date, self.session_id


def session_at(path: str) -> SessionFile:
    """The session whose first file is at `path`, as the name tells it; size and time are not looked up."""
    date, session_id = parse_name(os.path.basename(path)) or ("", "")
    return SessionFile(path=path, session_id=session_id, date=date, size=0, modified=0.0, paths=segment_paths(path))


def as_it_is_now(session: SessionFile) -> SessionFile:
    """The session with the files that came since it was listed, and without those that went: a writer may have rotated in between."""
    parsed = parse_segment(os.path.basename(session.path))
    if parsed is None or parsed[2] != 1:
        return session
    paths = segment_paths(session.path)
    behind_a_gap = tuple(path for path in session.files if path not in paths and os.path.lexists(path))
    return structs.replace(session, paths=paths + behind_a_gap)


def read_session(session: SessionFile | str) -> Iterator[Record | BadLine]:
    """Every line of a session, through all its files; a path is that of its first file. Raises IoError where a file cannot be read."""
    paths = segment_paths(session) if isinstance(session, str) else session.files
    for path in paths:
        yield from read_log(path)


def read_records(path: SessionFile | str) -> Iterator[Record]:
    """The records of a session, through all its files, without what cannot be read. Raises IoError."""
    return (line for line in read_session(path) if isinstance(line, Record))


def read_log(path: str) -> Iterator[Record | BadLine]:
    """Every line of one file, in order. Raises IoError where it cannot be read."""
    for number, line in enumerate(log_lines(path), 1):
        if line is None:
            yield BadLine(number, f"longer than {MAX_LINE:,} bytes", path=path)
        else:
            yield _parsed(line, number, path)


def record_in(line: bytes) -> Record | None:
    """The record that a line is, None for one that is none."""
    found = _parsed(line, 0, "")
    return found if isinstance(found, Record) else None


def _parsed(line: bytes, number: int, path: str) -> Record | BadLine:
    torn = not line.endswith(b"\n")
    try:
        return decode(line)
    except RecursionError:
        return BadLine(number, "nested too deeply", torn, path)
    except (msgspec.MsgspecError, ValueError) as error:
        return BadLine(number, f"not a record: {str(error)[:200]}", torn, path)


def list_sessions(folder: str) -> list[SessionFile]:
    """The sessions in `folder`, oldest first; nothing for a folder that does not exist. Raises IoError."""
    files: dict[tuple[str, str], list[tuple[int, str, os.stat_result]]] = {}
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                parsed = parse_segment(entry.name)
                if parsed is None or not entry.is_file(follow_symlinks=False):
                    continue
                date, session_id, number = parsed
                found = (number, entry.path, entry.stat(follow_symlinks=False))
                files.setdefault((date, session_id), []).append(found)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise IoError(f"cannot read the session folder {folder}: {error.strerror or error}") from error
    sessions = [_session(date, session_id, found) for (date, session_id), found in files.items()]
    return sorted(sessions, key=lambda session: (session.date, session.modified, session.session_id))


def _session(date: str, session_id: str, files: list[tuple[int, str, os.stat_result]]) -> SessionFile:
    files.sort(key=lambda file: file[0])
    return SessionFile(
        path=files[0][1],
        session_id=session_id,
        date=date,
        size=sum(info.st_size for _, _, info in files),
        modified=max(info.st_mtime for _, _, info in files),
        paths=tuple(path for _, path, _ in files),
    )


def line_in(session: SessionFile, seq: int) -> bytes | None:
    """As `line_of`, in that of the session's files that has the record."""
    for path in reversed(session.files):
        with open_log(path) as file:
            _, first = _next_record(file, 0, os.fstat(file.fileno()).st_size, whole=True)
        if first is not None and first.seq <= seq:
            return line_of(path, seq)
    return None


def last_keys(session: SessionFile) -> list[ChainedLine]:
    """The keys of the last records of a session. Raises IoError."""
    with open_log(session.files[-1]) as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - _END))
        lines = file.read(_END).split(b"\n")
    return [keys for line in lines if (keys := read_chained(line)) is not None]


def line_of(path: str, seq: int) -> bytes | None:
    """The line of the record `seq` in a file whose records stand in order; None where it is not found so. Raises IoError.

    Where they do not, as in a log that somebody made up, it may be there all the same.
    """
    with open_log(path) as file:
        low, high = 0, file.seek(0, os.SEEK_END)
        while high - low > _NEAR:
            middle = (low + high) // 2
            begins, keys = _next_record(file, middle, high)
            if keys is None or keys.seq > seq:  # at or before the middle, or there are only very long lines behind it
                high = middle
            else:
                low = begins
        # The line that begins before the middle may end behind it: `high` bounds where lines begin, not where they end.
        file.seek(low)
        while file.tell() <= high and (line := file.readline(MAX_LINE + 1)):
            found = read_chained(line)
            if found is not None and found.seq == seq:
                return line
    return None


def _next_record(file: BinaryIO, place: int, end: int, *, whole: bool = False) -> tuple[int, ChainedLine | None]:
    """Find where the first record begins that begins behind `place` and not behind `end`, and its keys; None where there is none.

    `whole`: a line begins at `place`, and counts.
    """
    file.seek(place)
    if not whole:
        file.readline(MAX_LINE)
    while (begins := file.tell()) <= end and (line := file.readline(MAX_LINE + 1)):
        if (found := read_chained(line)) is not None:
            return begins, found
    return place, None


# Within a text their quotes would be escaped.
_ASKED = (b'"type":"goal.started"', b'"type":"session.pruned"')
_LONGEST = max(map(len, _ASKED))


def has_goals(session: SessionFile) -> bool:
    """Tell whether anything was asked for in a session, or was once. Reads as far as that; a file that cannot be read may hold a goal."""
    try:
        for path in session.files:
            with open(path, "rb", opener=without_links) as file:
                before = b""
                while chunk := file.read(1 << 18):
                    if any(each in before + chunk for each in _ASKED):
                        return True
                    before = chunk[-_LONGEST:]
    except OSError:
        return True
    return False
