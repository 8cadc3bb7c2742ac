"""Tool calls as a reply: what a lone `run_command` or `propose_plan` stands for, and which calls may not come together."""

from __future__ import annotations

from agent.planner.codecs import fields
from agent.planner.codecs.fields import RUN_COMMAND
from agent.planner.codecs.plan_fields import PROPOSE_PLAN, read_plan, warned
from agent.protocol.decisions import Opinion
from agent.protocol.errors import PlannerError
from agent.protocol.messages import ToolCall
from agent.protocol.replies import Reply, ToolCalls

_RUN_ARGUMENTS = frozenset(("command", "reason", "confidence", "risk", "risk_reason"))


def from_calls(
    calls: tuple[ToolCall, ...],
    *,
    plan: str = "",
    text: str = "",
    known: frozenset[str] = frozenset(),
    warning: Opinion | None = None,
) -> Reply:
    """Calls as a reply: one `run_command` alone is a `Command` (X-3). Raises PlannerError.

    `warning` is what the reply around the calls says of the risk.
    `known`: names of the tools on offer. Where `run_command` is not among them the host itself runs the command, one a reply.
    """
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
        said = [one for one in (fields.opinion(arguments), warning) if one is not None]
        worst = max(said, key=lambda one: one.level.rank, default=None)
        return fields.command(text, reason, arguments.get("confidence"), worst)
    if runs and RUN_COMMAND not in known:
        if len(calls) > 1:
            raise PlannerError(f"{len(calls)} calls in one reply; run_command must stand alone")
        unknown = sorted(runs[0].arguments.keys() - _RUN_ARGUMENTS)
        raise PlannerError(f"run_command has no argument {unknown[0][:40]!r}")
    if warning is not None:  # of all that the reply wants run
        calls = tuple(_warned(call, warning) if call.name == RUN_COMMAND else call for call in calls)
    return ToolCalls(calls=calls, plan=fields.well_formed(plan).strip(), text=fields.well_formed(text).strip())


def _warned(call: ToolCall, warning: Opinion) -> ToolCall:
    """A call with a warning among its arguments, unless it has a worse one."""
    own = fields.opinion(call.arguments)
    if own is not None and own.level.rank >= warning.level.rank:
        return call
    said = {"risk": warning.level.value, "risk_reason": warning.reason}
    return ToolCall(id=call.id, name=call.name, arguments={**call.arguments, **said})
