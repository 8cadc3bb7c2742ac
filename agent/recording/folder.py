"""The folder of the session logs: made private, and kept private where it is ours alone."""

from __future__ import annotations

import os
import stat

from agent.config.private_folder import PRIVATE_FOLDER, make_folder
from agent.protocol.errors import RecordingError
from agent.recording.naming import parse_segment

PRIVATE_FILE = 0o600


def prepare_folder(folder: str) -> str:
    """Make `folder` with mode 0700, parents too, whatever the umask; the absolute path. Raises RecordingError."""
    path = os.path.abspath(folder)
    try:
        make_folder(path)
        _tighten(path)
    except (FileExistsError, NotADirectoryError):
        raise RecordingError(
            f"the session folder {path} cannot be used: there is a file in its place",
            hint="move that file away, or choose another --session-dir",
        ) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise RecordingError(f"the session folder {path} cannot be made: {reason}") from error
    return path


def _tighten(path: str) -> None:
    """Take others' rights from an existing folder, if it is ours and holds logs only: `--session-dir /tmp` must stay /tmp."""
    info = os.stat(path)
    if not stat.S_IMODE(info.st_mode) & 0o077 or info.st_uid != os.geteuid():
        return
    with os.scandir(path) as entries:
        if all(parse_segment(entry.name) or entry.name.startswith((".", "README")) for entry in entries):
            os.chmod(path, stat.S_IMODE(info.st_mode) & PRIVATE_FOLDER)  # one that nobody may write to stays so
