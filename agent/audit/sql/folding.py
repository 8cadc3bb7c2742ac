"""Fold logs to the rows of the views `sessions`, `goals` and `commands`, of each line reading what a question needs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

import msgspec
from msgspec import Struct, structs

from agent.audit.session_rows import HANDLERS, Row, SessionRows
from agent.audit.sql.sources import Source
from agent.audit.sql.staging import blocks_of, each_in_brackets
from agent.recording.line import Line, Result, read_line
from agent.struct_types import built

_FIELDS = (
    "type", "time", "session", "goal_id", "goal", "origin", "cwd", "frontend", "program", "is_root", "planner", "model", "approve",
    "private", "status", "exit_code", "steps", "name", "reason", "command_id", "command", "decision", "by", "remark",
    "word_typed", "safety_off", "via", "confine", "conflict", "undo_id",
)  # fmt: skip
_RATING = ("risk", "rules", "effects", "scopes", "elevated")
_DEAR = {
    "report": _RATING,
    "verdict": ("verdict", "verdict_rule"),
    "result": ("duration", "timed_out", "interrupted", "stdout_bytes", "stderr_bytes"),
    "usage": ("input_tokens", "output_tokens", "cost"),
    "message": ("message",),
    "duration": ("duration",),
}
"""Fields that are read where one of these columns is asked for."""
_OF_COMMANDS = ("commands", "ran", "risk")
"""Columns of sessions and goals that tell of their commands."""


class _Absent:
    """The value of a field that is not read."""

    __slots__ = ()


for _field in structs.fields(Line):
    setattr(_Absent, _field.name, _field.default)


class LineFolder:
    """Reads `sources`, of which those of one session follow each other. `ignored`: lines that are no events."""

    def __init__(self, columns: Mapping[str, Collection[str]], go_on: Callable[[], None]) -> None:
        """`columns`: which of each view count."""
        self.ignored = 0
        self._go_on = go_on
        self._every = "sessions" in columns
        asked = {name for names in columns.values() for name in names}
        of_commands = "commands" in columns or not asked.isdisjoint(_OF_COMMANDS)
        self._handlers = {
            kind: handler for kind, handler in HANDLERS.items() if of_commands or not kind.startswith("command.")
        }
        dear = [name for name, tell in _DEAR.items() if not asked.isdisjoint(tell)]
        types = {field.name: field for field in structs.fields(Line)}
        fields = [
            (name, Result | None if name == "result" else types[name].type, types[name].default)
            for name in (*_FIELDS, *dear)
        ]
        line = msgspec.defstruct("FoldedLine", fields, bases=(_Absent, Struct), gc=False)
        self._many: Any = msgspec.json.Decoder(built(tuple[line], keep=False)).decode_lines  # type: ignore[valid-type]

    def rows(self, sources: Iterable[Source]) -> Iterator[tuple[str, Row]]:
        """Every row of the three views. Raises IoError, and what `go_on` raises."""
        handlers, every = self._handlers, self._every
        for (machine, named), group in groupby(sources, key=lambda source: (source.machine, source.session)):
            done: list[tuple[str, Row]] = []
            sessions: dict[str, SessionRows] = {}
            for source in group:
                for block in blocks_of(source.path, self._skip):
                    self._go_on()
                    for line in self._lines(block):
                        handler = handlers.get(line.type)
                        if handler or (every and line.type):
                            name = named or line.session
                            session = sessions.get(name)
                            if session is None:
                                session = sessions[name] = SessionRows({"machine": machine, "session": name}, done)
                            session.take(line, handler, every)
                        elif not line.type:
                            self.ignored += 1
                    yield from done
                    done.clear()
            for session in sessions.values():
                session.close()
            yield from done

    def _skip(self) -> None:
        self.ignored += 1

    def _lines(self, block: bytes) -> Iterable[Any]:
        """The lines of a block that are objects."""
        bracketed = each_in_brackets(block)
        try:
            if not block.isascii():
                block.decode()  # what is skipped is not looked at for that
            lines = self._many(bracketed)
            if len(lines) == bracketed.count(b"\n") + 1:
                return [line for (line,) in lines]
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            pass
        found = [(line, read_line(line)) for line in block.split(b"\n") if line.strip(b" \t\r")]
        self.ignored += sum(line is None for _, line in found)
        return [line for _, line in found if line is not None]
