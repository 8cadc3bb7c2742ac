"""Servers on this machine are found, told apart, and never trusted further than their list of models."""

from __future__ import annotations

import asyncio
import socket

import pytest

from agent.providers.discover import LocalServer, discover
from tests.support.each import each
from tests.support.fake_llm_server import Behaviour, FakeLLMServer


def find(**ports: int) -> tuple[LocalServer, ...]:
    return asyncio.run(discover(ports=ports, timeout=60.0))


def test_two_servers_are_found_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    with FakeLLMServer(models=("qwen", "llama"), owner="library") as one, FakeLLMServer(owner="llamacpp") as two:
        assert find(ollama=one.port, llamacpp=two.port) == (
            LocalServer(provider="ollama", title="Ollama", base_url=one.base_url, models=("llama", "qwen")),
            LocalServer(provider="llamacpp", title="llama.cpp", base_url=two.base_url, models=("fake-model",)),
        )
        assert "authorization" not in one.requests[0].headers


def test_another_kind_on_the_usual_port_is_recognised() -> None:
    with FakeLLMServer(owner="vllm") as server:
        assert [found.provider for found in find(llamacpp=server.port)] == ["vllm"]


def test_a_server_without_models() -> None:
    with FakeLLMServer(models=()) as server:
        assert [found.models for found in find(ollama=server.port)] == [()]


def test_nobody_there() -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        assert find(ollama=held.getsockname()[1]) == ()


@each("behaviour", [Behaviour(status=401), Behaviour(status=404), Behaviour(status=500)])
def test_what_refuses_is_left_out(behaviour: Behaviour) -> None:
    with FakeLLMServer(behaviour) as server:
        assert find(llamacpp=server.port) == ()


def test_what_accepts_and_says_nothing_is_left_out() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        assert asyncio.run(discover(ports={"llamacpp": silent.getsockname()[1]}, timeout=0.1)) == ()


def test_a_web_server_is_no_model_server() -> None:
    import http.server
    import threading

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<html>hi</html>")

        def log_message(self, *_: object) -> None: ...

    with http.server.HTTPServer(("127.0.0.1", 0), Page) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            assert find(llamacpp=server.server_port) == ()
        finally:
            server.shutdown()
            thread.join()
