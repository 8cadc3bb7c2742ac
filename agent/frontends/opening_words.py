"""Tell the person, before the first line, what there is to know: about the program, and about a session that is resumed."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from agent.config.paths import checkout_root
from agent.frontends.wrapping import wrapped
from agent.protocol.messages import CommandItem, GoalItem, HistoryItem
from agent.protocol.outcomes import CommandSummary
from agent.text.shown import shown, shown_line

if TYPE_CHECKING:
    from agent.config.settings import Settings
    from agent.engine.context import RequestContext
    from agent.frontends.screen import Fragments

_MOST_GOAL = 60


def known_lines(ctx: RequestContext) -> list[str]:
    """Say how much of a session there is already, how its last goal ended, where its next command runs, and what it is set to again."""
    lost_and_restored = [shown_line(text, 500) for text in (*ctx.notes, ctx.restored) if text]
    return [f"session {ctx.session_id}: {past_text(ctx)}{_where(ctx)}", *lost_and_restored]


def _where(ctx: RequestContext) -> str:
    """Say where its next command runs, and that no log brings back what its shell had; nothing of one without a past."""
    return f"; its shell is new (folder, variables), in {shown_line(ctx.cwd, 200)}" if ctx.earlier_goals else ""


def past_text(ctx: RequestContext) -> str:
    """`3 goals so far, the last one (make the report) completed`; only a goal that planners may see is named, no private one."""
    goals = ctx.earlier_goals
    if not goals:
        return "no goals so far"
    last = goals[-1]
    told = last.status.value.replace("_", " ")
    if any(_belongs(item, last.goal_id) for item in ctx.history):
        told = f"({shown_line(last.goal, _MOST_GOAL)}) {told}"
    return f"1 goal so far, {told}" if len(goals) == 1 else f"{len(goals):,} goals so far, the last one {told}"


def _belongs(item: HistoryItem, goal_id: str) -> bool:
    if isinstance(item, CommandItem):
        return item.command_id.startswith(f"{goal_id}.")
    return isinstance(item, GoalItem) and item.goal_id == goal_id


def opening_lines(ctx: RequestContext, *, new: bool = False) -> list[str]:
    """For somebody who named a session: which one it is, that it is a `new` one, and what of it is lost."""
    if new:
        return [f"session {ctx.session_id} is new"]
    lines = known_lines(ctx)
    return [*lines, plan_text(ctx)] if ctx.plan_left is not None else lines


def plan_text(ctx: RequestContext) -> str:
    """Say which plan was left, and where; "" for none."""
    left = ctx.plan_left
    if left is None:
        return ""
    step = f"step {left.done + 1} of {len(left.plan.steps)}"
    return f"the plan for ({shown_line(left.goal, _MOST_GOAL)}) was left at {step}: :resume continues it"


FIRST_RUN = (
    "Type what you want in plain words; see each command with its risk; edit it; run it.",
    'No key is needed: try "find the 5 largest files here" (offline: no model, no network).',
    "For more, set OPENROUTER_API_KEY (or another provider's key); :models lists what runs here.",
    "Commands of your own run as typed, through the same checks; :session names the log.",
    ":help lists the rest; `agent-shell doctor` says what works here. Ctrl-D leaves.",
)


def welcome(*, first_run: bool, is_root: bool, safety_off: bool, columns: int = 0, logs: str = "") -> list[Fragments]:
    """Styled lines before the first prompt, broken between words to `columns`; none for an ordinary start. `logs`: where sessions are
    kept, if that is not where one would look.
    """
    lines: list[Fragments] = [[("class:hint", line)] for line in FIRST_RUN] if first_run else []
    if first_run and logs:
        lines.append(
            [("class:hint", f"Sessions are logged in {logs}; `session_dir` in your settings keeps them elsewhere.")]
        )
    if is_root:
        lines.append(
            [
                ("class:alert", "you are root: "),
                ("", "commands can change the whole system; risk is rated more strictly"),
            ]
        )
    if safety_off:
        lines.append([("class:alert", "safety is off: "), ("", "high-risk commands will not ask for the typed word")])
    return wrapped(lines, columns)


def follow_up_tip(command: CommandSummary) -> str:
    """Say how to go on from what a search found, in words that fit it; "" for any other command, and where there is nothing to choose."""
    if command.origin != "planner" or command.risk != "low" or not command.run.startswith("find "):
        return ""
    if command.stdout.count("\n") < 2:
        return ""
    folder = re.search(r"(?m)(?:^|\s)\./([\w-]+)/", command.stdout)
    tips = [f'"only the ones in {folder[1]}"'] if folder else []
    tips.append('"the first 2"' if "sort " in command.run else '"sort them by size"')
    return f"You can go on from there: {', '.join(tips)}."


def logs_in_clone(settings: Settings) -> str:
    """The folder of the logs where this is a clone that keeps them beside the program, "" else."""
    root = checkout_root()
    return "" if settings.session_dir or not settings.persist or not root else shown(os.path.join(root, "sessions"))
