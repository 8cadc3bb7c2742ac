"""Hold interviews as a mode of the REPL: each in a session of its own, which is left and gone on with; ask for their answers."""

from __future__ import annotations

import os
import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from functools import partial

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.key_binding.key_processor import KeyPressEvent

from agent.audit.queries.choosing import NEWEST
from agent.conversation.registry.registry import DEFAULT, engine_id, registry
from agent.frontends.confirm.questions import read_plain_goal
from agent.frontends.interview.conversation import Conversation
from agent.frontends.interview.handing_over import known_block
from agent.frontends.interview.side_panel import PANEL_KEY, PanelSwitch
from agent.frontends.repl.goal_prompt import GoalPrompt
from agent.frontends.repl.toolbar import prompt_marks
from agent.frontends.screen import Screen
from agent.frontends.session_controller import SessionController
from agent.frontends.session_naming import interview_named
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
        beside = ours.beside(opened, emitter)
        conversation = Conversation(beside, engine, AnswerPrompt, switch, repl=self)
        self._conversations.append(conversation)
        return conversation

    async def begin_line(self) -> None:
        await self.controller.record_jobs()

    async def do(self, line: str, *, asked: bool) -> bool:
        """Do a line of the REPL; tell whether that leads away from the interview. `asked` as `OwnCommand` has it. Raises CoreError."""
        before = self.controller.ctx
        left = await self.do_line(line, asked)
        if not left and self.controller.ctx is before:
            await self._conversations[-1].controller.take_choices(before)  # another model, what may run
            return False
        return True

    def know(self, text: str) -> None:
        """Have the planner know what was found out."""
        self.context = (known_block(text),)
        self.controller.tell("the planner knows all of that with your next goal; say what it shall do first")

    def take_context(self) -> tuple[ContextBlock, ...]:
        """Hand out what was kept for the next goal, once."""
        given, self.context = self.context, ()
        return given

    async def close(self, reason: str) -> None:
        for each in self._conversations:
            await each.controller.close(reason)


NAME = "interview"


class AnswerPrompt:
    """Reads the answers of `talk` at `screen`."""

    def __init__(self, talk: Conversation, screen: Screen) -> None:
        self._talk = talk
        self._screen = screen
        self._prompt = None if screen.dumb else self._answers()

    def _answers(self) -> GoalPrompt:
        services = self._talk.controller.services
        return GoalPrompt(
            self._screen,
            InMemoryHistory(),
            toolbar=self._talk.toolbar,
            marks=lambda: self._marks(is_root=services.is_root),
            cwd=str,
            edit_mode=services.settings.edit_mode,
            completer=_Commands(self._talk),
            panel=lambda: self._talk.panel(self._screen.columns, self._screen.rows),
            more_keys=self._bind,
            is_talk=True,
        )

    def _marks(self, *, is_root: bool) -> StyleAndTextTuples:
        safety_off = self._talk.controller.ctx.safety_off
        return [*prompt_marks(is_root=is_root, safety_off=safety_off), ("class:strong", f"{NAME} ")]

    async def read(self) -> str | None:
        """The next line; None for Ctrl-D, Ctrl-C on an empty line, a signal that ends the program. Raises OSError."""
        signals = self._talk.controller.signals
        if signals.ended_by is not None:
            return None
        if self._prompt is None:
            return await read_plain_goal(self._screen, signals, NAME)
        with signals.ending_prompt(self._prompt.leave):
            return await self._prompt.read()

    @property
    def shown_whole(self) -> bool:
        """Tell whether all of the last line stood on the screen at once."""
        return self._prompt is None or self._prompt.shown_whole

    def _bind(self, keys: KeyBindings) -> None:
        @keys.add(PANEL_KEY)
        def _switch(event: KeyPressEvent) -> None:
            self._talk.switch.wanted = not self._talk.switch.wanted


class _Commands(Completer):
    """Completes `:` lines; an answer is the person's own."""

    def __init__(self, talk: Conversation) -> None:
        self._talk = talk

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        text = document.text_before_cursor
        if text[:1] != ":" or "\n" in text:
            return ()
        name, blank, rest = text[1:].partition(" ")
        return self._talk.completions(name, rest if blank else None)
