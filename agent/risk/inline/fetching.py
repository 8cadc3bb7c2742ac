"""Find inline code that evaluates, or keeps in a file and then runs, what it has from another machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.risk.inline.origins import first
from agent.risk.inline.texts import sign
from agent.risk.paths.fetched_names import keep_named
from agent.risk.reader.words import UNKNOWN, Invocation
from agent.text.lazy_pattern import LazyPattern

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

_PATH = LazyPattern(r"(?:\w+://)?[\w./~@%+-]*[./][\w./~@%+?=&:-]*")


def judge_fetching(walker: Walker, invocation: Invocation, code: str, *, network: bool) -> None:
    """Code with an address in it, or a library that fetches: what it evaluates or loads may be what came."""
    if not network and sign("address").search(code) is None:
        return
    if (network and sign("evaluating").search(code)) or sign("evaluates").search(code):
        walker.add("run-remote", [], invocation.place)
    if UNKNOWN in invocation.cwd:
        return
    loaded = {found.end(): found["s"] for found in first(walker, invocation, sign("loaded").finditer(code))}
    texts = [found for found in first(walker, invocation, sign("text").finditer(code)) if found.end() not in loaded]
    keep_named(walker, [found["s"] for found in texts if _PATH.fullmatch(found["s"])], invocation.cwd)
    if any(walker.fetched(path, invocation.cwd) for path in loaded.values()):
        walker.add("run-remote", [], invocation.place, rule="inline.fetched")
