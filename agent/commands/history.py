"""`:history`: the goals of this session with their commands and how they ended."""

from __future__ import annotations

from collections.abc import Sequence

from agent.commands.context import CommandContext, DispatchOutcome
from agent.commands.definition import Definition
from agent.protocol.outcomes import GoalSummary
from agent.text.shown import shown, shown_line


async def history(context: CommandContext, arguments: str) -> DispatchOutcome:
    await context.person.show(history_text(context.goals))
    return DispatchOutcome()


def history_text(goals: Sequence[GoalSummary]) -> str:
    """A numbered line for each goal, its commands below."""
    if not goals:
        return "no goals yet"
    lines = []
    for number, goal in enumerate(goals, 1):
        lines.append(f"{number}. {shown_line(goal.goal, 200)}  [{goal.status.value}]")
        for command in goal.commands:
            ended = command.outcome if command.exit_code is None else f"exit {command.exit_code}"
            mark = ", edited" if command.edited else ""
            text = shown(command.run or command.proposed).replace("\n", "\n       ")
            lines.append(f"     $ {text}  [{command.risk}, {ended}{mark}]")
    return "\n".join(lines)


COMMANDS = (
    Definition(
        names=("history",),
        help="goals of this session and how they ended",
        examples=(":history",),
        handle=history,
        order=200,
        elsewhere=True,
    ),
)
