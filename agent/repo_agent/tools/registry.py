"""Name all tools of the repo agent."""

from __future__ import annotations

from agent.repo_agent.tools import review
from agent.repo_agent.tools.commands import COMMANDS
from agent.repo_agent.tools.definition import ToolDefinition
from agent.repo_agent.tools.files import FILES
from agent.repo_agent.tools.listing import LISTING
from agent.repo_agent.tools.patch import PATCHING
from agent.repo_agent.tools.rename import RENAMING
from agent.repo_agent.tools.signals import SESSION_COMPLETE, SIGNALS
from agent.repo_agent.tools.testing import TESTING

_ALL = (*LISTING, *FILES, *PATCHING, *RENAMING, *TESTING, *COMMANDS, *review.TOOLS, *SIGNALS)
TOOLS: dict[str, ToolDefinition] = {tool.name: tool for tool in _ALL}
"""The tools that a model is offered, by name."""

_UNOFFERED = {"file_write": TOOLS["write_file"], SESSION_COMPLETE.name: SESSION_COMPLETE}
"""Tools by names that models know from elsewhere."""


def tool_named(name: str) -> ToolDefinition | None:
    """Return the tool of that name, also of one that is not offered, None for none."""
    return TOOLS.get(name) or _UNOFFERED.get(name)
