"""Show the list that Ctrl-R opens: type to narrow, Enter puts the chosen text into the line and runs nothing, Esc leaves."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.document import Document
from prompt_toolkit.filters import is_done
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.key_binding.key_processor import KeyPressEvent
from prompt_toolkit.layout import Layout
from prompt_toolkit.layout.containers import ConditionalContainer, HSplit, Window
from prompt_toolkit.layout.controls import BufferControl, FormattedTextControl
from prompt_toolkit.layout.processors import BeforeInput
from prompt_toolkit.styles import DynamicStyle

from agent.emitters.paint import cell_width, cut_to_width
from agent.frontends.repl.history_search import Narrowing, PastReader, merged, places
from agent.frontends.screen import Screen
from agent.frontends.themes import style_of
from agent.frontends.wrapping import cells, short_folder
from agent.text.shown import shown_line
from agent.text.times import ago

if TYPE_CHECKING:
    from agent.frontends.repl.history_search import Past

_MOST_ROWS = 12
_KINDS = ("goals and commands", "goals", "commands")


class HistorySearch:
    """One opening of the list. `lines` is the prompt's own history, newest first; `home` is shown as ~."""

    def __init__(
        self, screen: Screen, reader: PastReader, lines: Sequence[str], *, cwd: str, home: str, query: str = ""
    ) -> None:
        self._screen = screen
        self._reader = reader
        self._lines = lines
        self._cwd = cwd
        self._home = home
        self._kind = 0
        self._chosen = 0
        self._top = 0
        self._seen: Sequence[Past] = reader.entries
        self._narrowed = self._narrowing()
        self._buffer = Buffer(multiline=False, on_text_changed=self._typed)
        self._buffer.set_document(Document(query.partition("\n")[0]))
        self.app = self._app()

    async def choose(self) -> str | None:
        """The text to put into the line (a command with `!` in front), None where the person left without one."""
        loop_call = self._from_thread()
        self._reader.begin(loop_call)
        try:
            chosen: Past | None = await self.app.run_async(handle_sigint=False)
        except EOFError:
            return None
        finally:
            self._reader.stop()
        return None if chosen is None else f"!{chosen.text}" if chosen.is_command else chosen.text

    def leave(self) -> None:
        """End as Esc does (signals)."""
        if self.app.is_running and not self.app.is_done:
            self.app.exit(result=None)

    def _from_thread(self) -> Callable[[], None]:
        loop = asyncio.get_running_loop()

        def changed() -> None:
            try:
                loop.call_soon_threadsafe(self._news)
            except RuntimeError:
                return  # the loop has ended

        return changed

    def _news(self) -> None:
        """More was read: narrow it as before, and stay where the person is as long as they have moved nowhere."""
        if self._reader.entries is not self._seen:
            before = self._found()
            chosen = before[self._chosen] if 0 < self._chosen < len(before) else None
            self._seen = self._reader.entries
            self._narrowed = self._narrowing()
            if chosen is not None:
                texts = [(entry.text, entry.is_command) for entry in self._found()]
                key = (chosen.text, chosen.is_command)
                self._chosen = texts.index(key) if key in texts else 0
        self.app.invalidate()

    def _narrowing(self) -> Narrowing:
        entries = merged(self._reader.entries, self._lines)
        if self._kind:
            entries = [entry for entry in entries if entry.is_command == (self._kind == 2)]
        return Narrowing(entries, self._cwd)

    def _found(self) -> list[Past]:
        return self._narrowed(self._buffer.text.strip())

    def _move(self, steps: int) -> None:
        self._chosen = max(0, min(self._chosen + steps, len(self._found()) - 1))

    def _typed(self, _: Buffer) -> None:
        self._chosen = self._top = 0

    def _rows(self) -> int:
        return max(3, min(_MOST_ROWS, self._screen.rows - 4))

    def _app(self) -> Application[Any]:
        query = Window(
            BufferControl(self._buffer, input_processors=[BeforeInput([("class:arrow", "history ❯ ")])]),
            height=1,
            wrap_lines=False,
        )
        rows = Window(FormattedTextControl(self._list), height=self._rows, wrap_lines=False)
        bar = Window(FormattedTextControl(self._bar), height=1, style="class:bottom-toolbar", wrap_lines=False)
        return Application(
            layout=Layout(HSplit([query, ConditionalContainer(HSplit([rows, bar]), ~is_done)]), focused_element=query),
            key_bindings=self._keys(),
            style=DynamicStyle(lambda: style_of(self._screen.theme)),
            include_default_pygments_style=False,
            input=self._screen.input,
            output=self._screen.output,
            mouse_support=False,
            erase_when_done=True,
        )

    def _list(self) -> StyleAndTextTuples:
        found, rows = self._found(), self._rows()
        self._chosen = max(0, min(self._chosen, len(found) - 1))
        self._top = max(0, min(self._top, self._chosen), self._chosen - rows + 1)
        lines: StyleAndTextTuples = []
        for place, entry in enumerate(found[self._top : self._top + rows], self._top):
            lines += self._row(entry, chosen=place == self._chosen)
            lines.append(("", "\n"))
        if not found:
            lines.append(("class:hint", "  reading the logs …" if self._reader.reading else "  no match"))
        return lines

    def _row(self, entry: Past, *, chosen: bool) -> StyleAndTextTuples:
        width = self._screen.columns
        base = "reverse " if chosen else ""
        note = self._note(entry, width)
        room = max(10, width - 5 - (cell_width(note) + 2 if note else 0))
        text = shown_line(entry.text, 400)
        cut = cut_to_width(text, room)
        marked = frozenset(places(self._buffer.text.strip(), text) or ())
        row: StyleAndTextTuples = [
            (base, "▸ " if chosen else "  "),
            (f"{base}class:hint", "$ " if entry.is_command else "  "),
        ]
        for place, letter in enumerate(cut):
            row.append((f"{base}class:edited" if place in marked else base, letter))
        if note:
            row.append((base, " " * (room - cell_width(cut) + 2)))
            row.append((f"{base}{_style_of(entry)}", note))
        return row

    def _note(self, entry: Past, width: int) -> str:
        """Say how it ended, when, and where, as far as there is room."""
        outcome = shown_line(entry.outcome.replace("_", " "), 20)
        parts = [
            outcome,
            ago(entry.at),
            short_folder(entry.cwd, self._home) if entry.cwd and entry.cwd != self._cwd else "",
        ]
        keep = 3 if width >= 80 else 2 if width >= 50 else 1 if width >= 36 else 0
        return " · ".join(part for part in parts[:keep] if part)

    def _bar(self) -> StyleAndTextTuples:
        number = len(self._found())
        kind = _KINDS[self._kind]
        count = (
            f"{number:,} {'goal or command' if self._kind == 0 else kind[:-1]}" if number == 1 else f"{number:,} {kind}"
        )
        more = " (reading …)" if self._reader.reading else ""
        parts = [f" {count}{more}", "Enter: take", f"Tab: {_KINDS[(self._kind + 1) % 3]}", "Esc: back"]
        told = "   ".join(parts)
        while cells(told) >= self._screen.columns > 0 and len(parts) > 1:  # a hint is whole, or left out
            parts = parts[:-1]
            told = "   ".join(parts)
        return [("", told)]

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()

        @keys.add("enter")
        def _take(event: KeyPressEvent) -> None:
            found = self._found()
            event.app.exit(result=found[min(self._chosen, len(found) - 1)] if found else None)

        @keys.add("escape", eager=True)
        @keys.add("c-c")
        @keys.add("c-g")
        @keys.add("c-d")
        @keys.add("<sigint>")
        def _leave(event: KeyPressEvent) -> None:
            event.app.exit(result=None)

        @keys.add("down")
        @keys.add("c-n")
        @keys.add("c-r")
        def _older(event: KeyPressEvent) -> None:
            self._move(1)

        @keys.add("up")
        @keys.add("c-p")
        @keys.add("c-s")
        def _newer(event: KeyPressEvent) -> None:
            self._move(-1)

        @keys.add("pagedown")
        def _page_down(event: KeyPressEvent) -> None:
            self._move(self._rows())

        @keys.add("pageup")
        def _page_up(event: KeyPressEvent) -> None:
            self._move(-self._rows())

        @keys.add("tab")
        def _next_kind(event: KeyPressEvent) -> None:
            self._kind = (self._kind + 1) % 3
            self._chosen = self._top = 0
            self._narrowed = self._narrowing()

        return keys


def _style_of(entry: Past) -> str:
    failed = entry.outcome not in ("", "exit 0", "completed", "answered")
    return "class:warn" if failed and entry.outcome.startswith(("exit", "failed")) else "class:hint"
