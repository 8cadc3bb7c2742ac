"""Open HTTP connections, and nobody else does: client set-up, and one POST or GET with its faults mapped."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from agent.protocol.errors import ConfigError, ProviderError
from agent.providers import faults, pacing
from agent.providers.settings import LOCAL_SILENCE, REMOTE_SILENCE, Endpoint, HttpSettings
from agent.version import __version__

if TYPE_CHECKING:
    import ssl

    import httpx

MAX_BODY_BYTES = 16 * 1024 * 1024
_MAX_ERROR_BYTES = 64 * 1024
_DRAINED = 0.05  # seconds in which the rest of a body is there already


class Deadline:
    """A moment on the monotonic clock by which one model call must be over."""

    __slots__ = ("_at", "seconds")

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._at = time.monotonic() + seconds

    @property
    def left(self) -> float:
        return self._at - time.monotonic()


class Response:
    """A response whose head has arrived. `status` is 2xx; the body is read with `chunks` or `read`, once."""

    def __init__(self, raw: httpx.Response, endpoint: Endpoint, deadline: Deadline) -> None:
        self._raw = raw
        self._endpoint = endpoint
        self._deadline = deadline
        self._chunks = raw.aiter_bytes()
        self._paced = False
        self.content_type: str = raw.headers.get("content-type", "").lower()

    def pace(self) -> None:
        """Read by frames from now on: to be called once the first text is out; before, every millisecond counts."""
        if not self._paced:
            self._paced = True
            pacing.set_pace(self._raw, True)

    async def next_chunk(self, silence: float | None = None) -> bytes | None:
        """The next bytes as they come in, None at the end. `silence` shortens the wait: None at its end too."""
        wait = self._deadline.left if silence is None else min(silence, self._deadline.left)
        try:
            async with asyncio.timeout(wait):
                return await anext(self._chunks, None)
        except TimeoutError as error:
            if silence is not None:
                return None
            raise _too_slow(self._endpoint, self._deadline.seconds) from error
        except Exception as error:
            raise _fault(self._endpoint, error) from error

    async def read(self, limit: int = MAX_BODY_BYTES, *, cut: bool = False) -> bytes:
        """The whole body; beyond `limit` bytes a ProviderError, or only the beginning with `cut`."""
        parts: list[bytes] = []
        size = 0
        while chunk := await self.next_chunk():
            parts.append(chunk)
            size += len(chunk)
            if size > limit:
                if cut:
                    break
                raise faults.malformed(self._endpoint, f"answered with more than {limit:,} bytes")
        return b"".join(parts)[:limit]

    async def drain(self) -> None:
        """Read what is left, if it is there already, so that the connection can be used again. Never fails."""
        pacing.set_pace(self._raw, False)
        try:
            while await self.next_chunk(_DRAINED):
                pass
        except ProviderError:
            pass  # the reply is complete; the connection is simply not kept


class HttpClient:
    """Connections to one endpoint, opened on first use and bound to the event loop that uses them."""

    def __init__(self, endpoint: Endpoint, settings: HttpSettings, *, headers: dict[str, str] | None = None) -> None:
        """`headers` go with every request beside the endpoint's own; the wire formats put their credentials there."""
        self.endpoint = endpoint
        self.settings = settings
        self._headers = {**endpoint.headers, **(headers or {})}
        self._client: httpx.AsyncClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @asynccontextmanager
    async def request(
        self, method: str, path: str, body: bytes | None, deadline: Deadline, *, model: str = ""
    ) -> AsyncIterator[Response]:
        """Send, and yield the response while its connection is open. Raises ProviderError for every fault and error status.

        Leaving the block, by an exception or a cancel too, closes the connection at once unless the body was read to its end.
        """
        client = self._client_of_loop()
        endpoint = self.endpoint
        headers = {**self._headers, "content-type": "application/json"} if body is not None else self._headers
        request = client.build_request(method, endpoint.base_url + path, content=body, headers=headers)
        try:
            async with asyncio.timeout(deadline.left):
                raw = await client.send(request, stream=True)
        except TimeoutError as error:
            raise _too_slow(endpoint, deadline.seconds) from error
        except Exception as error:
            raise _fault(endpoint, error) from error
        try:
            _refuse_packed_twice(endpoint, raw.headers.get("content-encoding", ""))
            response = Response(raw, endpoint, deadline)
            if not 200 <= raw.status_code < 300:
                body_bytes = await _error_body(response)
                raise faults.error_of_body(endpoint, raw.status_code, body_bytes, raw.headers, model=model)
            yield response
        finally:
            pacing.set_pace(raw, False)  # the connection may serve the next call
            await raw.aclose()

    def _client_of_loop(self) -> httpx.AsyncClient:
        """A client's connections die with their event loop, so another loop gets another client."""
        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            self._client = _build(self.endpoint, self.settings)
            self._loop = loop
        return self._client

    async def aclose(self) -> None:
        client, self._client = self._client, None
        if client is not None and self._loop is asyncio.get_running_loop():
            await client.aclose()


