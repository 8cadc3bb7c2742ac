"""What the tests of the offline planner share: a planner with a fixed day, and requests."""

from __future__ import annotations

import datetime
from collections.abc import Callable

from agent.planner.offline.planner import OfflinePlanner
from agent.protocol.messages import CommandItem, ContextBlock, EnvironmentFacts, GoalItem, HistoryItem
from agent.protocol.replies import Chat, Command, Reply
from agent.protocol.requests import PlannerRequest

TODAY = datetime.date(2024, 5, 17)


def planner(present: Callable[[str], bool] = lambda name: True) -> OfflinePlanner:
    running = {"firefox": "firefox", "Xorg": "Xorg"}
    return OfflinePlanner(tools_present=present, today=lambda: TODAY, running=lambda name: running.get(name, ""))


PLANNER = planner()


def goal_item(text: str, cwd: str = "", context: str = "", system: str = "Linux") -> GoalItem:
    blocks = (ContextBlock(label="stdin", text=context),) if context else ()
    return GoalItem(goal_id="g1", text=text, environment=EnvironmentFacts(os=system, cwd=cwd), context=blocks)


def ran(command: str, exit_code: int = 0, stdout: str = "", stderr: str = "", **fields: object) -> CommandItem:
    return CommandItem(
        command_id="c1", proposed=command, run=command, exit_code=exit_code, stdout=stdout, stderr=stderr, **fields
    )  # type: ignore[arg-type]


def answer(*history: HistoryItem, using: OfflinePlanner = PLANNER) -> Reply:
    return using.answer(PlannerRequest(history=history))


def command_for(text: str, cwd: str = "", *after: HistoryItem, using: OfflinePlanner = PLANNER) -> str:
    reply = answer(goal_item(text, cwd), *after, using=using)
    assert isinstance(reply, Command), f"{text!r} gave {reply}"
    return reply.command


def message_for(text: str, cwd: str = "", *after: HistoryItem, using: OfflinePlanner = PLANNER) -> str:
    reply = answer(goal_item(text, cwd), *after, using=using)
    assert isinstance(reply, Chat), f"{text!r} gave {reply}"
    return reply.message
