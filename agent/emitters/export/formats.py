"""The formats of `agent-shell sessions export`: one table. A writer is loaded when it is asked for."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import Literal, cast

from msgspec import Struct

from agent.emitters.export.source import Source


class Format(Struct, frozen=True, kw_only=True):
    """`module.function` yields the export piece by piece, as bytes.

    It `takes` the whole source, or only its records. `program`: what is exported can be run, so the file gets the right to be.
    """

    module: str
    function: str
    takes: Literal["source", "records"] = "source"
    about: str = ""
    program: bool = False


FORMATS: dict[str, Format] = {
    "asciicast": Format(
        module="agent.emitters.export.asciicast",
        function="asciicast",
        takes="records",
        about="plays in asciinema and its web player (version 3)",
    ),
    "html": Format(
        module="agent.emitters.export.html_report",
        function="html_of",
        about="one page for a browser, with search, folding and colours; prints well",
    ),
    "markdown": Format(
        module="agent.emitters.export.markdown",
        function="markdown",
        about="a report for issues and wikis (GitHub's kind)",
    ),
    "json": Format(
        module="agent.emitters.export.json_document", function="json_document", about="one document, for programs"
    ),
    "sh": Format(
        module="agent.emitters.export.script",
        function="script",
        about="what was run, as a commented bash script",
        program=True,
    ),
}


def export(name: str, source: Source) -> Iterator[bytes]:
    """The export in format `name`, which must be one of `FORMATS`. Raises IoError."""
    chosen = FORMATS[name]
    function = getattr(importlib.import_module(chosen.module), chosen.function)
    if chosen.takes == "records":
        return cast(Callable[[object], Iterator[bytes]], function)(source.lines())
    return cast(Callable[[Source], Iterator[bytes]], function)(source)
