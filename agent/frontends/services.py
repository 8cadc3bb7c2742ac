"""Services that the composition root hands to every front end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from agent.config.load import Loaded
from agent.config.settings import Settings
from agent.frontends.live_rating import no_context
from agent.protocol.capabilities import Capability
from agent.protocol.errors import InvalidState
from agent.protocol.ports import Emitter, Jobs, Processes, UndoStore

if TYPE_CHECKING:
    from agent.engine.context import RequestContext
    from agent.engine.engine import Engine
    from agent.memory.service import Memory
    from agent.policy.model import Policy
    from agent.policy.store import SessionRules
    from agent.protocol.decisions import RiskContext, RiskReport
    from agent.protocol.events import Origin
    from agent.recording.left_open import LeftOpen


class OpenContext(Protocol):
    """Opens a session: a new one (None, perhaps with its `origin`) or the named one; commands start in `cwd`. Raises CoreError."""

    def __call__(
        self, session_id: str | None, cwd: str | None = None, *, origin: Origin | None = None
    ) -> RequestContext: ...


def _no_policy(cwd: str, session: str) -> Policy:
    from agent.policy.model import Policy

    return Policy()


def _no_rules() -> SessionRules:
    from agent.policy.store import SessionRules

    return SessionRules()


def _no_undo() -> UndoStore:
    raise InvalidState(expected="a store of runs that can be taken back", found="none")


def _as_written(wanted: str, *, attended: bool, besides: str = "") -> str:
    return wanted


def _nothing_left(besides: str = "") -> LeftOpen | None:
    return None


def _no_branch(ctx: RequestContext, origin: Origin) -> RequestContext:
    raise InvalidState(expected="a log to branch from", found="none")


def _as_asked(planner: str, model: str) -> tuple[str, bool]:
    return f"{planner}:{model}", False


async def _nothing_known() -> tuple[Capability, ...]:
    return ()


@dataclass(frozen=True, eq=False, repr=False)
class Services:
    """The engine with what a front end needs beside it.

    `open_context(session_id)` opens a new session (None) or goes on in a named one; raises RecordingError, NotFound.
    `choose_session(wanted, attended=, besides=)` is the id that the beginning of one, or `last`, means; `session_is_there(id)` says
    whether it is kept already.
    `branch(ctx, origin)` opens a new session with the past that `origin` names, and with the shell of `ctx`.
    `left_open(besides)` is a session that a crash ended in the middle of a goal; `first_offer` says whether nobody was told of it yet.
    `left_plan(cwd, besides)` is the id of the session that left a plan before its end, to go on in `cwd`; "" for none.
    `make_emitter(at_prompt=False)` builds the emitter for the person's terminal or, with `--json`, for stdout.
    `rate(command, cwd)` rates for display while typing; cheap enough for every keystroke.
    `context(command, cwd)` is what it holds the command against, for explanations.
    `policy(cwd, session)` is what the policy files and the session's own rules say now; `policy_path` is the person's own file.
    `experience(command, cwd)` is a line about how such commands went; `memory()` is what is remembered, None where nothing is.
    `warm()` loads in the background what the first goal will need.
    `jobs()` is what runs in the background, None as long as no command was run.
    `undo()` is the store of runs that can be taken back; raises CoreError where there is none.
    `diagnose()` tries what confinement, rehearsal, undo and limits need here.
    `plan_with(planner, model)` takes these for what is configured: what to plan with now, and whether what it is told stays here; raises
    NotFound, ConfigError.
    `rules` is where "always allow" and `:policy` find rules; without it neither is there.
    """

    loaded: Loaded
    make_engine: Callable[[], Engine]
    processes: Processes
    open_context: OpenContext
    make_emitter: Callable[..., Emitter]
    rate: Callable[[str, str], RiskReport]
    warm: Callable[[], None]
    shutdown: Callable[[], Awaitable[None]]
    policy: Callable[[str, str], Policy] = _no_policy
    session_rules: Callable[[], SessionRules] = _no_rules
    policy_path: str = ""
    is_root: bool = False
    first_run: bool = False
    rules: RuleController | None = None
    jobs: Callable[[], Jobs | None] = lambda: None
    context: Callable[[str, str], RiskContext] = no_context
    experience: Callable[[str, str], str] = lambda command, cwd: ""
    memory: Callable[[], Memory | None] = lambda: None
    undo: Callable[[], UndoStore] = _no_undo
    choose_session: Callable[..., str] = _as_written
    session_is_there: Callable[[str], bool] = lambda session_id: True
    branch: Callable[[RequestContext, Origin], RequestContext] = _no_branch
    left_open: Callable[[str], LeftOpen | None] = _nothing_left
    left_plan: Callable[[str, str], str] = lambda cwd, besides: ""
    first_offer: Callable[[LeftOpen], bool] = lambda found: True
    diagnose: Callable[[], Awaitable[tuple[Capability, ...]]] = _nothing_known
    plan_with: Callable[[str, str], tuple[str, bool]] = _as_asked

    @cached_property
    def engine(self) -> Engine:
        """The engine, built at the first use: a prompt can be drawn without it."""
        return self.make_engine()

    @property
    def settings(self) -> Settings:
        return self.loaded.settings


@dataclass(frozen=True, eq=False, repr=False)
class RuleController:
    """`path` is the person's own policy file, `session_rules()` what counts for this session only.

    `policy(cwd)` is everything that counts for a command in that folder, with the place it is held against.
    `record(text)` writes a line to the session log; it raises RecordingError, and then nothing is changed.
    """

    path: str
    session_rules: Callable[[], SessionRules]
    policy: Callable[[str], Policy]
    record: Callable[[str], None]

    def names(self, cwd: str) -> tuple[str, ...]:
        """Names of rules in force there, and so in use."""
        return tuple(rule.name for file in self.policy(cwd).files for rule in file.rules)
