"""Define a tool of the repo agent: its name, its arguments as a type, its effect, and how a model's arguments become that type."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from importlib.resources import files
from typing import Any

import msgspec

from agent.protocol.errors import InvalidRequest, IoError
from agent.protocol.messages import ToolSpec
from agent.protocol.ports import ToolResult
from agent.repo_agent.workplace import Doors
from agent.struct_types import built


class Effect(StrEnum):
    """The kind of thing that a tool does. Whatever does not only read or tell goes through the gate."""

    READS = "reads"
    WRITES = "writes"
    RUNS = "runs"
    PUBLISHES = "publishes"
    TELLS = "tells"


class Arguments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The arguments of a tool, a field each; its schema is made from them."""


@dataclass(frozen=True)
class ToolDefinition:
    """A tool. `run(arguments, place, doors)` does it: `place` is the cycle's workplace; what goes wrong is a result with `is_error`."""

    name: str
    arguments: type[Arguments]
    effect: Effect
    run: Callable[[Any, Any, Doors], Awaitable[ToolResult]]

    @cached_property
    def spec(self) -> ToolSpec:
        """The tool as a model sees it; its description is the prompt file of its name."""
        return ToolSpec(name=self.name, description=prompt(self.name), parameters=schema_of(self.arguments))

    def read(self, arguments: dict[str, Any]) -> Arguments:
        """Return the arguments as their type. Raises InvalidRequest, in words that tell a model what to mend."""
        try:
            return msgspec.convert(arguments, built(self.arguments))
        except msgspec.ValidationError as error:
            fields = ", ".join(field.name for field in msgspec.structs.fields(self.arguments)) or "none"
            raise InvalidRequest(f"{self.name}: {error}; its arguments are: {fields}") from None

    async def call(self, arguments: dict[str, Any], place: Any, doors: Doors) -> ToolResult:
        """Run it with a model's arguments; what is wrong with them or with what they name is a result that the model reads."""
        try:
            return await self.run(self.read(arguments), place, doors)
        except (InvalidRequest, IoError) as error:
            return ToolResult(content=error.message, is_error=True)


def prompt(name: str) -> str:
    """Return the text of a prompt file."""
    return files("agent.repo_agent").joinpath("prompts", f"{name}.md").read_text("utf-8").strip()


def schema_of(arguments: type[Arguments]) -> dict[str, Any]:
    """Return the JSON schema of the arguments, of type object and without references."""
    (schema,), parts = msgspec.json.schema_components((arguments,), ref_template="{name}")
    found: dict[str, Any] = _inlined(schema, parts)
    return {key: found[key] for key in ("type", "properties", "required", "additionalProperties") if key in found}


def _inlined(value: Any, parts: dict[str, Any]) -> Any:
    if isinstance(value, list):
        return [_inlined(each, parts) for each in value]
    if not isinstance(value, dict):
        return value
    if "$ref" in value:
        return _inlined(parts[value["$ref"]], parts)
    return {key: _inlined(each, parts) for key, each in value.items() if key != "title" or isinstance(each, dict)}
