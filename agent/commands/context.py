"""Give command handlers their view of the engine's state and their answers: the engine, which is above this package, makes the changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from agent.protocol.decisions import Confinement
from agent.protocol.messages import FileInput, HistoryItem, UserInput
from agent.protocol.outcomes import FrontendRequest, GoalSummary
from agent.protocol.ports import Planner, Recorder, Redactor
from agent.protocol.replies import Usage
from agent.protocol.requests import ApproveMode


class Services(Protocol):
    """The part of `AppState` that commands use."""

    @property
    def make_planner(self) -> Callable[..., Planner]: ...
    @property
    def settings_rows(self) -> Callable[[], list[dict[str, str]]]: ...
    @property
    def load_role(self) -> Callable[[str], str]: ...
    @property
    def config_path(self) -> str: ...


class Session(Protocol):
    """The part of `RequestContext` that commands use. They change none of it."""

    recorder: Recorder
    planner: Planner
    redactor: Redactor
    approve: ApproveMode
    safety_off: bool
    confine: Confinement
    history: list[HistoryItem]
    goals: list[GoalSummary]
    earlier_goals: tuple[GoalSummary, ...]
    usage: Usage
    pending_files: list[FileInput]
    role_name: str
    role_text: str
    last_message: str
    last_command: str

    @property
    def session_id(self) -> str: ...
    @property
    def cwd(self) -> str: ...


@dataclass(frozen=True)
class Change:
    """What a session is set to becomes another: `key`, `before` and `to` for the log, then `values` for the attributes of the session."""

    key: str
    to: str
    values: dict[str, Any]
    before: str = ""


@dataclass(frozen=True)
class DispatchOutcome:
    """What a core command came to. `changes` are recorded and then made; `inject_input` flows on into the run (X-24)."""

    name: str
    text: str = ""
    data: dict[str, Any] = field(default_factory=dict)
    changes: tuple[Change, ...] = ()
    inject_input: UserInput | None = None
    frontend_request: FrontendRequest | None = None
