"""Find the files that a question is asked of: logs of one folder, or of many machines' folders, in place."""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Iterable, Sequence

from msgspec import Struct

from agent.protocol.errors import IoError, NotFound
from agent.recording.naming import parse_segment
from agent.recording.reader import SessionFile, list_sessions

_DEPTH = 4
_MAX_FILES = 200_000


class Source(Struct, frozen=True):
    """One log file. `machine` is a word that tells its folder from the others'; `session` is "" where its name tells none.

    `segment`: which of the session's files it is.
    """

    path: str
    machine: str
    session: str = ""
    size: int = 0
    segment: int = 1


def find_sources(paths: Sequence[str], *, default: str, here: str) -> list[Source]:
    """The logs at `paths`: files, folders (with the folders below them) and patterns; without any, those of the folder `default`.

    `here` names this machine: it stands for `default`. Raises NotFound for a path without logs, IoError.
    """
    if not paths:
        return [_source(path, here) for path in _of_folder(default)]
    found: dict[str, None] = {}
    for given in paths:
        logs = _at(given)
        if not logs:
            raise NotFound(
                "log", given, hint="a folder of logs, a log file, or a quoted pattern such as '/srv/logs/*/sessions'"
            )
        found.update(dict.fromkeys(logs))
    if len(found) > _MAX_FILES:
        raise IoError(f"{len(found):,} files are more than can be asked at once", hint="name fewer folders")
    machines = _machines(os.path.dirname(path) for path in found)
    return [_source(path, machines[os.path.dirname(path)]) for path in found]


def _at(given: str) -> list[str]:
    path = os.path.abspath(os.path.expanduser(given))
    if os.path.lexists(path):
        return _of_path(path)
    return [log for each in sorted(glob.glob(path, recursive=True)) for log in _of_path(each)]


def _of_path(path: str) -> list[str]:
    try:
        mode = os.stat(path).st_mode
    except OSError as error:
        raise IoError(f"cannot read {path}: {error.strerror or error}") from error
    if stat.S_ISREG(mode):
        return [path]
    return _of_folder(path) if stat.S_ISDIR(mode) else []


def _of_folder(folder: str, depth: int = _DEPTH) -> list[str]:
    """The logs in `folder`; those of the folders below it, too."""
    logs = [path for session in list_sessions(folder) for path in session.files]
    if depth > 0:
        try:
            with os.scandir(folder) as entries:
                below = sorted(entry.path for entry in entries if _can_hold_logs(entry))
        except FileNotFoundError:
            return []
        except OSError as error:
            raise IoError(f"cannot read {folder}: {error.strerror or error}") from error
        for path in below:
            logs += _of_folder(path, depth - 1)
    return logs


def _can_hold_logs(entry: os.DirEntry[str]) -> bool:
    return not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False)


def _source(path: str, machine: str) -> Source:
    parsed = parse_segment(os.path.basename(path))
    try:
        size = os.stat(path).st_size
    except OSError:
        size = 0
    return Source(path, machine, parsed[1] if parsed else "", size, parsed[2] if parsed else 1)


def _machines(folders: Iterable[str]) -> dict[str, str]:
    """A word for each folder: what is left of its path without what all of them begin and end with; of one alone its last name."""
    parts = {folder: folder.strip("/").split("/") for folder in dict.fromkeys(folders)}
    if len(parts) == 1:
        return {folder: names[-1] or "/" for folder, names in parts.items()}
    begin = _common(list(parts.values()))
    end = _common([names[begin:][::-1] for names in parts.values()])
    return {
        folder: "/".join(names[begin : len(names) - end]) or (names[begin - 1] if begin else "/")
        for folder, names in parts.items()
    }


def _common(lists: list[list[str]]) -> int:
    """Count the items that all lists begin with."""
    count = 0
    for items in zip(*lists, strict=False):
        if len(set(items)) > 1:
            break
        count += 1
    return count


def sessions_of(sources: list[Source]) -> list[tuple[SessionFile, str]]:
    """Sessions with their machine: the files of one stand together."""
    groups: dict[tuple[str, str, str], list[tuple[int, Source]]] = {}
    for source in sources:
        parsed = parse_segment(os.path.basename(source.path))
        date, session_id, number = parsed or ("", source.path, 1)
        groups.setdefault((os.path.dirname(source.path), date, session_id), []).append((number, source))
    found = []
    for (_, date, session_id), numbered in groups.items():
        files = [source for _, source in sorted(numbered, key=lambda each: each[0])]
        session = SessionFile(
            path=files[0].path,
            session_id=session_id if date else os.path.basename(files[0].path),
            date=date,
            size=sum(source.size for source in files),
            modified=0.0,
            paths=tuple(source.path for source in files),
        )
        found.append((session, files[0].machine))
    return found
