"""Compare a log with its head: it ends where it is known to have ended, or as a crash may have left it."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from agent.recording.chained_lines import Link
from agent.recording.integrity.slots import Head


class HeadState(Struct, frozen=True):
    """`crash`: in words, what a crash or power cut left; `lost`: it took records. `problem`: what was touched by somebody."""

    crash: str = ""
    problem: str = ""
    lost: bool = False


def compare_head(
    head: Head, end: Link, *, trailing: bool, boot: str, hash_at: Callable[[int], str | None]
) -> HeadState:
    """Compare the last record of a log with its head. `trailing`: bytes stand behind that record.

    `hash_at(seq)` is the hash of that record's line in the log, None where it has none.
    """
    if head.doubt:
        return HeadState(problem=head.doubt)
    power = not head.closed and (head.boot != boot or not boot)
    if end == head.kept:
        return _at_head(head, trailing=trailing, power=power)
    if head.pending is not None and end == head.pending:
        return HeadState(crash="the program ended while it was writing")
    known = hash_at(head.kept.seq) if 0 < head.kept.seq < end.seq else head.kept.hash
    if end.seq > head.kept.seq and known == head.kept.hash:
        if power:
            return HeadState(crash="the machine stopped; the log got further than its head")
        return HeadState(problem=f"events {head.kept.seq + 1} to {end.seq} are not known to its head: they were added")
    if end.seq < head.kept.seq:
        lost = f"{end.seq + 1} to {head.kept.seq}" if end.seq + 1 < head.kept.seq else str(head.kept.seq)
        synced = head.synced.seq == 0 or hash_at(head.synced.seq) == head.synced.hash
        if power and synced and end.seq >= head.synced.seq:
            return HeadState(crash=f"the machine stopped before event {lost} reached the disk", lost=True)
        return HeadState(problem=f"the end is missing: event {lost} was written and is not there")
    return HeadState(problem=f"event {head.kept.seq} is not the one that its head knows: the log was rewritten")


def _at_head(head: Head, *, trailing: bool, power: bool) -> HeadState:
    if trailing and head.pending is None and not power:
        return HeadState(problem="something was added behind the last event, or its line end was taken")
    if trailing or head.pending is not None:
        return HeadState(crash="the program ended while it was writing")
    return HeadState()
