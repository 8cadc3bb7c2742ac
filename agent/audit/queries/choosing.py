"""Find the session a person means: by id, by the beginning of it, by how recent it is, or by the path of a log."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Sequence
from itertools import islice

from agent.protocol.errors import InvalidRequest, IoError, NotFound
from agent.protocol.records import Record
from agent.recording.branching import Part, goals_in, lineage_beside
from agent.recording.naming import check_id, parse_segment, segment_paths
from agent.recording.reader import SessionFile, has_goals, list_sessions, read_log
from agent.text.shown import shown_line
from agent.text.sizes import counted

NEWEST = "last"
_MOST_CANDIDATES = 8


def listed(folder: str) -> list[SessionFile]:
    """The sessions in `folder`, oldest first; nothing for a folder that does not exist. Raises IoError."""
    return list_sessions(folder)


def chosen(folder: str, state: str, wanted: str | None, known: Sequence[SessionFile] | None = None) -> SessionFile:
    """The session that `wanted` names: an id, the unique beginning of one (or of `DATE-ID`), `last` or `-1` for the one that was
    written last, `-2` for the one before, or the path of a log, also outside of the session folder (`is_outside`). None: the last.
    `known`: the sessions of the folder, where they were listed before; `state`: the state folder.

    Raises NotFound, InvalidRequest where several fit, IoError.
    """
    named, wanted = wanted is not None, wanted if wanted is not None else NEWEST
    if "/" in wanted or wanted.endswith(".jsonl"):
        return _by_path(wanted, folder)
    sessions = list_sessions(folder) if known is None else list(known)
    if not sessions and not named:
        raise InvalidRequest(f"nothing is recorded in {shown_line(folder)} yet")
    if not sessions:
        raise NotFound("session", shown_line(wanted, 80), hint=f"there are no logs in {shown_line(folder)}")
    back = 1 if wanted == NEWEST else _place_from_end(wanted)
    if back:
        return _newest(sessions, back, wanted)
    return _by_name(sessions, wanted, folder, state)


def goal_number(
    session: SessionFile, wanted: int | None, *, own: bool = False, beside: Sequence[SessionFile] | None = None
) -> int:
    """The number of the goal that is wanted, 0 for all; -1 is the last one. Goals that a branch took over count, unless `own`.

    `beside`: the sessions of the folder where its log lies, where they were listed before. Raises NotFound, IoError.
    """
    if wanted is None:
        return 0
    count = 0
    for part in [Part(session, "")] if own else lineage_beside(session, beside).parts:
        count += goals_in(part, most=max(wanted - count, 0))
        if 0 < wanted == count:
            return wanted
    if wanted < 0 <= count + wanted:
        return count + 1 + wanted
    raise NotFound("goal", str(wanted), hint=f"the session has {counted(count, 'goal')}")


def lies_outside(session: SessionFile, folder: str) -> bool:
    """Tell whether the log is not one of the session folder: it came from elsewhere, and nothing here vouches for it."""
    return os.path.dirname(os.path.realpath(session.path)) != os.path.realpath(folder)


def _place_from_end(wanted: str) -> int:
    match = re.fullmatch(r"-([1-9][0-9]{0,8})", wanted, re.ASCII)
    return int(match[1]) if match else 0


def _newest(sessions: list[SessionFile], back: int, wanted: str) -> SessionFile:
    """Counted as they are listed: without those in which nothing was asked for."""
    in_order = sorted(sessions, key=lambda session: session.by_writing, reverse=True)
    found = list(islice(filter(has_goals, in_order), back))
    if len(found) < back:
        count = "is only 1 session" if len(found) == 1 else f"are only {len(found):,} sessions"
        raise NotFound("session", wanted, hint=f"there {count} with goals")
    return found[-1]


def _by_name(sessions: list[SessionFile], wanted: str, folder: str, state: str) -> SessionFile:
    for fits in (
        [found for found in sessions if found.session_id == wanted],
        [found for found in sessions if _stem(found) == wanted],
        [
            found
            for found in sessions
            if wanted and (found.session_id.startswith(wanted) or _stem(found).startswith(wanted))
        ],
    ):
        if len(fits) == 1:
            return fits[0]
        if fits:
            raise _ambiguous(wanted, fits)
    called = sessions_named(folder, state, wanted)
    fits = [found for found in sessions if found.session_id in called]
    if len(fits) == 1:
        return fits[0]
    if fits:
        raise _ambiguous(wanted, fits, "are called")
    raise NotFound(
        "session",
        shown_line(wanted, 80),
        hint=f"`agent-shell sessions list` shows what there is; the logs are in {folder}",
    )


def sessions_named(folder: str, state: str, name: str) -> tuple[str, ...]:
    """The ids of the sessions of that name in `folder`, what was written last first; none where this Python cannot ask.

    Raises IoError.
    """
    if not name:
        return ()
    try:
        from agent.audit.queries.service import LogQueries
    except ImportError:  # without SQLite
        return ()
    with LogQueries(folder, state) as queries:
        return queries.named(name)


def _ambiguous(wanted: str, fits: list[SessionFile], how: str = "begin with") -> InvalidRequest:
    same_id = len({found.session_id for found in fits}) < len(fits)
    names = [_stem(found) if same_id else found.session_id for found in fits]
    listed = ", ".join(shown_line(name, 90) for name in names[-_MOST_CANDIDATES:][::-1])
    more = f" and {len(names) - _MOST_CANDIDATES:,} more" if len(names) > _MOST_CANDIDATES else ""
    return InvalidRequest(
        f"{len(fits):,} sessions {how} {shown_line(wanted, 80)}"
        if not same_id
        else f"{shown_line(wanted, 80)} is more than one session",
        hint=f"say which one: {listed}{more}",
    )


def _stem(session: SessionFile) -> str:
    return f"{session.date}-{session.session_id}"


def _id_inside(path: str) -> str:
    """The id that the first line tells, where the file's name does not; "" where that is none."""
    record = next(iter(read_log(path)), None)
    try:
        return check_id(record.session) if isinstance(record, Record) else ""
    except InvalidRequest:
        return ""


def _by_path(wanted: str, folder: str) -> SessionFile:
    """The log at a path; one of the session folder comes with all its files."""
    path = os.path.abspath(os.path.expanduser(wanted))
    if not os.path.dirname(wanted) and not os.path.lexists(path):
        path = os.path.join(folder, wanted)  # a file name as it stands in a listing
    try:
        info = os.stat(path)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise IoError(f"cannot read {shown_line(path)}: {reason}") from None
    if not stat.S_ISREG(info.st_mode):
        raise IoError(f"{shown_line(path)} is not a regular file")
    if os.path.realpath(os.path.dirname(path)) == os.path.realpath(folder):
        name = os.path.basename(path)
        for found in list_sessions(folder):
            if name in [os.path.basename(each) for each in found.files]:
                return found
    parsed = parse_segment(os.path.basename(path))
    date, session_id, number = parsed or ("", "", 1)
    paths = tuple(segment_paths(path)) if parsed and number == 1 else (path,)
    sizes = [os.stat(each) for each in paths]
    return SessionFile(
        path=path,
        session_id=session_id or _id_inside(path) or os.path.basename(path).removesuffix(".jsonl"),
        date=date,
        size=sum(each.st_size for each in sizes),
        modified=max(each.st_mtime for each in sizes),
        paths=paths,
    )
