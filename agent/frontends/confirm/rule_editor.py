"""An editor for a rule's text: several lines, in the terminal, with the keys of the other prompts."""

from __future__ import annotations

from typing import Literal

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.document import Document
from prompt_toolkit.filters import emacs_mode
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.key_binding.key_processor import KeyPressEvent

from agent.frontends.prompt_app import build_app, vi_letter
from agent.frontends.screen import Screen

Ending = Literal["accept", "editor", "cancel"]
_KEYS = " Enter go on · Alt-Enter or F9 new line · F7 your editor · Ctrl-C no rule"


async def edit_rule(screen: Screen, text: str, cursor: int = 0, *, edit_mode: str = "emacs") -> tuple[Ending, str, int]:
    """How the person left, and text and cursor as they were then. Pasted lines never end the editing."""
    text = text.rstrip("\n")
    buffer = Buffer(document=Document(text, min(cursor, len(text))), multiline=True)
    keys = KeyBindings()

    def leave(event: KeyPressEvent, ending: Ending) -> None:
        event.app.erase_when_done = True  # what was accepted is printed as it is
        event.app.exit(result=ending)

    @keys.add("enter")
    def _accept(event: KeyPressEvent) -> None:
        leave(event, "accept")

    @keys.add("f7")
    @keys.add("c-x", "c-e")
    def _editor(event: KeyPressEvent) -> None:
        leave(event, "editor")

    @keys.add("c-c")
    @keys.add("<sigint>")
    def _cancel(event: KeyPressEvent) -> None:
        leave(event, "cancel")

    @keys.add("f9")
    @keys.add("escape", "enter", filter=emacs_mode)
    def _newline(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    def prefix(line: int, wrap: int) -> StyleAndTextTuples:
        return [("class:hint", "  rule ❯ " if line == 0 and wrap == 0 else "  │ " if wrap == 0 else "    ")]

    app = build_app(
        screen,
        buffer,
        prefix=prefix,
        bindings=keys,
        toolbar=lambda: [("", _KEYS + vi_letter(app))],
        edit_mode=edit_mode,
    )
    ending: Ending = await app.run_async(handle_sigint=False)
    return ending, buffer.text, buffer.cursor_position
