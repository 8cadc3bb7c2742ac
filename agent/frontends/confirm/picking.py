"""Ask which of several commands is meant: a digit or the arrows pick, anything else that is typed is the next goal."""

from __future__ import annotations

from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.input.typeahead import store_typeahead
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.key_binding.key_processor import KeyPressEvent
from prompt_toolkit.keys import Keys

from agent.frontends.confirm.enter_guard import EnterGuard
from agent.frontends.confirm.keys import took_early
from agent.frontends.confirm.questions import read_plain_line
from agent.frontends.prompt_app import build_app
from agent.frontends.screen import Screen
from agent.protocol.confirmations import Alternative
from agent.text.shown import shown_line


async def pick(screen: Screen, choices: tuple[Alternative, ...]) -> int:
    """The number of one of the choices, which stand above with their numbers; 0 for none, and where the terminal is gone."""
    try:
        if screen.dumb:
            return _number(
                await read_plain_line(screen, f"which one? {_numbers(choices)}, an empty line for none"), choices
            )
        return await _Picking(screen, choices).run()
    except (EOFError, OSError):
        return 0


def _numbers(choices: tuple[Alternative, ...]) -> str:
    return "1" if len(choices) == 1 else f"1-{len(choices)}"


def _number(text: str | None, choices: tuple[Alternative, ...]) -> int:
    given = (text or "").strip()
    return int(given) if given in {str(number) for number in range(1, len(choices) + 1)} else 0


class _Picking:
    """One line that shows which command the arrows are at. Keys from before it stood there pick nothing, and wait for the next goal."""

    def __init__(self, screen: Screen, choices: tuple[Alternative, ...]) -> None:
        self._screen = screen
        self._guard = EnterGuard(screen.dead_time, begun=screen.set_aside_typed_ahead(), ask=screen.ask_terminal)
        self._choices = choices
        self._at = 0  # none yet
        self._buffer = Buffer()
        self._app: Application[int] = build_app(
            screen, self._buffer, prefix=self._prefix, bindings=self._bindings(), toolbar=self._toolbar
        )
        self._app.after_render += lambda _: self._guard.painted()
        self._app.erase_when_done = True  # the command that was picked stands in the confirmation

    async def run(self) -> int:
        return await self._app.run_async(handle_sigint=False)

    def _prefix(self, line: int, wrap: int) -> StyleAndTextTuples:
        if line or wrap:
            return []
        if not self._at:
            return [("class:strong", f"{_numbers(self._choices)} "), ("class:arrow", "❯ ")]
        command = shown_line(self._choices[self._at - 1].command)
        return [("class:strong", f"{self._at} "), ("class:arrow", "❯ "), ("", command)]

    def _toolbar(self) -> StyleAndTextTuples:
        what = "Enter picks it" if self._at else "a number or ↑↓ picks"
        return [("", f" {what} · Esc none · or type the next goal")]

    def _bindings(self) -> KeyBindings:
        keys, last = KeyBindings(), len(self._choices)

        def answer(event: KeyPressEvent, number: int) -> None:
            event.app.exit(result=number)

        def is_early(text: str) -> bool:
            return took_early(self._guard, self._screen.set_aside, text)

        @keys.add(Keys.Ignore, eager=True)
        def _answered(event: KeyPressEvent) -> None:
            self._guard.answered(event.data)

        @keys.add("down")
        @keys.add("c-n")
        @keys.add("tab")
        def _down(event: KeyPressEvent) -> None:
            self._at = self._at % last + 1

        @keys.add("up")
        @keys.add("c-p")
        def _up(event: KeyPressEvent) -> None:
            self._at = self._at - 1 if self._at > 1 else last

        @keys.add("enter")
        def _enter(event: KeyPressEvent) -> None:
            if not is_early("\n"):
                answer(event, self._at)

        @keys.add("escape", eager=True)
        @keys.add("c-c")
        @keys.add("c-d")
        @keys.add("<sigint>")
        def _none(event: KeyPressEvent) -> None:
            answer(event, 0)

        @keys.add(Keys.Any)
        @keys.add(Keys.BracketedPaste)
        def _typed(event: KeyPressEvent) -> None:
            press = event.key_sequence[-1]
            if is_early(press.data):
                return
            number = _number(press.data, self._choices)
            if number:
                answer(event, number)
            elif press.key is Keys.BracketedPaste or press.data.isprintable():
                # It begins the next goal, and stands in the prompt for it.
                store_typeahead(event.app.input, event.key_sequence)
                answer(event, 0)

        return keys
