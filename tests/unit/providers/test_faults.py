"""What a failing server means, and that its words are made harmless."""

from __future__ import annotations

import unicodedata
from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.protocol.errors import Unauthorized
from agent.providers import faults
from agent.providers.settings import Endpoint
from tests.support.each import each

KEY = "sk-secret-123"
PLACE = Endpoint(
    name="ollama", base_url="http://h/v1", host="h", api_key=KEY, key_variable="A_KEY", model_hint="pull {model}"
)


@each(
    ("text", "line"),
    [
        ("plain", "plain"),
        ("two\nlines\r\n\tx", "two lines x"),
        ("\x1b[31mred\x07", "[31mred"),
        ("a\u202eb\u200bc", "a b c"),
        (f"key {KEY}.", "key [key]."),
        ("sk-sec\x00ret-123", "sk-sec ret-123"),
        ("x" * 400, "x" * 299 + "…"),
        ("", ""),
    ],
)
def test_one_line(text: str, line: str) -> None:
    assert faults.one_line(text, secret=KEY) == line


def test_a_placeholder_key_does_not_garble_messages() -> None:
    assert faults.one_line("max_tokens", secret="k") == "max_tokens"


@given(st.text(), st.integers(10, 100))
def test_one_line_is_short_and_printable(text: str, limit: int) -> None:
    line = faults.one_line(text, limit=limit)
    assert len(line) <= limit
    assert all(char == " " or unicodedata.category(char)[0] not in "CZ" for char in line)


@each(
    ("value", "expected"),
    [
        ({"error": {"message": "m", "code": 429}}, ("m", 429)),
        ({"error": {"message": "m", "code": "429"}}, ("m", 429)),
        ({"error": {"message": "m", "code": "invalid_api_key"}}, ("m", 401)),
        ({"error": {"message": "m", "code": None, "type": "server_error"}}, ("m", 500)),
        ({"error": {"message": "m", "code": True}}, ("m", None)),
        ({"error": {"message": "m", "code": 7}}, ("m", None)),
        ({"error": "m"}, ("m", None)),
        ({"error": "m", "code": 503}, ("m", 503)),
        ({"message": "m"}, ("m", None)),
        ({"detail": "Not Found"}, ("Not Found", None)),
        ({"detail": [{"msg": "bad"}]}, ('[{"msg":"bad"}]', None)),
        ([{"error": {"message": "m", "code": 400}}], ("m", 400)),
        ({"type": "error", "error": {"type": "overloaded_error", "message": "m"}}, ("m", 529)),
        ({"error": {"message": "failed", "code": 502, "metadata": {"raw": "upstream"}}}, ("failed: upstream", 502)),
        ("text", ("text", None)),
        (None, ("", None)),
        ([], ("", None)),
        ({}, ("", None)),
    ],
)
def test_error_detail(value: object, expected: tuple[str, int | None]) -> None:
    assert faults.error_detail(value) == expected


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(st.sampled_from(["error", "message", "code", "type", "detail", "metadata", "raw"]), inner)
        ),
    )
)
def test_any_error_body_makes_an_error(value: object) -> None:
    error = faults.error_of_event(PLACE, value, model="m")
    assert error.message.startswith("ollama: ")
    assert "\n" not in error.message


@each(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": formatdate(0, usegmt=True)}, 0.0),
        ({"retry-after": "9" * 40}, None),
    ],
)
def test_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    assert faults.retry_after_seconds(headers) == seconds


def test_hints_say_what_to_do() -> None:
    assert faults.error_of_status(PLACE, 404, "model 'q' not found", model="q").hint == "pull q"
    assert "A_KEY" in faults.error_of_status(PLACE, 401).hint
    assert "/v1" in faults.error_of_status(PLACE, 404, "no route", model="q").hint
    assert ":new" in faults.error_of_status(PLACE, 400, "maximum context length is 8192 tokens").hint


def test_a_missing_key_is_told_before_anything_is_sent() -> None:
    bare = Endpoint(
        name="x", base_url="http://h", host="h", key_variable="X_KEY", key_url="https://x/keys", key_required=True
    )
    with pytest.raises(Unauthorized) as caught:
        faults.require_key(bare)
    assert caught.value.hint == "set X_KEY (get one at https://x/keys), or choose another --planner"
