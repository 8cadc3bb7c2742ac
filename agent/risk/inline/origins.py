"""Judge where code comes from, of which not all is seen before it runs, and tell of code that is too long to be looked through."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeVar

from agent.risk.reader.words import UNKNOWN, Invocation, Word, is_name

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker


_MAX_PARTS = 200
_Part = TypeVar("_Part")


def first(walker: Walker, invocation: Invocation, parts: Iterator[_Part]) -> Iterator[_Part]:
    """As many of the parts as can be looked through; where there are more, that is told."""
    yield from itertools.islice(parts, _MAX_PARTS)
    if next(parts, None) is not None:
        tell_cut(walker, invocation)


def tell_cut(walker: Walker, invocation: Invocation) -> None:
    """The finding for code of which a part was left unread."""
    reason = "is given more inline code than can be looked through"
    walker.add("run-opaque", [], invocation.place, reason=reason, rule="inline.cut")


def judge_code(walker: Walker, invocation: Invocation, text: str, taint: str) -> None:
    """Shell code with unknown parts: where do they come from?"""
    if "net" in taint:
        walker.add("run-remote", [], invocation.place)
    elif "opaque" in taint:
        walker.add("run-decoded", [], invocation.place)
    elif UNKNOWN in text or is_name(taint):
        if "shellenv" in taint:
            walker.add("run", [Word("set-up code of a known program", *invocation.place)], invocation.place)
        elif text.lstrip().startswith(UNKNOWN) or "input" in taint:
            walker.add("run-opaque", [], invocation.place)
        else:
            walker.add("run", [], invocation.place, reason="runs shell code with unknown parts")


def feed_findings(walker: Walker, invocation: Invocation, text: str | None, taint: str) -> None:
    """Judge code that comes by stdin by where it is from."""
    if "socket" in taint:
        walker.add("reverse-shell", [], invocation.place)
    elif "net" in taint:
        walker.add("run-remote", [], invocation.place)
    elif "opaque" in taint:
        walker.add("run-decoded", [], invocation.place)
    elif text is None or UNKNOWN in text:
        if "file" in taint:
            walker.add("run", [Word("code from a file", *invocation.place)], invocation.place, rule="run.stdin")
        else:
            walker.add("run-opaque", [], invocation.place)
