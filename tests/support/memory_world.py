"""Goals given and answered through the real program's parts, process after process, with one home, one log folder, one memory."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from agent.app.composition import build_services, load
from agent.engine.context import RequestContext
from agent.frontends.services import Services
from agent.frontends.session_controller import SessionController
from agent.frontends.signals import Signals
from agent.memory.service import Memory
from agent.protocol.confirmations import Approved, Confirmation, ConfirmationRequest, Skipped
from agent.protocol.messages import GoalItem
from tests.support.fakes import FakeEmitter
from tests.support.session_world import type_line
from tests.support.shared_helper import share_helper


class Person:
    """Says yes to what is proposed, or changes it as `edits` say. `asked` is what was shown."""

    def __init__(self, edits: Mapping[str, str] | None = None) -> None:
        self.edits = dict(edits or {})
        self.asked: list[ConfirmationRequest] = []

    async def confirm(self, request: ConfirmationRequest) -> Confirmation:
        self.asked.append(request)
        command = self.edits.get(request.proposal.command, request.proposal.command)
        return Approved(command=command) if command else Skipped()

    async def ask_word(self, request: ConfirmationRequest) -> str | None:
        return request.verdict.word


class MemoryWorld:
    """`session` is one process: a planner, lines that are typed, and a person who answers. `told` are our lines to them."""

    def __init__(self, base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.base = base
        self.logs = base / "logs"
        self.work = base / "work"
        self.state = base / "home" / ".local" / "state" / "agent-shell"
        self.told: list[str] = []
        self.answer = True
        self.services: Services | None = None
        for folder in (base / "home", self.work):
            folder.mkdir(exist_ok=True)
        monkeypatch.setenv("HOME", str(base / "home"))
        for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "AGENT_SESSION_DIR", "AGENT_MEMORY"):
            monkeypatch.delenv(name, raising=False)
        # What is asked here is what is known, not how long a busy machine takes to find it.
        refresh = Memory.refresh
        share_helper(monkeypatch)
        monkeypatch.setattr(Memory, "refresh", lambda memory, wait: refresh(memory, 30.0))
        monkeypatch.setattr("agent.memory.service.LEAVE_SECONDS", 30.0)

    def script(self, *replies: Any) -> str:
        """A planner that answers so, one reply after another."""
        path = self.base / "script.json"
        path.write_text(
            json.dumps({"reply": [{"text" if isinstance(each, str) else "json": each} for each in replies]})
        )
        return f"scripted:{path}"

    def taught(self, goal: str, command: str, *, edits: Mapping[str, str] | None = None, **flags: Any) -> Person:
        """A model proposed `command` for the goal, and the person accepted it."""
        reply = {"mode": "command", "command": command, "reason": ""}
        planner = self.script(reply, {"mode": "chat", "message": "done"})
        return self.session(planner, goal, edits=edits, **flags)

    def session(
        self,
        planner: str,
        *lines: str,
        edits: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        look: Callable[[RequestContext], None] | None = None,
        interactive: bool = True,
        **flags: Any,
    ) -> Person:
        """One process from its start to its end."""
        person = Person(edits)
        given = {"session_dir": str(self.logs), "cwd": str(cwd or self.work), "planner": planner, **flags}
        services = self.services = build_services(load(given))

        async def main() -> None:
            controller = SessionController(
                services=services,
                ctx=services.open_session("repl", attended=interactive),
                emitter=FakeEmitter(),
                confirmer=person,
                signals=Signals(),
                tell=self.told.append,
                interactive=interactive,
                ask=self._ask,
                show=self._show,
            )
            try:
                for text in lines:
                    await type_line(controller, text)
                if look is not None:
                    look(controller.ctx)
            finally:
                await controller.close()
                await services.shutdown()

        asyncio.run(main())
        return person

    def context_of(self, planner: str, goal: str, **flags: Any) -> str:
        """What a planner was told beside a goal."""
        texts: list[str] = []

        def look(ctx: RequestContext) -> None:
            texts.extend(block.text for item in ctx.history if isinstance(item, GoalItem) for block in item.context)

        self.session(planner, goal, look=look, **flags)
        return "\n".join(texts)

    async def _ask(self, question: str) -> bool:
        self.told.append(question)
        return self.answer

    async def _show(self, text: str) -> None:
        self.told.append(text)


def proposed(person: Person) -> list[str]:
    """The commands that were proposed, in order."""
    return [request.proposal.command for request in person.asked]
