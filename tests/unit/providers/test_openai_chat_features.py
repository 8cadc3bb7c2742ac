"""What is left out of a request after a rejection, and what is remembered of it."""

from __future__ import annotations

from msgspec.structs import replace

from agent.protocol.errors import ProviderError
from agent.providers.openai_chat import CEILING, Features, is_strict, lesser, lowered, within
from tests.support.each import each

FULL = replace(CEILING, limit_field="max_tokens")


@each(
    ("status", "message", "changes"),
    [
        (400, "This response_format type is unavailable now", {"schema": "object"}),
        (400, "Invalid schema for response_format 'reply'", {"schema": "object"}),
        (400, "'response_format' is not supported", {"schema": "none"}),
        (400, "unknown field stream_options", {"stream_options": False}),
        (400, "gemma does not support tools", {"tools": False}),
        (404, "No endpoints found that support tool use", {"tools": False}),
        (400, "Unsupported value: 'temperature' does not support 0", {"temperature": False}),
        (400, "Use 'max_completion_tokens' instead", {"limit_field": "max_completion_tokens"}),
        (400, "bad request", {"schema": "none", "stream_options": False, "extras": False}),
        (422, "", {"schema": "none", "stream_options": False, "extras": False}),
        (400, "maximum context length is 4096 tokens, reduce response_format", None),
        (404, "model not found", None),
        (429, "response_format", None),
        (None, "response_format", None),
    ],
)
def test_lesser(status: int | None, message: str, changes: dict[str, object] | None) -> None:
    result = lesser(FULL, ProviderError("p", message, status=status))
    assert result == (None if changes is None else replace(FULL, **changes))


def test_giving_up_ends() -> None:
    features: Features | None = FULL
    for _ in range(10):
        if features is None:
            break
        features = lesser(
            features, ProviderError("p", "schema tools stream_options temperature max_completion_tokens", status=400)
        )
    assert features is None


def test_only_what_was_given_up_is_remembered() -> None:
    wanted = Features(schema="none", stream_options=True)
    worked = replace(wanted, stream_options=False)
    ceiling = lowered(CEILING, wanted, worked)
    assert ceiling == replace(CEILING, stream_options=False)
    assert within(FULL, ceiling) == replace(FULL, stream_options=False)


@each(
    ("schema", "strict"),
    [
        ({"type": "object", "properties": {"a": {}}, "required": ["a"], "additionalProperties": False}, True),
        ({"type": "object", "properties": {"a": {}}, "required": [], "additionalProperties": False}, False),
        ({"type": "object", "properties": {"a": {}}, "required": ["a"]}, False),
        ({"anyOf": [{"type": "object"}]}, False),
        ({"type": "string"}, True),
    ],
)
def test_strictness(schema: dict[str, object], strict: bool) -> None:
    assert is_strict(schema) is strict
