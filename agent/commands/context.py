"""Protocols of the engine's state as command handlers see it: the engine is above this package."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from agent.protocol.decisions import Confinement
from agent.protocol.messages import FileInput, HistoryItem, UserInput
from agent.protocol.outcomes import FrontendRequest, GoalSummary
from agent.protocol.ports import Planner, Recorder
from agent.protocol.replies import Usage
from agent.protocol.requests import ApproveMode


class Services(Protocol):
    """The part of `AppState` that commands use."""

    @property
    def make_planner(self) -> Callable[[str | None, str | None], Planner]: ...
    @property
    def settings_rows(self) -> Callable[[], list[dict[str, str]]]: ...
    @property
    def load_role(self) -> Callable[[str], str]: ...
    @property
    def config_path(self) -> str: ...


class Session(Protocol):
    """The part of `RequestContext` that commands use and change."""

    recorder: Recorder
    planner: Planner
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
class DispatchOutcome:
    """What a core command did. `inject_input` flows on into the run (X-24)."""

    name: str
    text: str = ""
    data: dict[str, Any] = field(default_factory=dict)
    inject_input: UserInput | None = None
    frontend_request: FrontendRequest | None = None
