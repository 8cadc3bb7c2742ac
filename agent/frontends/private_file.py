"""A file only its owner can read, gone afterwards: for editors, pagers and clipboard tools."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def private_file(text: str, name: str) -> Iterator[str]:
    """The path of a 0600 file called `name` with `text` in it, in a 0700 folder of its own."""
    folder = tempfile.mkdtemp(prefix="agent-shell-")
    path = os.path.join(folder, name)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode("utf-8", "surrogateescape" if _escapable(text) else "replace"))
        yield path
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _escapable(text: str) -> bool:
    try:
        text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return True
