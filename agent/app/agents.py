"""Give a session that is opened its agent: the one that is configured, or that it was left with, its list, and what leaving it sets."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from msgspec import structs

from agent.config.settings import Settings
from agent.protocol.errors import ConfigError, CoreError, NotFound

if TYPE_CHECKING:
    from agent.app.process import Process
    from agent.app.resuming import Resumed
    from agent.commands.context import Change
    from agent.library.agents import ActiveAgent
    from agent.protocol.ports import Planner, Redactor
    from agent.protocol.todos import Todo
    from agent.recording.past import Past


@dataclass(frozen=True)
class OpenedAgent:
    """`settings`: what the session is opened with; `was`: how it was set before its agent (role, rag, planner and model by name).

    `model`: what it plans with, "" for what is configured.
    """

    process: Process
    agent: ActiveAgent
    settings: Settings
    was: dict[str, str]
    model: str = ""

    @classmethod
    def of(cls, process: Process, settings: Settings, chosen: Collection[str] = ()) -> OpenedAgent:
        """The agent of the settings; a rag or a model on the command line, or among what was `chosen`, counts before its own.

        Raises CoreError.
        """
        from agent.library.agents import agent_words
        from agent.library.macros import split_words

        name, _, values = agent_words(split_words(settings.agent or ""))
        read = process.library.agents.load(name)
        active = read.active(values)
        was = {"role": settings.role or "", "rag": settings.rag or ""}
        by_hand = {key for key in ("rag", "planner", "model") if process.origins.get(key) == "command line"}
        by_hand |= set(chosen)
        settings = structs.replace(settings, agent=active.words)
        if read.rag and "rag" not in by_hand:
            settings = structs.replace(settings, rag=read.rag)
        model = "" if by_hand & {"planner", "model"} else read.model
        return cls(process, active, settings, was, model)

    @classmethod
    def resumed(cls, resumed: Resumed, past: Past, process: Process, redactor: Redactor) -> OpenedAgent | None:
        """The agent that the session was left with, None for none and where it can be had no more, which is said."""
        words = resumed.settings.agent
        try:
            found = cls.of(process, resumed.settings, past.settings) if words else None
            if found is not None and found.model:
                planner = found.planner(None, redactor)
                resumed.planner = (planner.name, planner.model)  # looked at like any that a session was left with
        except CoreError as error:
            resumed.settings = structs.replace(resumed.settings, agent=None)
            resumed.drop(error.message)
            return None
        resumed.keep(f"agent {words}" if words else "no agent")
        if found is None:
            return None
        resumed.settings = found.settings
        return replace(found, was=past.before_agent or found.was)

    def planner(self, configured: Planner | None, redactor: Redactor) -> Planner:
        """Make the planner of its goals. Raises NotFound, ConfigError."""
        from agent.commands.models import planner_with

        make = self.process.planners.make
        if self.model:
            return planner_with(make, self.model, redactor)
        return configured or make(None, None, redactor)

    def todo(self, past: Past | None, resumed: Resumed, folder: str) -> tuple[Todo, ...]:
        """The list of the session, where it was this agent's, else the one that the agent has kept. Raises IoError."""
        from agent.protocol.todos import counted_open, todos_in

        if past is not None and past.settings.get("agent") == self.agent.words:
            todo = todos_in(past.settings.get("todo", ""))
            if todo:
                resumed.keep(counted_open(todo))
            return todo
        return self.process.library.kept_todos(self.agent.name, folder)

    def before(self, configured: Planner, redactor: Redactor) -> tuple[Change, ...]:
        """The changes that leaving it makes, without what cannot be had any more, or is a planner elsewhere that was chosen by hand."""
        from agent.commands.models import to_planner
        from agent.commands.rags import to_rag
        from agent.commands.roles import to_role

        process = self.process
        changes: list[Change] = []
        role, rag, planner = self.was.get("role", ""), self.was.get("rag", ""), configured
        with suppress(CoreError):
            changes.append(to_role(role, process.role_text(role) if role else ""))
        with suppress(CoreError):
            changes.append(to_rag(rag, process.rags.open(rag) if rag else None))
        name, model = self.was.get("planner", configured.name), self.was.get("model", configured.model)
        if (name, model) != (configured.name, configured.model):
            with suppress(NotFound, ConfigError):
                found = process.planners.make(name, model or None, redactor)
                planner = found if process.planners.stays_here(found) else configured
        return (*changes, *to_planner(planner))
