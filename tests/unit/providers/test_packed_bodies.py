"""Bodies that unpack to more than anybody has memory for."""

from __future__ import annotations

import gzip
import socket
import threading

import pytest

from agent.protocol.errors import ProviderError
from agent.providers.openai_chat import OpenAIChat
from agent.providers.settings import Endpoint, checked
from tests.support.each import each
from tests.support.provider_harness import QUICK, run, text_of

REPLY = b'{"choices":[{"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}]}'


def answer(body: bytes, encoding: str) -> str:
    """What comes of one reply with this body and content-encoding."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(65536)
                head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-encoding: {encoding}\r\n"
                connection.sendall(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)

        threading.Thread(target=serve, daemon=True).start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        settings = QUICK
        return text_of(run(OpenAIChat(checked(Endpoint(name="p", base_url=url), settings), settings)))


@each("encoding", ["gzip, gzip", "gzip,identity,gzip", "br, gzip", "GZIP , deflate"])
def test_compressed_more_than_once_is_refused(encoding: str) -> None:
    with pytest.raises(ProviderError, match="compressed more than once"):
        answer(gzip.compress(gzip.compress(REPLY)), encoding)


@pytest.mark.parametrize("encoding", ["gzip", "gzip, identity"])
def test_compressed_once_is_read(encoding: str) -> None:
    assert answer(gzip.compress(REPLY), encoding) == "ok"


def test_a_bomb_is_given_up_on() -> None:
    with pytest.raises(ProviderError, match="more than"):
        answer(gzip.compress(bytes(64 * 1024 * 1024)), "gzip")
