"""One recorded goal through today's engine. Nothing is executed, no file is opened, the network is not touched."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from msgspec import Struct

from agent.audit.replay.cases import Case
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
from agent.audit.replay.judges import TodaysJudges
from agent.audit.replay.person import RecordedPerson
from agent.audit.replay.player import Player
from agent.audit.replay.tape import RanDry, Tape
from agent.engine.context import AppState, RequestContext
from agent.engine.engine import Engine
from agent.engine.plain_emitters import NullEmitter
from agent.engine.tool_calls import ALIASES
from agent.policy.model import Policy
from agent.protocol.events import Record
from agent.protocol.outcomes import GoalStatus, GoalSummary
from agent.protocol.requests import RunRequest


class Rerun(Struct, frozen=True, kw_only=True):
    """What the engine recorded now. `ran_dry`: why it could not be fed to its end, "" where it was."""

    records: tuple[Record, ...]
    ran_dry: str = ""


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
    fed = replace(
        app,
        classify=judges.classify,
        decide=judges.decide,
        facts=RecordedFacts(tape),
        clock=clock,
        redactor=NoRedaction(),
        make_planner=lambda name, model: planner,
        open_stream_redaction=NoRedaction,
        policy=lambda cwd, session: Policy(),
        rules_due=lambda cwd: rules_due(tape),
        rules_seen=lambda showing: None,
        changed=lambda *given: tape.changed_ahead(),
        project_notes=lambda cwd: (),
        tools=tools,
        is_root=case.session.is_root,
        debug=False,
    )
    context = RequestContext(
        recorder=recorder,
        planner=planner,
        executor=player if given.can_run else None,
        rehearser=player,
        checkpoints=player,
        plan_left=plan_of(tape),
    )
    if case.before:
        context.goals.append(GoalSummary(goal_id="", goal=case.before, status=GoalStatus.COMPLETED, exit_code=0))
    request = RunRequest(input=given.given, options=given.options)
    try:
        await Engine(fed).run(context, request, NullEmitter(), RecordedPerson(tape))
    except RanDry as dry:
        return Rerun(records=tuple(recorder.records), ran_dry=str(dry))
    except asyncio.CancelledError:
        if (task := asyncio.current_task()) is not None and task.cancelling():
            raise
        return Rerun(records=tuple(recorder.records), ran_dry="the run was stopped from outside")
    return Rerun(records=tuple(recorder.records))
