"""A session controller over the real program, in this process: real log, real bash, a scripted planner, and what was told in a list."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent.app.composition import build_services, load
from agent.engine.context import RequestContext
from agent.frontends.line import CommandLine, Goal, OwnCommand, parse_line
from agent.frontends.session_controller import SessionController
from agent.frontends.signals import Signals
from agent.protocol.confirmations import Confirmation, ConfirmationRequest, Declined
from agent.protocol.errors import from_info
from agent.protocol.events.session import Failed
from tests.support.fakes import FakeEmitter
from tests.support.shared_helper import share_helper


class Nobody:
    """A confirmer that always says no."""

    async def confirm(self, request: ConfirmationRequest) -> Confirmation:
        return Declined(unattended=True)

    async def ask_word(self, request: ConfirmationRequest) -> str | None:
        return None


class SessionWorld:
    """`logs` is the session folder. `controller()` opens a session; `told` are the lines that the person saw."""

    def __init__(self, base: Path, monkeypatch: pytest.MonkeyPatch, *replies: Any, **settings: str) -> None:
        self.logs = base / "logs"
        self.work = base / "work"
        self.told: list[str] = []
        for folder in (base / "home", self.work):
            folder.mkdir(exist_ok=True)
        monkeypatch.setenv("HOME", str(base / "home"))
        for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "AGENT_SESSION_DIR"):
            monkeypatch.delenv(name, raising=False)
        script = base / "script.json"
        script.write_text(
            json.dumps({"reply": [{"text" if isinstance(each, str) else "json": each} for each in replies]})
        )
        flags = {
            "session_dir": str(self.logs),
            "cwd": str(self.work),
            "approve": "low",
            "planner": f"scripted:{script}",
            **settings,
        }
        share_helper(monkeypatch)
        self.services = build_services(load(flags))

    def controller(self, session_id: str | None = None, *, interactive: bool = True) -> SessionController:
        """A controller at a session, as the REPL has one."""
        return SessionController(
            services=self.services,
            ctx=self.services.open_session("repl", session_id, attended=interactive),
            emitter=FakeEmitter(),
            confirmer=Nobody(),
            signals=Signals(),
            tell=self.told.append,
            interactive=interactive,
            show=self._show,
        )

    async def type(self, controller: SessionController, *lines: str) -> None:
        """What somebody types, one line after another. Raises what a line raises."""
        for text in lines:
            await type_line(controller, text)

    async def _show(self, text: str) -> None:
        self.told.append(text)


async def type_line(controller: SessionController, text: str) -> None:
    """What a person types. Raises the error of a command."""
    line, emitter = parse_line(text), controller.emitter
    assert isinstance(emitter, FakeEmitter)
    if not isinstance(line, (Goal, OwnCommand, CommandLine)):
        return
    before = len(emitter.records)
    await controller.run(line)
    for record in emitter.records[before:] if isinstance(line, CommandLine) else ():
        if isinstance(record.event, Failed):
            raise from_info(record.event.error)


def goal_texts(ctx: RequestContext) -> list[str]:
    """The goals that a session knows of, earlier ones first."""
    return [goal.goal for goal in (*ctx.earlier_goals, *ctx.goals)]
