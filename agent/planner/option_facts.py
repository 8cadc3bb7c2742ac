"""Hold a model's commands against the manuals of the programs installed here, and tell it what these say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.planner.untrusted import data_block, one_line, prompt_text
from agent.protocol.messages import GoalItem
from agent.protocol.replies import Command, Plan, Reply

if TYPE_CHECKING:
    from agent.retrieval.manuals import Manuals, Missing

_MOST_LINES = 8
_LONGEST = 160


class OptionFacts:
    """Keep what was found out for goals, so that a goal reads the same in every prompt. Its methods block, but for `of`."""

    def __init__(self, manuals: Manuals) -> None:
        self._manuals = manuals
        self._lines: dict[str, tuple[str, ...]] = {}

    def look_up(self, goal: GoalItem) -> None:
        """Read what the manuals of programs that a goal names say about its words."""
        if goal.goal_id not in self._lines:
            self._lines[goal.goal_id] = self._manuals.facts(goal.text)

    def of(self, goal: GoalItem) -> str:
        """That, as a part of a prompt; "" where there is nothing."""
        return _block(self._lines.get(goal.goal_id, ()))

    def missing(self, reply: Reply) -> tuple[Missing, ...]:
        """Options of a proposal that its programs do not have here."""
        steps = reply.steps if isinstance(reply, Plan) else (reply,) if isinstance(reply, Command) else ()
        return tuple(each for step in steps for each in self._manuals.missing_in(step.command))


def correction(missing: tuple[Missing, ...], goal: str) -> str:
    """Tell a model what it cannot use, and what there is instead."""
    lines = dict.fromkeys(f"{each.program} {line}" for each in missing for line in each.near(goal))
    told = prompt_text("repair_options").replace("{missing}", one_line("; ".join(each.text for each in missing)))
    return f"{told}\n{_block(tuple(lines))}" if lines else told


def lost(missing: tuple[Missing, ...]) -> int:
    """Count the options."""
    return sum(len(each.options) for each in missing)


def _block(lines: tuple[str, ...]) -> str:
    text = "\n".join(one_line(line, _LONGEST) for line in lines[:_MOST_LINES])
    return data_block("manual pages", text) if text else ""
