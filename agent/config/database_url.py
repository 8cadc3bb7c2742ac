"""Show the address of a database without what is secret in it, and find that: it must not stand in any message."""

from __future__ import annotations

from urllib.parse import urlsplit


def shown_url(url: str) -> str:
    """The URL without user, password and options; nothing of it where a password may stand in another part."""
    try:
        parts = urlsplit(url)
        if "@" in f"{parts.path}{parts.query}{parts.fragment}":
            return "postgresql://…"
        port = f":{parts.port}" if parts.port else ""
        return f"{parts.scheme.partition('+')[0]}://{parts.hostname or ''}{port}{parts.path}"
    except ValueError:
        return "postgresql://…"


def shown_setting(value: str) -> str:
    """The setting `interview_database` as it may be seen."""
    if value in ("", "none"):
        return value
    return shown_url(value) if "://" in value else "…"


def secrets_of(url: str) -> list[str]:
    """Every part of the URL that may be one, longest first."""
    from urllib.parse import parse_qsl, unquote

    try:
        parts = urlsplit(url)
        password, values = parts.password or "", [value for _, value in parse_qsl(parts.query) if len(value) > 5]
        found = [password, unquote(password), *values, url]
    except ValueError:
        found = [url]
    return sorted({each for each in found if each}, key=len, reverse=True)
