"""Ask for the answers of an interview: the prompt for goals, with completion of its own, and the panel beside it."""

from __future__ import annotations

from collections.abc import Iterable

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.key_binding.key_processor import KeyPressEvent

from agent.frontends.confirm.questions import read_plain_goal
from agent.frontends.interview.conversation import Conversation
from agent.frontends.interview.side_panel import PANEL_KEY
from agent.frontends.repl.goal_prompt import GoalPrompt
from agent.frontends.repl.toolbar import prompt_marks
from agent.frontends.screen import Screen

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
