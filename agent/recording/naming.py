"""Name sessions and log files: `<date>-<id>.jsonl`, and `<date>-<id>~2.jsonl` for the next file of the same session."""

from __future__ import annotations

import os
import re

from agent.protocol.errors import InvalidRequest
from agent.text.lazy_pattern import lazily

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # 32 letters, none that look alike
_ID = r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}"


_ID_RE = lazily(_ID)
_NAME = lazily(rf"(\d{{4}}-\d\d-\d\d)-({_ID})(?:~([2-9]|[1-9]\d{{1,5}}))?\.jsonl", re.ASCII)


def new_id(now: str) -> str:
    """A fresh id such as `221403-k3f9mw`: time of day first, so that names sort; then 30 random bits.

    `now` is a clock's ISO time.
    """
    random = int.from_bytes(os.urandom(4))
    letters = "".join(_ALPHABET[(random >> shift) & 31] for shift in range(0, 30, 5))
    return f"{now[11:19].replace(':', '')}-{letters}"


def check_id(session_id: str) -> str:
    """The id itself, if it can stand in a file name. Raises InvalidRequest."""
    if _ID_RE.fullmatch(session_id):
        return session_id
    hint = "use 1 to 64 letters, digits, dots, dashes or underscores; the first one must not be a dot"
    raise InvalidRequest(f"{session_id[:80]!r} cannot be a session id", hint=hint)


def file_name(now: str, session_id: str) -> str:
    """The name of a log that is started at `now`."""
    return f"{now[:10]}-{session_id}.jsonl"


def parse_name(name: str) -> tuple[str, str] | None:
    """Date and id of the name of a session's first file, None for any other name."""
    match = _NAME.fullmatch(name)
    return (match[1], match[2]) if match and match[3] is None else None


def parse_segment(name: str) -> tuple[str, str, int] | None:
    """Date, id and number of the name of any file of a session (the first is 1), None for any other name."""
    match = _NAME.fullmatch(name)
    return (match[1], match[2], int(match[3] or 1)) if match else None


def segment_path(first: str, number: int) -> str:
    """The path of file `number` of the session whose first file is `first`."""
    return first if number == 1 else f"{first.removesuffix('.jsonl')}~{number}.jsonl"


def staged_path(path: str) -> str:
    """Return where the new text of a file is kept until it can take its place."""
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{name}.rewriting")


def segment_paths(first: str) -> tuple[str, ...]:
    """The files of a session, in order, that follow each other without a gap; `first` whether it exists or not."""
    paths = [first]
    while os.path.lexists(following := segment_path(first, len(paths) + 1)):
        paths.append(following)
    return tuple(paths)


def find_log(folder: str, session_id: str) -> str | None:
    """The first file of the newest log of exactly this id in `folder`, None where there is none. Raises OSError."""
    found = [name for name in os.listdir(folder) if (parsed := parse_name(name)) and parsed[1] == session_id]
    return os.path.join(folder, max(found)) if found else None
