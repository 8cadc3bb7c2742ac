"""Verify that a log is what was written: its chain, its end against the head kept elsewhere, and its signatures."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from msgspec import Struct, structs

from agent.protocol.errors import IoError
from agent.recording.chained_lines import BEFORE_FIRST, Link
from agent.recording.integrity.heads import (
    Head,
    boot_id,
    compare_head,
    folder_name,
    is_announced,
    known_ids,
    newest_of,
    read_heads,
)
from agent.recording.integrity.walk import Problem, Walk
from agent.recording.naming import parse_segment, staged_path
from agent.recording.reader import SessionFile, as_it_is_now, list_sessions

PRUNED = "session.pruned"
_TRIES = 4
_ENDED = ("session.finished", PRUNED, "log.scrubbed")


class Signed(Struct, frozen=True):
    """A signature that was kept for a log: over its id, its name `log`, a place in its chain and a time. `valid`: it fits the key."""

    log: str
    link: Link
    time: str
    valid: bool


Signatures = Callable[[str], Sequence[Signed]]
"""All signatures kept for a session id, each checked with the person's public key. Raises OSError."""


class Checked(Struct, frozen=True, kw_only=True):
    """The findings about one session. `state`: whole, unfinished (open, or its program was killed), crash, empty, touched,
    unknown (nothing is wrong but that no head is known, nor any chain), gone, unreadable.

    `note`: what a crash left, in words. `end`: its last event's number and hash, which can be kept elsewhere. `log`: the hash
    that names it. `signed`: the last event that a signature vouches for, None without signatures.
    """

    session_id: str
    path: str
    state: str
    files: int
    events: int
    bytes: int
    end: Link
    log: str
    note: str = ""
    problems: tuple[Problem, ...] = ()
    more_problems: int = 0
    signed: int | None = None

    @property
    def sound(self) -> bool:
        return not self.problems


def verify_session(session: SessionFile, heads: str, signatures: Signatures | None = None) -> Checked:
    """Check one session against the heads in the folder `heads` and, where they are given, its signatures. Raises IoError."""
    for _ in range(_TRIES):
        before = _heads(heads, session.session_id)
        checked = _verify_once(session, heads, signatures)
        now = as_it_is_now(session)
        if checked.sound or (now.files == session.files and _heads(heads, session.session_id) == before):
            break
        session = now  # it was written or replaced under the walk: what was found may be neither the one nor the other
    return checked


def _verify_once(session: SessionFile, heads: str, signatures: Signatures | None) -> Checked:
    before = _heads(heads, session.session_id)
    with _readable(f"the signatures of {session.session_id}"):
        signed = signatures(session.session_id) if signatures is not None else ()
    wanted = {link.seq for head in before for link in (head.kept, head.synced)} | {each.link.seq for each in signed}
    walk = Walk(session.session_id, wanted)
    paths = session.files
    being_replaced = is_announced(before, paths)
    for number, path in enumerate(paths, 1):
        parsed = parse_segment(os.path.basename(path))
        if parsed is not None and number == 1 and parsed[2] != 1:
            walk.problems.append(Problem(path, 0, "the files before it are missing"))
        staged = staged_path(path) if being_replaced else ""
        walk.file(path, first=number == 1, instead=staged if os.path.lexists(staged) else "")
        if walk.last_type == PRUNED and being_replaced:
            break  # the other files are about to go
    walk.finish()
    end = _End(session, walk)
    if not walk.events:
        end.empty(before)
    else:
        end.compare(before, _heads(heads, session.session_id))
    newest = end.check_signatures(signed) if signatures is not None and walk.events else None
    if walk.problems:
        for path in paths:
            walk.look_for_duplicate_keys(path)
        end.state = "unknown" if end.unknown and len(walk.problems) == 1 + walk.old else "touched"
    return Checked(
        session_id=session.session_id,
        path=session.path,
        state=end.state,
        files=len(paths),
        events=walk.events,
        bytes=walk.bytes,
        end=walk.end,
        log=walk.log,
        note="" if walk.problems else end.note,
        problems=tuple(walk.problems),
        more_problems=walk.more_problems,
        signed=newest,
    )


