"""Take paths that a model gives to places below one folder, by a way that nobody can bend, and refuse those that lead out of it."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal, Protocol

from agent.protocol.actions import FileAction, Performed
from agent.protocol.errors import InvalidRequest
from agent.protocol.ports import ToolResult

Kind = Literal["missing", "file", "link", "folder", "other"]

_WAY = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_NOFOLLOW | os.O_CLOEXEC
_MOST_LINKS = 40
_LONGEST = 4096


@dataclass(frozen=True)
class Place:
    """A path below a root: absolute, and `relative` to the root; neither has links on the way. `mode`: what stands there, 0 for nothing."""

    path: str
    relative: str
    mode: int = 0
    size: int = 0

    @property
    def kind(self) -> Kind:
        """The kind of what stands there."""
        if not self.mode:
            return "missing"
        for test, kind in _KINDS:
            if test(self.mode):
                return kind
        return "other"

    @property
    def is_plain(self) -> bool:
        """Tell whether a regular file or a link stands there."""
        return self.kind in ("file", "link")


_KINDS: tuple[tuple[Callable[[int], bool], Kind], ...] = (
    (stat.S_ISREG, "file"),
    (stat.S_ISLNK, "link"),
    (stat.S_ISDIR, "folder"),
)


@dataclass
class _Way:
    """A way on which each folder was opened by itself: those that are open, the names that led there, those still to go, in turn."""

    open: list[int]
    todo: list[str]
    names: list[str] = field(default_factory=list)
    links: int = 0
    mode: int = 0
    size: int = 0


class Root:
    """A folder. `protects` says why a relative path is nobody's business, "" where it is not. Raises InvalidRequest for the model to read.

    A link may lead on inside the folder: what it says is gone after name by name, so that one which is swapped meanwhile leads nowhere.
    """

    def __init__(self, path: str, protects: Callable[[str], str] = lambda relative: "") -> None:
        self.path = os.path.realpath(path)
        self._protects = protects

    def place(self, given: object, *, follow: bool = False) -> Place:
        """Find the place that a path names. A link in the last place is followed only with `follow`."""
        with self._reached(given, follow=follow) as way:
            return self._place(way)

    @contextmanager
    def opened(self, given: object) -> Iterator[tuple[int, Place]]:
        """Open the regular file that a path names; the descriptor is closed afterwards."""
        with self._reached(given, follow=True) as way:
            place = self._place(way)
            if place.kind != "file":
                said = "is not there" if place.kind == "missing" else f"is no file ({place.kind})"
                raise InvalidRequest(f"{place.relative or '.'} {said}")
            try:
                fd = os.open(way.names[-1], _FILE, dir_fd=way.open[-1])
            except OSError as error:
                raise InvalidRequest(f"{place.relative}: {error.strerror}") from None
        try:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise InvalidRequest(f"{place.relative} is no file")
            yield fd, place
        finally:
            os.close(fd)

    def _place(self, way: _Way) -> Place:
        relative = "/".join(way.names)
        self._check(relative)
        path = os.path.join(self.path, relative) if relative else self.path
        return Place(path, relative, way.mode, way.size)

    def _check(self, relative: str) -> None:
        why = self._protects(relative)
        if why:
            raise InvalidRequest(f"{relative!r} {why}")

    @contextmanager
    def _reached(self, given: object, *, follow: bool) -> Iterator[_Way]:
        text = _plain(given)
        self._check(text)
        way = _Way([], _names(text))
        try:
            way.open.append(os.open(self.path, _WAY))
            self._go(way, text, follow=follow)
            yield way
        except OSError as error:  # a folder that was swapped for a link is no folder
            raise InvalidRequest(f"{text!r}: {error.strerror or error}") from None
        finally:
            for fd in way.open:
                os.close(fd)

    def _go(self, way: _Way, text: str, *, follow: bool) -> None:
        """Go on as far as there is something, name by name; the names of what is not there follow."""
        info: os.stat_result | None = None
        while way.todo:
            name = way.todo.pop()
            if name == "..":
                if len(way.open) == 1:
                    raise InvalidRequest(f"{text!r} leads out of the base folder")
                os.close(way.open.pop())
                way.names.pop()
                info = None
                continue
            try:
                info = os.stat(name, dir_fd=way.open[-1], follow_symlinks=False)
            except FileNotFoundError:
                rest = [name, *reversed(way.todo)]
                if ".." in rest:
                    raise InvalidRequest(f"{text!r}: there is no folder {name!r}") from None
                way.names += rest
                return
            if stat.S_ISLNK(info.st_mode) and (way.todo or follow):
                self._follow(way, name, text)
                info = None
                continue
            way.names.append(name)
            if not way.todo:
                break
            way.open.append(os.open(name, _WAY, dir_fd=way.open[-1]))
        if info is None:  # the folder itself, or one that `..` led to
            info = os.fstat(way.open[-1])
        way.mode, way.size = info.st_mode, info.st_size

    def _follow(self, way: _Way, name: str, text: str) -> None:
        target = os.readlink(name, dir_fd=way.open[-1])
        way.links += 1
        if os.path.isabs(target):
            begins = self.path.rstrip("/") + "/"
            if not target.startswith(begins):
                raise InvalidRequest(f"{text!r} leads out of the base folder, through the link {name!r}")
            target = target[len(begins) :]
            while len(way.open) > 1:
                os.close(way.open.pop())
            way.names.clear()
        if way.links > _MOST_LINKS:
            raise InvalidRequest(f"{text!r} leads through too many links")
        way.todo += _names(target)


def _plain(given: object) -> str:
    if not isinstance(given, str) or not given.strip():
        raise InvalidRequest("a path must be a string that is not empty")
    if given.startswith("/"):
        raise InvalidRequest(f"{given!r} is not a relative path")
    try:
        fits = len(os.fsencode(given)) < _LONGEST
    except UnicodeEncodeError:
        fits = False
    if not fits or any(ord(char) < 0x20 or ord(char) == 0x7F for char in given):
        raise InvalidRequest(f"{given[:100]!r} is not a relative path: it cannot be the name of a file")
    return given


def _names(path: str) -> list[str]:
    return [name for name in reversed(path.split("/")) if name not in ("", ".")]


class Performing(Protocol):
    """The part of the gate that changes files."""

    async def perform(self, action: FileAction) -> Performed: ...


async def done(action: FileAction, gate: Performing, said: str, *written: str) -> ToolResult:
    """Perform an action through the gate; `said` where it was done, and `written` the files that it left."""
    came = await gate.perform(action)
    if came.outcome != "ran":
        return refused(came.remark or "the person did not agree to it")
    return ToolResult(content=said, files_written=written)


def refused(text: str) -> ToolResult:
    """Return what the model reads where nothing was done."""
    return ToolResult(content=text, is_error=True)
