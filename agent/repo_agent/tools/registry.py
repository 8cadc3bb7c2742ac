"""Name all tools of the repo agent."""

from __future__ import annotations

from agent.repo_agent.tools.definition import ToolDefinition
from agent.repo_agent.tools.files import FILES

TOOLS: dict[str, ToolDefinition] = {tool.name: tool for tool in (*FILES,)}
"""The tools that a model is offered, by name."""

ALIASES = {"file_write": "write_file", "session_complete": "finish"}
"""Names that models know from elsewhere, with the tool that is meant."""


def tool_named(name: str) -> ToolDefinition | None:
    """Return the tool of a name or alias, None for none."""
    return TOOLS.get(ALIASES.get(name, name))
