"""Send framed messages with file descriptors over a stream socket, between executor, supervisor and guardian.

Used by the helper process too, so it imports nothing but the standard library.
"""

from __future__ import annotations

import array
import json
import os
import socket
import struct
from typing import Any

_LENGTH = struct.Struct("!I")
_MAX_MESSAGE = 64 * 1024 * 1024

Message = dict[str, Any]


def send(channel: socket.socket, message: Message, fds: tuple[int, ...] = ()) -> None:
    """Write one message; `fds` travel with its first byte. Raises OSError where the peer is gone.

    Lone surrogates of undecodable bytes survive, because JSON escapes them.
    """
    body = json.dumps(message).encode("ascii")
    frame = _LENGTH.pack(len(body)) + body
    sent = socket.send_fds(channel, [frame], fds) if fds else 0
    channel.sendall(frame[sent:])


def receive(channel: socket.socket, max_fds: int = 0) -> tuple[Message, list[int]] | None:
    """Read one message and the descriptors that came with it (never inherited by children); None at the end."""
    fds: list[int] = []
    head = b""
    while len(head) < _LENGTH.size:
        piece = _read(channel, _LENGTH.size - len(head), max_fds if not head else 0, fds)
        if not piece:
            _close(fds)
            return None
        head += piece
    (length,) = _LENGTH.unpack(head)
    if length > _MAX_MESSAGE:
        _close(fds)
        return None
    body = bytearray()
    while len(body) < length:
        piece = channel.recv(min(1 << 16, length - len(body)))
        if not piece:
            _close(fds)
            return None
        body += piece
    return json.loads(body), fds


def _read(channel: socket.socket, size: int, max_fds: int, fds: list[int]) -> bytes:
    if not max_fds:
        return channel.recv(size)
    room = socket.CMSG_SPACE(max_fds * array.array("i").itemsize)
    data, ancillary, _flags, _address = channel.recvmsg(size, room)
    for level, kind, payload in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            received = array.array("i")
            received.frombytes(payload[: len(payload) - len(payload) % received.itemsize])
            for fd in received:
                os.set_inheritable(fd, False)
                fds.append(fd)
    return data


def _close(fds: list[int]) -> None:
    for fd in fds:
        os.close(fd)
