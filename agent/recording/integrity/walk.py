"""Walk once over all lines of a session, and check that each is chained to the one before."""

from __future__ import annotations

import os
from hashlib import sha256

import msgspec
from msgspec import Struct

from agent.recording.bounds import MAX_LINE
from agent.recording.chained_lines import BEFORE_FIRST, ChainedLine, Link, blocks, is_object, line_hash, read_chained
from agent.recording.integrity.duplicate_keys import duplicate_keys
from agent.struct_types import built

_SPECIAL = frozenset({"log.repaired", "log.rotated", "log.continued"})
_MOST = 50


class Problem(Struct, frozen=True):
    """A fault and its place: `line` counts from 1 in `file` (a path); 0 stands for the file as a whole."""

    file: str
    line: int
    text: str


class _Torn:
    """Bytes that are no record: a crash may have left them, if a record behind them says so."""

    def __init__(self, line: int) -> None:
        self.line = line
        self.bytes = 0
        self.digest = sha256()

    def add(self, data: bytes) -> None:
        self.digest.update(data)
        self.bytes += len(data)


class _Notice(Struct):
    """The keys of `log.repaired`, `.rotated` and `.continued`."""

    line: int = 0
    bytes: int = 0
    hash: str = ""
    next: str = ""
    previous: str = ""


