"""Map the failures of a server to errors: from status, headers, body or broken connection to a ProviderError with a next step.

Everything a server says is hostile text: it is made one line, capped, and cleared of control characters and of the key.
"""

from __future__ import annotations

import re
import time
import unicodedata
from collections.abc import Mapping
from typing import Any

import msgspec

from agent.protocol.errors import ProviderError, Unauthorized
from agent.providers.settings import Endpoint

MAX_DETAIL = 300
# "x" or "none" as a key for a local server is no secret, and replacing it would garble every message
_SHORTEST_SECRET = 8
_STATUS_WORDS = {
    400: "the request was rejected",
    401: "the key was not accepted",
    402: "no credit left",
    403: "access denied",
    404: "not found",
    405: "not found",
    408: "the server gave up waiting",
    413: "the request is too large",
    422: "the request was rejected",
    429: "too many requests",
    529: "the server is overloaded",
}
_TOO_LONG = re.compile(r"context.{0,20}(length|window|size)|too many tokens|prompt is too long|maximum context", re.I)


def one_line(text: str, *, limit: int = MAX_DETAIL, secret: str = "") -> str:
    """`text` fit for a message: printable, on one line, at most `limit` characters, `secret` replaced."""
    if len(secret) < _SHORTEST_SECRET:
        secret = ""
    if secret:
        text = text.replace(secret, "[key]")
    head = text[: limit * 8]  # bounds the work
    line = " ".join("".join(" " if unicodedata.category(char)[0] in "CZ" else char for char in head).split())
    if secret:
        line = line.replace(secret, "[key]")  # again: a control character inside may have hidden it
    return line if len(line) <= limit and len(head) == len(text) else line[: limit - 1].rstrip() + "…"


def error_of_status(
    endpoint: Endpoint,
    status: int,
    detail: str = "",
    *,
    model: str = "",
    retry_after: float | None = None,
    page: bool = False,
) -> ProviderError:
    """The error for an HTTP status, or for one that a 200 carried in its body. `page`: the body was a web page."""
    detail = one_line(detail, secret=endpoint.api_key)
    words = _STATUS_WORDS.get(status) or ("the server failed" if status >= 500 else "the request was rejected")
    message = f"{status} {words}: {detail}" if detail else f"{status} {words}"
    hint = _hint(endpoint, status, detail, model, page=page)
    kind = Unauthorized if status in (401, 402, 403) else ProviderError
    return kind(endpoint.name, message, status=status, retry_after=retry_after, hint=hint)


def _hint(endpoint: Endpoint, status: int, detail: str, model: str, *, page: bool) -> str:
    variable = endpoint.key_variable
    if status == 401:
        if not variable:
            return "this server wants a key: name the variable that holds it with --api-key-env"
        return f"check the key in {variable}" + (f" ({endpoint.key_url})" if endpoint.key_url else "")
    if status == 402:
        return f"add credit to the account behind {variable or 'the key'}, or choose another provider with --planner"
    if status == 403:
        refused = "this server refuses the request"
        return f"the key in {variable} may not use this model or service" if variable else refused
    if page or status in (405, 301, 302, 307, 308):
        return "the base URL seems wrong; it usually ends in /v1"
    if status == 404:
        if "model" in detail.lower() or (model and model in detail):
            return _model_hint(endpoint, model)
        return f"check the base URL (it usually ends in /v1) and the model; {_model_hint(endpoint, model)}"
    if status == 413 or _TOO_LONG.search(detail):
        return "the conversation is too long for this model; :new starts afresh"
    if status == 429:
        return "wait a little, or choose another model or provider"
    if status >= 500 or status == 408:
        return "this is usually temporary; try again, or choose another model or provider"
    return ""


def _model_hint(endpoint: Endpoint, model: str) -> str:
    name = one_line(model, limit=80) or "that"
    told = endpoint.model_hint.replace("{model}", name)
    return told or f"the model {name} is perhaps not offered here; choose one with --model"


def is_too_long(message: str) -> bool:
    """Tell whether a server complains that the conversation does not fit the model."""
    return bool(_TOO_LONG.search(message))


def malformed(endpoint: Endpoint, what: str, sample: bytes = b"") -> ProviderError:
    """A server that does not keep to its protocol. `sample` is quoted, cleaned."""
    shown = one_line(sample[:2000].decode("utf-8", "replace"), limit=120, secret=endpoint.api_key)
    hint = "is this the right kind of server for this provider? check --planner and --base-url"
    return ProviderError(endpoint.name, f"{what}: {shown}" if shown else what, hint=hint)


def cut_off(endpoint: Endpoint) -> ProviderError:
    """A reply that stopped before its end, however tidily the connection was closed."""
    hint = "the server or the connection broke; try again"
    return ProviderError(endpoint.name, "the reply was cut off before its end", transport=True, hint=hint)


