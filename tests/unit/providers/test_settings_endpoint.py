"""Addresses and keys are checked before anything is sent, and never quoted."""

from __future__ import annotations

import pytest

from agent.protocol.errors import ConfigError
from agent.providers.settings import Endpoint, HttpSettings, checked, is_loopback_host
from tests.support.each import each

SETTINGS = HttpSettings()


@each(
    ("url", "base_url", "host", "loopback"),
    [
        ("http://localhost:8080/v1/", "http://localhost:8080/v1", "localhost:8080", True),
        (" https://h.example/api/v1 ", "https://h.example/api/v1", "h.example", False),
        ("http://[::1]:9/v1", "http://[::1]:9/v1", "::1:9", True),
        ("http://127.8.8.8", "http://127.8.8.8", "127.8.8.8", True),
        ("http://10.0.0.1/v1", "http://10.0.0.1/v1", "10.0.0.1", False),
    ],
)
def test_addresses(url: str, base_url: str, host: str, loopback: bool) -> None:
    place = checked(Endpoint(name="p", base_url=url), SETTINGS)
    assert (place.base_url, place.host, place.is_loopback) == (base_url, host, loopback)


@each(
    "url",
    [
        "",
        "localhost:8080",
        "ftp://h/v1",
        "file:///etc/passwd",
        "http://",
        "http://h:99999/v1",
        "http://h:x/v1",
        "http://[::1/v1",
        "http://h\n/v1",
        "http://h /v1",
        "http://user:hunter2@h/v1",
        "http://h/v1?key=hunter2",
        "http://h/v1#hunter2",
    ],
)
def test_unusable_addresses(url: str) -> None:
    with pytest.raises(ConfigError) as caught:
        checked(Endpoint(name="p", base_url=url), SETTINGS)
    assert "hunter2" not in caught.value.message + caught.value.hint


@each("key", ["sk-a b", "sk-a\nb", "sk-ä", "sk-\x00"])
def test_unusable_keys_are_not_quoted(key: str) -> None:
    with pytest.raises(ConfigError) as caught:
        checked(Endpoint(name="p", base_url="https://h", api_key=key), SETTINGS)
    assert "sk-" not in caught.value.message


def test_blanks_around_a_key_are_dropped_and_it_is_never_printed() -> None:
    place = checked(Endpoint(name="p", base_url="https://h.example", api_key=" sk-secret\n"), SETTINGS)
    assert place.api_key == "sk-secret"
    assert "sk-secret" not in repr(place)


@each(
    ("url", "fine"),
    [
        ("https://api.example.com/v1", True),
        ("http://api.example.com/v1", False),
        ("http://8.8.8.8/v1", False),
        ("http://127.0.0.1:1/v1", True),
        ("http://192.168.1.4/v1", True),
        ("http://gpubox/v1", True),
        ("http://gpubox.local/v1", True),
    ],
)
def test_no_key_crosses_the_internet_in_the_clear(url: str, fine: bool) -> None:
    if fine:
        checked(Endpoint(name="p", base_url=url, api_key="k"), SETTINGS)
        return
    with pytest.raises(ConfigError, match="unencrypted"):
        checked(Endpoint(name="p", base_url=url, api_key="k"), SETTINGS)
    checked(Endpoint(name="p", base_url=url), SETTINGS)
    checked(Endpoint(name="p", base_url=url, api_key="k"), HttpSettings(allow_plain_http_key=True))


@each(
    ("host", "loopback"),
    [
        ("localhost", True),
        ("a.localhost", True),
        ("127.0.0.1", True),
        ("::1", True),
        ("localhost.example.com", False),
        ("127.0.0.1.example.com", False),
        ("0x7f.1", False),
        ("", False),
    ],
)
def test_loopback(host: str, loopback: bool) -> None:
    assert is_loopback_host(host) is loopback
