"""Commands through the engine as any front end gives them: doubles of what does I/O, and a person who is told and asked."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from msgspec import structs

from agent.commands.context import Person
from agent.commands.registry import parse_meta
from agent.engine.context import AppState, RequestContext
from agent.engine.engine import Engine
from agent.engine.goal_loop import GoalLoop
from agent.protocol.commands import Command
from agent.protocol.errors import from_info
from agent.protocol.events.known import Event
from agent.protocol.events.session import CoreCommandFinished, Failed
from agent.protocol.execution import CancellationToken
from agent.protocol.outcomes import RunOutcome
from agent.protocol.ports import Confirmer
from agent.protocol.requests import Approval, RunOptions, RunRequest
from tests.support.fakes import (
    FakeEmitter,
    FakeExecutor,
    FakePlanner,
    FakeRecorder,
    FakeRedactor,
    make_app,
    say,
)
from tests.support.session_world import Nobody


class CommandWorld:
    """One session. `told` is what the person saw, in order; `asked` what they were asked; `yes` None: nobody can be asked.

    `hidden`: what they answer unseen, None: nobody can; `revealed`: what was shown to them alone.
    """

    def __init__(
        self,
        *,
        services: dict[str, Any] | None = None,
        app: dict[str, Any] | None = None,
        yes: bool | None = True,
        letters: Sequence[str] = (),
        hidden: Sequence[str | None] | None = None,
        interactive: bool = True,
        cwd: str = "/work",
        **session: Any,
    ) -> None:
        planner = FakePlanner(say())
        made = make_app(planner)
        self.app: AppState = structs.replace(
            made, services=structs.replace(made.services, **(services or {})), **(app or {})
        )
        self.recorder = FakeRecorder()
        self.context = RequestContext(
            **{
                "recorder": self.recorder,
                "planner": planner,
                "redactor": FakeRedactor(),
                "strategy": GoalLoop(),
                "base": cwd,
                "executor": FakeExecutor(cwd=cwd),
                **session,
            }
        )
        self.planner = planner
        self.emitter = FakeEmitter()
        self.confirmer: Confirmer = Nobody()
        self.told: list[str] = []
        self.asked: list[str] = []
        self.interactive = interactive
        self.cancel = CancellationToken()
        self._yes = yes
        self._letters = list(letters)
        self._hidden = None if hidden is None else list(hidden)
        self.revealed: list[str] = []

    async def _show(self, text: str) -> None:
        self.told.append(text)

    async def _ask(self, question: str) -> bool:
        self.asked.append(question)
        return bool(self._yes)

    async def _answer_unseen(self, question: str) -> str | None:
        self.asked.append(question)
        assert self._hidden is not None
        return self._hidden.pop(0)

    async def _choose(self, about: str, question: str, letters: str) -> str:
        self.asked.append(about)
        return self._letters.pop(0)

    @property
    def person(self) -> Person:
        asking: dict[str, Any] = {} if self._yes is None else {"ask": self._ask, "choose": self._choose}
        if self._hidden is not None:
            asking |= {"hidden": self._answer_unseen, "reveal": self.revealed.append}
        return Person(tell=self.told.append, show=self._show, **asking)

    async def run(self, command: Command, *, person: Person | None = None) -> RunOutcome:
        """What a front end does; `person` None: one that has nobody."""
        approval = Approval(interactive=self.interactive)
        options = RunOptions(cancel=self.cancel, approval=approval)
        request = RunRequest(command=command, options=options)
        return await Engine(self.app).run(self.context, request, self.emitter, self.confirmer, person=person)

    def do(self, given: str | Command) -> RunOutcome:
        """A typed line, or a command as a value. Raises what the run says is wrong."""
        command = parse_meta(given) if isinstance(given, str) else given
        assert command is not None, f"{given} is no command"
        before = len(self.emitter.records)
        outcome = asyncio.run(self.run(command, person=self.person))
        for event in self.events(before):
            if isinstance(event, Failed):
                raise from_info(event.error)
        return outcome

    def events(self, since: int = 0) -> list[Event]:
        return [record.event for record in self.emitter.records[since:]]

    @property
    def result(self) -> CoreCommandFinished:
        """What the newest command came to."""
        found = [event for event in self.events() if isinstance(event, CoreCommandFinished)]
        return found[-1]
