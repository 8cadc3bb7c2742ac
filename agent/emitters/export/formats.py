"""List the formats of `agent-shell sessions export`, with what they are made of. A writer is loaded when it is asked for."""

from __future__ import annotations

import importlib
from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal, cast

from msgspec import Struct

from agent.audit.story.model import GoalStory, Item
from agent.audit.story.objects import VERSION, as_json, goal_object, item_object
from agent.protocol.records import Record
from agent.text.shown import inert_json

if TYPE_CHECKING:
    from agent.recording.integrity.verify import Checked
    from agent.recording.reader import BadLine, SessionFile


FORMAT = "agent-shell-session"
_MOST_OTHERS = 10_000  # what stands between goals is kept until they are told


def json_document(source: Source) -> Iterator[bytes]:
    """`{"format", "version", "session", "goals": […], "others": […], "totals"}`; goals are in order, one a line."""
    session = source.session
    head: dict[str, Any] = {"id": session.session_id, "date": session.date, "paths": list(session.files)}
    if source.more:
        head["more"] = [{"id": one.session_id, "date": one.date, "paths": list(one.files)} for one in source.more]
    yield (f'{{"format":"{FORMAT}","version":{VERSION},"session":{_text(head)},"goals":[').encode()
    others: deque[dict[str, Any]] = deque(maxlen=_MOST_OTHERS)
    goals = commands = left_out = 0
    separator = "\n"
    for item in source.items():
        if isinstance(item, GoalStory):
            goals += item.part == 1
            commands += len(item.commands)
            yield f"{separator}{_text(goal_object(item, goals))}".encode()
            separator = ",\n"
        else:
            left_out += len(others) == _MOST_OTHERS
            others.append({"after_goal": goals, **item_object(item)})
    totals = {"goals": goals, "commands": commands, "others_left_out": left_out}
    yield b'\n],"others":['
    for number, other in enumerate(others):
        yield f"{',' if number else ''}\n{_text(other)}".encode()
    yield f'\n],"totals":{_text(totals)}}}\n'.encode()


def _text(value: Any) -> str:
    return inert_json(as_json(value).decode())


class Source(Struct, frozen=True, kw_only=True):
    """One session, or several with `more` of them in their order. `items` (their story) and `lines` (their records) read from the
    beginning each time they are called.

    `outside`: a log is not one of the session folder. `verify` checks the logs, where that can be done. Reading raises IoError.
    """

    session: SessionFile
    items: Callable[[], Iterator[Item]]
    lines: Callable[[], Iterator[Record | BadLine]]
    more: tuple[SessionFile, ...] = ()
    outside: bool = False
    verify: Callable[[], Checked] | None = None

    @property
    def names(self) -> str:
        """The id of the session; of several all of them."""
        return ", ".join(one.session_id for one in (self.session, *self.more))


class Format(Struct, frozen=True):
    """`function` of `module`, beside this one, yields the export piece by piece, as bytes.

    It `takes` the whole source, or only its records. `program`: what is exported can be run, so the file gets the right to be.
    """

    module: str
    function: str
    about: str
    takes: Literal["source", "records"] = "source"
    program: bool = False


FORMATS = {
    "asciicast": Format("asciicast", "asciicast", "plays in asciinema and its web player (version 3)", takes="records"),
    "html": Format("html_report", "html_of", "one page for a browser, with search, folding and colours; prints well"),
    "markdown": Format("markdown", "markdown", "a report for issues and wikis (GitHub's kind)"),
    "json": Format("formats", "json_document", "one document, for programs"),
    "sh": Format("script", "script", "what was run, as a commented bash script", program=True),
}


def export(name: str, source: Source) -> Iterator[bytes]:
    """The export in format `name`, which must be one of `FORMATS`. Raises IoError."""
    chosen = FORMATS[name]
    function = getattr(importlib.import_module(f"agent.emitters.export.{chosen.module}"), chosen.function)
    if chosen.takes == "records":
        return cast("Callable[[object], Iterator[bytes]]", function)(source.lines())
    return cast("Callable[[Source], Iterator[bytes]]", function)(source)
