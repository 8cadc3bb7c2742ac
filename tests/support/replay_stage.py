"""The stage on which kept logs are recorded: real parts in a throw-away folder, a scripted model and a person who answers in order."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace as with_fields

from agent.app.composition import build_services, load
from agent.engine.context import AppState
from agent.frontends.line import parse_line
from agent.frontends.session_controller import SessionController
from agent.frontends.signals import Signals
from agent.planner.facts.facts import SystemFacts
from agent.planner.llm import LLMPlanner
from agent.planner.offline.planner import OfflinePlanner
from agent.protocol.confirmations import Approved, Confirmation, ConfirmationRequest
from agent.protocol.decisions import RiskContext
from agent.protocol.messages import ContinuationKind, EnvironmentFacts, ToolCall, UserInput
from agent.protocol.outcomes import RunOutcome
from agent.protocol.ports import PreviewOf
from agent.protocol.records import Record
from agent.protocol.requests import Limits, RunOptions
from agent.providers.scripted import Scripted, ScriptedReply
from agent.tools.own_tools import WriteFile
from tests.support.fake_rehearser import FakeReviewer

REPLAYS = Path(__file__).resolve().parents[1] / "replays"
STAGE = Path("/tmp/agent-replays")  # it stands in the logs, so it is the same everywhere


async def _unseen(text: str) -> None:
    """Nobody looks at long texts here."""


class StageFacts(SystemFacts):
    """The real facts of paths, on a machine that is nobody's: so that logs do not tell where they were recorded."""

    async def environment(self, cwd: str) -> EnvironmentFacts:
        return EnvironmentFacts(
            os="Linux", shell="bash", cwd=cwd, home=str(STAGE / "home"), tools=("git",), date="2030-01-02"
        )

    def risk_context(self, command: str, cwd: str) -> RiskContext:
        return with_fields(super().risk_context(command, cwd), is_root=False)


class Onlooker:
    """An emitter that acts when something happens: `on(record)` is called with each record."""

    def __init__(self) -> None:
        self.on: Callable[[Record], None] = lambda record: None

    async def emit(self, record: Record) -> None:
        self.on(record)

    def output(self, stream: str, data: bytes) -> None:
        pass


class Typed(Struct, frozen=True, tag="typed"):
    """Edits that stood there long enough to be previewed, and Enter at the last one."""

    texts: tuple[str, ...]


async def as_shown(request: ConfirmationRequest) -> Confirmation:
    """Enter, at what stands there."""
    return request.as_shown


class Person(FakeReviewer):
    """Answers in order; an answer that is a function is called, and what it returns is the answer."""

    async def confirm(self, request: ConfirmationRequest) -> Confirmation:
        answer: Any = await super().confirm(request)
        return await answer(request) if callable(answer) else answer

    async def confirm_live(self, request: ConfirmationRequest, preview: PreviewOf) -> Confirmation:
        answer = await self.confirm(request)
        if not isinstance(answer, Typed):
            return answer
        seen = [await preview(text) for text in answer.texts][-1]
        return Approved(command=answer.texts[-1], seen="" if seen is None else seen.preview_id)

    async def review(self, request: ConfirmationRequest, rehearsal: Any) -> Any:
        answer: Any = await super().review(request, rehearsal)
        return await answer(rehearsal) if callable(answer) else answer


