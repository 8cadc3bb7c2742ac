"""Load what people are told about programs: `_help.msgpack`, made from the same tables as what ratings read.

Loaded by explanations only, so that a rating does not pay for it.
"""

from __future__ import annotations

import functools
import os

import msgspec
from msgspec import Struct

from agent import compiled
from agent.risk.tables.store import FOLDER, table_name
from agent.struct_types import built

COMPILED_HELP = os.path.join(os.path.dirname(FOLDER), "_help.msgpack")
PART_OF_HELP = "help"


class ProgramHelp(Struct, frozen=True, array_like=True):
    """`about`: what the program does. `entries`: "-r --recursive", "remote add" or "push -f --force" to a short meaning."""

    about: str = ""
    entries: dict[str, str] = {}


class Help:
    """The description of the program `name`, by option and sub-command.

    In a table for several programs, a meaning that begins with the name of one and a colon is for that one alone.
    """

    def __init__(self, row: ProgramHelp, name: str = "") -> None:
        self.about = row.about
        self._meanings: dict[str, str] = {}
        self.longest = 0  # words of the longest sub-command
        for key, told in row.entries.items():
            meaning = _for_program(told, name)
            if not meaning:
                continue
            tokens = key.split()
            options = [token for token in tokens if token[0] in "-+"]
            words = tokens[: len(tokens) - len(options)]
            self.longest = max(self.longest, len(words))
            for option in options or [""]:
                self._meanings[" ".join([*words, option]).strip()] = meaning

    def option(self, name: str, verbs: tuple[str, ...] = ()) -> str:
        """Explain the option `name`, behind the sub-command `verbs` if that has a meaning of its own; "" if unknown."""
        for size in range(min(len(verbs), self.longest), -1, -1):
            meaning = self._meanings.get(" ".join([*verbs[:size], name]))
            if meaning:
                return meaning
        return ""

    def phrase(self, words: tuple[str, ...]) -> tuple[str, int]:
        """Explain the longest known sub-command at the front of `words`, and say how many words it has; ("", 0) if unknown."""
        for size in range(min(len(words), self.longest), 0, -1):
            meaning = self._meanings.get(" ".join(words[:size]))
            if meaning:
                return meaning, size
        return "", 0


def _for_program(meaning: str, name: str) -> str:
    front, colon, rest = meaning.partition(": ")
    if not colon or " " in front or (front != name and (table_name(front) != table_name(name) or not name)):
        return meaning
    return rest if front == name else ""


_NOTHING = Help(ProgramHelp())


@functools.lru_cache(maxsize=1)
def _rows() -> dict[str, bytes]:
    parts = compiled.CompiledFile(COMPILED_HELP, FOLDER, "agent.risk.tables.build:build_help")
    return msgspec.msgpack.decode(parts.get(PART_OF_HELP) or b"", type=dict[str, bytes])


@functools.lru_cache(maxsize=256)
def help_for(name: str) -> Help:
    """Look up the program `name`; an empty description where nothing is known."""
    raw = _rows().get(name) or _rows().get(table_name(name))
    return _NOTHING if raw is None else Help(msgspec.msgpack.decode(raw, type=built(ProgramHelp)), name)
