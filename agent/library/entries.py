"""Keep entries of one kind (roles, macros, agents, RAGs) as files: the person's own folder first, then those that ship."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from agent.config.private_file import replace_file
from agent.protocol.errors import InvalidRequest, InvalidState, IoError, NotFound
from agent.text.shown import shown_line

MAX_BYTES = 256 * 1024
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_SHIPPED = os.path.dirname(__file__)

T = TypeVar("T")


@dataclass(frozen=True)
class Entries(Generic[T]):
    """Entries of one `kind` ("role"), a file `NAME` + `suffix` each, below `folder` of the person's, and below `shipped` in the package.

    `read(name, text, path)` makes the typed value; it raises ConfigError with file and line. Nothing is kept between calls.
    """

    kind: str
    folder: str
    suffix: str
    read: Callable[[str, str, str], T]
    shipped: str = ""

    def names(self) -> tuple[str, ...]:
        """Every name that `load` would find, sorted."""
        return tuple(sorted({name for folder in self._folders() for name in self._names_in(folder)}))

    def own(self) -> tuple[str, ...]:
        """The person's own, sorted."""
        return tuple(sorted(self._names_in(self.folder)))

    def path(self, name: str) -> str:
        """Return where the person's own entry of that name is, or would be. Raises InvalidRequest for a name that is none."""
        if not _NAME.fullmatch(name):
            raise InvalidRequest(
                f"no {self.kind} can be called {shown_line(name, 80)!r}", hint="letters, digits, - and _, at most 64"
            )
        return os.path.join(self.folder, name + self.suffix)

    def text(self, name: str) -> tuple[str, str]:
        """The text of an entry and its path. Raises InvalidRequest, NotFound, IoError."""
        own = self.path(name)
        for folder in self._folders():
            path = os.path.join(folder, name + self.suffix)
            try:
                descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
                with os.fdopen(descriptor, "rb") as file:
                    if not stat.S_ISREG(os.fstat(descriptor).st_mode):  # a named pipe would hold us
                        raise IoError(f"the {self.kind} {path} is not a regular file")
                    data = file.read(MAX_BYTES + 1)
            except FileNotFoundError:
                if not os.path.islink(path):
                    continue
                raise IoError(f"the {self.kind} {path} is a link to a file that is not there") from None
            except OSError as error:
                raise IoError(f"cannot read the {self.kind} {path}: {error.strerror}") from None
            if len(data) > MAX_BYTES:
                raise IoError(f"the {self.kind} {path} is larger than {MAX_BYTES // 1024} KiB")
            return data.decode("utf-8", "replace"), path
        names = self.names()
        there = f"there are: {', '.join(names)}" if names else "there are none yet"
        raise NotFound(self.kind, name, hint=f"{there}; yours would be {own}")

    def load(self, name: str) -> T:
        """Raises InvalidRequest, NotFound, IoError, ConfigError."""
        text, path = self.text(name)
        return self.read(name, text, path)

    def save(self, name: str, text: str) -> str:
        """Write the person's own entry, readable by them alone; its path. What cannot be read back is not written.

        Raises InvalidRequest, ConfigError, IoError.
        """
        path = self.path(name)
        self.read(name, text, path)
        self.make_folder()
        try:
            replace_file(path, (text if text.endswith("\n") else text + "\n").encode())
        except (OSError, UnicodeEncodeError) as error:
            raise IoError(f"cannot write the {self.kind} {path}: {getattr(error, 'strerror', None) or error}") from None
        return path

    def to_edit(self, name: str) -> str:
        """The path of the person's own entry; of one that ships a copy is made first. Raises InvalidRequest, IoError, ConfigError."""
        path = self.path(name)
        if name not in self.own() and name in self.names():
            return self.save(name, self.text(name)[0])
        self.make_folder()
        return path

    def make_folder(self) -> None:
        """Make the person's folder, for them alone. Raises IoError."""
        try:
            os.makedirs(self.folder, mode=0o700, exist_ok=True)
        except OSError as error:
            raise IoError(f"cannot make the folder {self.folder}: {error.strerror}") from None

    def delete(self, name: str) -> str:
        """Remove the person's own entry; its path. Raises InvalidRequest, InvalidState for one that ships, NotFound, IoError."""
        path = self.path(name)
        try:
            os.unlink(path)
        except FileNotFoundError:
            if name in self.names():
                raise InvalidState(
                    expected="one of your own",
                    found="one that ships",
                    message=f"the {self.kind} {name} comes with agent-shell and cannot be deleted",
                ) from None
            raise NotFound(self.kind, name, hint=f"your own: {', '.join(self.own()) or 'none'}") from None
        except OSError as error:
            raise IoError(f"cannot remove {path}: {error.strerror}") from None
        return path

    def _folders(self) -> tuple[str, ...]:
        return (self.folder, os.path.join(_SHIPPED, self.shipped)) if self.shipped else (self.folder,)

    def _names_in(self, folder: str) -> list[str]:
        try:
            files = os.listdir(folder)
        except OSError:
            return []
        stems = (file[: -len(self.suffix)] for file in files if file.endswith(self.suffix))
        return [stem for stem in stems if _NAME.fullmatch(stem)]
