"""Limits on the inline code that is looked through, and the finding for code that has more."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeVar

from agent.risk.reader.invocation import Invocation

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
