"""Name the services that the composition root hands to every front end, among them who adds rules to the policy."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from agent.config.load import Loaded
from agent.config.settings import Settings
from agent.frontends.live_rating import no_context
from agent.policy.model import OF_SESSION, Policy, PolicyFile, SessionRules
from agent.protocol.events.known import Event
from agent.protocol.events.session import RuleAdded, RuleRemoved
from agent.protocol.execution import Capability, Processes, UndoStore
from agent.protocol.ports import Emitter

if TYPE_CHECKING:
    from agent.engine.context import RequestContext
    from agent.engine.engine import Engine
    from agent.protocol.decisions import RiskContext, RiskReport
    from agent.recording.left_open import LeftOpen


class RuleController(Struct, frozen=True, eq=False):
    """`path` is the person's own policy file, `rules` what counts for the session only.

    `policy(cwd)` is everything that counts for a command in that folder, with the place it is held against.
    `record` puts an event into the session's log and shows it; it raises RecordingError, and then nothing is changed.
    """

    path: str
    rules: SessionRules
    policy: Callable[[str], Policy]
    record: Callable[[Event], Awaitable[None]]

    def names(self, cwd: str) -> tuple[str, ...]:
        """Names of rules in force there, and so in use."""
        return tuple(rule.name for file in self.policy(cwd).files for rule in file.rules)

    async def add(self, text: str, parsed: PolicyFile, *, for_session: bool, date: str) -> str:
        """Keep the rules of `text`, which were `parsed` from it; "" or why that was not possible. Raises RecordingError."""
        import asyncio

        from agent.policy.store import add_rules

        names, where = tuple(rule.name for rule in parsed.rules), OF_SESSION if for_session else self.path
        await self.record(RuleAdded(rules=names, where=where, text=text))
        if for_session:
            trouble = self.rules.add(parsed.rules)
        else:
            trouble = await asyncio.to_thread(add_rules, self.path, text, date=date)
        if trouble:
            await self.record(RuleRemoved(rules=names, where=where, reason=trouble))
        return trouble


async def _nothing_known() -> tuple[Capability, ...]:
    return ()


class Services(Struct, frozen=True, eq=False, dict=True):
    """The engine with what a front end needs beside it.

    `open_session(frontend, session_id=None, cwd=None, …)` opens a new session (None) or goes on in a named one, as `SessionFactory.open`
    does; `cwd` None: where the settings say. Raises CoreError.
    `choose_session(wanted, attended=, besides=)` is the id that the beginning of one, or `last`, means; `session_is_there(id)` says
    whether it is kept already.
    `left_open(besides)` is a session that a crash ended in the middle of a goal; `first_offer` says whether nobody was told of it yet.
    `make_emitter(at_prompt=False, interview=None)` builds the emitter for the person's terminal or, with `--json`, for stdout.
    `rate(command, cwd, session)` rates for display while typing; cheap enough for every keystroke.
    `context(command, cwd, session)` is what it holds the command against, for explanations.
    `policy(cwd)` is what the policy files say now; `policy_path` is the person's own file.
    `experience(command, cwd)` is a line about how such commands went.
    `undo_words(report, cwd)`: in words, whether a run there could be taken back.
    `warm()` loads in the background what the first goal will need, `warm_shells()` what the first command or preview of a session will.
    `undo()` is the store of runs that can be taken back; raises CoreError where there is none.
    `hand_unread(to)`: where goes what was typed while a command ran, and that did not read.
    `diagnose()` tries what confinement, rehearsal, undo and limits need here.
    `rules(session)` is where "always allow" puts rules; without it that is not offered.
    """

    loaded: Loaded
    make_engine: Callable[[], Engine]
    processes: Processes
    open_session: Callable[..., RequestContext]
    make_emitter: Callable[..., Emitter]
    rate: Callable[..., RiskReport]
    warm: Callable[[], None]
    shutdown: Callable[[], Awaitable[None]]
    undo: Callable[[], UndoStore]
    policy: Callable[[str], Policy] = lambda cwd: Policy()
    policy_path: str = ""
    is_root: bool = False
    first_run: bool = False
    rules: Callable[[str], RuleController] | None = None
    context: Callable[..., RiskContext] = no_context
    experience: Callable[[str, str], str] = lambda command, cwd: ""
    undo_words: Callable[[RiskReport, str], str] = lambda report, cwd: ""
    warm_shells: Callable[[], None] = lambda: None
    hand_unread: Callable[[Callable[[str], None]], None] = lambda to: None
    choose_session: Callable[..., str] = lambda wanted, **besides: wanted
    session_is_there: Callable[[str], bool] = lambda session_id: True
    left_open: Callable[[str], LeftOpen | None] = lambda besides: None
    first_offer: Callable[[LeftOpen], bool] = lambda found: True
    diagnose: Callable[[], Awaitable[tuple[Capability, ...]]] = _nothing_known

    __repr__ = object.__repr__  # settings hold keys

    async def opened(self, frontend: str, session_id: str | None = None, **besides: Any) -> RequestContext:
        """`open_session` off the loop: looking through the folder, reading a past and waiting for the disk take their time.

        Whoever gives up meanwhile leaves a log with its end. Raises CoreError.
        """
        from agent.waiting import completed

        ctx, cancelled = await completed(lambda: self.open_session(frontend, session_id, **besides))
        if cancelled is not None:
            await self.engine.close(ctx, reason="cancelled")
            raise cancelled
        return ctx

    @cached_property
    def engine(self) -> Engine:
        """The engine, built at the first use: a prompt can be drawn without it."""
        return self.make_engine()

    @property
    def settings(self) -> Settings:
        return self.loaded.settings

    @property
    def has_terminal(self) -> bool:
        """Tell whether a front end at standard input and output has a terminal that commands may use."""
        return sys.stdin.isatty() and sys.stdout.isatty() and not self.settings.json
