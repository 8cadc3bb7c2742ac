"""Read tool calls and plans: what a lone `run_command` or `propose_plan` stands for, and which calls may not come together.

A plan on the wire is `{"message", "steps": [{"goal", "command"}]}`, in an object of a JSON codec or as the arguments of a call.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from agent.planner.codecs import fields
from agent.planner.codecs.fields import RUN_COMMAND
from agent.planner.untrusted import prompt_text
from agent.protocol.decisions import Opinion
from agent.protocol.errors import PlannerError
from agent.protocol.messages import ToolCall, ToolSpec
from agent.protocol.replies import Command, Plan, PlanStep, Reply, ToolCalls
from agent.text.visible import well_formed

PROPOSE_PLAN = "propose_plan"
MAX_STEPS = 32
_MAX_GOAL = 500  # characters of a step's words


def read_plan(value: dict[str, Any]) -> Plan | Command:
    """A checked plan. One step alone is its command, where it has one. Raises PlannerError."""
    message = fields.words(fields.text_field(value, "message"))
    given = value.get("steps")
    if not isinstance(given, list):
        raise PlannerError('"steps" must be a list of objects with "goal" and "command"')
    if not given:
        raise PlannerError('"steps" is empty')
    if len(given) > MAX_STEPS:
        raise PlannerError(f"{len(given)} steps in one plan; at most {MAX_STEPS} are allowed")
    steps = tuple(_step(entry, number) for number, entry in enumerate(given, 1))
    if len(steps) == 1 and steps[0].command:
        only = steps[0]
        return Command(command=only.command, reason=only.goal, opinion=only.opinion)
    return Plan(message=message, steps=steps)


def warned(plan: Plan | Command, warning: Opinion | None) -> Plan | Command:
    """Give each command of a plan the warning that the reply around it has."""
    if warning is None:
        return plan
    if isinstance(plan, Command):
        return replace(plan, opinion=_worse(plan.opinion, warning))
    steps = (replace(step, opinion=_worse(step.opinion, warning)) if step.command else step for step in plan.steps)
    return replace(plan, steps=tuple(steps))


def _worse(own: Opinion | None, other: Opinion) -> Opinion:
    return own if own is not None and own.level.rank >= other.level.rank else other


def _step(entry: Any, number: int) -> PlanStep:
    if not isinstance(entry, dict):
        raise PlannerError(f'step {number} must be an object with "goal" and "command"')
    try:
        goal = " ".join(well_formed(fields.text_field(entry, "goal")).split())[:_MAX_GOAL].replace("\x00", "")
        text = fields.text_field(entry, "command")
        found = fields.command(text, fields.text_field(entry, "reason")) if text.strip() else None
    except PlannerError as error:
        raise PlannerError(f"step {number}: {error.message}") from None
    if found is None:
        if not goal:
            raise PlannerError(f'step {number} has neither a "goal" nor a "command"')
        return PlanStep(goal=goal)
    goal = goal or found.command.split("\n", 1)[0][:_MAX_GOAL]
    return PlanStep(goal=goal, command=found.command, reason=found.reason, opinion=fields.opinion(entry))


def plan_data(plan: Plan) -> dict[str, Any]:
    """A plan as `read_plan` reads it."""
    return {"message": plan.message, "steps": [{"goal": step.goal, "command": step.command} for step in plan.steps]}


def plan_call(plan: Plan) -> ToolCall:
    """A plan as the one call of a reply that is made of calls."""
    return ToolCall(id="call_1", name=PROPOSE_PLAN, arguments=plan_data(plan))


def plan_schema() -> dict[str, Any]:
    """The properties of a plan, all of which a constrained reply has; "" is a command that is not known yet."""
    words = {"type": "string"}
    step = fields.object_schema(goal=words, command=words)
    return {"message": words, "steps": {"type": "array", "items": step}}


def propose_plan_spec() -> ToolSpec:
    """The call that stands for a plan where replies are made of calls."""
    parameters = fields.object_schema(**plan_schema())
    return ToolSpec(name=PROPOSE_PLAN, description=prompt_text("propose_plan"), parameters=parameters)


_RUN_ARGUMENTS = frozenset(("command", "reason", "confidence", "risk", "risk_reason"))


def from_calls(
    calls: tuple[ToolCall, ...],
    *,
    plan: str = "",
    text: str = "",
    known: frozenset[str] = frozenset(),
    warning: Opinion | None = None,
    lone: bool = True,
) -> Reply:
    """Calls as a reply: one `run_command` alone is a `Command` (X-3). Raises PlannerError.

    `warning` is what the reply around the calls says of the risk.
    `lone`: a call of `run_command` or `propose_plan` alone stands for a command or a plan. `known`: names of the tools on offer.
    Where `run_command` is not among them the host itself runs the command, one a reply.
    """
    if not lone:
        return ToolCalls(calls=calls, plan=well_formed(plan).strip(), text=well_formed(text).strip())
    if PROPOSE_PLAN not in known and any(call.name == PROPOSE_PLAN for call in calls):
        if len(calls) > 1:
            raise PlannerError(f"{len(calls)} calls in one reply; {PROPOSE_PLAN} must stand alone")
        arguments = {"message": text or plan, **calls[0].arguments}
        return warned(warned(read_plan(arguments), fields.opinion(arguments)), warning)
    runs = [call for call in calls if call.name == RUN_COMMAND]
    if len(calls) == 1 and runs and runs[0].arguments.keys() <= _RUN_ARGUMENTS:
        arguments = runs[0].arguments
        reason = fields.text_field(arguments, "reason") or plan or text
        text = fields.text_field(arguments, "command", required=True)
        own = fields.opinion(arguments)
        worst = own if warning is None else _worse(own, warning)
        return fields.command(text, reason, arguments.get("confidence"), worst)
    if runs and RUN_COMMAND not in known:
        if len(calls) > 1:
            raise PlannerError(f"{len(calls)} calls in one reply; run_command must stand alone")
        unknown = sorted(runs[0].arguments.keys() - _RUN_ARGUMENTS)
        raise PlannerError(f"run_command has no argument {unknown[0][:40]!r}")
    if warning is not None:  # of all that the reply wants run
        calls = tuple(_warned(call, warning) if call.name == RUN_COMMAND else call for call in calls)
    return ToolCalls(calls=calls, plan=well_formed(plan).strip(), text=well_formed(text).strip())


def _warned(call: ToolCall, warning: Opinion) -> ToolCall:
    """A call with a warning among its arguments, unless it has a worse one."""
    if _worse(fields.opinion(call.arguments), warning) is not warning:
        return call
    said = {"risk": warning.level.value, "risk_reason": warning.reason}
    return replace(call, arguments={**call.arguments, **said})