def web_page(endpoint: Endpoint, status: int, body: bytes) -> ProviderError:
    """HTML where JSON should be: a proxy's page, a login page, or a wrong path."""
    title = re.search(rb"<title[^>]*>(.{0,200}?)</title", body[:20_000], re.I | re.S)
    words = one_line(title[1].decode("utf-8", "replace"), limit=80, secret=endpoint.api_key) if title else ""
    told = f'a web page ("{words}") instead of JSON' if words else "a web page instead of JSON"
    if status == 200:
        hint = _hint(endpoint, 404, "", "", page=True)
        return ProviderError(endpoint.name, f"answered with {told}", hint=hint)
    return error_of_status(endpoint, status, told, page=True)


def looks_like_page(content_type: str, body: bytes) -> bool:
    """Tell whether a body is HTML, by its label or by its first character."""
    return "html" in content_type.lower() or body.lstrip()[:1] == b"<"


def error_of_body(
    endpoint: Endpoint, status: int, body: bytes, headers: Mapping[str, str], *, model: str = ""
) -> ProviderError:
    """The error for a whole response with an error status."""
    if looks_like_page(headers.get("content-type", ""), body):
        return web_page(endpoint, status, body)
    wait = retry_after_seconds(headers)
    try:
        detail = error_detail(msgspec.json.decode(body))[0]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        detail = body[:4000].decode("utf-8", "replace")
    if 300 <= status < 400:
        detail = f"moved to {headers.get('location', 'somewhere else')}"
    return error_of_status(endpoint, status, detail, model=model, retry_after=wait)


def error_detail(value: Any) -> tuple[str, int | None]:
    """Sentence and HTTP-like code from an error body, in the shapes servers use: nested, flat, a string, a list of one."""
    if isinstance(value, list) and value:
        value = value[0]
    if not isinstance(value, dict):
        return (value, None) if isinstance(value, str) else ("", None)
    error = value.get("error", value)
    if not isinstance(error, dict):
        error = {**value, "message": error}
    message = error.get("message") or error.get("detail") or error.get("type") or ""
    if not isinstance(message, str):
        message = msgspec.json.encode(message).decode("utf-8", "replace")
    several = error.get("errors")
    if isinstance(several, list):  # what is wrong with each field
        parts = [each["message"] for each in several if isinstance(each, dict) and isinstance(each.get("message"), str)]
        message = ": ".join(filter(None, (message, "; ".join(parts[:5]))))
    metadata = error.get("metadata")
    if isinstance(metadata, dict) and isinstance(metadata.get("raw"), str):  # a router quoting the server behind it
        message = f"{message}: {metadata['raw']}"
    return message, _code(error)


_KINDS = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "server_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
    "invalid_api_key": 401,
    "insufficient_quota": 402,
    "rate_limit_exceeded": 429,
    "model_not_found": 404,
    "context_length_exceeded": 413,
}


def _code(error: dict[str, Any]) -> int | None:
    for key in ("code", "status", "type"):
        value = error.get(key)
        if isinstance(value, str):
            value = int(value) if re.fullmatch(r"[1-5][0-9]{2}", value) else _KINDS.get(value)
        if isinstance(value, int) and not isinstance(value, bool) and 400 <= value < 600:
            return value
    return None


def error_of_event(endpoint: Endpoint, value: Any, *, model: str = "") -> ProviderError:
    """The error for an error object that came with status 200, whole or inside a stream."""
    detail, code = error_detail(value)
    if code is not None:
        return error_of_status(endpoint, code, detail, model=model)
    words = one_line(detail, secret=endpoint.api_key)
    hint = _model_hint(endpoint, model) if "model" in words.lower() else ""
    return ProviderError(endpoint.name, f"the server reported an error: {words or 'without saying which'}", hint=hint)


def retry_after_seconds(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait from `retry-after-ms` or `retry-after` (seconds or a date); None where absent or nonsense."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        value = headers.get(name, "").strip()
        if not value:
            continue
        if re.fullmatch(r"[0-9]{1,12}(\.[0-9]{1,9})?", value):
            return float(value) / unit
        from email.utils import parsedate_to_datetime

        try:
            return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
        except (ValueError, TypeError, OverflowError):
            continue
    return None


def require_key(endpoint: Endpoint) -> None:
    """Raise Unauthorized before anything is sent where the provider needs a key and there is none."""
    if endpoint.key_required and not endpoint.api_key:
        where = f" (get one at {endpoint.key_url})" if endpoint.key_url else ""
        hint = f"set {endpoint.key_variable}{where}, or choose another --planner"
        raise Unauthorized(endpoint.name, "no API key", hint=hint)
