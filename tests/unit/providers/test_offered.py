"""What each kind of server tells of its models, and that nothing of it is believed or printed as it comes."""

from __future__ import annotations

import asyncio
import http.server
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from agent.providers.discover import LocalServer, Offered, offered
from tests.support.each import each


@contextmanager
def serving(pages: dict[str, Any]) -> Iterator[str]:
    class Pages(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            assert "authorization" not in self.headers
            page = pages.get(self.path)
            self.send_response(404 if page is None else 200)
            self.end_headers()
            self.wfile.write(page if isinstance(page, bytes) else json.dumps(page).encode())

        def log_message(self, *_: object) -> None: ...

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


def ask(kind: str, pages: dict[str, Any], *models: str) -> list[Offered]:
    with serving(pages) as url:
        return list(asyncio.run(offered([LocalServer(provider=kind, title=kind, base_url=url, models=models)])))


def test_ollama() -> None:
    tags = {
        "models": [
            {
                "name": "q:1.5b",
                "size": 986_000_000,
                "details": {"parameter_size": "1.5B", "quantization_level": "Q4_K_M"},
            }
        ]
    }
    found = ask("ollama", {"/api/tags": tags, "/api/ps": {"models": [{"name": "q:1.5b"}]}}, "q:1.5b", "other")
    assert (found[0].size, found[0].parameters, found[0].quantisation, found[0].loaded) == (
        986_000_000,
        "1.5B",
        "Q4_K_M",
        True,
    )
    assert (found[1].name, found[1].size, found[1].loaded) == ("other", 0, None)


def test_lm_studio() -> None:
    listed = {"data": [{"id": "q", "state": "not-loaded", "quantization": "Q8_0", "max_context_length": 32768}]}
    (found,) = ask("lmstudio", {"/api/v0/models": listed}, "q")
    assert (found.loaded, found.quantisation, found.context) == (False, "Q8_0", 32768)


@pytest.mark.parametrize(
    ("model", "parameters", "context"),
    [
        ({"id": "q", "meta": {"n_params": 494_000_000, "size": 5, "n_ctx_train": 8192}}, "494M", 8192),
        ({"id": "q", "max_model_len": 4096}, "", 4096),
    ],
)
def test_llama_cpp_and_vllm(model: dict[str, Any], parameters: str, context: int) -> None:
    (found,) = ask("llamacpp", {"/v1/models": {"data": [model]}}, "q")
    assert (found.parameters, found.context, found.loaded) == (parameters, context, True)


@each(
    "page",
    [
        None, b"\xff\xfe", b"[" * 100_000, [], {"models": "x"}, {"models": [1, None]}, {"models": [{"name": 3, "details": []}]},
        {"models": [{"name": "q", "size": -1, "details": {"parameter_size": ["x"], "quantization_level": "a\x1b[2Jb\n" * 99}}]},
        {"models": [{"name": "q", "size": True, "details": {"parameter_size": 7}}]},
        {"models": [{"name": ["q"]}, {"name": {"q": 1}}]},
    ],
)  # fmt: skip
def test_nonsense_is_left_out(page: Any) -> None:
    (found,) = ask("ollama", {"/api/tags": page, "/api/ps": page}, "q")
    assert (found.name, found.size, found.parameters) == ("q", 0, "")
    assert "\x1b" not in found.quantisation and len(found.quantisation) <= 40
