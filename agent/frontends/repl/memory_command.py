"""`:memory` shows what is remembered of accepted commands, `:forget` takes it back: the last one, what holds some words, or all."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from agent.protocol.errors import InvalidRequest
from agent.protocol.events import Event, MemoryForgotten
from agent.text.shown import shown_line

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


class MemoryController:
    """`ask` puts a yes/no question to the person, None where nobody can be asked; `record` puts an event into the log."""

    def __init__(
        self,
        memory: Memory | None,
        cwd: str,
        *,
        mode: str,
        ask: Callable[[str], Awaitable[bool]] | None,
        tell: Callable[[str], None],
        record: Callable[[Event], Awaitable[None]],
    ) -> None:
        self._memory = memory
        self._cwd = cwd
        self._mode = mode
        self._ask = ask
        self._tell = tell
        self._record = record

    async def show(self, argument: str, show: Callable[[str], Awaitable[None]]) -> None:
        """`:memory [WORDS]`: what was taught last, or what holds all of the words."""
        memory = self._memory
        if memory is None:
            self._tell(_OFF)
            return
        memory.refresh(5.0)
        words = _words(argument)
        found = memory.latest(self._cwd, words=words, most=_SHOWN)
        entries, runs = memory.size()
        lines = [
            f"{_count(entries, 'command')} for goals and the results of {_count(runs, 'run')}; {_GOES_TO[self._mode]}"
        ]
        lines += [_row(item) for item in found]
        if words and not found:
            lines.append("none has these words")
        if found:
            lines.append(
                "`:forget` drops the first of these, `:forget WORDS` all with these words, `:forget all` everything"
            )
        await show("\n".join(lines))

    async def forget(self, argument: str) -> None:
        """`:forget`, `:forget WORDS`, `:forget all`, each with `--since WHEN`. Raises InvalidRequest, IoError, RecordingError."""
        memory = self._memory
        if memory is None:
            raise InvalidRequest(_OFF)
        since, words = _parts(argument)
        memory.refresh(5.0)
        if words == ["all"] or (since and not words):
            await self._forget_all(memory, since)
            return
        found = memory.latest(self._cwd, words=words, since=since, most=_AT_ONCE if words else 1)
        if not found:
            self._tell("nothing that is remembered holds these words" if words else "nothing is remembered yet")
            return
        if len(found) > 1:
            for item in found[:_LISTED_BEFORE_ASKING]:
                self._tell(_row(item))
            if not await self._agreed(f"forget {len(found)} remembered commands?"):
                return
        await self._record(MemoryForgotten(commands=len(found)))
        memory.forget(found)
        self._tell(
            f"forgotten: {shown_line(found[0].command, 100)}"
            if len(found) == 1
            else f"forgotten: {len(found)} commands"
        )

    async def _forget_all(self, memory: Memory, since: int) -> None:
        when = f" since {datetime.fromtimestamp(since / 1e6):%d %b %Y %H:%M}" if since else ""
        if not await self._agreed(f"forget all that was learned{when}? The logs stay as they are"):
            return
        began = f"{datetime.fromtimestamp(since / 1e6, UTC):%Y-%m-%dT%H:%M:%SZ}" if since else ""
        await self._record(MemoryForgotten(since=began))
        memory.forget_all(since=since)
        self._tell(f"forgotten: all{when}")

    async def _agreed(self, question: str) -> bool:
        if self._ask is None:
            raise InvalidRequest("so much can be forgotten only by a person at a terminal")
        if await self._ask(question):
            return True
        self._tell("nothing was forgotten")
        return False


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


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
    day = datetime.fromtimestamp(item.at / 1e6)
    counts = f"{item.worked} of {item.uses}" + (", edited" if item.edited else "")
    return f"  {day:%d %b %Y}  {shown_line(item.goal, 60)}  →  {shown_line(item.command, 100)}  [{counts}]"
