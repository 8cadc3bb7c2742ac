"""Encrypt under a passphrase: scrypt makes the key, AES-256-GCM encrypts and shows every change of what was written.

A header of version, cost, salt and a check of the passphrase stands in front, so that a wrong passphrase is told from damage.
"""

from __future__ import annotations

import os
from hmac import compare_digest
from typing import Any

from agent.config.optional_parts import install_command
from agent.protocol.errors import ConfigError, Damaged, WrongPassphrase

_VERSION = 1
_SALT, _CHECK, _NONCE, _KEY = 16, 16, 12, 32
_HEAD = 2 + _SALT + _CHECK
COST = 16
"""Of one guess, as a power of two: 64 MiB, and about a fifth of a second."""
_COSTS = range(10, 21)


def sealed(data: bytes, passphrase: str, cost: int = COST) -> bytes:
    """Header, nonce, and the data encrypted. Raises ConfigError where `cryptography` is not installed."""
    aes = cipher()
    begin = bytes((_VERSION, cost)) + os.urandom(_SALT)
    key, check = _derived(passphrase, begin)
    head, nonce = begin + check, os.urandom(_NONCE)
    return head + nonce + bytes(aes(key).encrypt(nonce, data, head))


def opened(text: bytes, passphrase: str) -> bytes:
    """The data. Raises WrongPassphrase, Damaged, ConfigError."""
    if len(text) < _HEAD + _NONCE or text[0] != _VERSION or text[1] not in _COSTS:
        raise Damaged("its header is none of this version")
    from cryptography.exceptions import InvalidTag

    aes, head, nonce = cipher(), text[:_HEAD], text[_HEAD : _HEAD + _NONCE]
    key, check = _derived(passphrase, head[:-_CHECK])
    if not compare_digest(check, head[-_CHECK:]):
        raise WrongPassphrase("this is not the passphrase of the vault")
    try:
        return bytes(aes(key).decrypt(nonce, text[_HEAD + _NONCE :], head))
    except (InvalidTag, ValueError):
        raise Damaged("what is encrypted was changed") from None


def _derived(passphrase: str, begin: bytes) -> tuple[bytes, bytes]:
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

    scrypt = Scrypt(salt=begin[2:], length=_KEY + _CHECK, n=2 ** begin[1], r=8, p=1)
    made = scrypt.derive(passphrase.encode("utf-8", "surrogatepass"))
    return made[:_KEY], made[_KEY:]


def cipher() -> Any:
    """The class that encrypts. Raises ConfigError where `cryptography` is not installed."""
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    except ImportError:
        words = "the vault needs the package cryptography, or a keyring that the package keyring can use"
        raise ConfigError(words, hint=install_command("vault")) from None
    return AESGCM
