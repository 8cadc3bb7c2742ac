"""Define messages of people and planners: user input, history items, provider messages."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any, Literal

from msgspec import Struct


class ContinuationKind(StrEnum):
    """A run that goes on from the last reply instead of starting from new words."""

    CONTINUE = "continue"
    REGENERATE = "regenerate"
    PLAN = "plan"  # the plan that was left
    TODO = "todo"  # what an agent's list has open: its input has the words


class FileInput(Struct, frozen=True, kw_only=True):
    """A text file that the person attached; `content` is already decoded and capped."""

    path: str
    content: str


class MediaInput(Struct, frozen=True, kw_only=True):
    """A binary attachment, base64 in `data`."""

    path: str
    media_type: str
    data: str


class Attached(Struct, frozen=True, kw_only=True):
    """An image as it belongs to a goal. The log has all of it but its `data`, so a session that is resumed has it no more."""

    path: str
    media_type: str
    size: int
    sha256: str
    data: str = ""

    @classmethod
    def of(cls, media: MediaInput) -> Attached:
        """Raises ValueError for data that are not base64."""
        import base64
        import hashlib

        data = base64.b64decode(media.data, validate=True)
        sha256 = hashlib.sha256(data).hexdigest()
        return cls(path=media.path, media_type=media.media_type, size=len(data), sha256=sha256, data=media.data)


class ContextBlock(Struct, frozen=True, kw_only=True):
    """Text that is offered to the planner as data, never as instructions (piped stdin, AGENTS.md)."""

    label: str
    text: str
    truncated_bytes: int = 0


class UserInput(Struct, frozen=True, kw_only=True):
    """One request. With `shell` set, `text` is itself the command line (`!cmd`, `exec`).

    A `private` one (`!!cmd`) is logged but never shown to a planner; an `unlisted` one (typed with a blank in front) is logged, and left
    out of histories. `origin`: who proposes such a command, where it is not the person
    who typed it ("replay"). `slots`: what of such a command has to be filled in before it can run. `secrets`: names of the
    vault whose values it gets as variables.
    """

    text: str
    files: tuple[FileInput, ...] = ()
    media: tuple[MediaInput, ...] = ()
    continuation: ContinuationKind | None = None
    context: tuple[ContextBlock, ...] = ()
    shell: bool = False
    private: bool = False
    unlisted: bool = False
    origin: str = ""
    slots: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()

    @classmethod
    def from_text(cls, text: str) -> UserInput:
        return cls(text=text)

    @classmethod
    def from_text_and_files(cls, text: str, files: tuple[FileInput, ...]) -> UserInput:
        return cls(text=text, files=files)

    @classmethod
    def from_continuation(cls, kind: ContinuationKind) -> UserInput:
        return cls(text="", continuation=kind)

    @classmethod
    def from_shell(
        cls, command: str, *, private: bool = False, origin: str = "", slots: tuple[str, ...] = ()
    ) -> UserInput:
        return cls(text=command, shell=True, private=private, origin=origin, slots=slots)


class EnvironmentFacts(Struct, frozen=True, kw_only=True):
    """The facts about this machine that a planner may know. Nothing secret: no variables, no host or user names."""

    os: str = ""
    shell: str = ""
    cwd: str = ""
    home: str = ""
    git: str = ""
    is_root: bool = False
    tools: tuple[str, ...] = ()
    date: str = ""


# --- history: what the planner is told, in order; a pure projection of the session's events ---


class GoalItem(Struct, frozen=True, kw_only=True, tag="goal"):
    """The start of a goal, with the facts that were true then (kept, so that prompt prefixes stay stable)."""

    goal_id: str
    text: str
    environment: EnvironmentFacts = EnvironmentFacts()
    files: tuple[FileInput, ...] = ()
    context: tuple[ContextBlock, ...] = ()
    media: tuple[Attached, ...] = ()

    @property
    def images(self) -> tuple[Attached, ...]:
        """Those that are at hand."""
        return tuple(each for each in self.media if each.data)


class ReplyItem(Struct, frozen=True, kw_only=True, tag="reply"):
    """An answer of the planner, as it stood on the wire (`raw`) and as text for people."""

    raw: str
    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()


CommandOutcome = Literal["ran", "skipped", "declined", "refused", "remark", "regenerate", "cancelled"]


class CommandItem(Struct, frozen=True, kw_only=True, tag="command"):
    """One proposal and what became of it. Outputs are redacted and capped to head and tail.

    `exit_code` is None unless `outcome` is "ran"; a command killed by signal n has exit code 128 + n. `rehearsal`: what a rehearsal showed
    that it would change, where it did not run after all. `job`: under which number it goes on in the background, 0 for what has ended.
    `refused`: what it tried beside what its rating says, and was ended for.
    """

    command_id: str
    proposed: str
    run: str = ""
    outcome: CommandOutcome = "ran"
    origin: str = "planner"
    cwd: str = ""
    cwd_after: str = ""
    exit_code: int | None = None
    stdout: str = ""
    stderr: str = ""
    stdout_dropped: int = 0
    stderr_dropped: int = 0
    duration: float = 0.0
    timed_out: bool = False
    interrupted: bool = False
    level: str = "low"
    remark: str = ""
    reason: str = ""
    call_id: str = ""
    rehearsal: str = ""
    job: int = 0
    refused: tuple[str, ...] = ()


class ToolItem(Struct, frozen=True, kw_only=True, tag="tool"):
    """One tool call's result, error or not (S0-20: the model can react to it)."""

    call_id: str
    name: str
    content: str
    is_error: bool = False


class NoteItem(Struct, frozen=True, kw_only=True, tag="note"):
    """A line from the host to the planner: "do not repeat", "reply was not valid JSON"."""

    text: str


class StepItem(Struct, frozen=True, kw_only=True, tag="step"):
    """A step of a plan begins. `command` is what the plan has for it, "" where the planner is asked; `cwd` is where it begins."""

    number: int
    total: int
    goal: str
    command: str = ""
    cwd: str = ""


class SummaryItem(Struct, frozen=True, kw_only=True, tag="summary"):
    """The items before it, condensed in words; they are data like the outputs that they come from."""

    text: str


HistoryItem = GoalItem | ReplyItem | CommandItem | ToolItem | NoteItem | StepItem | SummaryItem


def goal_of(item: HistoryItem) -> str:
    """The id of the goal that an item begins, or of the command that it is; "" for all others."""
    if isinstance(item, CommandItem):
        return item.command_id.rpartition(".")[0]
    return item.goal_id if isinstance(item, GoalItem) else ""


def condensed(history: Sequence[HistoryItem], summary: str, first_kept: str) -> list[HistoryItem]:
    """`history` with a summary in the place of all that was before the goal `first_kept`; as it is where that is not in it."""
    at = next((at for at, item in enumerate(history) if goal_of(item) == first_kept), None)
    return list(history) if at is None else [SummaryItem(text=summary), *history[at:]]


# --- provider messages: the neutral wire form ---


class ToolCall(Struct, frozen=True, kw_only=True):
    """A call the model asks for; `arguments` is a decoded JSON object."""

    id: str
    name: str
    arguments: dict[str, Any] = {}


class ToolSpec(Struct, frozen=True, kw_only=True):
    """A tool as the model sees it; `parameters` is a JSON schema of type object. A small model is not offered what is `demanding`."""

    name: str
    description: str
    parameters: dict[str, Any]
    demanding: bool = False


class ChatMessage(Struct, frozen=True, kw_only=True):
    """One message to a model."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""
    images: tuple[Attached, ...] = ()
