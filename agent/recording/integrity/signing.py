"""Signatures of heads: who holds the public key can tell a log from one that somebody else wrote, wherever it was kept."""

from __future__ import annotations

import os
from base64 import b64decode, b64encode
from collections.abc import Sequence
from typing import TYPE_CHECKING

from agent.recording.chained_lines import Link
from agent.recording.integrity.keys import KEYRING, check_private, private_key, public_key
from agent.recording.integrity.log_proof import Signer
from agent.recording.integrity.signatures import Signature, add_signature, read_signatures
from agent.recording.integrity.verify import Signatures, Signed

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey


def signed_bytes(session_id: str, log: str, link: Link, time: str) -> bytes:
    """What is signed: no field can run into the next one, for none can hold a line end."""
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
