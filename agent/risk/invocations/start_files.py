"""Judge what is put into files that a shell, a language, an editor or a desktop runs as it starts."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from agent.protocol.decisions import Finding, Level
from agent.risk.paths.absolute import absolute
from agent.risk.reader.words import UNKNOWN, Invocation, Output, Word
from agent.risk.tables.names import patterns

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

WRITING = frozenset(("write", "append", "create", "modify", "copy-to", "move", "link", "download", "truncate"))
_NAMES = 20


@cache
def _places() -> dict[str, re.Pattern[str]]:
    return {
        language: re.compile(rf"(?:^|[/{UNKNOWN}])(?:{where.pattern.strip()})$")
        for language, where in patterns("starts.places").items()
    }


def language_started(path: str) -> str:
    """The language of a file that something runs as it starts, `lines` for lines of commands, "" for any other file."""
    return next((language for language, where in _places().items() if where.search(path)), "")


def judge_started(walker: Walker, invocation: Invocation, path: str, content: Output) -> None:
    """Judge what is written to `path`, where that is such a file: only what is high is told."""
    text, taint = content
    if not text and "net" not in taint:
        return
    language = language_started(path)
    if not language:
        return
    if "net" in taint:
        tell_started(walker, invocation, path)
    elif text:
        from agent.risk.invocations.project_files import judge_content  # with readers of languages: rarely needed

        judge_content(walker, invocation, text, taint, "" if language == "lines" else language)


def tell_started(walker: Walker, invocation: Invocation, path: str) -> None:
    """The finding for what comes from elsewhere and will run by itself."""
    reason = "has {targets}, which comes from elsewhere, run by itself later"
    walker.add(
        "persist",
        [Word(path, *invocation.place)],
        invocation.place,
        level=Level.HIGH,
        reason=reason,
        rule="persist.fetched",
    )


def judge_put(walker: Walker, invocation: Invocation, found: list[Finding]) -> None:
    """Judge what a program writes of its input to such files, or copies there of what this command has written or fetched."""
    targets = [
        path
        for one in found
        if one.effect is not None and one.effect.kind in WRITING
        for path in one.effect.targets[:_NAMES]
    ]
    if not targets:
        return
    contents = [invocation.stdin] if invocation.stdin is not None else []
    sources = [word for word in invocation.words[1:_NAMES] if word.text not in targets]
    if walker.files.written():
        contents += [read for word in sources if (read := walker.files.read(word, invocation.cwd)) is not None]
    fetched = [word for word in sources if "net" in word.taint or walker.fetched(word.text, invocation.cwd)]
    contents += [(None, "net")] if fetched else []
    for path in targets if contents else ():
        place = absolute(path, invocation.cwd) if UNKNOWN not in invocation.cwd else path
        for name in (place, *(f"{place}/{word.text.rpartition('/')[2]}" for word in sources)):
            for content in contents:
                judge_started(walker, invocation, name, content)
