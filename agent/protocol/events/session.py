"""Define the base of every event, those of a session (begun, changed, ended; rules, memory, log), and what is said to the person.

Every `X.started` has exactly one `X.finished`, on failure and cancel too. `assistant.delta` and `assistant.thought` are never
recorded and may be lost; everything else is recorded before any emitter sees it.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from agent.protocol.confirmations import Alternative
from agent.protocol.errors import ErrorInfo
from agent.protocol.outcomes import Origin


class RecordedEvent(Struct, frozen=True, kw_only=True, tag_field="type"):
    pass


class AssistantDelta(RecordedEvent, frozen=True, kw_only=True, tag="assistant.delta"):
    text: str


class AssistantThought(RecordedEvent, frozen=True, kw_only=True, tag="assistant.thought"):
    """A piece of what the model thinks before it answers; no part of the answer."""

    text: str


class AssistantMessage(RecordedEvent, frozen=True, kw_only=True, tag="assistant.message"):
    """One finished message to the person, streamed before or not."""

    text: str


class ChoicesOffered(RecordedEvent, frozen=True, kw_only=True, tag="choices.offered"):
    """No command was sure enough; these come nearest. The message before it lists them."""

    choices: tuple[Alternative, ...]


class ChoiceMade(RecordedEvent, frozen=True, kw_only=True, tag="choice.made"):
    """The number of the choice that the person picked, from 1; it is proposed next. Where none was picked there is no such event."""

    number: int


class CoreCommandFinished(RecordedEvent, frozen=True, kw_only=True, tag="core_command.finished"):
    """A command's result: `text` for people who were not told meanwhile, `data` for programs."""

    command: str
    text: str = ""
    data: dict[str, Any] = {}


class Notice(RecordedEvent, frozen=True, kw_only=True, tag="notice"):
    """Information for the person (S1's Info)."""

    text: str


class Warned(RecordedEvent, frozen=True, kw_only=True, tag="warning"):
    text: str


class Failed(RecordedEvent, frozen=True, kw_only=True, tag="error"):
    error: ErrorInfo


NoticeEvent = (
    AssistantDelta | AssistantThought | AssistantMessage | ChoicesOffered | ChoiceMade | CoreCommandFinished | Notice | Warned
    | Failed
)  # fmt: skip


class SessionStarted(RecordedEvent, frozen=True, kw_only=True, tag="session.started"):
    """A process opened the log (first line of the file, or `resumed`). `origin`: the session that this one was branched from.

    `settings`: what counts at first (planner, model, role, approve, confine, rehearse, safety), as the process was started; of a session
    that is resumed, what is as it was left follows as `session.changed`. `profile`: how goals are pursued, also when it is resumed.
    """

    session_id: str
    program: str = ""
    frontend: str = ""
    cwd: str = ""
    pid: int = 0
    is_root: bool = False
    safety_off: bool = False
    resumed: bool = False
    origin: Origin | None = None
    profile: str = ""
    settings: dict[str, str] = {}


class SessionFinished(RecordedEvent, frozen=True, kw_only=True, tag="session.finished"):
    """The process closed the log."""

    reason: str = "closed"
    goals: int = 0


class SessionChanged(RecordedEvent, frozen=True, kw_only=True, tag="session.changed", rename={"before": "from"}):
    """Something that the session is set to becomes another, recorded before it counts.

    `key`: planner, model, role, rag, agent (name and values), todo (its list in lines), approve, confine, rehearse, safety, tty,
    history (what the planner was told), files (for the next goal).
    `by`: person; agent, of its own list; macro, when it has ended; resume or branch, where the session is not set as its log says.
    """

    key: str
    before: str = ""
    to: str = ""
    by: str = "person"


class RuleAdded(RecordedEvent, frozen=True, kw_only=True, tag="rule.added"):
    """Policy rules were made at the prompt; recorded before they count. `where`: "session" (this one, in this process), or a file."""

    rules: tuple[str, ...]
    where: str
    text: str = ""


class RuleRemoved(RecordedEvent, frozen=True, kw_only=True, tag="rule.removed"):
    """Rules count no longer, or never did: `reason` says why they could not be kept."""

    rules: tuple[str, ...]
    where: str
    reason: str = ""


class MemoryForgotten(RecordedEvent, frozen=True, kw_only=True, tag="memory.forgotten"):
    """The memory of accepted commands is dropped: so many, or (None) all of it. `since`: learned then or later, UTC."""

    commands: int | None = None
    since: str = ""


class LibraryChanged(RecordedEvent, frozen=True, kw_only=True, tag="library.changed"):
    """Something that a session does not hold itself is about to be `saved`, `deleted`, or (a secret) `shown` to the person alone.

    `kind`: role, macro, rag, agent, agent-data, session (its log), secret, vault (its passphrase). `path`: the file that it is in.
    """

    kind: str
    name: str
    how: Literal["saved", "deleted", "shown"] = "saved"
    path: str = ""


class SessionNamed(RecordedEvent, frozen=True, kw_only=True, tag="session.named"):
    """`by`: auto (made from the words of its goals), person."""

    name: str
    by: str = "auto"


class LogRepaired(RecordedEvent, frozen=True, kw_only=True, tag="log.repaired"):
    """A crash had left a torn last line: it stays, closed off. `line` counts from 1 in its file, `hash` is over its `bytes`."""

    line: int
    bytes: int
    hash: str
    text: str = ""


class LogRotated(RecordedEvent, frozen=True, kw_only=True, tag="log.rotated"):
    """The last line of a file that has grown to its limit; the session goes on in the file `next` (a name without folder)."""

    next: str


class LogContinued(RecordedEvent, frozen=True, kw_only=True, tag="log.continued"):
    """The first line of a session's next file. `segment` counts from 2; `previous` is the name of the file before it."""

    segment: int
    previous: str


class LogScrubbed(RecordedEvent, frozen=True, kw_only=True, tag="log.scrubbed"):
    """Secrets were found in a finished log and replaced in it; every hash from line `first_line` on is another since.

    `secrets`: how many of each kind; `before`: the hash of the last line as it was, which its head had vouched for (`proven`).
    """

    secrets: dict[str, int]
    lines: int
    first_line: int
    before: str
    proven: bool = False


class SessionPruned(RecordedEvent, frozen=True, kw_only=True, tag="session.pruned"):
    """The tombstone: all that is left of a session whose records were removed. `before` is the hash of its last line.

    `proven`: whether it verified when it was removed. `events` and `bytes`: how much that was.
    """

    before: str
    events: int
    bytes: int
    goals: int = 0
    began: str = ""
    ended: str = ""
    reason: str = ""
    proven: bool = False


SessionEvent = (
    SessionStarted | SessionFinished | SessionChanged | SessionNamed | RuleAdded | RuleRemoved | MemoryForgotten
    | LibraryChanged | LogRepaired | LogRotated | LogContinued | LogScrubbed | SessionPruned
)  # fmt: skip
