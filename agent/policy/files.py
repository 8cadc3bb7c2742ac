"""Find and load the policy files that count here, anew whenever one has changed. The only part of policy that reads.

Nothing raises: a file that is there and cannot be used comes back with `error`, and then nothing runs unasked.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from agent.policy.model import Place, Policy, PolicyFile, SessionRules, Trust

if TYPE_CHECKING:
    from agent.config.settings import Settings


USER_FILE = "policy.toml"
SITE_FILE = "/etc/agent-shell/policy.toml"
PROJECT_FILE = ".agent-shell-policy.toml"
MAX_BYTES = 1 << 20
MOST_SHOWN = 64 * 1024
"""Bytes of a folder's own file: it is shown whole, and nobody reads more."""
_NOT_THERE = (0, 0, 0, 0, 0)
Stamp = tuple[int, int, int, int, int]


class Unreadable(Exception):
    """The file cannot be used; the message says which and why."""


def read_own_text(path: str, *, limit: int = MAX_BYTES, follow: bool = True) -> str | None:
    """The text of the file at `path`, None where there is none. Raises Unreadable and OSError.

    Without `follow` a symbolic link is refused: in a stranger's folder it could lead to anything that is private.
    """
    try:
        # Without waiting: a named pipe put in the file's place must not hang anybody.
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        descriptor = os.open(path, flags if follow else flags | os.O_NOFOLLOW)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if error.errno == errno.ELOOP and not follow:
            raise Unreadable(f"{path} is a symbolic link") from None
        raise
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise Unreadable(f"{path} is not a regular file")
        data = file.read(limit + 1)
    if len(data) > limit:
        raise Unreadable(f"{path} is larger than {limit >> 10} kB")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise Unreadable(f"{path} is not UTF-8 text") from None


class Sources(Struct, frozen=True, kw_only=True):
    """Paths of the files that may be there; "" for none. `safety` is the one that has to be.

    `settings`: other files and folders by which we decide; changing one is guarded like changing a policy file.
    """

    user: str = ""
    site: str = SITE_FILE
    safety: str = ""
    home: str = ""
    settings: tuple[str, ...] = ()


def read_project_text(path: str) -> str:
    """The text of a folder's policy file, "" where there is none. Raises Unreadable (too large, no UTF-8, a link) and OSError."""
    return read_own_text(path, limit=MOST_SHOWN, follow=False) or ""


def policy_sources(settings: Settings, environ: Mapping[str, str]) -> Sources:
    """Return where policy files may be, for these settings."""
    from agent.config.paths import config_dir, state_dir

    home = os.path.expanduser("~")
    safety = settings.safety_policy or ""
    folder = config_dir(dict(environ))
    own = (os.path.abspath(settings.config),) if settings.config else ()
    state = state_dir(dict(environ))  # a run in its journals that looks interrupted is brought to an end unasked
    return Sources(
        user=os.path.join(folder, USER_FILE),
        settings=(folder, state, *own),
        safety=os.path.abspath(os.path.expanduser(safety)) if safety else "",
        home=home if home.startswith("/") else "",
    )


class PolicyFiles:
    """The files of `sources` and of the folder one works in, parsed once for each state that they are in."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self._read: dict[str, tuple[Stamp, PolicyFile | None]] = {}
        self._began = time.time() - time.monotonic()

    def policy(self, *, workspace: str = "", rules: SessionRules | None = None) -> Policy:
        """All that counts now, for a command in `workspace` of the session that has the `rules`."""
        sources = self.sources
        wanted: list[tuple[str, Trust]] = [(sources.user, "user"), (sources.site, "site"), (sources.safety, "safety")]
        if workspace:
            wanted.append((os.path.join(workspace, PROJECT_FILE), "project"))
        files = [file for path, trust in wanted if path and (file := self.file(path, trust)) is not None]
        if rules is not None and rules.file.rules:
            files.append(rules.file)
        now = self._now(files) if files else ""
        place = Place(workspace=workspace, home=sources.home, session=rules.session if rules else "", now=now)
        # A file of the site's or a folder's that is not there can only be made, and that only tightens.
        there = (path for path, trust in wanted if path and (trust == "user" or os.path.lexists(path)))
        paths = (*sources.settings, *there)
        guarded = tuple(dict.fromkeys((*paths, *map(os.path.realpath, paths))))  # people link to where they keep theirs
        return Policy(files=tuple(files), place=place, guarded=guarded)

    def _now(self, files: list[PolicyFile]) -> str:
        """The time that a rule's `until` is compared with.

        It is never earlier than it has been here or when a file was written: a clock that is set back brings no consent back.
        """
        from datetime import UTC, datetime

        written = (self._read[file.path][0][3] / 1e9 for file in files if file.path in self._read)
        now = max(time.time(), self._began + time.monotonic(), *written)
        return datetime.fromtimestamp(now, UTC).isoformat()

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

    try:
        if trust == "project":
            text = read_project_text(path) or None
        else:
            text = read_own_text(path)
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
            from agent.policy.patterns import parse_patterns

            return parse_patterns(text, path=path, home=home)
        from agent.policy.parse import parse_policy

        return parse_policy(text, path=path, trust=trust, home=home)
    except Exception as error:  # fail closed: a defect of ours must not open what a file closes
        return PolicyFile(path=path, trust=trust, error=f"{path} could not be checked ({type(error).__name__})")


def _writable_by_others(path: str) -> str:
    """Say why a file that may decide about commands is not trusted: others could have written it. "" where they could not."""
    status = os.stat(path)
    if status.st_uid not in (0, os.geteuid()):
        return f"{path} belongs to somebody else, so it is not trusted; own it, or remove it"
    # the group that its owner has alone, as many systems give to each user
    own_group = status.st_gid == status.st_uid != 0
    if status.st_mode & stat.S_IWOTH or (status.st_mode & stat.S_IWGRP and not own_group):
        return f"{path} can be written by others, so it is not trusted; run: chmod go-w {path}"
    folder = os.stat(os.path.dirname(os.path.realpath(path)) or "/")
    if folder.st_mode & stat.S_IWOTH and not folder.st_mode & stat.S_ISVTX:
        return f"the folder of {path} can be written by everyone, so it is not trusted"
    return ""


def _stamp(path: str) -> Stamp:
    """Return what changes when a file does; for one that cannot be looked at something that equals nothing seen."""
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
