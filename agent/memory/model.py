"""Data model of the memory: goals in the form they are compared in, commands that a person accepted, and how they went."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, Protocol

from msgspec import Struct

from agent.protocol.messages import ContextBlock

LABEL = "commands that the person accepted before, and that worked"
MOST = 5
_LIKE = 0.34
_MOST_CHARS = 2_400
_LEAST_USES = 2
_LEAST_SUCCESS = 0.6


class Likenesses(Protocol):
    """The questions that a memory answers."""

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
    """ "Commands like this: 12 of 14 succeeded here": of commands with the same programs, subcommands and options; "" below two uses."""
    if known.runs_here >= _LEAST_USES:
        return f"Commands like this: {known.worked_here} of {known.runs_here} succeeded here"
    if known.runs >= _LEAST_USES:
        return f"Commands like this: {known.worked} of {known.runs} succeeded, mostly in other folders"
    return ""


SlotKind = Literal["path", "number", "text"]


class Slot(Struct, frozen=True):
    """A literal of a goal, as it was typed: a path, a number, or quoted text."""

    kind: SlotKind
    text: str


class GoalWords(Struct, frozen=True, kw_only=True):
    """A goal for comparing. `key`: its concepts in order with slots as placeholders, "" where nothing in it can be compared.

    `terms`: the same without order, each once; a term that begins with `~` says little.
    """

    key: str
    terms: tuple[str, ...] = ()
    slots: tuple[Slot, ...] = ()


ReadGoal = Callable[[str], GoalWords]
Worked = Callable[[str, int], bool]
"""Tells whether a command that ended with this exit code did what it was for: 0, or a code that is an answer."""


class Remembered(Struct, frozen=True, kw_only=True):
    """A command for a goal, with what came of it. `worked` of `uses` runs did what they were for.

    `success` is the same as a share, where an edit of the person counts double. `at`: the last run that taught it, in microseconds
    since the epoch; `cwd` where that was. `same_folder`, `same_project`: some such run was there. `level`: the worst rating of it,
    1 low … 3 high. `edited`: the person wrote it. `replaced`: the person mostly put something else in its place. `by_recipe`: only
    recipes ever proposed it, as the first. `likeness`: of the goals, 0..1.
    """

    entry: int
    goal: str
    key: str
    slots: tuple[Slot, ...]
    command: str
    at: int
    cwd: str
    worked: int = 0
    uses: int = 0
    success: float = 0.0
    edited: bool = False
    replaced: bool = False
    level: int = 0
    by_recipe: bool = False
    same_folder: bool = False
    same_project: bool = False
    likeness: float = 1.0
    rank: float = 0.0


class Experience(Struct, frozen=True, kw_only=True):
    """Counts of the runs of one shape of command, and of those that did what they were for: in this folder or project, and everywhere."""

    worked_here: int = 0
    runs_here: int = 0
    worked: int = 0
    runs: int = 0
