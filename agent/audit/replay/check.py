"""A whole log fed to today's engine again, goal by goal."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import Literal

from msgspec import Struct

from agent.audit.replay.cases import Aside, Case, cases
from agent.audit.replay.compare import Difference, differences
from agent.audit.replay.judges import is_comparable
from agent.audit.replay.normal import items, leniency
from agent.audit.replay.rerun import Rerun, rerun
from agent.engine.context import AppState
from agent.protocol.events import CommandRated, Record
from agent.recording.reader import BadLine


class Checked(Struct, frozen=True, kw_only=True):
    """One goal of a log. `reason`: why it was not checked, or why not to its end; `notes`: what of it was not compared.

    `now`: what the engine recorded, for `--update`.
    """

    case: Case
    outcome: Literal["same", "different", "not checked"]
    reason: str = ""
    differences: tuple[Difference, ...] = ()
    notes: tuple[str, ...] = ()
    now: tuple[Record, ...] = ()


async def check(app: AppState, lines: Iterable[Record | BadLine], *, goal: int = 0) -> AsyncIterator[Checked | Aside]:
    """Every goal of a log in order, or only number `goal`; what cannot be fed is said. One goal is in memory at a time."""
    for case in cases(lines):
        if isinstance(case, Aside):
            yield case
        elif goal in (0, case.number):
            yield await check_case(app, case)


async def check_case(app: AppState, case: Case) -> Checked:
    """One goal."""
    if case.obstacle:
        return Checked(case=case, outcome="not checked", reason=case.obstacle)
    done: Rerun = await rerun(app, case)
    lenient = leniency(case.records)
    then, now = (items(records, lenient) for records in (case.records, done.records))
    found = differences(then, now, until_dry=bool(done.ran_dry))
    return Checked(
        case=case,
        outcome="different" if found or done.ran_dry else "same",
        reason=done.ran_dry,
        differences=tuple(found),
        notes=_notes(case),
        now=done.records,
    )


def _notes(case: Case) -> tuple[str, ...]:
    """What of a goal is not compared, beside what never is."""
    rated = [event for event in case.events if isinstance(event, CommandRated)]
    told = sum(not is_comparable(event) for event in rated)
    without = sum(event.known is None and is_comparable(event) for event in rated)
    notes = []
    if told:
        notes.append(f"{_ratings(told)} taken as recorded: secrets, or what was defined before, are not in the log")
    if without:
        notes.append(
            f"{_ratings(without)} done without what was known of the system: this log is from before that was kept"
        )
    return tuple(notes)


def _ratings(count: int) -> str:
    return "1 rating is" if count == 1 else f"{count:,} ratings are"
