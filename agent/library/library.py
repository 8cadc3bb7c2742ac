"""Hold the person's library: roles, macros, RAGs and agents below one folder, and what agents keep below another."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from agent.library.agents import Agent, agent_data_in, agents_in
from agent.library.entries import Entries
from agent.library.macros import Macro, macros_in
from agent.library.rags import Rag, rags_in
from agent.library.roles import Role, roles_in
from agent.protocol.todos import Todo, open_todos, todo_text

KINDS = ("role", "macro", "rag", "agent", "agent-data")


@dataclass(frozen=True)
class Library:
    """`folder` is the config folder; each kind has a folder in it. `state`: where agents keep their todo lists, "" for nowhere."""

    folder: str
    state: str = ""

    @cached_property
    def roles(self) -> Entries[Role]:
        return roles_in(os.path.join(self.folder, "roles"))

    @cached_property
    def macros(self) -> Entries[Macro]:
        return macros_in(os.path.join(self.folder, "macros"))

    @cached_property
    def rags(self) -> Entries[Rag]:
        return rags_in(os.path.join(self.folder, "rags"))

    @cached_property
    def agents(self) -> Entries[Agent]:
        return agents_in(os.path.join(self.folder, "agents"))

    @cached_property
    def agent_data(self) -> Entries[tuple[Todo, ...]]:
        return agent_data_in(os.path.join(self.state, "agents") if self.state else os.devnull)

    def kept_todos(self, agent: str) -> tuple[Todo, ...]:
        """The list that the agent left in this or another session. Raises IoError."""
        return self.agent_data.load(agent) if agent in self.agent_data.own() else ()

    def keep_todos(self, agent: str, todos: tuple[Todo, ...]) -> None:
        """Keep what has open items; a list that is done, or empty, is kept no longer. Raises IoError."""
        if self.state and open_todos(todos):
            self.agent_data.save(agent, todo_text(todos))
        elif agent in self.agent_data.own():
            self.agent_data.delete(agent)

    def of(self, kind: str) -> Entries[Any]:
        """The entries of one of `KINDS`."""
        kinds = (self.roles, self.macros, self.rags, self.agents, self.agent_data)
        entries: dict[str, Entries[Any]] = dict(zip(KINDS, kinds, strict=True))
        return entries[kind]