@dataclass
class GoalContext:
    """One open session, and what can be done in it."""

    controller: SessionController
    services: Any
    work: Path

    async def goal(
        self,
        text: str | ContinuationKind,
        *replies: ScriptedReply | str | Any,
        answers: tuple[Any, ...] = (),
        words: tuple[str | None, ...] = (),
        reviews: tuple[Any, ...] = (),
        codec: str = "mode-json",
        on: Callable[[Record], None] | None = None,
        **changes: Any,
    ) -> RunOutcome:
        """A typed line (`!cmd`, `:retry`, or words), with what the model says and what the person answers."""
        if replies:
            redactor = self.controller.ctx.redactor
            script = [
                reply if isinstance(reply, (ScriptedReply, str)) else ScriptedReply(json=reply) for reply in replies
            ]
            self.controller.ctx.planner = LLMPlanner(Scripted(script), "scripted-1", redactor=redactor, codec=codec)
        else:
            self.controller.ctx.planner = OfflinePlanner(tools_present=lambda name: name == "git")
        self.controller.confirmer = Person(*answers, reviews=reviews, words=words)
        self.controller.emitter.on = on or (lambda record: None)  # type: ignore[attr-defined]  # an Onlooker
        own = self.controller._options
        if changes:
            self.controller._options = lambda token: _changed(own(token), changes)  # type: ignore[method-assign]
        try:
            if isinstance(text, ContinuationKind):
                return await self.controller.send(UserInput.from_continuation(text))
            line = parse_line(text)
            return await self.controller.run(line)  # type: ignore[arg-type]  # what a situation types is a goal or a command
        finally:
            self.controller._options = own  # type: ignore[method-assign]


def _changed(options: RunOptions, changes: dict[str, Any]) -> RunOptions:
    approval = {key: value for key, value in changes.items() if hasattr(options.approval, key)}
    limits = {key: value for key, value in changes.items() if key in Limits.__struct_fields__}
    rest = {key: value for key, value in changes.items() if key not in approval and key not in limits}
    return with_fields(
        options,
        approval=with_fields(options.approval, **approval),
        limits=with_fields(options.limits, **limits),
        **rest,
    )


class Stage:
    """Where one log is recorded: a folder to work in, and sessions over it."""

    def __init__(self, name: str) -> None:
        self.name = name
        shutil.rmtree(STAGE, ignore_errors=True)
        self.work = STAGE / "work"
        for folder in (self.work, STAGE / "home", STAGE / "sessions"):
            folder.mkdir(parents=True)
        self.environ = {
            "HOME": str(STAGE / "home"), "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "TERM": "dumb",
            "XDG_STATE_HOME": str(STAGE / "state"), "XDG_CONFIG_HOME": str(STAGE / "config"),
            "DEPLOY_TOKEN": "zq81-Wm44-pPx9-secret-value",
        }  # fmt: skip

    @asynccontextmanager
    async def session(
        self, *, interactive: bool = True, tools: bool = False, **flags: Any
    ) -> AsyncIterator[GoalContext]:
        """The log's session, opened or gone on with."""
        own = {
            "session_dir": str(STAGE / "sessions"),
            "session_id": self.name,
            "cwd": str(self.work),
            "planner": "offline",
        }
        services = build_services(load({**own, **flags}))
        app: AppState = services.engine.app
        services.engine.app = with_fields(
            app, facts=StageFacts(), is_root=False, tools={"write_file": WriteFile(str(self.work))} if tools else {}
        )
        controller = SessionController(
            services=services,
            ctx=services.open_session("repl", self.name),
            emitter=Onlooker(),
            confirmer=Person(),
            signals=Signals(),
            tell=lambda text: None,
            interactive=interactive,
            show=_unseen,
        )
        try:
            yield GoalContext(controller, services, self.work)
        finally:
            await controller.close()
            await services.shutdown()

    def keep(self) -> None:
        """Put the log where the tests find it."""
        (log,) = (STAGE / "sessions").glob("*.jsonl")
        REPLAYS.mkdir(exist_ok=True)
        shutil.copyfile(log, REPLAYS / f"{self.name}.jsonl")
        os.chmod(REPLAYS / f"{self.name}.jsonl", 0o644)


def says(text: str) -> dict[str, Any]:
    return {"mode": "chat", "message": text}


def runs(command: str, reason: str = "", **more: Any) -> dict[str, Any]:
    return {"mode": "command", "command": command, "reason": reason or "because it was asked for", **more}


def calls(*named: tuple[str, dict[str, Any]], text: str = "") -> ScriptedReply:
    made = tuple(ToolCall(id=f"c{place}", name=name, arguments=given) for place, (name, given) in enumerate(named, 1))
    return ScriptedReply(text=text, tool_calls=made)
