"""Sign heads and keep the signatures: who holds the public key can tell a log from one that somebody else wrote, wherever it was kept."""

from __future__ import annotations

import os
from base64 import b64decode, b64encode
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from agent.config.paths import make_folder
from agent.recording.chained_lines import Link
from agent.recording.disk import PRIVATE_FILE
from agent.recording.integrity.keys import KEYRING, check_private, private_key, public_key
from agent.recording.integrity.log_proof import Signer
from agent.recording.integrity.verify import Signatures, Signed

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey


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
    """Return where the signatures of that id are kept."""
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


def signed_bytes(session_id: str, log: str, link: Link, time: str) -> bytes:
    """Return what is signed: no field can run into the next one, for none can hold a line end."""
    return "\n".join(("agent-shell head v1", session_id, log, str(link.seq), link.hash, time)).encode()


def signer_with(place: str, heads: str) -> Signer:
    """Signs with the key at the path `place` (or in the keyring, for `keyring`). Raises ConfigError where there is no such key.

    The key itself is read when something is signed for the first time.
    """
    if place != KEYRING:
        place = os.path.abspath(os.path.expanduser(place))
        check_private(place)
    held: list[Ed25519PrivateKey] = []

    def sign(session_id: str, log: str, link: Link, time: str) -> None:
        if not held:
            held.append(private_key(place))
        signature = b64encode(held[0].sign(signed_bytes(session_id, log, link, time))).decode()
        add_signature(heads, Signature(session_id, log, link.seq, link.hash, time, signature))

    return sign


def signatures_with(key_path: str, heads: str) -> Signatures:
    """Reads the signatures of a session and checks each with the public key in that file. Raises ConfigError."""
    key = public_key(key_path)

    def read(session_id: str) -> Sequence[Signed]:
        return [
            Signed(each.log, Link(each.seq, each.hash), each.time, each.session == session_id and _fits(key, each))
            for each in read_signatures(heads, session_id)
        ]

    return read


def _fits(key: Ed25519PublicKey, signature: Signature) -> bool:
    from cryptography.exceptions import InvalidSignature

    link = Link(signature.seq, signature.hash)
    try:
        data = signed_bytes(signature.session, signature.log, link, signature.time)
        key.verify(b64decode(signature.signature, validate=True), data)
    except (InvalidSignature, ValueError):
        return False
    return True
