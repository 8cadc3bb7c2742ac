"""Define the 37 core commands as data, grouped as they are documented, and any other by its name. Handlers live in `agent.commands`."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from msgspec import Struct


class InfoScope(StrEnum):
    SYSTEM = "system"
    ROLE = "role"
    SESSION = "session"
    RAG = "rag"
    AGENT = "agent"


class DeleteTarget(StrEnum):
    ROLE = "role"
    SESSION = "session"
    RAG = "rag"
    MACRO = "macro"
    AGENT_DATA = "agent-data"


class _Core(Struct, frozen=True, tag=True):
    """Base: equality by content, tagged by class name when encoded."""


# state setters
class SetModel(_Core, frozen=True):
    model: str


class UsePrompt(_Core, frozen=True):
    text: str


class UseRole(_Core, frozen=True):
    name: str
    trailing_text: str | None = None


class UseSession(_Core, frozen=True):
    name: str | None = None


class UseAgent(_Core, frozen=True):
    """`handoff`: what an interview hands over to the agent, as its record has it; the next goal goes with it."""

    name: str
    session: str | None = None
    variables: tuple[tuple[str, str], ...] = ()
    handoff: dict[str, Any] | None = None


class UseRag(_Core, frozen=True):
    name: str | None = None


# exits
class ExitRole(_Core, frozen=True):
    pass


class ExitSession(_Core, frozen=True):
    pass


class ExitRag(_Core, frozen=True):
    pass


class ExitAgent(_Core, frozen=True):
    pass


# queries
class Info(_Core, frozen=True):
    scope: InfoScope = InfoScope.SYSTEM


class RagSources(_Core, frozen=True):
    pass


# configuration
class Set(_Core, frozen=True):
    key: str
    value: str


# session actions
class CompressSession(_Core, frozen=True):
    pass


class EmptySession(_Core, frozen=True):
    pass


class SaveSession(_Core, frozen=True):
    name: str | None = None


class EditSession(_Core, frozen=True):
    pass


# role actions
class SaveRole(_Core, frozen=True):
    name: str | None = None


class EditRole(_Core, frozen=True):
    pass


# RAG actions
class EditRagDocs(_Core, frozen=True):
    pass


class RebuildRag(_Core, frozen=True):
    pass


# agent actions
class EditAgentConfig(_Core, frozen=True):
    pass


class ClearTodo(_Core, frozen=True):
    pass


class StarterList(_Core, frozen=True):
    pass


class StarterRun(_Core, frozen=True):
    index: int


# files
class IncludeFiles(_Core, frozen=True):
    paths: tuple[str, ...]
    trailing_text: str | None = None


# macro
class Macro(_Core, frozen=True):
    name: str
    args: tuple[str, ...] = ()


# vault
class _Kept(_Core, frozen=True):
    """`value`: "" to ask for it. It is in no log, and not in what this looks like."""

    name: str
    value: str = ""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"


class VaultAdd(_Kept, frozen=True):
    pass


class VaultGet(_Core, frozen=True):
    name: str


class VaultUpdate(_Kept, frozen=True):
    pass


class VaultDelete(_Core, frozen=True):
    name: str


class VaultList(_Core, frozen=True):
    pass


# the rest
class EditConfig(_Core, frozen=True):
    pass


class Authenticate(_Core, frozen=True):
    provider: str = ""


class Delete(_Core, frozen=True):
    target: DeleteTarget
    name: str


class Copy(_Core, frozen=True):
    pass


class Help(_Core, frozen=True):
    topic: str = ""


CoreCommand = (
    SetModel | UsePrompt | UseRole | UseSession | UseAgent | UseRag
    | ExitRole | ExitSession | ExitRag | ExitAgent
    | Info | RagSources
    | Set
    | CompressSession | EmptySession | SaveSession | EditSession
    | SaveRole | EditRole
    | EditRagDocs | RebuildRag
    | EditAgentConfig | ClearTodo | StarterList | StarterRun
    | IncludeFiles
    | Macro
    | VaultAdd | VaultGet | VaultUpdate | VaultDelete | VaultList
    | EditConfig | Authenticate | Delete | Copy | Help
)  # fmt: skip


class NamedCommand(_Core, frozen=True):
    """A command as it is typed: a name without prefix, and the rest of the line. Each command can be given so."""

    name: str
    argument: str = ""


Command = CoreCommand | NamedCommand
