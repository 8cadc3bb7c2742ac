"""Judge output without an end, or larger than disks are, where it goes to a file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.protocol.decisions import Level
from agent.risk.reader.words import Invocation, Word
from agent.text.lazy_pattern import LazyPattern

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

_SIZE = LazyPattern(r"(\d{1,30})(?:([kmgtpezy])(?:i?b)?|[bcw])?", re.I)
ENDLESS = ("/dev/zero", "/dev/urandom", "/dev/random", "/dev/full")
VAST = 10**12
"""Bytes that most disks have not free."""


def size_of(text: str) -> int:
    """`10G` in bytes, as programs read it; 0 for what is no size."""
    found = _SIZE.fullmatch(text)
    return int(found[1]) << 10 * " KMGTPEZY".index((found[2] or " ").upper()) if found is not None else 0


def judge_endless(walker: Walker, invocation: Invocation, targets: list[Word], taint: str) -> None:
    """Output that never ends, into a file: it ends when the disk is full."""
    files = [word for word in targets if walker.rater.scopes.of(word, invocation.cwd) not in ("null", "device")]
    if "endless" in taint and files and "timeout" not in (*invocation.via, invocation.words[0].text):
        reason = "writes {targets} without end, until the disk is full"
        walker.add(
            "write",
            files,
            invocation.place,
            level=Level.HIGH,
            reason=reason,
            rule="write.endless",
            invocation=invocation,
        )
