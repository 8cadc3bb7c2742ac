"""Feed recorded goals to today's engine again, and keep what it then records. Nothing is executed, the network is not touched."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Literal

from msgspec import Struct, structs

from agent.audit.replay.cases import Case, LogRemark, cases
from agent.audit.replay.compare import Difference, differences
from agent.audit.replay.conditions import conditions, plan_of
from agent.audit.replay.feed import (
    MemoryRecorder,
    NoRedaction,
    RecordedClock,
    RecordedFacts,
    RecordedPlanner,
    RecordedTool,
    rules_due,
)
from agent.audit.replay.normalize import items, leniency
from agent.audit.replay.player import Player
from agent.audit.replay.recorded_person import RecordedPerson
from agent.audit.replay.replies import TodaysJudges, is_comparable
from agent.audit.replay.tape import NotRecorded, Tape
from agent.engine.context import AppState, RequestContext
from agent.engine.engine import Engine
from agent.engine.goal_loop import GoalLoop
from agent.engine.plain_emitters import NullEmitter
from agent.engine.tool_calls import ALIASES
from agent.policy.model import Policy
from agent.protocol.errors import InvalidState
from agent.protocol.events.command import CommandRated
from agent.protocol.events.goal import RunFinished, RunStarted
from agent.protocol.events.known import Event
from agent.protocol.events.session import CoreCommandFinished
from agent.protocol.messages import EnvironmentFacts, GoalItem
from agent.protocol.records import Record, encode
from agent.protocol.requests import RunRequest
from agent.recording.bounds import map_text
from agent.recording.chained_lines import NO_LINE, line_hash
from agent.recording.reader import BadLine


def rewritten(records: Iterable[Record], changed: Iterable[Checked]) -> bytes:
    """The log with the runs of `changed` replaced, numbered and chained anew. Ids and times stay as they were."""
    replaced = {each.case.records[0].run: each for each in changed}
    lines: list[bytes] = []
    prev = NO_LINE
    for seq, record in enumerate(_merged(records, replaced), 1):
        line = encode(structs.replace(record, seq=seq, prev=prev))
        prev = line_hash(line)
        lines.append(line)
    return b"".join(lines)


def _merged(records: Iterable[Record], replaced: dict[str, Checked]) -> Iterator[Record]:
    for record in records:
        found = replaced.get(record.run)
        if found is None or isinstance(record.event, CoreCommandFinished):
            yield record
        elif isinstance(record.event, RunStarted):
            yield from _new(found)


def _new(found: Checked) -> Iterator[Record]:
    """Today's records of a run under the ids of then. A core command of the run stays behind them, where it changes nothing."""
    if found.reason:
        raise InvalidState(expected="a goal that can be fed to its end", found=found.reason)
    then = found.case.records
    goal_then = next(record.goal_id for record in then if record.goal_id)
    goal_now = next(record.goal_id for record in found.now if record.goal_id)
    first = then[0].event
    assert isinstance(first, RunStarted)
    renamed = _Renamed(goal_now, goal_then)
    for record in found.now:
        yield structs.replace(
            record,
            session=then[0].session,
            run=then[0].run,
            goal_id=goal_then if record.goal_id else "",
            event=_event(record.event, renamed, first),
        )


def _event(event: Event, renamed: _Renamed, first: RunStarted) -> Event:
    if isinstance(event, RunStarted):
        return first
    if isinstance(event, RunFinished):
        goal = event.outcome.goal
        if goal is not None:
            commands = tuple(structs.replace(each, command_id=renamed.name(each.command_id)) for each in goal.commands)
            goal = structs.replace(goal, goal_id=renamed.name(goal.goal_id), commands=commands)
        outcome = structs.replace(event.outcome, request_id=first.request_id, session_id=first.session_id, goal=goal)
        return RunFinished(outcome=outcome)
    if "command_id" in getattr(event, "__struct_fields__", ()):
        return structs.replace(event, command_id=renamed.name(event.command_id))  # type: ignore[union-attr]  # it has one
    return map_text(event, lambda name, text: renamed.name(text) if name == "command_id" else text)


class _Renamed:
    """Ids of the goal of today, as they were then."""

    def __init__(self, now: str, then: str) -> None:
        self._now = now
        self._then = then

    def name(self, command_id: str) -> str:
        if command_id == self._now or command_id.startswith(f"{self._now}."):
            return self._then + command_id.removeprefix(self._now)
        return command_id


class Rerun(Struct, frozen=True, kw_only=True):
    """The engine's new record of a goal. `lacking`: why it could not be fed to its end, "" where it was."""

    records: tuple[Record, ...]
    lacking: str = ""


async def rerun(app: AppState, case: Case) -> Rerun:
    """Feed `case`, which must have no obstacle, to the engine of `app`: its classifier, its decisions, its normal form."""
    tape = Tape(case)
    given = conditions(tape)
    clock = RecordedClock(tape, given.seconds)
    recorder = MemoryRecorder(tape, clock)
    judges = TodaysJudges(tape, app.classify, app.decide)
    planner = RecordedPlanner(tape, given.tools)
    player = Player(tape)
    tools = {ALIASES.get(spec.name, spec.name): RecordedTool(spec, tape) for spec in given.tools}
    fed = structs.replace(
        app,
        classify=judges.classify,
        decide=judges.decide,
        facts=RecordedFacts(tape),
        clock=clock,
        redactor=NoRedaction(),
        make_planner=lambda name, model, redactor=None: planner,
        open_stream_redaction=lambda redactor: NoRedaction(),
        policy=lambda cwd, rules: Policy(),
        rules_due=lambda cwd: rules_due(tape),
        rules_seen=lambda showing: None,
        changed=lambda *given: tape.changed_ahead(),
        project_notes=lambda cwd: (),
        performer=player,
        tools=tools,
        is_root=case.session.is_root,
        debug=False,
    )
    context = RequestContext(
        recorder=recorder,
        planner=planner,
        redactor=fed.redactor,
        strategy=GoalLoop(),
        executor=player if given.can_run else None,
        rehearser=player,
        checkpoints=player,
        plan_left=plan_of(tape),
    )
    if case.before:
        context.history.append(GoalItem(goal_id="", text=case.before, environment=EnvironmentFacts()))
    request = RunRequest(input=given.given, options=given.options)
    try:
        await Engine(fed).run(context, request, NullEmitter(), RecordedPerson(tape))
    except NotRecorded as error:
        return Rerun(records=tuple(recorder.records), lacking=str(error))
    except asyncio.CancelledError:
        if (task := asyncio.current_task()) is not None and task.cancelling():
            raise
        return Rerun(records=tuple(recorder.records), lacking="the run was stopped from outside")
    return Rerun(records=tuple(recorder.records))


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


async def check(
    app: AppState, lines: Iterable[Record | BadLine], *, goal: int = 0
) -> AsyncIterator[Checked | LogRemark]:
    """Every goal of a log in order, or only number `goal`; what cannot be fed is said. One goal is in memory at a time."""
    for case in cases(lines):
        if isinstance(case, LogRemark):
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
    found = differences(then, now, is_lacking=bool(done.lacking))
    return Checked(
        case=case,
        outcome="different" if found or done.lacking else "same",
        reason=done.lacking,
        differences=tuple(found),
        notes=_notes(case),
        now=done.records,
    )


def _notes(case: Case) -> tuple[str, ...]:
    """Say what of a goal is not compared, beside what never is."""
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
