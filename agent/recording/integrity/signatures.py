"""The signatures of heads as they are kept: beside the heads, in `<session id>~signed.jsonl`, one line each. They hold no secret."""

from __future__ import annotations

import os
from contextlib import suppress

import msgspec
from msgspec import Struct

from agent.config.private_folder import make_folder
from agent.recording.folder import PRIVATE_FILE

_MAX_FILE = 256 * 1024 * 1024


class Signature(Struct, frozen=True):
    """One line: what was signed, and the signature in base64."""

    session: str
    log: str
    seq: int
    hash: str
    time: str
    signature: str = ""


def signed_path(heads: str, session_id: str) -> str:
    """Where the signatures of that id are kept."""
    return os.path.join(heads, f"{session_id}~signed.jsonl")


def read_signatures(heads: str, session_id: str) -> list[Signature]:
    """All that are kept for that id. Raises OSError."""
    try:
        with open(signed_path(heads, session_id), "rb") as file:
            lines = file.read(_MAX_FILE).splitlines()
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [each for each in map(_signature, lines) if each is not None]


def add_signature(heads: str, signature: Signature) -> None:
    """Keep one more. Raises OSError."""
    _append(signed_path(heads, signature.session), msgspec.json.encode(signature) + b"\n")


def drop_signatures(heads: str, session_id: str, log: str) -> None:
    """Forget those of a log that was replaced. Raises OSError."""
    found = read_signatures(heads, session_id)
    kept = [each for each in found if each.log != log]
    if len(kept) == len(found):
        return
    path = signed_path(heads, session_id)
    draft = f"{path}.{os.getpid()}"
    with suppress(FileNotFoundError):
        os.unlink(draft)  # what a process of that number left when it was killed
    _append(draft, b"".join(msgspec.json.encode(each) + b"\n" for each in kept))
    os.replace(draft, path)


def _signature(line: bytes) -> Signature | None:
    try:
        return msgspec.json.decode(line, type=Signature)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None  # torn by a crash: a later one vouches for more


def _append(path: str, line: bytes) -> None:
    make_folder(os.path.dirname(path))
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, PRIVATE_FILE)
    try:
        size = os.fstat(fd).st_size
        if size and os.pread(fd, 1, size - 1) != b"\n":
            line = b"\n" + line  # a crash tore the last one
        if os.write(fd, line) != len(line):
            raise OSError("short write")
        os.fsync(fd)
    finally:
        os.close(fd)
