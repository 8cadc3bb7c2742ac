"""Keep the key of a session folder's labels: equal secrets get equal labels in all its logs."""

from __future__ import annotations

import os
import stat

from agent.protocol.errors import RecordingError
from agent.recording.disk import PRIVATE_FILE, prepare_folder

NAME = ".redaction-key"
_SIZE = 16


def folder_key(folder: str) -> bytes:
    """The key kept in `folder`, made on first use, the folder too. Where it cannot be kept, a key for this process alone. Never raises."""
    path = os.path.join(folder, NAME)
    try:
        found = _read(path)
        if found is None:
            prepare_folder(folder)  # else the first session of all would have labels of its own
            found = _create(path)
        return found
    except (OSError, ValueError, RecordingError):
        return os.urandom(_SIZE)


def _create(path: str) -> bytes:
    # written beside and linked into place, so that two processes starting together agree on one key
    key = os.urandom(_SIZE)
    draft = f"{path}.{os.getpid()}-{key[:4].hex()}"
    fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, PRIVATE_FILE)
    try:
        os.fchmod(fd, PRIVATE_FILE)
        os.write(fd, key)
        os.link(draft, path)
    except FileExistsError:
        return _read(path) or key
    finally:
        os.close(fd)
        os.unlink(draft)
    return key


def _read(path: str) -> bytes | None:
    """The key, None where there is none. A file that others could have read or written is no key: OSError."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    try:
        info = os.fstat(fd)
        key = os.read(fd, _SIZE + 1)
        if not stat.S_ISREG(info.st_mode) or stat.S_IMODE(info.st_mode) & 0o077 or len(key) != _SIZE:
            raise OSError("not a private key file")
        return key
    finally:
        os.close(fd)
