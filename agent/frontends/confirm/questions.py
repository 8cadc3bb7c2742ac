"""Ask small questions at the terminal: yes or no, a letter, one line of text."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.key_binding.key_processor import KeyPressEvent

from agent.commands.context import AskHidden, AskLetter, AskYes
from agent.frontends.confirm.enter_guard import EnterGuard
from agent.frontends.confirm.keys import bind_enter, took_early
from agent.frontends.prompt_app import Prefix, build_app
from agent.frontends.screen import Screen
from agent.frontends.signals import Signals
from agent.frontends.terminal_answers import without_answers
from agent.protocol.ports import Confirmer
from agent.text.shown import shown


def asking_at(confirmer: Confirmer) -> tuple[AskYes | None, AskLetter | None]:
    """The questions at the terminal that `confirmer` asks at; nothing where there is none."""
    screen = getattr(confirmer, "screen", None)
    if not isinstance(screen, Screen):
        return None, None

    async def choose(about: str, question: str, letters: str) -> str:
        screen.say(about, "class:warn")
        return await ask_letter(screen, question, letters)

    return partial(ask_yes, screen), choose


def words_at(confirmer: Confirmer, *, clears: bool = False) -> Callable[[str], Awaitable[str | None]] | None:
    """The question for a line of text at that terminal. `clears`: Ctrl-C first takes away what was typed."""
    screen = getattr(confirmer, "screen", None)
    return partial(ask_words, screen, clears=clears) if isinstance(screen, Screen) else None


def secretly_at(confirmer: Confirmer) -> tuple[AskHidden | None, Callable[[str], None] | None]:
    """The question for a secret at that terminal, and the showing of one there and nowhere else."""
    screen = getattr(confirmer, "screen", None)
    if not isinstance(screen, Screen):
        return None, None
    return partial(ask_hidden, screen), lambda text: screen.say(shown(text))


async def ask_line(
    screen: Screen,
    prompt: StyleAndTextTuples,
    *,
    edit_mode: str = "emacs",
    text: str = "",
    hidden: bool = False,
    clears: bool = False,
) -> str | None:
    """One line of text, `text` to begin with, not shown where it is `hidden`; None for Esc, Ctrl-C and Ctrl-D.

    In vi mode Esc belongs to the editing. What is typed before anybody can have read the question is no answer. `clears`: Esc and Ctrl-C
    clear a line with text, and leave only an empty one.

    Raises EOFError and OSError where the terminal is gone.
    """
    keys = KeyBindings()
    guard = EnterGuard(0 if hidden else screen.dead_time, ask=screen.ask_terminal)
    bind_enter(keys, guard, screen.set_aside, lambda event: event.app.exit(result=event.current_buffer.text))

    @keys.add("escape", filter=Condition(lambda: edit_mode != "vi"))
    @keys.add("c-c")
    @keys.add("<sigint>")
    def _cancel(event: KeyPressEvent) -> None:
        if clears and event.current_buffer.text:
            event.current_buffer.reset()
        else:
            event.app.exit(result=None)

    @keys.add("c-d")
    def _leave(event: KeyPressEvent) -> None:
        event.app.exit(result=None)

    buffer = Buffer(document=Document(text, len(text)), multiline=False, on_text_changed=lambda _: guard.other_key())
    app = build_app(
        screen,
        buffer,
        prefix=_first_row(prompt),
        bindings=keys,
        edit_mode=edit_mode,
        hidden=hidden,
        too_early=lambda text: took_early(guard, screen.set_aside, text),
    )
    app.after_render += lambda _: guard.painted()
    try:
        answer: str | None = await app.run_async(handle_sigint=False)
    finally:
        guard.other_key()
    return answer


def _first_row(prompt: StyleAndTextTuples) -> Prefix:
    def prefix(line: int, wrap: int) -> StyleAndTextTuples:
        return prompt if line == 0 and wrap == 0 else []

    return prefix


async def ask_yes(screen: Screen, question: str) -> bool:
    """Tell whether the person says yes; Enter alone, Ctrl-C and the end of input are no."""
    answer = await ask_words(screen, f"{question} [y/N]")
    return (answer or "").strip().lower() in ("y", "yes")


async def ask_letter(screen: Screen, question: str, letters: str) -> str:
    """One of `letters`, asked for until it is one; "" for Ctrl-C and the end of input."""
    while True:
        answer = await ask_words(screen, question)
        if answer is None:
            return ""
        letter = answer.strip().lower()
        if len(letter) == 1 and letter in letters:
            return letter


async def ask_words(
    screen: Screen, question: str, *, edit_mode: str = "emacs", text: str = "", clears: bool = False
) -> str | None:
    """One line of text; None for Ctrl-C and the end of input. `question` must be safe to print, the rest is as `ask_line` has it."""
    screen.set_aside_typed_ahead()
    if screen.dumb:
        return await read_plain_line(screen, question)

    prompt: StyleAndTextTuples = [("class:strong", f"{question} "), ("class:arrow", "❯ ")]
    try:
        return await ask_line(screen, prompt, edit_mode=edit_mode, text=text, clears=clears)
    except (EOFError, OSError):
        return None


async def ask_hidden(screen: Screen, question: str) -> str | None:
    """One line of text that is never shown; None for Ctrl-C and the end of input. What was typed before is forgotten: it may be a part."""
    screen.ahead.clear()
    screen.discard_typed_ahead()
    try:
        if not screen.dumb:
            prompt: StyleAndTextTuples = [
                ("class:strong", f"{question} "),
                ("class:hint", "(not shown) "),
                ("class:arrow", "❯ "),
            ]
            return await ask_line(screen, prompt, hidden=True)
        with screen.unechoed():
            answer = await read_plain_line(screen, f"{question} (not shown)", guarded=False)
        if answer is not None:
            screen.output.write("\n")
            screen.output.flush()
        return answer
    except (EOFError, OSError):
        return None


_MAX_LINE = 200_000


async def read_plain_line(screen: Screen, question: str, *, guarded: bool = True) -> str | None:
    """Read a line after `question`, without the line's end; None at the end of input. What came with it is set aside.

    `guarded`: so is what was typed before, and a line that ends before anybody can have read the question, which then comes again.
    """
    while True:
        if guarded:
            screen.set_aside_typed_ahead()
        screen.output.write(f"{question}: ")
        screen.output.flush()
        asked = time.monotonic()
        line = await _plain_line(screen)
        if line is None or not guarded or time.monotonic() - asked >= screen.dead_time:
            return line if line is None else without_answers(line)
        screen.set_aside(f"{line}\n")


async def _plain_line(screen: Screen) -> str | None:
    loop = asyncio.get_running_loop()
    descriptor = screen.input.fileno()
    done: asyncio.Future[str | None] = loop.create_future()
    gathered = bytearray()

    def readable() -> None:
        try:
            chunk = os.read(descriptor, 4096)
        except OSError:
            chunk = b""
        gathered.extend(chunk)
        if done.done():
            return
        if not chunk or len(gathered) > _MAX_LINE:
            done.set_result(None)
        elif b"\n" in gathered:
            line, _, more = bytes(gathered).partition(b"\n")
            screen.set_aside(more.decode("utf-8", "ignore"))
            done.set_result(line.decode("utf-8", "surrogateescape"))

    loop.add_reader(descriptor, readable)
    line = None
    try:
        line = await done
    finally:
        loop.remove_reader(descriptor)
        if line is None:  # Ctrl-C or the end of input: what is said of it has a line of its own
            screen.output.write("\n")
            screen.output.flush()
    return line


async def read_plain_goal(screen: Screen, signals: Signals, name: str = "goal") -> str | None:
    """A goal; None also where a signal ends the program. Ctrl-C, which cleared what was typed, asks anew on a line of its own.

    What was typed too early is shown, line by line; Enter alone does it.
    """
    ahead, _, later = screen.typed_ahead().partition("\n")
    screen.set_aside(later)
    question = f"{name} (Enter alone: {shown(ahead)})" if ahead else name
    reading = asyncio.ensure_future(read_plain_line(screen, question, guarded=False))

    def again() -> None:
        nonlocal ahead
        ahead = ""
        screen.typed_ahead()
        screen.output.write(f"\n{name}: ")
        screen.output.flush()

    with signals.ending_prompt(reading.cancel), signals.at_interrupt(again), suppress(asyncio.CancelledError):
        line = await reading
        return ahead if line is not None and not line.strip() else line
    if signals.ended_by is None:
        raise asyncio.CancelledError
    return None
