"""Define the requests of callers to the engine, and of the engine to planners and providers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec
from msgspec import Struct

from agent.protocol.commands import Command
from agent.protocol.confinement import Confinement
from agent.protocol.execution import CancellationToken
from agent.protocol.messages import ChatMessage, HistoryItem, ToolSpec, UserInput

ApproveMode = Literal["ask", "low", "medium"]
Grant = Literal["push", "pull-request"]
NOT_GRANTED = "grant"
"""The rule of a verdict that asks about what is published, since the run was not granted it."""


class Limits(Struct, frozen=True, kw_only=True):
    """Bounds of one goal. Seconds, tokens and US dollars; None means no bound. `history_tokens`: a longer history is compressed
    after the goal.

    `wait`: how long for another run of the session.
    """

    max_steps: int = 25
    time_budget: float | None = None
    token_budget: int | None = None
    cost_budget: float | None = None
    command_timeout: float | None = None
    max_command_chars: int = 100_000
    max_auto_continues: int = 100
    history_tokens: int = 24_000
    wait: float = 600.0


RehearseMode = Literal["off", "ask", "preview", "auto", "always", "only"]
"""The time to rehearse: when the person asks for it; offered for what writes; likewise, and what only changes the person's own files
shows at the question what it would do; what writes, before it is made real; every command, before it is made real; every command, and
none is made real.
"""


class Approval(Struct, frozen=True, kw_only=True):
    """The limit of what may run without asking. `interactive` says whether a person can be asked at all.

    `typed`: the person typed the command itself at the terminal, so what cannot be held to its rating needs no second look.
    `network`: whether what is rehearsed unasked may use the network. `confine`: how every command is confined, beside what rules say.
    `grants`: what is published without a question, all else that is published then being asked for in every mode; None: no such run, the
    mode counts.
    """

    mode: ApproveMode = "ask"
    safety_off: bool = False
    dry_run: bool = False
    interactive: bool = True
    rehearse: RehearseMode = "off"
    network: bool = False
    confine: Confinement = "off"
    typed: bool = False
    grants: tuple[Grant, ...] | None = None


class CycleOptions(Struct, frozen=True, kw_only=True):
    """One cycle of the repo agent. `task`: its number, None for the first that can be worked on. `one_plan`: end after the calls of
    one reply. `ask`: which calls a person agrees to. `rehearse`: in a worktree that is thrown away, and nothing is published.
    `settings`: git's in the person's checkout when the run began, None where they may be any.
    """

    task: int | None = None
    one_plan: bool = False
    ask: Literal["each", "changes"] = "changes"
    rehearse: bool = False
    settings: Mapping[str, tuple[str, ...]] | None = None


class InterviewOptions(Struct, frozen=True, kw_only=True):
    """A turn of an interview. `engine`: who leads it, where the session has none yet. `project`: what is asked about, "" for the folder.

    `accept`: hand over to this engine, or to the planner or the repo agent; the person agreed to that. `strategies`: who chooses the
    techniques and names the modes, where it is not for the engine to say.
    """

    engine: str = ""
    project: str = ""
    accept: str = ""
    strategies: Literal["engine", "rules", "model"] = "engine"


class RunOptions(Struct, frozen=True, kw_only=True):
    """The knobs in which front ends differ; one factory a front end, defaults pinned by tests."""

    stream: bool | None = None
    extract_code: bool = False
    code_only: bool = False
    auto_continue: bool = False
    compress_session: bool = False
    autoname_session: bool = False
    apply_prelude: bool = False
    with_embeddings: bool = False
    close_session: bool = False
    cancel: CancellationToken = msgspec.field(default_factory=CancellationToken)
    limits: Limits = Limits()
    cycle: CycleOptions = CycleOptions()
    interview: InterviewOptions = InterviewOptions()
    approval: Approval = Approval()

    @classmethod
    def cli(cls, *, code_mode: bool = False, stdout_is_tty: bool = True) -> RunOptions:
        """One goal from the command line; code goes out raw, and unstreamed, when stdout is no terminal."""
        extract = code_mode and not stdout_is_tty
        return cls(
            stream=False if extract else None,
            extract_code=extract,
            code_only=code_mode,
            apply_prelude=True,
            with_embeddings=True,
            close_session=True,
        )

    @classmethod
    def repl_turn(cls) -> RunOptions:
        """One line of the REPL."""
        return cls(
            auto_continue=True, compress_session=True, autoname_session=True, apply_prelude=True, with_embeddings=True
        )

    @classmethod
    def api_oneshot(cls, *, stream: bool = False) -> RunOptions:
        """One request without a session; nobody can be asked."""
        return cls(stream=stream, with_embeddings=True, approval=Approval(interactive=False))

    @classmethod
    def api_session(cls, *, stream: bool = False, auto_continue: bool = False) -> RunOptions:
        """One request in a server-side session."""
        return cls(
            stream=stream,
            auto_continue=auto_continue,
            compress_session=True,
            autoname_session=True,
            with_embeddings=True,
            approval=Approval(interactive=False),
        )


class RunRequest(Struct, frozen=True, kw_only=True):
    """A command, an input, or both (the command first)."""

    input: UserInput | None = None
    command: Command | None = None
    options: RunOptions = msgspec.field(default_factory=RunOptions)


class PlannerRequest(Struct, frozen=True, kw_only=True):
    """Everything a planner may see. The last `GoalItem` of `history` is the goal to work on.

    `instructions`: what to do, in the place of the planner's own words on that. `calls_only`: a reply is a plan in words with calls
    of `tools`, nothing else.
    """

    history: tuple[HistoryItem, ...]
    tools: tuple[ToolSpec, ...] = ()
    stream: bool = True
    code_only: bool = False
    max_output_tokens: int | None = None
    role: str = ""
    instructions: str = ""
    calls_only: bool = False


class ProviderRequest(Struct, frozen=True, kw_only=True):
    """One model call. `schema` (JSON schema) asks for constrained output where the server offers it."""

    model: str
    messages: tuple[ChatMessage, ...]
    tools: tuple[ToolSpec, ...] = ()
    schema: dict[str, Any] | None = None
    stream: bool = True
    max_output_tokens: int | None = None
    temperature: float | None = None
