"""Parse a goal apart from any recipe: the goal in a history, its words and its texts, what cannot be a goal."""

from __future__ import annotations

import re

from agent.lexicon.words import Token
from agent.planner.offline.referring import is_follow_up
from agent.planner.offline.talk import Talk
from agent.protocol.messages import CommandItem, GoalItem, HistoryItem

MAX_GOAL = 2000
_UNUSABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def last_goal(history: tuple[HistoryItem, ...]) -> tuple[GoalItem | None, list[CommandItem]]:
    """The last goal and the commands after it."""
    steps: list[CommandItem] = []
    for item in reversed(history):
        if isinstance(item, GoalItem):
            return item, steps[::-1]
        if isinstance(item, CommandItem):
            steps.append(item)
    return None, []


def goals_that_ran(history: tuple[HistoryItem, ...]) -> list[tuple[GoalItem, list[CommandItem]]]:
    """The goals before the last one whose last command ran, with their commands. What was cancelled is no result: one that goes on with
    another is passed over, and behind any other there is nothing to go on with."""
    found: list[tuple[GoalItem, list[CommandItem]]] = []
    for item in history:
        if isinstance(item, GoalItem):
            found.append((item, []))
        elif isinstance(item, CommandItem) and found:
            found[-1][1].append(item)
    results: list[tuple[GoalItem, list[CommandItem]]] = []
    for goal, steps in found[:-1]:
        if steps and steps[-1].outcome == "ran":
            results.append((goal, steps))
        elif steps and not is_follow_up(goal.text):
            results.clear()
    return results


def command_before(history: tuple[HistoryItem, ...]) -> CommandItem | None:
    """The last command before the last goal that ran, whoever typed it; None for none."""
    goals = 0
    for item in reversed(history):
        goals += isinstance(item, GoalItem)
        if goals and isinstance(item, CommandItem) and item.outcome == "ran":
            return item
    return None


def strip_remark(remark: str) -> str:
    """A remark without the words that only say that it is one."""
    return re.sub(
        r"(?i)\A\s*(?:(?:no|nope|but|only|just|please|actually|instead|rather|not that|use)[,;:.]?\s+)+",
        "",
        remark + " ",
    ).strip()


def split_pasted(goal: GoalItem) -> tuple[str, str]:
    """The goal's words, and everything that came with it as text: pipes, files, lines pasted below."""
    text, *below = goal.text.strip().split("\n", 1)
    blocks = [block.text for block in goal.context if "AGENTS.md" not in block.label]
    blocks += [attached.content for attached in goal.files]
    return text if not below or Talk.asks_why(text) else goal.text.strip(), "\n".join([*below, *blocks])


def unusable(text: str) -> str:
    """Say why a text cannot be a goal, empty if it can."""
    if not text.strip():
        return "the goal is empty; type what you want in plain words, or `help`"
    if len(text) > MAX_GOAL:
        return f"the goal is too long ({len(text):,} characters; the offline planner reads up to {MAX_GOAL:,}); say it in one sentence"
    if len([line for line in text.splitlines() if line.strip()]) > 1:
        return "these are several goals; the offline planner takes one at a time, each on a line of its own"
    if _UNUSABLE.search(text):
        return "the goal has control characters or broken Unicode in it that cannot go into a command; type it again"
    return ""


def program_to_end(tokens: list[Token]) -> str:
    """The name in "kill chrome", "" for any other goal."""
    words = [token for token in tokens if not token.filler]
    if len(words) != 2 or words[0].low not in ("kill", "quit", "terminate", "pkill", "killall"):
        return ""
    name = words[1].raw
    return name if re.fullmatch(r"[\w][\w.+-]{0,63}", name) and not name.isdigit() else ""
