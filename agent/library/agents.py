"""Read roles and agents: Markdown that stands before the planner's own instructions, with settings in front and variables in it.

An agent says in front what it may use, too, and keeps a todo list.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence

from msgspec import Struct

from agent.library.entries import Entries
from agent.library.front_matter import front_and_body, typed
from agent.protocol.errors import ConfigError, InvalidRequest
from agent.protocol.todos import Todo, todos_in

VARIABLE = re.compile(r"\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}")


class Variable(Struct, frozen=True, forbid_unknown_fields=True):
    """A value that a text needs. Without `default` it has to be given. `rest`: takes all that is left (macros)."""

    name: str
    description: str = ""
    default: str | None = None
    rest: bool = False


class _RoleFront(Struct, frozen=True, forbid_unknown_fields=True):
    description: str = ""
    variables: tuple[Variable, ...] = ()


class Role(Struct, frozen=True):
    name: str
    text: str
    description: str = ""
    variables: tuple[Variable, ...] = ()

    def filled(self, values: Mapping[str, str]) -> str:
        """The text with each `{{variable}}` replaced. Raises InvalidRequest for one that has no value."""
        return fill(self.text, self.variables, values, f"the role {self.name}")


def read_role(name: str, text: str, path: str) -> Role:
    """Raises ConfigError."""
    front, body, line = front_and_body(text)
    settings = typed(front, _RoleFront, path, first_line=line)
    if not body:
        raise ConfigError(f"{path}:{len(text.splitlines()) or 1}: the role has no text")
    return Role(name, body, settings.description, settings.variables)


def fill(text: str, variables: tuple[Variable, ...], values: Mapping[str, str], of: str) -> str:
    """`text` with `{{name}}` replaced for the names among `variables`; other braces stay. Raises InvalidRequest."""
    known = {each.name: values.get(each.name, each.default) for each in variables}
    missing = [name for name, value in known.items() if value is None]
    if missing:
        raise InvalidRequest(f"{of} needs {', '.join(missing)}", hint=f"give {missing[0]}=VALUE")
    return VARIABLE.sub(lambda found: known.get(found[1]) or ("" if found[1] in known else found[0]), text)


def roles_in(folder: str) -> Entries[Role]:
    """The person's roles in `folder`, and those that ship."""
    return Entries("role", folder, ".md", read_role, shipped="roles")


_NO_COMMANDS = "You cannot run commands here: answer in words."


class _AgentFront(_RoleFront, frozen=True, forbid_unknown_fields=True):
    starters: tuple[str, ...] = ()
    tools: tuple[str, ...] | None = None
    rag: str = ""
    model: str = ""
    agents: tuple[str, ...] = ()


class ActiveAgent(Struct, frozen=True):
    """An agent with its variables filled. `words`: its name and the values that were given, as they are typed after `:agent`.

    `agents`: the names of those that it may ask.
    """

    name: str
    words: str
    text: str
    starters: tuple[str, ...] = ()
    tools: tuple[str, ...] | None = None
    agents: tuple[str, ...] = ()

    def may_use(self, *names: str) -> bool:
        """Tell whether it may use a tool that has one of these names."""
        return self.tools is None or any(name in self.tools for name in names)


class Agent(Struct, frozen=True):
    """`tools`: the names of those that it may use, None for all. `rag`, `model`: what it works with, "" for what the session has."""

    name: str
    text: str
    description: str = ""
    variables: tuple[Variable, ...] = ()
    starters: tuple[str, ...] = ()
    tools: tuple[str, ...] | None = None
    rag: str = ""
    model: str = ""
    agents: tuple[str, ...] = ()

    def active(self, values: Mapping[str, str]) -> ActiveAgent:
        """Raises InvalidRequest for a variable that has no value, and a value for what is none."""
        names = [each.name for each in self.variables]
        unknown = [name for name in values if name not in names]
        if unknown:
            raise InvalidRequest(
                f"the agent {self.name} has no variable {unknown[0]}", hint=f"it has: {', '.join(names) or 'none'}"
            )
        of = f"the agent {self.name}"
        text = fill(self.text, self.variables, values, of)
        if self.tools is not None and "run_command" not in self.tools:
            text += f"\n\n{_NO_COMMANDS}"
        starters = tuple(fill(each, self.variables, values, of) for each in self.starters)
        words = shlex.join((self.name, *(f"{name}={value}" for name, value in values.items())))
        return ActiveAgent(self.name, words, text, starters, self.tools, self.agents)


def agent_words(words: Sequence[str]) -> tuple[str, str, dict[str, str]]:
    """The name, the session (a word after it without `=`, "" for this one) and the values in `NAME [SESSION] [KEY=VALUE...]`.

    Raises InvalidRequest.
    """
    name, session, values = "", "", dict[str, str]()
    for place, word in enumerate(words):
        key, equals, value = word.partition("=")
        if place == 0:
            name = word
        elif equals:
            values[key] = value
        elif place == 1:
            session = word
        else:
            raise InvalidRequest(
                f"{word!r} gives no variable a value", hint="`:agent NAME KEY=VALUE`, quoted where it has blanks"
            )
    return name, session, values


def read_agent(name: str, text: str, path: str) -> Agent:
    """Raises ConfigError."""
    front, body, line = front_and_body(text)
    settings = typed(front, _AgentFront, path, first_line=line)
    if not body:
        raise ConfigError(f"{path}:{len(text.splitlines()) or 1}: the agent has no instructions")
    return Agent(
        name,
        body,
        settings.description,
        settings.variables,
        tuple(" ".join(each.split()) for each in settings.starters),
        settings.tools,
        settings.rag,
        settings.model,
        settings.agents,
    )


def agents_in(folder: str) -> Entries[Agent]:
    """The person's agents in `folder`, and those that ship."""
    return Entries("agent", folder, ".md", read_agent, shipped="agents")


def agent_data_in(folder: str) -> Entries[dict[str, tuple[Todo, ...]]]:
    """The todo lists that agents have kept, by the agent's name."""
    return Entries("agent-data", folder, ".txt", lambda name, text, path: _lists(text))


def _lists(text: str) -> dict[str, tuple[Todo, ...]]:
    """By the project that `# /its/folder` names before each; what stands before the first, as it once was, is of none."""
    begun, *others = f"\n{text}".split("\n# ")
    found = {"": todos_in(begun), **{of: todos_in(rest) for of, _, rest in (each.partition("\n") for each in others)}}
    return {of: todos for of, todos in found.items() if todos}
