"""Reading a small text file that decides something: a regular file, bounded, UTF-8, never waited for."""

from __future__ import annotations

import errno
import os
import stat
from typing import TypeVar, overload

MAX_BYTES = 1 << 20
_Missing = TypeVar("_Missing", str, None)


class Unreadable(Exception):
    """The file cannot be used; the message says which and why."""


@overload
def read_own_text(path: str, *, limit: int = ..., follow: bool = ...) -> str: ...
@overload
def read_own_text(path: str, *, missing: _Missing, limit: int = ..., follow: bool = ...) -> str | _Missing: ...


def read_own_text(path: str, *, missing: str | None = "", limit: int = MAX_BYTES, follow: bool = True) -> str | None:
    """The text of the file at `path`, `missing` where there is none. Raises Unreadable and OSError.

    Without `follow` a symbolic link is refused: in a stranger's folder it could lead to anything that is private.
    """
    try:
        # Without waiting: a named pipe put in the file's place must not hang anybody.
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        descriptor = os.open(path, flags if follow else flags | os.O_NOFOLLOW)
    except (FileNotFoundError, NotADirectoryError):
        return missing
    except OSError as error:
        if error.errno == errno.ELOOP and not follow:
            raise Unreadable(f"{path} is a symbolic link") from None
        raise
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise Unreadable(f"{path} is no regular file")
        data = file.read(limit + 1)
    if len(data) > limit:
        raise Unreadable(f"{path} is larger than {limit >> 10} kB")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise Unreadable(f"{path} is not UTF-8 text") from None
