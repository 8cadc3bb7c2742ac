"""Find the conditions under which a goal was run then: what its events tell of the settings that are not in the log themselves."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TypeVar, cast

from msgspec import Struct

from agent.audit.replay.tape import Tape
from agent.protocol.confinement import Confinement
from agent.protocol.events.command import (
    ApprovalRequested,
    CommandConfirmed,
    CommandProposed,
    CommandRated,
    CommandStarted,
    RehearsalFinished,
    RehearsalStarted,
)
from agent.protocol.events.goal import (
    GoalFinished,
    PlannerFinished,
    PlannerNoted,
    PlannerStarted,
    PlanProposed,
    ToolFinished,
    ToolStarted,
)
from agent.protocol.events.known import Event
from agent.protocol.events.session import AssistantMessage
from agent.protocol.messages import ContinuationKind, ToolSpec, UserInput
from agent.protocol.replies import Plan, PlanLeft
from agent.protocol.requests import Approval, ApproveMode, Limits, RehearseMode, RunOptions

E = TypeVar("E")

UNBOUNDED_STEPS = 1_000_000
_BUILT_IN_CALLS = ("run_command", "session_complete")
_REGENERATED = "The person asked for another answer"
_DISCARDED = "rehearsed and discarded"


class Conditions(Struct, frozen=True, kw_only=True):
    """Everything the engine is given: input, options, and the tools on offer. `can_run`: whether the session could run commands at all.

    `seconds`: what the clock says once nothing but the ending is left, where the goal ran out of time.
    """

    given: UserInput
    options: RunOptions
    tools: tuple[ToolSpec, ...]
    can_run: bool
    seconds: float


def conditions(tape: Tape) -> Conditions:
    """Those of one goal."""
    events, started = tape.case.events, tape.started
    interactive = not _is_unattended(events)
    mode, network = _rehearse(events, interactive=interactive)
    limits, seconds = _limits(events)
    approval = Approval(
        mode=cast("ApproveMode", started.approve if started.approve in ("ask", "low", "medium") else "ask"),
        safety_off=started.safety_off,
        dry_run=any(event.decision == "dry-run" for event in _of(events, CommandConfirmed)),
        interactive=interactive,
        rehearse=mode,
        network=network,
        confine=_confinement(events),
        typed=started.typed,
    )
    return Conditions(
        given=_given(tape),
        options=RunOptions(limits=limits, approval=approval, code_only=_only_code(events)),
        tools=_tools(events),
        can_run=not any(event.remark == "this session cannot run commands" for event in _of(events, CommandConfirmed)),
        seconds=seconds,
    )


def _given(tape: Tape) -> UserInput:
    started = tape.started
    kind = None
    if started.origin == "continuation":
        again = any(note.text.startswith(_REGENERATED) for note in _of(tape.case.events, PlannerNoted)[:1])
        kind = ContinuationKind.REGENERATE if again else ContinuationKind.CONTINUE
        if plan_of(tape) is not None:
            kind = ContinuationKind.PLAN
    shell = started.origin == "shell"
    return UserInput(
        text=started.goal,
        files=started.files,
        context=started.context,
        continuation=kind,
        shell=shell,
        private=started.private,
        unlisted=started.unlisted,
        origin=_origin(tape.case.events) if shell else "",
    )


def plan_of(tape: Tape) -> PlanLeft | None:
    """The plan that the goal went on with, where it began with one."""
    for event in tape.case.events:
        if isinstance(event, PlannerStarted):
            return None
        if isinstance(event, PlanProposed):
            plan = Plan(message=event.message, steps=event.planned)
            return PlanLeft(goal=tape.started.goal, plan=plan, done=min(event.done, len(plan.steps)))
    return None


def _origin(events: tuple[Event, ...]) -> str:
    proposed = _of(events, CommandProposed)
    return proposed[0].origin if proposed and proposed[0].origin != "person" else ""


def _is_unattended(events: tuple[Event, ...]) -> bool:
    """Tell whether nobody could be asked. A front end that says so only at the prompt lets the goal go on after that."""
    origins = {event.command_id: event.origin for event in _of(events, CommandProposed)}
    for place, event in enumerate(events):
        if isinstance(event, CommandConfirmed) and event.by == "nobody":
            goes_on = any(isinstance(later, PlannerStarted) for later in events[place:])
            return origins.get(event.command_id) == "tool" or not goes_on
        if isinstance(event, CommandRated):
            verdict = event.verdict
            if verdict.rule == "safety-off-unattended" or verdict.reason.endswith("nobody is there to ask"):
                return True
            if verdict.rule == "confine" and verdict.reason.startswith("it cannot be confined ("):
                return True
    return _only_rehearsed(events)


def _only_rehearsed(events: tuple[Event, ...]) -> bool:
    """Tell whether a command was rehearsed with nobody asked before, and then thrown away: `agent-shell rehearse`."""
    if not _was_thrown_away(events):
        return False
    if _rehearsed_unasked(events) and len(_of(events, CommandProposed)) == len(_of(events, RehearsalStarted)) == 1:
        return True
    online = any(text.startswith("network") for event in _of(events, RehearsalFinished) for text in event.not_shown)
    return any(_allowed(events).values()) and not online


def _was_thrown_away(events: tuple[Event, ...]) -> bool:
    return any(event.remark == _DISCARDED for event in _of(events, CommandConfirmed))


def _of(events: tuple[Event, ...], kind: type[E]) -> list[E]:
    return [event for event in events if isinstance(event, kind)]


def _allowed(events: tuple[Event, ...]) -> dict[str, bool]:
    """Map each command to whether it was rehearsed, for those that policy allowed as they were proposed."""
    found: dict[str, bool] = {}
    for event in events:
        match event:
            case CommandRated(stage="proposed", verdict=verdict) if verdict.action == "allow":
                found[event.command_id] = False
            case RehearsalStarted(preview=False) if event.command_id in found:
                found[event.command_id] = True
    return found


def _rehearsed_unasked(events: tuple[Event, ...]) -> bool:
    """Tell whether a command that policy wants asked about was rehearsed before any question. Logs without questions do not show it."""
    allowed, asked = _allowed(events), {event.command_id for event in _of(events, ApprovalRequested)}
    early: set[str] = set()
    for event in events:
        match event:
            case ApprovalRequested():
                early.add(event.command_id)
            case RehearsalStarted(preview=False, command_id=key) if key in asked - early and key not in allowed:
                return True
    return False


def _rehearse(events: tuple[Event, ...], *, interactive: bool) -> tuple[RehearseMode, bool]:
    """Infer when commands were rehearsed, as far as it shows, and whether with the network."""
    starts = _of(events, RehearsalStarted)
    if not starts:
        return "off", False
    if any(start.preview for start in starts):
        return "preview", False
    network = starts[0].network
    if _only_rehearsed(events):
        return "only", network
    if not interactive:
        return ("only" if _was_thrown_away(events) else "always"), network
    if _rehearsed_unasked(events):
        return "always", network
    allowed = _allowed(events)
    if not any(allowed.values()):
        return "ask", False
    return ("always" if all(allowed.values()) else "auto"), network


def _limits(events: tuple[Event, ...]) -> tuple[Limits, float]:
    """Bounds that the goal ran into; those that it kept are not in the log, and are left open."""
    message = next((event.message for event in _of(events, GoalFinished)), "")
    steps, tokens, seconds = UNBOUNDED_STEPS, None, None
    if found := re.match(r"stopped after (\d{1,7}) steps$", message):
        steps = int(found[1])
    elif found := re.match(r"stopped after (\d{1,9}) seconds: ", message):
        seconds = max(float(found[1]), 0.01)
    elif found := re.match(r"stopped after ([\d,]{1,20}) tokens: ", message):
        tokens = int(found[1].replace(",", ""))
    timeouts = {event.timeout for event in _of(events, CommandStarted)}
    timeout = timeouts.pop() if len(timeouts) == 1 else None
    limits = Limits(max_steps=steps, time_budget=seconds, token_budget=tokens, command_timeout=timeout)
    return limits, seconds or 0.0


def _confinement(events: tuple[Event, ...]) -> Confinement:
    """Anything but "off" has the executor asked, which then says for each command how it was."""
    for event in events:
        if isinstance(event, CommandStarted) and event.confine != "off":
            return "workspace"
        if isinstance(event, CommandRated) and (
            event.verdict.rule == "confine" or any(finding.rule == "confine.none" for finding in event.report.findings)
        ):
            return "workspace"
    return "off"


def _only_code(events: tuple[Event, ...]) -> bool:
    """Tell whether commands were only to be told: a command as reply, and a message right after it."""
    return any(
        isinstance(event, PlannerFinished)
        and event.reply in ("command", "plan")
        and isinstance(following, AssistantMessage)
        for event, following in pairwise(events)
    )


def _tools(events: tuple[Event, ...]) -> tuple[ToolSpec, ...]:
    """The tools that were on offer, as far as it shows: those that ran, and those that an error named."""
    names: dict[str, None] = {}
    running = ""
    for event in events:
        match event:
            case ToolStarted(name=name):
                running = name
            case ToolFinished(result=result) if result.startswith("there is no tool called "):
                listed = result.rpartition("the tools are: ")[2].split(", ")
                names.update(dict.fromkeys(name for name in listed if name not in _BUILT_IN_CALLS))
                running = ""
            case ToolFinished(name=name) if name == running:
                names[name] = None
                running = ""
    hidden = {"run_command", "shell", "bash", "session_complete", "finish", "ask_question"}
    return tuple(ToolSpec(name=name, description="", parameters={}) for name in names if name not in hidden)
