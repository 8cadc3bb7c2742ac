"""Carry the limits of a command that is held to its rating to the helper. Standard library only."""

from __future__ import annotations

import os
import re
from typing import Any, NamedTuple

from agent.execution.mountinfo import is_within


class OwnPlaces:
    """Keep track of what a held command has made, by the name it has now: it may change that. Paths are absolute and real, as bytes."""

    def __init__(self) -> None:
        self.made: set[bytes] = set()
        self._brought: set[bytes] = set()  # moved below something made, but there before

    def __contains__(self, path: bytes) -> bool:
        """Tell whether it was made by the command, or lies below what was."""
        return _is_among(path, self.made) and not _is_among(path, self._brought)

    def remove(self, path: bytes) -> None:
        self.made.discard(path)
        self._brought.discard(path)

    def move(self, was: bytes, becomes: bytes, *, exchanged: bool) -> None:
        """Follow a renaming that was done."""
        places = {becomes: was in self}
        if exchanged:
            places[was] = becomes in self
        pairs = ((was, becomes), (becomes, was)) if exchanged else ((was, becomes),)
        self.made = {_after(path, pairs) for path in self.made}
        self._brought = {_after(path, pairs) for path in self._brought}
        self._brought |= {place for place, own in places.items() if not own and place in self}


def _is_among(path: bytes, places: set[bytes]) -> bool:
    return any(is_within(path, place) for place in places)


def _after(path: bytes, pairs: tuple[tuple[bytes, bytes], ...]) -> bytes:
    return next((new + path[len(old) :] for old, new in pairs if is_within(path, old)), path)


_FOLDERS = b"objects refs logs reftable sequencer rr-cache lfs worktrees modules info".split()
"""Places with all below them. As a whole they may be made, but not moved away or replaced: git would read another one's content."""
_BELOW = re.compile(
    rb"(refs|logs|reftable|sequencer|rr-cache|lfs/(objects|tmp|incomplete|cache))/.+"
    rb"|objects/(?!info(/|$)).+|objects/info/(packs|commit-graphs?)([/_.].*)?"
    rb"|info/refs([_.][^/]*)?"
)
_FILES = re.compile(
    rb"[A-Z][A-Z_]*(\.lock)?|(index|sharedindex|next-index|packed-refs|shallow|gc\.(pid|log))([._-][^/]*)?|sequencer"
)
_SET_UP = re.compile(
    rb"(^|/)(hooks|config(\.[^/]*)?|commondir|gitdir|attributes|exclude|alternates|http-alternates)([./]|$)"
)
_PARTS_OF_A_NAME = 20


def is_record(inside: bytes, *, new: bool = False) -> bool:
    """Tell whether a path below the inside of a repository is one that git only records in. `new`: it is of a linked working tree that
    the command itself has made.
    """
    place, _, rest = inside.partition(b"/")
    if place == b"worktrees":
        name, _, rest = rest.partition(b"/")
        return bool(name) and (new or (bool(rest) and is_record(rest)))
    if place == b"modules":  # a name may have slashes, so each way to part it has to be harmless
        parts = rest.split(b"/")[:_PARTS_OF_A_NAME]
        ways = (rest.split(b"/", count)[-1] for count in range(1, len(parts)))
        return _SET_UP.search(rest.lower()) is None and any(is_record(way) for way in ways)
    set_up = _SET_UP.search(inside.lower())  # `CONFIG` is the configuration where letters count as the same
    if place == b"objects" and set_up:
        return False  # a folder may be renamed with what is in it
    return (_FILES.fullmatch(inside) is not None and not set_up) or _BELOW.fullmatch(inside) is not None


def leads_to_records(inside: bytes) -> bool:
    """Tell whether a folder, where none is, may be made for records."""
    named = inside in _FOLDERS or inside == b"objects/info"
    return named or re.fullmatch(rb"worktrees/[^/]+|lfs/[a-z]+", inside) is not None


_BEGINNING = re.compile(rb"config(\.lock)?|description|hooks/[\w-]+\.sample|info/exclude|t[A-Za-z0-9]{6}")
"""Further paths of a new repository: examples of hooks, which git does not run; the last is a file by which it tries what can be here."""


def _begins(inside: bytes) -> bool:
    return is_record(inside) or _BEGINNING.fullmatch(inside) is not None


_DATA = {
    # gpg lists no keys where it cannot make an empty key ring; its locks are links to a file of their own.
    b".gnupg": re.compile(rb"\.#lk[^/]+|((pubring\.(kbx|gpg)|trustdb\.gpg|tofu\.db)(\.lock)?)")
}


def is_data(folder: bytes, inside: bytes) -> bool:
    """Tell whether a path below a program's folder is data that it begins with, empty: nothing by which it is set up, nothing that runs."""
    data = _DATA.get(folder.rpartition(b"/")[2])
    return data is not None and data.fullmatch(inside) is not None


_TEMPORARY = (b"/tmp", b"/var/tmp", b"/dev/shm")
# What programs keep for themselves by the way: without it they do the same, only slower.
_BY_THE_WAY = re.compile(
    rb"/\.(cache|npm|docker|kube|aws|azure|gem|cargo|rustup|gradle|m2|local/(state|share)|config/[^/]+|gnupg|mozilla|java|android|terraform\.d)(/|$)"
    rb"|/\.ssh/known_hosts[^/]*$|/\.(viminf[a-z]|lesshs[tQ]|wget-hsts|[\w-]*history)[^/]*$"
    rb"|/(__pycache__|\.mypy_cache|\.ruff_cache|\.pytest_cache)(/|$)|/\.git/(.*/)?[^/]+\.lock$|^/var/(cache|lib|log|run)/|^/run/|^/proc/\d+/(task/\d+/)?comm$|\.swp?[xp]?$"
)
_NOT_BY_THE_WAY = re.compile(
    rb"/\.config/(autostart|systemd|environment\.d|fish|git|agent-shell)(/|$)|^/var/(lib|run)/docker|^/var/lib/systemd/linger"
)


