"""Hold interviews as a mode of the REPL: each in a session of its own, which is left and gone on with."""

from __future__ import annotations

import os
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from functools import partial

from agent.audit.queries.choosing import NEWEST
from agent.conversation.shipped import DEFAULT, engine_id, registry
from agent.frontends.interview.choosing import interview_named
from agent.frontends.interview.conversation import Conversation, known_block
from agent.frontends.interview.side_panel import PanelSwitch
from agent.frontends.repl.answer_prompt import AnswerPrompt
from agent.frontends.screen import Screen
from agent.frontends.session_controller import SessionController
from agent.protocol.messages import ContextBlock
from agent.waiting import in_thread

_SESSION = re.compile(r"\d[\w-]*")
"""The id of one or its beginning, which no engine's id looks like."""


@dataclass(eq=False)
class InterviewMode:
    """Those of the REPL at `controller`. `do_line(line, asked)` does what is typed there, and tells whether that was good-bye.

    `context`: what the planner is to know with the next goal.
    """

    controller: SessionController
    screen: Screen
    do_line: Callable[[str, bool], Awaitable[bool]]
    context: tuple[ContextBlock, ...] = ()
    _conversations: list[Conversation] = field(default_factory=list)
    _switch: PanelSwitch = field(init=False)

    def __post_init__(self) -> None:
        self._switch = PanelSwitch(wanted=self.controller.services.settings.panel)

    async def talk(self, argument: str) -> None:
        """Hold the interview that `argument` means: `ENGINE WORDS`, a session, or "" for the one that was left. Raises CoreError."""
        wanted: str | None = argument
        try:
            while wanted is not None:
                named, first = self._parted(wanted)
                conversation = await self._chosen(named)
                self._conversations.remove(conversation)
                self._conversations.append(conversation)
                await conversation.controller.take_choices(self.controller.ctx)
                conversation.controller.take_signals()
                await conversation.talk(self.screen, first)
                wanted = conversation.then
        finally:
            self.controller.take_signals()

    def _parted(self, argument: str) -> tuple[str, str]:
        """The engine and what to begin with; a folder is one that is seen from where commands run."""
        word, _, first = argument.partition(" ")
        for named, rest in ((argument, ""), (word, first.strip())):
            folder = os.path.join(self.controller.ctx.cwd, os.path.expanduser(named))
            if named and named not in registry().ids() and os.path.isdir(folder):
                return folder, rest
        return word, first.strip()

    async def _chosen(self, named: str) -> Conversation:
        """The newest one of that engine that has not ended, else a new one; or that of a session. Raises CoreError."""
        if named == NEWEST or _SESSION.fullmatch(named):
            session = await in_thread(partial(interview_named, self.controller.services, named))
            known = [each for each in self._conversations if each.controller.ctx.session_id == session.session_id]
            return known[-1] if known else await self._opened(DEFAULT, session.session_id)
        wanted = engine_id(named) if named else ""
        registry().get(wanted or DEFAULT)
        for each in reversed(self._conversations):
            if not each.memory().ended and wanted in ("", each.engine().config.engine_id):
                return each
        return await self._opened(wanted or DEFAULT, None)

    async def _opened(self, engine: str, session: str | None) -> Conversation:
        ours, services = self.controller, self.controller.services
        opened = await services.opened("repl", session, cwd=ours.ctx.cwd, attended=True, profile="interview")
        switch = self._switch
        emitter = services.make_emitter(at_prompt=True, interview=lambda: switch.stands)
        beside = replace(ours, ctx=opened, emitter=emitter)
        conversation = Conversation(beside, engine, AnswerPrompt, switch, repl=self)
        self._conversations.append(conversation)
        return conversation

    async def begin_line(self) -> None:
        await self.controller.record_jobs()

    async def do(self, line: str, *, asked: bool) -> bool:
        """Raises CoreError."""
        before = self.controller.ctx
        left = await self.do_line(line, asked)
        if not left and self.controller.ctx is before:
            await self._conversations[-1].controller.take_choices(before)  # another model, what may run
            return False
        return True

    def know(self, text: str) -> None:
        self.context = (known_block(text),)
        self.controller.tell("the planner knows all of that with your next goal; say what it shall do first")

    def take_context(self) -> tuple[ContextBlock, ...]:
        """Hand out what was kept for the next goal, once."""
        given, self.context = self.context, ()
        return given

    async def close(self, reason: str) -> None:
        for each in self._conversations:
            await each.controller.close(reason)
