"""Optional parts of a request, and which of them to give up when a server rejects them."""

from __future__ import annotations

import re
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from agent.protocol.errors import ProviderError
from agent.providers.faults import is_too_long


class Features(Struct, frozen=True, kw_only=True):
    """What a request may use. `schema`: a JSON schema, any JSON object, or free text."""

    schema: Literal["schema", "object", "none"] = "none"
    stream_options: bool = False
    tools: bool = False
    temperature: bool = True
    extras: bool = True
    limit_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"


_SCHEMA = re.compile(r"response_?format|json_?schema|json_?object|json mode|structured|grammar|schema", re.I)
_STREAM = re.compile(r"stream_?options|include_?usage", re.I)
_TOOLS = re.compile(r"\btools?\b|tool_?choice|tool use|function.?call", re.I)
_TEMPERATURE = re.compile(r"temperature", re.I)
_TOKEN_LIMIT = re.compile(r"max_completion_tokens", re.I)
_REJECTED = frozenset({400, 404, 415, 422, 500, 501})  # 404: a router without a host for it; 500: older local servers


def lesser(features: Features, error: ProviderError) -> Features | None:
    """The features to try instead, None where `error` is about something else.

    What the server names is given up; a bare 400 or 422 gives up everything but the tools, whose loss changes what a reply means.
    """
    if error.status not in _REJECTED or is_too_long(error.message):
        return None
    words = error.message
    changed = features
    if features.schema != "none" and _SCHEMA.search(words):
        # "object" is worth a try only where the schema itself was the trouble
        changed = replace(
            changed, schema="object" if features.schema == "schema" and "schema" in words.lower() else "none"
        )
    if features.stream_options and _STREAM.search(words):
        changed = replace(changed, stream_options=False)
    if features.tools and _TOOLS.search(words):
        changed = replace(changed, tools=False)
    if features.temperature and _TEMPERATURE.search(words):
        changed = replace(changed, temperature=False)
    if features.limit_field == "max_tokens" and _TOKEN_LIMIT.search(words):
        changed = replace(changed, limit_field="max_completion_tokens")
    if changed is features and error.status in (400, 422):
        changed = replace(features, schema="none", stream_options=False, extras=False)
    return changed if changed != features else None


CEILING = Features(schema="schema", stream_options=True, tools=True)
"""What a server nothing is known of may take."""

_SCHEMA_ORDER = ("none", "object", "schema")


def within(wanted: Features, ceiling: Features) -> Features:
    """What is wanted, less what the ceiling forbids."""
    return Features(
        schema=min(wanted.schema, ceiling.schema, key=_SCHEMA_ORDER.index),
        stream_options=wanted.stream_options and ceiling.stream_options,
        tools=wanted.tools and ceiling.tools,
        temperature=wanted.temperature and ceiling.temperature,
        extras=wanted.extras and ceiling.extras,
        limit_field=ceiling.limit_field if ceiling.limit_field != "max_tokens" else wanted.limit_field,
    )


def lowered(ceiling: Features, wanted: Features, worked: Features) -> Features:
    """The ceiling after a request that worked only once it was reduced from `wanted` to `worked`.

    Only what was given up is lowered: a request without tools says nothing about tools.
    """
    given_up = {
        name: getattr(worked, name)
        for name in Features.__struct_fields__
        if getattr(worked, name) != getattr(wanted, name)
    }
    return replace(ceiling, **given_up)


def is_strict(schema: Any) -> bool:
    """Tell whether every object in `schema` closes its properties and requires them all, as "strict" mode demands."""
    if isinstance(schema, list):
        return all(map(is_strict, schema))
    if not isinstance(schema, dict):
        return True
    if schema.get("type") == "object" or "properties" in schema:
        names = set(schema.get("properties", {}))
        if schema.get("additionalProperties") is not False or set(schema.get("required", ())) != names:
            return False
    return all(map(is_strict, schema.values()))
