"""Plans on the wire: `{"message", "steps": [{"goal", "command"}]}`, in an object of a JSON codec or as the arguments of a call."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from agent.planner.codecs import fields
from agent.planner.prompts_text import prompt_text
from agent.protocol.decisions import Opinion
from agent.protocol.errors import PlannerError
from agent.protocol.messages import ToolCall, ToolSpec
from agent.protocol.replies import Command, Plan, PlanStep

PROPOSE_PLAN = "propose_plan"
MAX_STEPS = 32
_MAX_GOAL = 500  # characters of a step's words


def read_plan(value: dict[str, Any]) -> Plan | Command:
    """A checked plan. One step alone is its command, where it has one. Raises PlannerError."""
    message = (
        fields.well_formed(fields.text_field(value, "message")).replace("\x00", "\N{REPLACEMENT CHARACTER}").strip()
    )
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
    """What the reply around a plan says of the risk counts for each of its commands."""
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
        goal = " ".join(fields.well_formed(fields.text_field(entry, "goal")).split())[:_MAX_GOAL].replace("\x00", "")
        text = fields.text_field(entry, "command")
        found = fields.command(text, fields.text_field(entry, "reason")) if text.strip() else None
    except PlannerError as error:
        raise PlannerError(f"step {number}: {error.message}") from None
    if found is None:
        if not goal:
            raise PlannerError(f'step {number} has neither a "goal" nor a "command"')
        return PlanStep(goal=goal)
    return PlanStep(
        goal=goal or found.command.split("\n", 1)[0][:_MAX_GOAL],
        command=found.command,
        reason=found.reason,
        opinion=fields.opinion(entry),
    )


def plan_data(plan: Plan) -> dict[str, Any]:
    """A plan as `read_plan` reads it."""
    return {"message": plan.message, "steps": [{"goal": step.goal, "command": step.command} for step in plan.steps]}


def plan_call(plan: Plan) -> ToolCall:
    """A plan as the one call of a reply that is made of calls."""
    return ToolCall(id="call_1", name=PROPOSE_PLAN, arguments=plan_data(plan))


def plan_schema() -> dict[str, Any]:
    """The properties of a plan, all of which a constrained reply has; "" is a command that is not known yet."""
    words = {"type": "string"}
    step = {"goal": words, "command": words}
    form = {"type": "object", "properties": step, "required": list(step), "additionalProperties": False}
    return {"message": words, "steps": {"type": "array", "items": form}}


def propose_plan_spec() -> ToolSpec:
    """The call that stands for a plan where replies are made of calls."""
    properties = plan_schema()
    parameters = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    return ToolSpec(name=PROPOSE_PLAN, description=prompt_text("propose_plan"), parameters=parameters)
