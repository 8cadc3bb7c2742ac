"""Wire the memory of goals: part of the composition root. Nothing is loaded or read before the first goal."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from agent.config.paths import state_dir
from agent.protocol.errors import CoreError
from agent.protocol.messages import CommandItem

if TYPE_CHECKING:
    from agent.config.settings import Settings
    from agent.memory.service import Memory
    from agent.planner.offline.remembered import RememberedCommands
    from agent.protocol.execution import UndoStore
    from agent.protocol.messages import ContextBlock
    from agent.protocol.ports import Planner

_FRESH_SECONDS = 2.0
_WAIT_SECONDS = 0.1


class ProcessMemory:
    """The memory of one process. `folder` of the logs; `is_here(planner)`: whether what a planner is told stays on this machine.
    `undo`: makes the store of the runs that can be taken back.

    Without persistence, and where the setting says so, there is none: nothing is read, and nothing is kept.
    """

    def __init__(
        self,
        settings: Settings,
        environ: Mapping[str, str],
        folder: str,
        *,
        is_here: Callable[[Planner], bool],
        undo: Callable[[], UndoStore],
    ) -> None:
        self._settings = settings
        self._environ = environ
        self._folder = folder
        self._is_here = is_here
        self._undo = undo
        self._memory: Memory | None = None
        self._building = threading.Lock()
        self._refreshed = 0.0

    @property
    def mode(self) -> str:
        """ "on", "local" or "off"."""
        return self._settings.memory if self._settings.persist else "off"

    def memory(self) -> Memory | None:
        """The memory, None where there is none."""
        if self.mode == "off":
            return None
        with self._building:
            if self._memory is None:
                self._memory = self._build()
            return self._memory

    def remembered(self) -> RememberedCommands | None:
        """For the offline planner; None where nothing is remembered."""
        memory = self.memory()
        if memory is None:
            return None
        from agent.planner.offline.remembered import RememberedCommands

        return RememberedCommands(memory, self._taken_back)

    def _taken_back(self) -> frozenset[tuple[str, str]]:
        """Find the commands whose last run was undone, each with its folder; none where that cannot be read now."""
        last: dict[tuple[str, str], str] = {}
        with suppress(CoreError, OSError):
            for entry in self._undo().entries():  # the newest first
                last.setdefault((entry.command, entry.cwd), entry.state)
        return frozenset(command for command, state in last.items() if state == "undone")

    def examples(self, goal: str, cwd: str, planner: Planner) -> tuple[ContextBlock, ...]:
        """Choose earlier commands to show a model with a goal: none where they would leave the machine and may not."""
        memory = self.memory() if planner.name != "offline" else None
        if memory is None or not (self.mode == "on" or self._is_here(planner)):
            return ()
        from agent.memory.comparing import goal_words
        from agent.memory.model import example_block

        self._refresh(memory)
        block = example_block(memory, goal_words(goal), cwd)
        return (block,) if block is not None else ()

    def experience(self, command: str, cwd: str) -> str:
        """Say in a line how commands like this one went; "" where too little is known."""
        memory = self.memory()
        if memory is None:
            return ""
        from agent.memory.model import experience_line

        self._refresh(memory)
        return experience_line(memory.experience(command, cwd))

    def close(self) -> None:
        """Stop what goes on in the background."""
        if self._memory is not None:
            self._memory.close()

    def _refresh(self, memory: Memory) -> None:
        now = time.monotonic()
        if now - self._refreshed > _FRESH_SECONDS:
            memory.refresh(_WAIT_SECONDS)
            self._refreshed = now

    def _build(self) -> Memory:
        from agent.memory.comparing import goal_words
        from agent.memory.service import Memory

        environ = dict(self._environ)
        home = environ.get("HOME") or os.path.expanduser("~")
        return Memory(
            self._folder,
            state_dir(environ),
            read=goal_words,
            worked=_worked,
            project=lambda cwd: _project_of(cwd, home),
        )


def _project_of(cwd: str, home: str) -> str:
    """The top of the repository that a folder is in, "" where it is in none, or in one that bounds nothing."""
    from agent.planner.facts.git_facts import repository_of, workspace_of

    top = workspace_of(cwd, home)
    return top if top == repository_of(cwd) else ""


def _worked(command: str, exit_code: int) -> bool:
    """Exit code 0, or one that is an answer of these programs ("nothing matched")."""
    if exit_code == 0:
        return True
    from agent.lexicon.exit_answers import succeeded

    item = CommandItem(command_id="", proposed=command, run=command, exit_code=exit_code)
    return succeeded(item)
