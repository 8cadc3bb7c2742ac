"""Keep the key that signs heads: made here, kept in a private file or in the keyring of the operating system, used in this process only."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Any, cast

from agent.config.optional_parts import ask_keyring, install_command
from agent.config.paths import make_folder
from agent.protocol.errors import ConfigError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

KEYRING = "keyring"
_ACCOUNT = "sign-key"
_MAX_KEY = 16 * 1024


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