class _End:
    """A judgement of the walk's end."""

    def __init__(self, session: SessionFile, walk: Walk) -> None:
        self.state = "whole" if walk.last_type in _ENDED else "unfinished"
        self.note = ""
        self.unknown = False
        self._walk = walk
        self._file = session.files[-1]
        self._line = walk.last_line

    def empty(self, heads: Sequence[Head]) -> None:
        """A log without any record: a crash may have left it so, if no head knows better."""
        self.state = "empty"
        known = [head for head in heads if not _may_be_lost(head)]
        if known:
            self._wrong(f"there is no event left of the {known[-1].kept.seq} that the stored head counts", line=0)

    def compare(self, before: Sequence[Head], after: Sequence[Head]) -> None:
        """Hold the end against the head as it was before the walk and is after it: the log may be growing."""
        walk = self._walk
        head, now = newest_of(before, walk.log), newest_of(after, walk.log)
        if head is None:
            if now is None:
                text = "no stored head hash: truncation or a rewrite cannot be ruled out"
                self._wrong(text, line=0)
                self.unknown = True
            return
        if now is not None and now.turn != head.turn and not head.doubt:  # it is being written
            if head.kept.seq and walk.hashes.get(head.kept.seq, walk.end.hash) != head.kept.hash:
                self._wrong(f"event {head.kept.seq} does not match the stored head")
            self.state = "unfinished"
            return
        stands = compare_head(head, walk.end, trailing=walk.trailing, boot=boot_id(), hash_at=walk.hashes.get)
        if stands.problem:
            self._wrong(stands.problem)
        elif stands.crash:
            self.state, self.note = "crash", stands.crash

    def check_signatures(self, signed: Sequence[Signed]) -> int | None:
        """Each must fit the key and a place in this chain; the last place that one vouches for."""
        walk = self._walk
        here = [each for each in signed if each.log == walk.log]
        if not here:
            self._wrong("it is not signed", line=0)
            return None
        for each in here:
            if not each.valid:
                self._wrong(f"the signature of event {each.link.seq} does not fit the key", line=0)
            elif walk.hashes.get(each.link.seq) != each.link.hash:
                self._wrong(f"event {each.link.seq} is not the one that was signed at {each.time[:40]}", line=0)
        newest = max(each.link.seq for each in here)
        if newest < walk.end.seq and self.state == "whole":
            self._wrong(f"events {newest + 1} to {walk.end.seq} are not signed", line=0)
        return newest

    def _wrong(self, text: str, *, line: int | None = None) -> None:
        self._walk.problems.append(Problem(self._file, self._line if line is None else line, text))


def lost_logs(folder: str, heads: str, seen: Sequence[Checked], only: str | None = None) -> list[Checked]:
    """Logs of this folder (`only`: of that id) that have a head, and are gone. Raises IoError."""
    place = folder_name(folder)
    known = {checked.log for checked in seen}
    lost = []
    with _readable(f"the heads in {heads}"):
        ids = known_ids(heads) if only is None else [only]
    for session_id in ids:
        for head in _heads(heads, session_id):
            if head.folder != place or _may_be_lost(head) or known & {head.log, head.next}:
                continue
            text = f"its log is gone; the stored head counts {head.kept.seq} events"
            lost.append(
                _not_read("gone", session_id, os.path.join(folder, session_id), text, end=head.kept, log=head.log)
            )
    return lost


def _not_read(state: str, session_id: str, path: str, problem: str, **known: Any) -> Checked:
    about = {"files": 0, "bytes": 0, "end": BEFORE_FIRST, "log": "", **known}
    problems = (Problem(path, 0, problem),)
    return Checked(session_id=session_id, path=path, state=state, events=0, problems=problems, **about)


def verify_folder(folder: str, heads: str, signatures: Signatures | None = None) -> Iterator[Checked]:
    """All sessions of a folder, oldest first, then those that are gone. Raises IoError where folder or heads cannot be read."""
    seen: list[Checked] = []
    paths: dict[str, str] = {}
    for session in list_sessions(folder):
        checked = _no_copy(verify_or_say(session, heads, signatures), paths)
        seen.append(structs.replace(checked, problems=()))
        yield checked
    yield from lost_logs(folder, heads, seen)


def _no_copy(checked: Checked, paths: dict[str, str]) -> Checked:
    """A log that stands in one folder under two names would be counted twice, and only one of them goes on. `paths`: by log."""
    other = paths.setdefault(checked.log, checked.path) if checked.log else checked.path
    if other == checked.path:
        return checked
    problem = Problem(checked.path, 0, f"is the log of {other} once more: one of them is a copy")
    return structs.replace(checked, state="touched", problems=(*checked.problems, problem), note="")


def verify_or_say(session: SessionFile, heads: str, signatures: Signatures | None = None) -> Checked:
    """As `verify_session`; what cannot be read is a problem of that session."""
    try:
        return verify_session(session, heads, signatures)
    except IoError as error:
        about = {"files": len(session.paths), "bytes": session.size}
        return _not_read("unreadable", session.session_id, session.path, error.message, **about)


def _may_be_lost(head: Head) -> bool:
    """Tell whether a crash can have taken the whole log: nothing was written, or the machine stopped before the disk was waited for."""
    return not head.kept.seq or (not head.synced.seq and not head.closed and head.boot != boot_id())


def _heads(heads: str, session_id: str) -> list[Head]:
    with _readable(f"the head of {session_id}"):
        return read_heads(heads, session_id)


@contextmanager
def _readable(what: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise IoError(f"{what} cannot be read: {error.strerror or error}") from error