def _refuse_packed_twice(endpoint: Endpoint, encodings: str) -> None:
    """A body in one compression is unpacked piece by piece and so stays small; each further one multiplies by a thousand."""
    if sum(name.strip().lower() not in ("", "identity") for name in encodings.split(",")) > 1:
        raise faults.malformed(endpoint, "answered with a body that is compressed more than once")


async def _error_body(response: Response) -> bytes:
    try:
        return await response.read(_MAX_ERROR_BYTES, cut=True)
    except ProviderError:
        return b""  # the status already says what matters


def preload() -> None:
    """Import the HTTP library and what its first request loads, for a thread that has nothing better to do while the person types."""
    import anyio._backends._asyncio  # noqa: F401
    import httpcore  # noqa: F401
    import httpx  # noqa: F401


def _build(endpoint: Endpoint, settings: HttpSettings) -> httpx.AsyncClient:
    import httpx

    silence = settings.read_timeout
    if silence is None:
        silence = LOCAL_SILENCE if endpoint.is_loopback else REMOTE_SILENCE
    timeout = httpx.Timeout(silence, connect=settings.connect_timeout)
    proxy, from_environment = _proxy(endpoint, settings)
    try:
        client = httpx.AsyncClient(
            timeout=timeout,
            verify=_tls(endpoint, settings, proxy),
            proxy=proxy,
            trust_env=from_environment,
            follow_redirects=False,  # a redirect could carry the key elsewhere
            headers={
                "user-agent": f"agent-shell/{__version__}",
                "accept": "text/event-stream, application/json",
                "accept-encoding": "identity",  # compression holds back the tokens of a stream
            },
        )
    except (ValueError, ImportError, httpx.InvalidURL) as error:
        # not quoted: a proxy URL may carry a password
        hint = "give an http:// or https:// address, or `none` for no proxy"
        raise ConfigError("the proxy setting cannot be used", hint=hint) from error
    pacing.install(client)
    return client


def _proxy(endpoint: Endpoint, settings: HttpSettings) -> tuple[str | None, bool]:
    """The proxy to use, and whether the environment decides. A server on this machine is never reached through a proxy."""
    if endpoint.is_loopback or settings.proxy.lower() in ("none", "off"):
        return None, False
    return (settings.proxy, False) if settings.proxy else (None, True)


def _tls(endpoint: Endpoint, settings: HttpSettings, proxy: str | None) -> ssl.SSLContext:
    """Certificates to trust: the usual ones (or SSL_CERT_FILE's / SSL_CERT_DIR's), and those of `ca_file` beside them."""
    import ssl

    if endpoint.base_url.startswith("http:") and not proxy and endpoint.is_loopback:
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # trusts nobody, and saves loading 140 certificates
    env_file, env_dir = os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")
    try:
        if env_file or env_dir:
            context = ssl.create_default_context(cafile=env_file or None, capath=env_dir or None)
        else:
            import certifi

            context = ssl.create_default_context(cafile=certifi.where())
        if settings.ca_file:
            context.load_verify_locations(cafile=os.path.expanduser(settings.ca_file))
    except OSError as error:  # ssl.SSLError is one
        name = settings.ca_file or env_file or env_dir
        words = f"cannot use the CA certificates in {name}: {error}"
        raise ConfigError(words, hint="it must be a readable PEM file") from error
    return context


def _too_slow(endpoint: Endpoint, seconds: float) -> ProviderError:
    hint = "a longer --timeout, a smaller model, or another provider may help"
    return ProviderError(endpoint.name, f"no complete reply within {seconds:g} s", transport=True, hint=hint)


def _fault(endpoint: Endpoint, error: Exception) -> ProviderError:
    """The ProviderError for what httpx raised."""
    import httpx

    text = faults.one_line(str(error), limit=160, secret=endpoint.api_key)
    local_hint = endpoint.start_hint if endpoint.is_loopback else ""
    transport, hint = True, "the server or the connection broke; try again"
    if isinstance(error, httpx.TimeoutException):
        words = "cannot connect in time" if isinstance(error, httpx.ConnectTimeout) else "no data came for too long"
        words = f"{words} ({endpoint.host})"
        hint = local_hint or "check the network, or try again with a longer --timeout"
    elif "CERTIFICATE_VERIFY_FAILED" in text:
        words, transport = f"the certificate of {endpoint.host} is not trusted", False
        hint = "behind a proxy that inspects traffic, give its CA file in the settings (or SSL_CERT_FILE)"
    elif isinstance(error, httpx.ProxyError):
        words, hint = f"the proxy failed: {text}", "check the proxy settings"
    elif isinstance(error, httpx.ConnectError):
        words, hint = f"cannot connect to {endpoint.host}: {text}", local_hint or "check the network and the base URL"
    elif isinstance(error, httpx.TransportError) and not isinstance(
        error, (httpx.UnsupportedProtocol, httpx.LocalProtocolError)
    ):
        words = f"the connection to {endpoint.host} broke: {text}"
    else:
        told = text or type(error).__name__
        words, transport, hint = f"the request to {endpoint.name} at {endpoint.host} failed: {told}", False, ""
    return ProviderError(endpoint.name, words, transport=transport, hint=hint)
