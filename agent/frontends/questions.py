"""Small questions at the terminal: one line of text."""

from __future__ import annotations

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.key_binding.key_processor import KeyPressEvent

from agent.frontends.prompt_app import Prefix, build_app
from agent.frontends.screen import Screen


async def ask_line(
    screen: Screen, prompt: StyleAndTextTuples, *, edit_mode: str = "emacs", text: str = ""
) -> str | None:
    """One line of text, `text` to begin with; None for Ctrl-C and Ctrl-D. Raises EOFError and OSError where the terminal is gone."""
    keys = KeyBindings()

    @keys.add("enter")
    def _accept(event: KeyPressEvent) -> None:
        event.app.exit(result=event.current_buffer.text)

    @keys.add("c-c")
    @keys.add("c-d")
    @keys.add("<sigint>")
    def _cancel(event: KeyPressEvent) -> None:
        event.app.exit(result=None)

    buffer = Buffer(document=Document(text, len(text)), multiline=False)
    app = build_app(screen, buffer, prefix=_first_row(prompt), bindings=keys, edit_mode=edit_mode)
    answer: str | None = await app.run_async(handle_sigint=False)
    return answer


def _first_row(prompt: StyleAndTextTuples) -> Prefix:
    def prefix(line: int, wrap: int) -> StyleAndTextTuples:
        return prompt if line == 0 and wrap == 0 else []

    return prefix
