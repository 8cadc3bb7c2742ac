"""`:memory` shows what is remembered of accepted commands, `:forget` takes it back: the last one, what holds some words, or all."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from agent.commands.context import CommandContext, DispatchOutcome
from agent.commands.definition import Definition
from agent.protocol.errors import InvalidRequest, InvalidState
from agent.protocol.events.session import MemoryForgotten
from agent.text.shown import shown_line
from agent.text.sizes import counted
from agent.text.times import absolute
from agent.waiting import completed, in_thread

if TYPE_CHECKING:
    from agent.memory.model import Remembered
    from agent.memory.service import Memory

_SHOWN = 20
_AT_ONCE = 10_000
_LISTED_BEFORE_ASKING = 5
_GOES_TO = {
    "on": "every planner sees them as examples, on this machine or not",
    "local": "only planners on this machine see them as examples (--memory on: all)",
}
_OFF = "nothing is remembered here: memory is off (--memory, --no-memory), or no log is kept"


async def show_memory(context: CommandContext, arguments: str) -> DispatchOutcome:
    """`:memory [WORDS]`: what was taught last, or what holds all of the words."""
    memory = context.services.memory()
    if memory is None:
        context.tell(_OFF)
        return DispatchOutcome()
    words = _words(arguments)
    found, size = await in_thread(partial(_latest, memory, context.session.cwd, words))
    entries, runs = size
    lines = [
        f"{counted(entries, 'command')} for goals and the results of {counted(runs, 'run')}; "
        f"{_GOES_TO[context.services.memory_mode]}"
    ]
    lines += [_row(item) for item in found]
    if words and not found:
        lines.append("none has these words")
    if found:
        lines.append(
            "`:forget` drops the first of these, `:forget WORDS` all with these words, `:forget all` everything"
        )
    await context.person.show("\n".join(lines))
    return DispatchOutcome()


def _latest(
    memory: Memory, cwd: str, words: list[str], *, since: int = 0, most: int = _SHOWN
) -> tuple[Sequence[Remembered], tuple[int, int]]:
    memory.refresh(5.0)
    return memory.latest(cwd, words=words, since=since, most=most), memory.size()


async def forget(context: CommandContext, arguments: str) -> DispatchOutcome:
    """`:forget`, `:forget WORDS`, `:forget all`, each with `--since WHEN`. Raises InvalidRequest, IoError, RecordingError."""
    memory = context.services.memory()
    if memory is None:
        raise InvalidState(expected="a memory", found=f"none: {_OFF}")
    since, words = _parts(arguments)
    if words == ["all"] or (since and not words):
        await in_thread(partial(memory.refresh, 5.0))
        await _forget_all(context, memory, since)
        return DispatchOutcome()
    most = _AT_ONCE if words else 1
    found, _ = await in_thread(partial(_latest, memory, context.session.cwd, words, since=since, most=most))
    if not found:
        context.tell("nothing remembered contains these words" if words else "nothing is remembered yet")
        return DispatchOutcome()
    if len(found) > 1:
        for item in found[:_LISTED_BEFORE_ASKING]:
            context.tell(_row(item))
        if not await _agreed(context, f"forget {len(found)} remembered commands?"):
            return DispatchOutcome()
    await context.record(MemoryForgotten(commands=len(found)))
    await _done(partial(memory.forget, found))
    what = shown_line(found[0].command, 100) if len(found) == 1 else f"{len(found)} commands"
    context.tell(f"forgotten: {what}")
    return DispatchOutcome()


async def _forget_all(context: CommandContext, memory: Memory, since: int) -> None:
    when = f" since {absolute(since)}" if since else ""
    if not await _agreed(context, f"forget all that was learned{when}? The logs stay as they are"):
        return
    began = f"{datetime.fromtimestamp(since / 1e6, UTC):%Y-%m-%dT%H:%M:%SZ}" if since else ""
    await context.record(MemoryForgotten(since=began))
    await _done(partial(memory.forget_all, since=since))
    context.tell(f"forgotten: all{when}")


async def _done(work: Callable[[], None]) -> None:
    """Do to its end what was recorded, whoever is interrupted meanwhile."""
    _, cancelled = await completed(work)
    if cancelled is not None:
        raise cancelled


async def _agreed(context: CommandContext, question: str) -> bool:
    if context.person.ask is None:
        raise InvalidRequest("only a person at a terminal can forget that much")
    if await context.person.ask(question):
        return True
    context.tell("nothing was forgotten")
    return False


def _parts(argument: str) -> tuple[int, list[str]]:
    """Since when (microseconds since the epoch, 0 for ever), and the words."""
    from agent.text.times import since_of

    words = _words(argument)
    since = 0
    for at, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name != "--since":
            continue
        value = value if equals else " ".join(words[at + 1 : at + 2])
        try:
            since = since_of(value)
        except argparse.ArgumentTypeError as error:
            raise InvalidRequest(str(error)) from None
        words = words[:at] + words[at + (1 if equals else 2) :]
        break
    return since, words


def _words(argument: str) -> list[str]:
    try:
        return shlex.split(argument)
    except ValueError as error:
        raise InvalidRequest(f"cannot read these words: {error}") from None


def _row(item: Remembered) -> str:
    counts = f"{item.worked} of {item.uses}" + (", edited" if item.edited else "")
    return f"  {absolute(item.at):12}  {shown_line(item.goal, 60)}  →  {shown_line(item.command, 100)}  [{counts}]"


COMMANDS = (
    Definition(
        names=("memory",),
        arguments="[WORDS]",
        help="what is remembered of accepted commands",
        examples=(":memory", ":memory log files"),
        handle=show_memory,
        line=(":memory, :history, :info", "accepted commands; goals so far; settings, state"),
    ),
    Definition(
        names=("forget",),
        arguments="[WORDS|all] [--since WHEN]",
        help="forget what was learned last, what holds the words, or all",
        examples=(":forget", ":forget docker", ":forget all --since yesterday"),
        handle=forget,
        choices=("all",),
    ),
)
