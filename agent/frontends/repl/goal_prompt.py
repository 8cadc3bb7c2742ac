"""Ask for goals: history, suggestions, completion, a toolbar."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from prompt_toolkit.application import Application
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import Completer
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition, emacs_mode, vi_insert_mode
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import History
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.key_binding.key_processor import KeyPressEvent

from agent.frontends.confirm.enter_guard import EnterGuard
from agent.frontends.prompt_app import Panel, build_app, editor_rows, vi_letter
from agent.frontends.repl.goal_completion import GoalCompleter
from agent.frontends.repl.pasting import Pasted
from agent.frontends.repl.toolbar import SWITCH_KEY, TypedBadge
from agent.frontends.screen import Screen
from agent.frontends.wrapping import rows_of

if TYPE_CHECKING:
    from agent.commands.context import CommandServices
    from agent.frontends.repl.history_search_view import HistorySearch
    from agent.frontends.typed.reading import Chosen, Typed

Toolbar = Callable[[], str]
Marks = Callable[[], StyleAndTextTuples]


class GoalPrompt:
    """Reads one line (or several, with Alt-Enter) at a time; the same buffer and history for the whole process.

    `is_talk`: lines are answers, of which a paste is one, and Ctrl-C leaves where it has nothing to clear.
    """

    def __init__(
        self,
        screen: Screen,
        history: History,
        *,
        toolbar: Toolbar,
        marks: Marks,
        cwd: Callable[[], str],
        edit_mode: str = "emacs",
        after_first_render: Callable[[], None] = lambda: None,
        search: Callable[[str], HistorySearch] | None = None,
        services: Callable[[], CommandServices] | None = None,
        read_typed: Callable[[str], Typed] | None = None,
        completer: Completer | None = None,
        panel: Panel | None = None,
        more_keys: Callable[[KeyBindings], None] = lambda keys: None,
        is_talk: bool = False,
    ) -> None:
        self._is_talk = is_talk
        self._badge = TypedBadge(read_typed)
        self._toolbar = toolbar
        self._marks = marks
        self._hint = ""
        self._rendered = False
        self._after_first_render = after_first_render
        self._search = search
        self._searching = False
        self._list: HistorySearch | None = None
        self._left = False
        self._screen = screen
        self._guard = EnterGuard(0)
        self.shown_whole = True  # all that was sent stood on the screen at once
        self._buffer = Buffer(
            history=history,
            completer=completer or GoalCompleter(cwd, services),
            complete_while_typing=Condition(lambda: self._buffer.text[:1] == ":"),
            auto_suggest=AutoSuggestFromHistory(),
            enable_history_search=True,
            multiline=True,
        )
        self._pasted = Pasted(self._buffer, parts=not is_talk)
        self.app: Application[Any] = build_app(
            screen,
            self._buffer,
            prefix=self._prefix,
            bindings=self._bindings(more_keys),
            toolbar=self._bar,
            panel=panel,
            edit_mode=edit_mode,
            for_goals=True,
            on_paste=self._paste,
        )
        self.app.after_render += self._on_render
        self._buffer.on_text_changed += lambda _: self._changed()

    async def read(self) -> str | None:
        """The next line; None for Ctrl-D and the end of input. Raises OSError when the terminal is gone."""
        text, hint = self._pasted.next()
        if text or self._screen.ahead:  # keys that were pressed before it stood there do not send it
            self._screen.set_aside_typed_ahead()
        text = text or self._screen.typed_ahead()
        self._left = False
        while True:
            self._buffer.reset(Document(text))
            self._badge.reset()
            self._guard = EnterGuard(self._screen.dead_time if text else 0)
            self._hint, hint = hint, ""
            self._searching = False
            try:
                line: str | None = await self.app.run_async(handle_sigint=False)
            except EOFError:
                return None
            finally:
                self._guard.other_key()
            if not self._searching:
                await self._screen.first_answer()
                return line
            text = await self._chosen(line or "")
            if self._left:
                return None

    async def _chosen(self, text: str) -> str:
        """Let the person choose from the history, else keep the line as it was. The choice only goes into the line."""
        assert self._search is not None
        self.app.erase_when_done = False
        self._list = self._search(text)
        try:
            chosen = await self._list.choose()
        finally:
            self._list = None
        return text if chosen is None else chosen

    @property
    def chosen(self) -> Chosen:
        """The line as the person made it: a command, or a goal; "" for what it reads as."""
        return self._badge.chosen

    def leave(self) -> None:
        """End the prompt as Ctrl-D does (signals)."""
        self._left = True
        if self._list is not None:
            self._list.leave()
        if self.app.is_running and not self.app.is_done:
            self.app.exit(result=None)

    def _prefix(self, line: int, wrap: int) -> StyleAndTextTuples:
        if line or wrap:
            return [("class:hint", "· " if wrap == 0 else "  ")]
        return [*self._marks(), ("class:arrow", "❯ ")]

    def _bar(self) -> StyleAndTextTuples:
        badge = self._badge.words(self._buffer.text)
        return [("", f" {self._hint or ' · '.join(filter(None, (badge, self._toolbar())))}{vi_letter(self.app)}")]

    def _on_render(self, _: Application[Any]) -> None:
        self._guard.painted()
        if not self._rendered:
            self._rendered = True
            self._screen.try_terminal()
            self._after_first_render()

    def _changed(self) -> None:
        self._guard.other_key()
        if not self._buffer.text:
            self._guard = EnterGuard(0)  # what had stood there is gone: the rest is typed, and its Enter sends it

    def _send(self, app: Application[Any]) -> None:
        if app.is_done:
            return
        self.shown_whole = rows_of(self._buffer.text, self._screen.columns) <= editor_rows(self._screen)
        text = self._pasted.first(self._buffer.text)
        if text != self._buffer.text:
            self._buffer.document = Document(text)
        self._buffer.append_to_history()
        app.exit(result=text)

    def _paste(self, text: str) -> None:
        self._hint = self._pasted.take(text)

    def _bindings(self, more_keys: Callable[[KeyBindings], None]) -> KeyBindings:
        keys = KeyBindings()
        more_keys(keys)
        buffer = self._buffer

        def in_goal() -> bool:
            return self.app.layout.has_focus(buffer)

        focused = Condition(in_goal)

        @keys.add("enter", filter=focused)
        def _accept(event: KeyPressEvent) -> None:
            state = buffer.complete_state
            if state is not None and state.current_completion is not None:
                buffer.complete_state = None  # Enter takes the completion that is lit; the next one sends
                return
            self._guard.pressed(lambda: self._send(event.app))

        @keys.add("escape", "enter", filter=focused & emacs_mode)
        def _newline(event: KeyPressEvent) -> None:
            buffer.insert_text("\n")

        @keys.add(SWITCH_KEY, filter=focused)
        def _switch(event: KeyPressEvent) -> None:
            self._badge.switch(buffer.text)

        @keys.add("escape", "1", filter=focused & emacs_mode)
        def _as_one(event: KeyPressEvent) -> None:
            self._hint = self._pasted.as_one()

        @keys.add("c-c", filter=focused)
        @keys.add("<sigint>", filter=focused)
        def _clear(event: KeyPressEvent) -> None:
            if self._is_talk and not buffer.text:
                event.app.exit(result=None)
                return
            self._hint = self._pasted.drop() or ("" if buffer.text else "Ctrl-D or exit leaves")
            buffer.reset(Document())
            self._changed()

        @keys.add("c-r", filter=focused & Condition(lambda: self._search is not None) & (emacs_mode | vi_insert_mode))
        def _search(event: KeyPressEvent) -> None:
            self._searching = True
            event.app.erase_when_done = True  # the list takes the place of the line, and the line comes back
            event.app.exit(result=buffer.text)

        @keys.add("c-d", filter=focused & Condition(lambda: not buffer.text))
        def _end(event: KeyPressEvent) -> None:
            event.app.exit(result=None)

        return keys
