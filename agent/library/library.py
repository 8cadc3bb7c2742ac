"""Hold the person's library: roles, macros, RAGs and agents below one folder, and what agents keep below another."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from msgspec import Struct

from agent.library.agents import Agent, Role, agent_data_in, agents_in, roles_in
from agent.library.entries import Entries
from agent.library.front_matter import place_of, typed
from agent.library.macros import Macro, macros_in
from agent.protocol.errors import ConfigError, CoreError
from agent.protocol.todos import Todo, open_todos, todo_text
from agent.text.shown import shown_line


def rows(entries: Entries[Any]) -> list[dict[str, Any]]:
    """Name, description, where it is, and what is wrong with it, of each entry."""
    found = []
    for name in entries.names():
        row: dict[str, Any] = {"name": name, "own": name in entries.own(), "path": "", "description": "", "error": ""}
        try:
            text, row["path"] = entries.text(name)
            row["description"] = entries.read(name, text, row["path"]).description
        except CoreError as error:
            row["error"] = error.message
            row["path"] = row["path"] or entries.path(name)
        found.append(row)
    return found


def said_of(row: dict[str, Any]) -> str:
    """Say what is wrong with it, else its description. Its folder is left out: the row has the path."""
    return str(row["error"]).replace(os.path.join(os.path.dirname(row["path"]), ""), "") or str(row["description"])


def overview(entries: Entries[Any]) -> str:
    """`rows` for a person."""
    found = rows(entries)
    if not found:
        return f"no {entries.kind}s yet; yours go to {entries.folder}"
    width = max(len(row["name"]) for row in found)
    return "\n".join(
        f"{row['name'].ljust(width)}  {shown_line(said_of(row) or '-', 200)}"
        f"{'' if row['own'] else '  (comes with agent-shell)'}"
        for row in found
    )


MOST_PASSAGES = 20


class _Written(Struct, frozen=True, forbid_unknown_fields=True):
    documents: tuple[str, ...]
    description: str = ""
    passages: int = 5
    embeddings: str = ""


class Rag(Struct, frozen=True):
    """`documents`: paths, patterns, `man:NAME`, `help:NAME`. `passages`: how many at most go with a goal.
    `embeddings`: the provider and its model that are asked for them ("ollama:nomic-embed-text"), "" for none.
    """

    name: str
    documents: tuple[str, ...]
    description: str = ""
    passages: int = 5
    embeddings: str = ""


def read_rag(name: str, text: str, path: str) -> Rag:
    """Raises ConfigError."""
    written = typed(text, _Written, path)
    if not written.documents or not all(each.strip() for each in written.documents):
        raise ConfigError(
            f"{place_of('documents', text, path)}: documents must name at least one file, folder, pattern, man:NAME or help:NAME"
        )
    if not 1 <= written.passages <= MOST_PASSAGES:
        raise ConfigError(f"{place_of('passages', text, path)}: passages must be from 1 to {MOST_PASSAGES}")
    if written.embeddings and not all(written.embeddings.partition(":")):
        raise ConfigError(
            f"{place_of('embeddings', text, path)}: embeddings must name a provider and a model, as in ollama:nomic-embed-text"
        )
    return Rag(
        name,
        tuple(each.strip() for each in written.documents),
        written.description,
        written.passages,
        written.embeddings,
    )


def rags_in(folder: str) -> Entries[Rag]:
    """The person's RAGs in `folder`."""
    return Entries("rag", folder, ".yaml", read_rag)


def _project(folder: str) -> str:
    """The repository that `folder` is in, or itself."""
    above = folder
    while not os.path.lexists(os.path.join(above, ".git")):
        if above == os.path.dirname(above):  # also "//" and ""
            return " ".join(folder.split()) or "/"
        above = os.path.dirname(above)
    return " ".join(above.split())


_MOST_PROJECTS = 12
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
    def agent_data(self) -> Entries[dict[str, tuple[Todo, ...]]]:
        return agent_data_in(os.path.join(self.state, "agents") if self.state else os.devnull)

    def _lists(self, agent: str) -> dict[str, tuple[Todo, ...]]:
        return self.agent_data.load(agent) if agent in self.agent_data.own() else {}

    def kept_todos(self, agent: str, folder: str) -> tuple[Todo, ...]:
        """The list that the agent left in this or another session in the project of `folder`, or of no project. Raises IoError."""
        lists = self._lists(agent)
        return lists.get(_project(folder)) or lists.get("", ())

    def keep_todos(self, agent: str, folder: str, todos: tuple[Todo, ...]) -> None:
        """Keep what has open items; a list that is done, or empty, is kept no longer. Raises IoError."""
        project, lists = _project(folder), self._lists(agent)
        others = {of: each for of, each in lists.items() if of and of != project}
        if self.state and open_todos(todos):
            others = {**dict([*others.items()][-_MOST_PROJECTS + 1 :]), project: todos}
        if others:
            self.agent_data.save(agent, "\n".join(f"# {of}\n{todo_text(each)}" for of, each in others.items()))
        elif lists:
            self.agent_data.delete(agent)

    def of(self, kind: str) -> Entries[Any]:
        """The entries of one of `KINDS`."""
        kinds = (self.roles, self.macros, self.rags, self.agents, self.agent_data)
        entries: dict[str, Entries[Any]] = dict(zip(KINDS, kinds, strict=True))
        return entries[kind]