_PATHS = ("write", "repositories", "founded", "temporary", "private", "protected", "looked_for")
_FLAGS = ("network", "interfaces", "services")


class LockPlan(NamedTuple):
    """Paths are absolute and real, as bytes. `write`: with all below; `repositories`: the insides of version control, but no hooks and no
    configuration; `founded`: where such an inside may be made, if none is there, as git makes it;
    `files`: (device, inode) of single files; `temporary`: where new files may be made; `private`: folders of programs, in
    which they may make what they begin with. `looked_for`: names, in small letters, that programs obey in the folders above theirs.
    """

    write: tuple[bytes, ...] = ()
    repositories: tuple[bytes, ...] = ()
    founded: tuple[bytes, ...] = ()
    files: tuple[tuple[int, int], ...] = ()
    temporary: tuple[bytes, ...] = _TEMPORARY
    private: tuple[bytes, ...] = ()
    protected: tuple[bytes, ...] = ()
    looked_for: tuple[bytes, ...] = ()
    network: bool = False
    interfaces: bool = False
    services: bool = False

    def encoded(self) -> dict[str, Any]:
        """As the `sandbox` key of a launch request; bytes travel as latin-1."""
        named = {name: [path.decode("latin-1") for path in getattr(self, name)] for name in _PATHS}
        flags = {name: getattr(self, name) for name in _FLAGS}
        return {"kind": "lock", **named, **flags, "files": [list(pair) for pair in self.files]}

    def writes(self, path: bytes, own: OwnPlaces) -> bool:
        """Tell whether what is at the real `path`, or will be, may be changed."""
        if any(is_within(path, folder) for folder in self.protected):
            return False
        for inside in self.founded:
            if is_within(path, inside):
                return inside in own.made and _begins(path[len(inside) + 1 :])
        for inside in self.repositories:
            if is_within(path, inside):
                worktrees = (folder for folder in own.made if folder.startswith(inside + b"/worktrees/"))
                return is_record(path[len(inside) + 1 :], new=any(is_within(path, folder) for folder in worktrees))
        return path in own or (not _runs_later(path) and any(is_within(path, folder) for folder in self.write))

    def makes(self, path: bytes) -> bool:
        """Tell whether something new may be made at `path`, where nothing is: a temporary file, or what a program begins with."""
        if any(is_within(path, folder) for folder in self.protected) or _runs_later(path):
            return False
        folder, name = os.path.split(path)
        if folder in self.temporary:  # its own folders below may hold them: nobody else works there
            return name.lower() not in self.looked_for
        return folder in self.private and is_data(folder, name)

    def founds(self, folder: bytes) -> bool:
        """Tell whether the folder is a repository that may be made."""
        return folder in self.founded

    def leads(self, path: bytes) -> bool:
        """Tell whether `path` is a folder on the way to something that may be written."""
        if any(is_within(target, path) for target in (*self.write, *self.private, *self.founded)):
            return True
        if any(path in (inside + b"/hooks", inside + b"/branches") for inside in self.founded):
            return True
        insides = (*self.repositories, *self.founded)
        return any(path.startswith(inside + b"/") and leads_to_records(path[len(inside) + 1 :]) for inside in insides)

    def holds(self, folder: bytes) -> bool:
        """Tell whether something that may not be written would be moved or replaced with a whole folder."""
        kept = (*self.repositories, *self.founded, *self.protected)
        return any(is_within(path, folder) for path in kept) or os.path.lexists(folder + b"/.git")


def decoded(spec: dict[str, Any]) -> LockPlan:
    """The plan of a launch request. Raises KeyError or ValueError for one that is not whole: then nothing may run."""
    named = {name: tuple(path.encode("latin-1") for path in spec[name]) for name in _PATHS}
    flags = {name: bool(spec[name]) for name in _FLAGS}
    files = tuple((int(device), int(inode)) for device, inode in spec["files"])
    return LockPlan(**named, **flags, files=files)  # type: ignore[arg-type]


def is_by_the_way(path: bytes) -> bool:
    """Tell whether a program that may not write there is expected to go on: its caches, its history, a lock it can do without."""
    return _BY_THE_WAY.search(path) is not None and _NOT_BY_THE_WAY.search(path) is None


_SETTINGS = re.compile(rb"/(\.git|git~\d)[. ]*(/|$)|/\.agent-shell", re.I)
"""By whatever name: where letters count as the same `.GIT` is it as well, and on disks of Windows `GIT~1`."""


def _runs_later(path: bytes) -> bool:
    """Tell whether it lies where git or agent-shell find what they run, or are set up by."""
    return _SETTINGS.search(path) is not None


def temporary(env_folder: str | None) -> tuple[bytes, ...]:
    """The folders for temporary files, by real paths. The session's first TMPDIR counts where it lies in one of them and is ours."""
    folders = tuple(dict.fromkeys(os.path.realpath(path) for path in _TEMPORARY if os.path.isdir(path)))
    named = os.path.realpath(os.fsencode(env_folder)) if env_folder and os.path.isabs(env_folder) else b""
    if named and any(is_within(named, folder) for folder in folders) and os.path.isdir(named):
        return folders if os.stat(named).st_uid != os.geteuid() else tuple(dict.fromkeys((*folders, named)))
    return folders
