"""Proxies, certificates and the waits between tries."""

from __future__ import annotations

import socket
import ssl
import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.protocol.errors import ConfigError, ProviderError
from agent.providers.client import wait_before_retry
from agent.providers.openai_chat import OpenAIChat
from agent.providers.settings import Endpoint, HttpSettings, checked
from tests.support.each import each
from tests.support.fake_llm_server import FakeLLMServer
from tests.support.needs import needs
from tests.support.provider_harness import QUICK, run, text_of


def client(url: str, settings: HttpSettings = QUICK) -> OpenAIChat:
    return OpenAIChat(checked(Endpoint(name="p", base_url=url), settings), settings)


@pytest.fixture(autouse=True)
def no_outside_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.delenv("SSL_CERT_DIR", raising=False)


def test_a_given_proxy_is_used() -> None:
    with FakeLLMServer() as proxy:
        settings = replace(QUICK, proxy=f"http://127.0.0.1:{proxy.port}")
        assert text_of(run(client("http://model.internal/v1", settings))) == "ok"
        assert proxy.requests[0].path == "http://model.internal/v1/chat/completions"


def test_the_environments_proxy_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeLLMServer() as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{proxy.port}")
        assert text_of(run(client("http://model.internal/v1"))) == "ok"
        assert len(proxy.requests) == 1


@pytest.mark.parametrize("given", ["", "http://127.0.0.1:9"])
def test_this_machine_is_never_reached_through_a_proxy(monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    with FakeLLMServer() as server:
        assert text_of(run(client(server.base_url, replace(QUICK, proxy=given)))) == "ok"


def test_no_proxy_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeLLMServer() as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{proxy.port}")
        with socket.socket() as held:  # bound, not listening; an address that is this machine, but not by name
            held.bind(("127.0.0.1", 0))
            with pytest.raises(ProviderError, match="cannot connect"):
                run(client(f"http://0.0.0.0:{held.getsockname()[1]}/v1", replace(QUICK, proxy="none", max_retries=0)))
        assert proxy.requests == []


@pytest.mark.parametrize("proxy", ["ftp://user:hunter2@h", "http://h:hunter2"])
def test_unusable_proxies_are_not_quoted(proxy: str) -> None:
    with pytest.raises(ConfigError, match="proxy") as caught:
        run(client("http://model.internal/v1", replace(QUICK, proxy=proxy)))
    assert "hunter2" not in caught.value.message


def test_a_ca_file_that_is_none(tmp_path: Path) -> None:
    bad = tmp_path / "ca.pem"
    bad.write_text("nothing")
    for path in (bad, tmp_path / "missing.pem"):
        with pytest.raises(ConfigError, match=path.name):
            run(client("https://model.internal/v1", replace(QUICK, ca_file=str(path))))


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    needs("openssl")
    folder = tmp_path_factory.mktemp("ca")
    make = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-days",
        "2",
    ]
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"]
    files = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")]
    subprocess.run([*make, *names, *files], check=True, capture_output=True)
    return folder


def test_certificates_are_checked_and_a_ca_file_is_trusted(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate / "cert.pem", certificate / "key.pem")
    with FakeLLMServer(tls=context) as server:
        with pytest.raises(ProviderError, match="is not trusted") as caught:
            run(client(server.base_url))
        assert not caught.value.is_retryable
        assert "CA file" in caught.value.hint
        assert server.requests == []
        assert text_of(run(client(server.base_url, replace(QUICK, ca_file=str(certificate / "cert.pem"))))) == "ok"
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate / "cert.pem"))
        assert text_of(run(client(server.base_url))) == "ok"


def caused(error: ProviderError, cause: Exception) -> ProviderError:
    error.__cause__ = cause
    return error


@each(
    ("error", "tries", "low", "high"),
    [
        (ProviderError("p", "m", status=500), 0, 0.5, 1.0),
        (ProviderError("p", "m", status=500), 1, 1.0, 2.0),
        (ProviderError("p", "m", transport=True), 1, 1.0, 2.0),
        (ProviderError("p", "m", status=429, retry_after=3.5), 0, 3.5, 3.5),
        (ProviderError("p", "m", status=500), 9, 4.0, 8.0),
    ],
)
def test_waits(error: ProviderError, tries: int, low: float, high: float) -> None:
    settings = HttpSettings(backoff=1.0, max_retries=10, max_retry_wait=8.0)
    for _ in range(50):
        wait = wait_before_retry(error, tries, settings)
        assert wait is not None
        assert low <= wait <= high


@each(
    "error",
    [
        ProviderError("p", "m", status=400),
        ProviderError("p", "m"),
        ProviderError("p", "m", status=429, retry_after=9.0),
        caused(ProviderError("p", "m", transport=True), TimeoutError()),
    ],
)
def test_no_second_try(error: ProviderError) -> None:
    assert wait_before_retry(error, 0, HttpSettings(max_retry_wait=8.0)) is None


def test_tries_are_bounded() -> None:
    assert wait_before_retry(ProviderError("p", "m", status=500), 2, HttpSettings(max_retries=2)) is None
