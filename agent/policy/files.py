"""Load the policy files that count here, anew whenever one has changed. The only part of policy that reads.

Nothing raises: a file that is there and cannot be used comes back with `error`, and then nothing runs unasked.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable

from msgspec import Struct

from agent.policy.model import Place, Policy, PolicyFile, Trust

USER_FILE = "policy.toml"
SITE_FILE = "/etc/agent-shell/policy.toml"
PROJECT_FILE = ".agent-shell-policy.toml"
_NOT_THERE = (0, 0, 0, 0, 0)

Stamp = tuple[int, int, int, int, int]


class Sources(Struct, frozen=True, kw_only=True):
    """Paths of the files that may be there; "" for none. `safety` is the one that has to be.

    `settings`: other files and folders that decide how we run; changing one is guarded like changing a policy file.
    """

    user: str = ""
    site: str = SITE_FILE
    safety: str = ""
    home: str = ""
    settings: tuple[str, ...] = ()


class PolicyFiles:
    """The files of `sources` and of the folder one works in, parsed once for each state that they are in.

    `session_file` are the rules made for this session only, asked for at each look.
    """

    def __init__(self, sources: Sources, session_file: Callable[[], PolicyFile | None] = lambda: None) -> None:
        self.sources = sources
        self._session_file = session_file
        self._read: dict[str, tuple[Stamp, PolicyFile | None]] = {}

    def policy(self, *, workspace: str = "", session: str = "") -> Policy:
        """All that counts now, for a command in `workspace`."""
        from datetime import UTC, datetime

        sources = self.sources
        wanted: list[tuple[str, Trust]] = [(sources.user, "user"), (sources.site, "site"), (sources.safety, "safety")]
        if workspace:
            wanted.append((os.path.join(workspace, PROJECT_FILE), "project"))
        files = [file for path, trust in wanted if path and (file := self.file(path, trust)) is not None]
        own = self._session_file()
        if own is not None and own.rules:
            files.append(own)
        place = Place(
            workspace=workspace,
            home=sources.home,
            session=session,
            now=datetime.now(UTC).isoformat() if files else "",
        )
        # A file of the site's or a folder's that is not there can only be made, and that only tightens.
        there = (path for path, trust in wanted if path and (trust == "user" or os.path.lexists(path)))
        paths = (*sources.settings, *there)
        linked = (os.path.realpath(path) for path in paths)  # people link to where they keep their settings
        guarded = tuple(dict.fromkeys((*paths, *linked)))
        return Policy(files=tuple(files), place=place, guarded=guarded)

    def file(self, path: str, trust: Trust) -> PolicyFile | None:
        """The file at `path` as it is now; None where there is none (for "safety": an error)."""
        stamp = _stamp(path)
        known = self._read.get(path)
        if known is not None and known[0] == stamp and stamp != _NOT_THERE:
            return known[1]
        if stamp == _NOT_THERE and trust != "safety":
            return None
        file = read_policy_file(path, trust, home=self.sources.home)
        self._read[path] = (stamp, file)
        return file


def read_policy_file(path: str, trust: Trust, *, home: str = "") -> PolicyFile | None:
    """Read and check one file; None where there is none."""
    from agent.policy.text_files import Unreadable, read_own_text

    try:
        if trust == "project":
            from agent.policy.shown_once import read_project_text

            text: str | None = read_project_text(path) or None
        else:
            text = read_own_text(path, missing=None)
            if text is not None and trust != "safety" and (why := _writable_by_others(path)):
                raise Unreadable(why)
    except Unreadable as error:
        return PolicyFile(path=path, trust=trust, error=str(error))
    except (OSError, ValueError) as error:
        why = (error.strerror if isinstance(error, OSError) else "") or str(error)
        return PolicyFile(path=path, trust=trust, error=f"{path} cannot be read: {why}")
    if text is None:
        return PolicyFile(path=path, trust=trust, error=f"{path} does not exist") if trust == "safety" else None
    return _parsed(text, path, trust, home)


def _parsed(text: str, path: str, trust: Trust, home: str) -> PolicyFile:
    try:
        if trust == "safety":
            from agent.policy.pattern_files import parse_patterns

            return parse_patterns(text, path=path, home=home)
        from agent.policy.parse import parse_policy

        return parse_policy(text, path=path, trust=trust, home=home)
    except Exception as error:  # fail closed: a defect of ours must not open what a file closes
        return PolicyFile(path=path, trust=trust, error=f"{path} could not be checked ({type(error).__name__})")


def _writable_by_others(path: str) -> str:
    """Why a file that may decide about commands is not trusted: others could have written it. "" where they could not."""
    status = os.stat(path)
    if status.st_uid not in (0, os.geteuid()):
        return f"{path} belongs to somebody else, so it is not trusted; own it, or remove it"
    if status.st_mode & stat.S_IWOTH or (status.st_mode & stat.S_IWGRP and not _own_group(status)):
        return f"{path} can be written by others, so it is not trusted; run: chmod go-w {path}"
    folder = os.stat(os.path.dirname(os.path.realpath(path)) or "/")
    if folder.st_mode & stat.S_IWOTH and not folder.st_mode & stat.S_ISVTX:
        return f"the folder of {path} can be written by everyone, so it is not trusted"
    return ""


def _own_group(status: os.stat_result) -> bool:
    """Tell whether the file's group is the one that its owner has alone, as many systems give to each user."""
    return status.st_gid == status.st_uid and status.st_uid != 0


def _stamp(path: str) -> Stamp:
    """What changes when a file does; for one that cannot be looked at something that equals nothing seen."""
    try:
        found = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        try:
            os.lstat(path)
        except OSError:
            return _NOT_THERE
        return (1, 0, 0, 0, 0)  # a link that leads nowhere
    except (OSError, ValueError):
        return (2, 0, 0, 0, 0)
    return (found.st_dev, found.st_ino, found.st_mtime_ns, found.st_ctime_ns, found.st_mode)
