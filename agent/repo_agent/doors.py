"""Define the doors by which tools change or run anything, each of them a way to the gate."""

from __future__ import annotations

from typing import Protocol

from agent.protocol.actions import FileAction, OpenPullRequest, Performed
from agent.protocol.messages import CommandItem


class Doors(Protocol):
    """All that a tool can change or run, by the gate, for the call that it is run for. Raises RecordingError and Cancelled."""

    async def perform(self, action: FileAction | OpenPullRequest) -> Performed:
        """Change a file, kept for undo, or open a pull request."""

    async def run(self, command: str, *, reason: str = "", grant: str = "") -> CommandItem:
        """Run a command in the repository. `grant` ("push", "pull-request"): it is asked for unless the run was given that."""
