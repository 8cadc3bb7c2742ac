"""`:interview`, `:work`: be asked what one wants, and have a model do one task of the repository here, in sessions of their own."""

from __future__ import annotations

import re

from agent.commands.context import CommandContext, DispatchOutcome
from agent.commands.definition import Definition
from agent.protocol.errors import InvalidRequest
from agent.protocol.outcomes import FrontendRequest


async def interview(context: CommandContext, arguments: str) -> DispatchOutcome:
    return DispatchOutcome(frontend_request=FrontendRequest(action="interview", argument=arguments))


async def work(context: CommandContext, arguments: str) -> DispatchOutcome:
    return DispatchOutcome(frontend_request=FrontendRequest(action="work", argument=arguments))


def _task(rest: str) -> str:
    """Raises InvalidRequest where it does not begin with the number of a task."""
    if rest and not re.match(r"[1-9][0-9]{0,8}(?: |$)", rest):
        raise InvalidRequest(
            f"{rest.partition(' ')[0]!r} is no number of a task",
            hint="`:work`, `:work 7`, or `:work 7 ANSWER` after a question",
        )
    return rest


COMMANDS = (
    Definition(
        names=("interview",),
        arguments="[ENGINE [WORDS]|ID|last]",
        help="be asked what you want, step by step; go on with it; hand it over",
        examples=(":interview", ":interview exploration", ":interview last"),
        handle=interview,
        choices=("last",),
        complete=lambda services: services.engines(),
        line=(":interview, :work [N]", "find out what you want; do a task of TASKS.md"),
    ),
    Definition(
        names=("work",),
        arguments="[N [ANSWER]]",
        help="do a task of TASKS.md in a worktree, for review; N: that one",
        examples=(":work", ":work 7", ":work 7 TOML, please"),
        handle=work,
        read=_task,
        complete=lambda services: services.tasks(),
    ),
)
