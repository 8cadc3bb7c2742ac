"""Put remembered goals in words: as examples for a model, and as the line about experience at a confirmation. Pure."""

from __future__ import annotations

from typing import Protocol

from agent.memory.model import Experience, GoalWords, Remembered
from agent.protocol.messages import ContextBlock

LABEL = "commands that the person accepted before, and that worked"
MOST = 5
_LIKE = 0.34
_MOST_CHARS = 2_400
_LEAST_USES = 2
_LEAST_SUCCESS = 0.6


class Likenesses(Protocol):
    """What is asked of a memory."""

    def like_goal(self, words: GoalWords, cwd: str, *, least: float, most: int) -> list[Remembered]: ...


def example_block(memory: Likenesses, words: GoalWords, cwd: str) -> ContextBlock | None:
    """Up to MOST commands for goals like this one, the nearest first; None where there are none.

    It is context, marked untrusted like everything that was once typed or proposed; the engine redacts it.
    """
    lines: list[str] = []
    size = 0
    for item in memory.like_goal(words, cwd, least=_LIKE, most=4 * MOST):
        if item.success < _LEAST_SUCCESS or item.replaced:
            continue
        edited = ", written by the person" if item.edited else ""
        where = "here" if item.cwd == cwd else "elsewhere"
        command = item.command.replace("\n", "\n    ")
        text = f"goal: {item.goal}\n  ran {where}{edited}, {item.worked} of {item.uses} worked:\n    {command}"
        size += len(text)
        if size > _MOST_CHARS:
            break
        lines.append(text)
        if len(lines) == MOST:
            break
    return ContextBlock(label=LABEL, text="\n".join(lines)) if lines else None


def experience_line(known: Experience) -> str:
    """ "used before: 12 of 14 succeeded here": of commands with the same programs, subcommands and options; "" below two uses."""
    if known.runs_here >= _LEAST_USES:
        return f"used before: {known.worked_here} of {known.runs_here} succeeded here"
    if known.runs >= _LEAST_USES:
        return f"used before: {known.worked} of {known.runs} succeeded, mostly in other folders"
    return ""
