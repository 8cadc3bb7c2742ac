"""Keep the shell state from command to command: taken over from each that ended, and moved out of a folder that is gone."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import replace

from msgspec.structs import replace as with_fields

from agent.config.paths import follows_folder
from agent.execution.results import CANNOT_RUN, failure
from agent.execution.state import ShellState
from agent.protocol.outcomes import ExecutionResult

_NOT_KEPT = "directory and variables as this command left them could not be read back; the earlier ones stay"
_NO_BASH = "there is no bash here: /bin/sh runs each command, and directory and variables are not kept"


class KeptState:
    """`now`: what the next command begins with; `first`: as the session began."""

    def __init__(self, cwd: str, env: Mapping[str, str]) -> None:
        variables = {_as_utf8(name): _as_utf8(value) for name, value in {**env, "AI_AGENT": "agent-shell"}.items()}
        self.first = self.now = ShellState(cwd=os.path.abspath(cwd), env=variables)

    @property
    def exports(self) -> dict[str, str]:
        """Exported variables that commands of this session set or changed, and a PATH that follows the working folder."""
        env = self.now.env
        changed = {name: value for name, value in env.items() if self.first.env.get(name) != value}
        path = env.get("PATH", "")
        return changed | {"PATH": path} if follows_folder(path) else changed

    def enter(self, folder: str) -> None:
        self.now = replace(self.now, cwd=os.path.abspath(folder))

    def take_over(self, after: ShellState) -> None:
        self.now = after

    def unrunnable(self, command: str, *, leave: bool = True) -> ExecutionResult | None:
        """A result for text that no process can be given, and for a folder that is gone, which is left then.

        Not by a rehearsal: the command that it is of may run next, and was rated for the folder that is gone.
        """
        notes: tuple[str, ...] = ()
        if "\0" in command:
            why = "the command holds a NUL character, which no program can be given"
        elif re.search("[\ud800-\udc7f\udd00-\udfff]", command):
            why = "the command contains a lone surrogate, which is not valid Unicode"
        elif not os.path.isdir(self.now.cwd):
            # Never run it elsewhere instead: it was rated and confirmed for this folder.
            why = f"the folder {self.now.cwd} is gone"
            notes = (self._leave_lost_folder(),) if leave else ()
        else:
            return None
        return failure(CANNOT_RUN, f"agent-shell: {why}; nothing was run", cwd=self.now.cwd, notes=notes)

    def adopt(self, result: ExecutionResult, after: ShellState | None, *, has_state: bool) -> ExecutionResult:
        """Take over what the command left, or say that the old state stays."""
        notes = result.notes
        nothing_ran = bool(result.cwd_after)
        kept = after is not None or nothing_ran
        if after is not None:
            self.now = after
        elif not nothing_ran and not result.job and not result.refused:
            notes += (_NOT_KEPT if has_state else _NO_BASH,)
        if not os.path.isdir(self.now.cwd):
            notes += (self._leave_lost_folder(),)
        return with_fields(result, cwd_after=self.now.cwd, state_kept=kept, notes=notes)

    def _leave_lost_folder(self) -> str:
        """Move the state to the nearest folder that still exists; the note says so."""
        gone = folder = self.now.cwd
        while not os.path.isdir(folder):
            folder = os.path.dirname(folder)
        self.now = replace(self.now, cwd=folder)
        return f"the folder {gone} is gone; the next command would run in {folder}"


def _as_utf8(text: str) -> str:
    """Text of the system with undecodable bytes as surrogates, whatever its locale."""
    return os.fsencode(text).decode("utf-8", "surrogateescape")
