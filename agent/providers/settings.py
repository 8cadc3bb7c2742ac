"""HTTP settings: time-outs, retries, proxy and certificates. Plain data; nothing here loads httpx."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit

from msgspec import Struct, structs

from agent.protocol.errors import ConfigError

REMOTE_SILENCE = 120.0  # seconds without a byte before a remote server counts as gone
LOCAL_SILENCE = 600.0  # a model on a slow CPU reads a long prompt for minutes before its first word
TOTAL = 900.0
_PRIVATE_SUFFIXES = (".local", ".lan", ".internal", ".localhost", ".home.arpa")


class HttpSettings(Struct, frozen=True, kw_only=True):
    """All times in seconds. `proxy`: empty for the environment's, "none" for no proxy at all, else a URL.

    `read_timeout` is the longest silence between two bytes (None: 120, or 600 for a server on this machine); `total_timeout`
    bounds one model call with its retries. `max_retries` counts further tries, made only before the first piece of a reply.
    A server that asks for a wait is heeded up to `max_retry_wait`, never beyond `total_timeout`. `ca_file` is trusted in
    addition to the usual authorities. A key goes over plain http to a public host only with `allow_plain_http_key`.
    """

    connect_timeout: float = 10.0
    read_timeout: float | None = None
    total_timeout: float = TOTAL
    max_retries: int = 2
    backoff: float = 0.5
    max_retry_wait: float = 60.0
    proxy: str = ""
    ca_file: str = ""
    allow_plain_http_key: bool = False


class Endpoint(Struct, frozen=True, kw_only=True):
    """One server as the wire clients see it. `checked` gives it `host` and `is_loopback`.

    `headers` are the provider's own, without credentials. The repr is name and host, so that no key is printed by accident.
    """

    name: str
    base_url: str
    host: str = ""
    api_key: str = ""
    key_variable: str = ""
    key_url: str = ""
    key_required: bool = False
    model_hint: str = ""
    start_hint: str = ""
    is_loopback: bool = False
    headers: dict[str, str] = {}

    def __repr__(self) -> str:
        return f"Endpoint({self.name!r}, {self.host!r})"


def is_loopback_host(host: str) -> bool:
    """Tell whether `host` (a name or an address) can only be this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _is_public_host(host: str) -> bool:
    try:
        return ip_address(host).is_global
    except ValueError:
        return "." in host and not host.endswith(_PRIVATE_SUFFIXES)


def clean_key(api_key: str, name: str) -> str:
    """The key without the blanks that copying adds. Raises ConfigError, which never quotes it, for what no header can carry."""
    key = api_key.strip()
    if not all("!" <= char <= "~" for char in key):
        words = f"the API key for {name} contains spaces, line breaks or characters outside ASCII"
        raise ConfigError(words, hint="copy it again, without quotes and without the text around it")
    return key


def checked(given: Endpoint, settings: HttpSettings) -> Endpoint:
    """Check the base URL and the key of an endpoint, and fill in what follows from them.

    Raises ConfigError for a URL that is not plain http(s) with a host, for one that carries a user name, a password, a query or
    a fragment, and for a key that would cross the internet unencrypted.
    """
    url, name = given.base_url.strip().rstrip("/"), given.name
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        parts, host, port = None, "", None
    # the URL itself is not quoted: it may carry a password
    if parts is None or parts.scheme not in ("http", "https") or not host or not url.isprintable() or " " in url:
        hint = "it looks like http://localhost:8080/v1"
        raise ConfigError(f"the base URL for {name} is not an http(s) address", hint=hint)
    if parts.username is not None or parts.query or parts.fragment:
        hint = "leave out user names, passwords, '?' and '#'; give a key in the provider's own variable"
        raise ConfigError(f"the base URL for {name} carries more than an address and a path", hint=hint)
    key = clean_key(given.api_key, name)
    if key and parts.scheme == "http" and _is_public_host(host) and not settings.allow_plain_http_key:
        hint = "use https, or leave the key out for this server"
        raise ConfigError(f"the API key for {name} would go to {host} unencrypted", hint=hint)
    return structs.replace(
        given, base_url=url, host=f"{host}:{port}" if port else host, api_key=key, is_loopback=is_loopback_host(host)
    )
