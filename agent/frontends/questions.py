"""Small questions at the terminal: one line of text, or one key."""

from __future__ import annotations

from collections.abc import Collection

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.key_binding.key_processor import KeyPressEvent
from prompt_toolkit.keys import Keys

from agent.frontends.prompt_app import Prefix, build_app
from agent.frontends.screen import Screen


async def ask_line(screen: Screen, prompt: StyleAndTextTuples, *, edit_mode: str = "emacs") -> str | None:
    """One line of text; None for Ctrl-C and Ctrl-D. Raises EOFError and OSError where the terminal is gone."""
    keys = KeyBindings()

    @keys.add("enter")
    def _accept(event: KeyPressEvent) -> None:
        event.app.exit(result=event.current_buffer.text)

    @keys.add("c-c")
    @keys.add("c-d")
    @keys.add("<sigint>")
    def _cancel(event: KeyPressEvent) -> None:
        event.app.exit(result=None)

    app = build_app(screen, Buffer(multiline=False), prefix=_first_row(prompt), bindings=keys, edit_mode=edit_mode)
    answer: str | None = await app.run_async(handle_sigint=False)
    return answer


async def ask_key(screen: Screen, prompt: StyleAndTextTuples, keys: Collection[str]) -> str | None:
    """One of `keys` (single characters); None for Ctrl-C, Ctrl-D and Escape. Any other key, Enter and pastes too, does nothing."""
    bindings = KeyBindings()

    def bind(key: str) -> None:
        @bindings.add(key)
        def _chosen(event: KeyPressEvent) -> None:
            event.app.exit(result=key)

    for key in keys:
        bind(key)

    @bindings.add("c-c")
    @bindings.add("c-d")
    @bindings.add("escape", eager=True)
    @bindings.add("<sigint>")
    def _cancel(event: KeyPressEvent) -> None:
        event.app.exit(result=None)

    @bindings.add(Keys.Any)
    @bindings.add(Keys.BracketedPaste)
    @bindings.add("enter")
    def _nothing(event: KeyPressEvent) -> None:
        pass

    app = build_app(screen, Buffer(multiline=False), prefix=_first_row(prompt), bindings=bindings)
    answer: str | None = await app.run_async(handle_sigint=False)
    return answer


def _first_row(prompt: StyleAndTextTuples) -> Prefix:
    def prefix(line: int, wrap: int) -> StyleAndTextTuples:
        return prompt if line == 0 and wrap == 0 else []

    return prefix
