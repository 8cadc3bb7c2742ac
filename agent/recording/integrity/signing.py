"""Sign heads and keep key and signatures: who holds the public key can tell a log from one that somebody else wrote.

The key is made here, kept in a private file or in the keyring of the operating system, and used in this process only.
"""

from __future__ import annotations

import os
import stat
from base64 import b64decode, b64encode
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import msgspec
from msgspec import Struct

from agent.config.optional_parts import ask_keyring, install_command
from agent.config.paths import make_folder
from agent.config.private_file import closing, replace_file
from agent.protocol.errors import ConfigError
from agent.recording.chained_lines import Link
from agent.recording.disk import PRIVATE_FILE
from agent.recording.integrity.log_proof import Signer
from agent.recording.integrity.verify import Signatures, Signed
from agent.struct_types import built

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey


KEYRING = "keyring"
_ACCOUNT = "sign-key"
_MAX_KEY = 16 * 1024
_MAX_FILE = 256 * 1024 * 1024


def make_key(place: str) -> bytes:
    """Make a key at the path `place`, with its public half beside it (.pub), or in the keyring; the public half as PEM.

    Nothing that exists is written over. Raises ConfigError.
    """
    serialization, ed25519 = _cryptography()
    key = ed25519.Ed25519PrivateKey.generate()
    pem, pkcs8 = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    private: bytes = key.private_bytes(pem, pkcs8, serialization.NoEncryption())
    public: bytes = key.public_key().public_bytes(pem, serialization.PublicFormat.SubjectPublicKeyInfo)
    if place == KEYRING:
        if isinstance(_ask_keyring("get_password"), str):
            raise ConfigError("the keyring holds a signing key already", hint="remove it there first, if you mean to")
        _ask_keyring("set_password", private.decode())
        return public
    _write_new(place, private)
    _write_new(f"{place}.pub", public, mode=0o644)
    return public


def private_key(place: str) -> Ed25519PrivateKey:
    """The key at the path `place`, or in the keyring. Raises ConfigError; its text never holds any of the key."""
    serialization, ed25519 = _cryptography()
    if place == KEYRING:
        found = _ask_keyring("get_password")
        if not isinstance(found, str):
            raise ConfigError("the keyring holds no signing key", hint="agent-shell sessions verify --make-key keyring")
        data = found.encode()
    else:
        check_private(place)
        data = _read(place)
    try:
        key = serialization.load_pem_private_key(data, password=None)
    except Exception:
        words = f"the signing key {place} cannot be used: it is not an Ed25519 key in PEM without a password"
        raise ConfigError(words) from None
    if not isinstance(key, ed25519.Ed25519PrivateKey):
        raise ConfigError(f"the signing key {place} cannot be used: it is of another kind than Ed25519")
    return cast("Ed25519PrivateKey", key)


def public_key(path: str) -> Ed25519PublicKey:
    """The public half in a PEM file. Raises ConfigError."""
    serialization, ed25519 = _cryptography()
    try:
        key = serialization.load_pem_public_key(_read(path))
    except ConfigError:
        raise
    except Exception:
        raise ConfigError(f"{path} is not a public key in PEM", hint="it is the file that ends in .pub") from None
    if not isinstance(key, ed25519.Ed25519PublicKey):
        raise ConfigError(f"{path} is not an Ed25519 key")
    return cast("Ed25519PublicKey", key)


def check_private(place: str) -> None:
    """Refuse a key file that others can read. Raises ConfigError."""
    try:
        info = os.stat(place)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        hint = f"agent-shell sessions verify --make-key {place}"
        raise ConfigError(f"the signing key {place} cannot be read: {reason}", hint=hint) from None
    if not stat.S_ISREG(info.st_mode):
        raise ConfigError(f"the signing key {place} is not a regular file")
    if info.st_mode & 0o077:
        raise ConfigError(f"the signing key {place} can be read by others", hint=f"chmod 600 {place}")


def _cryptography() -> tuple[Any, Any]:
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise ConfigError("signing needs the package cryptography", hint=install_command("sign")) from None
    return serialization, ed25519


def _ask_keyring(what: str, *value: str) -> Any:
    return ask_keyring(what, _ACCOUNT, *value, hint="sign_key can name a file")


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(_MAX_KEY)
    except (OSError, ValueError) as error:
        raise ConfigError(f"the key {path} cannot be read: {getattr(error, 'strerror', None) or error}") from None


def _write_new(path: str, data: bytes, mode: int = 0o600) -> None:
    try:
        make_folder(os.path.dirname(os.path.abspath(path)))
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
        with open(fd, "wb") as file:
            os.fchmod(fd, mode)
            file.write(data)
            os.fsync(fd)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigError(f"the key {path} cannot be written: {reason}", hint="choose another path") from None


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
    replace_file(signed_path(heads, session_id), b"".join(msgspec.json.encode(each) + b"\n" for each in kept))


def _signature(line: bytes) -> Signature | None:
    try:
        return msgspec.json.decode(line, type=built(Signature))
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None  # torn by a crash: a later one vouches for more


def _append(path: str, line: bytes) -> None:
    make_folder(os.path.dirname(path))
    with closing(
        os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, PRIVATE_FILE)
    ) as fd:
        size = os.fstat(fd).st_size
        if size and os.pread(fd, 1, size - 1) != b"\n":
            line = b"\n" + line  # a crash tore the last one
        if os.write(fd, line) != len(line):
            raise OSError("short write")
        os.fsync(fd)


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