class Walk:
    """Feed it a session's files in order; then `end`, `log`, `hashes` and `problems` say what was found.

    `log` is the hash of the first record's line; `hashes` has those of the records `wanted`.
    """

    def __init__(self, session_id: str, wanted: set[int]) -> None:
        self.problems: list[Problem] = []
        self.more_problems = 0
        self.hashes: dict[int, str] = {}
        self.end = BEFORE_FIRST
        self.log = ""
        self.last_type = ""
        self.events = 0
        self.bytes = 0
        self.trailing = False
        self._open_end = False  # the file read last does not end with a newline
        self._session_id = session_id
        self._wanted = wanted
        self._file = ""
        self._number = 0
        self.old = False  # it begins with lines from before there were chains
        self._unchained = False
        self._torn: _Torn | None = None
        self._in_long = False
        self._expected = ""  # the file that has to come now
        self._before = ""  # the name of the file before this one, as long as this one has not named it

    def file(self, path: str, *, first: bool, instead: str = "") -> None:
        """Walk over the next file; over `instead`, where that exists. Raises IoError."""
        name = os.path.basename(path)
        if not first and _is_empty(path):
            return  # prepared and never used; should another one follow, it is not the one that is expected
        if not first:
            self._settle_torn()
            if self._open_end:
                self._say(self._number, "lacks its line end: that was cut off")
        before, self._file, self._number = os.path.basename(self._file), path, 0
        if not first:
            self._before = before or "?"
            if self._expected != name:
                self._say(0, f"{before or 'nothing'} does not go on in this file")
        self._expected = ""
        self._in_long = False
        self._open_end = False
        for piece, ended in blocks(instead or path):
            self.bytes += len(piece)
            self._open_end = not piece.endswith(b"\n")
            self._piece(piece, ended)

    def finish(self) -> None:
        """After the last file: bytes behind the last record are for its head to judge."""
        self.trailing = self._torn is not None or self._open_end

    @property
    def last_line(self) -> int:
        """The number of the last line in the last file; where bytes stand behind the last record, of the first of those."""
        return self._torn.line if self._torn is not None else self._number

    def _piece(self, piece: bytes, ended: bool) -> None:
        if not ended or self._in_long:
            piece = self._long(piece, ended)
            if not piece:
                return
        self._lines(piece.removesuffix(b"\n").split(b"\n"))

    def _lines(self, lines: list[bytes]) -> None:
        """The walk itself; what is as it should be takes the short way."""
        seq, previous = self.end.seq, self.end.hash
        number, session, wanted = self._number, self._session_id, self._wanted
        plain, passed = self._plain, 0
        for line in lines:
            number += 1
            found = read_chained(line) if len(line) <= MAX_LINE else None
            if (
                plain
                and found is not None
                and found.prev == previous
                and found.seq == seq + 1
                and found.session == session
                and found.type not in _SPECIAL
            ):
                seq += 1
                previous = sha256(line).hexdigest()
                self.last_type = found.type
                passed += 1
                if seq in wanted:
                    self.hashes[seq] = previous
                continue
            self.end, self._number = Link(seq, previous), number
            if found is None:
                self._no_record(line)
            else:
                self._record(line, found)
            seq, previous = self.end.seq, self.end.hash
            plain = self._plain
        self.end, self._number = Link(seq, previous), number
        self.events += passed

    @property
    def _plain(self) -> bool:
        """Nothing is open that the next record has to answer."""
        return bool(self.events and self._torn is None and not self._before and not self._expected)

    def _record(self, line: bytes, found: ChainedLine) -> None:
        notice = _notice(line) if found.type in _SPECIAL else _Notice()
        if found.type == "log.repaired":
            self._repaired(notice)
        elif self._torn is not None:
            self._settle_torn()
        self._chained(found)
        self._of_files(found, notice)
        digest = line_hash(line)
        self.end = Link(found.seq, digest)
        if not self.events:
            self.log = digest
        self.events += 1
        self.last_type = found.type
        if found.seq in self._wanted:
            self.hashes[found.seq] = digest

    def _chained(self, found: ChainedLine) -> None:
        before = self.end
        if found.session != self._session_id:
            self._say(self._number, f"belongs to another session: {found.session[:64]!r}")
        if not found.prev:
            if not self._unchained:
                text = "carries no hash of the line before it: recorded before logs were chained, or added"
                self._say(self._number, text)
                self.old = self.old or not self.events
            self._unchained = True
            return
        self._unchained = False
        if found.seq > before.seq + 1:
            last = found.seq - 1
            gone = f"event {last} is" if last == before.seq + 1 else f"events {before.seq + 1} to {last} are"
            self._say(self._number, f"{gone} missing before this line")
        elif found.seq <= before.seq:
            self._say(self._number, f"event {found.seq} stands behind event {before.seq}: lines were moved or added")
        elif found.prev != before.hash and not self.events:
            self._say(self._number, "is not the first line: what came before it was removed")
        elif found.prev != before.hash:
            place = f"line {self._number - 1}" if self._number > 1 else "the last line of the file before"
            text = f"was changed: the line behind it was chained to another text ({place})"
            self._say(max(1, self._number - 1), text)

    def _of_files(self, found: ChainedLine, notice: _Notice) -> None:
        if self._expected:
            self._say(self._number, f"stands behind the end of this file, which continues in {self._expected}")
            self._expected = ""
        if self._before and found.type != "log.repaired":
            if found.type != "log.continued" or notice.previous != self._before:
                self._say(self._number, f"does not go on from {self._before}")
            self._before = ""
        if found.type == "log.rotated":
            self._expected = notice.next

    def _repaired(self, notice: _Notice) -> None:
        torn, self._torn = self._torn, None
        if torn is None:
            if notice.line and (notice.line != self._number - 1 or notice.hash != self.end.hash):
                self._say(self._number, "names a torn line that is not there")
        elif (notice.line, notice.bytes, notice.hash) != (torn.line, torn.bytes, torn.digest.hexdigest()):
            self._say(torn.line, "is not what a crash left there: the record behind it names other bytes")

    def _no_record(self, line: bytes, *, more: bool = False) -> None:
        if self._torn is None:
            self._torn = _Torn(self._number)
        elif not more:
            self._torn.add(b"\n")
        self._torn.add(line)
        if not more and is_object(line):  # a crash cuts a line short; but readers would take this for an event
            self._say(self._number, "is an object and no event of this log: it was added")

    def _settle_torn(self) -> None:
        """Something that is no record, and nothing behind it says that a crash left it."""
        if self._torn is not None:
            self._say(self._torn.line, "is no record: it was changed or added")
        self._torn = None

    def _long(self, piece: bytes, ended: bool) -> bytes:
        """A line too long to be held, in parts; what is left of the piece behind it."""
        head, newline, rest = piece.partition(b"\n")
        if not self._in_long:
            self._number += 1
        self._no_record(head, more=self._in_long)
        self._in_long = not newline
        return rest if newline else b""

    def look_for_duplicate_keys(self, path: str) -> None:
        """Name the lines of a file in which a key stands twice. Raises IoError."""
        self._file = path
        for place, words in duplicate_keys(path):
            self._say(place, words)

    def _say(self, line: int, text: str) -> None:
        if len(self.problems) < _MOST:
            self.problems.append(Problem(self._file, line, text))
        else:
            self.more_problems += 1


def _notice(line: bytes) -> _Notice:
    try:
        return msgspec.json.decode(line, type=built(_Notice))
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return _Notice(line=-1)


def _is_empty(path: str) -> bool:
    try:
        return os.stat(path).st_size == 0
    except OSError:
        return False  # reading it says why
