"""Extract what one goal of the log teaches: which command a person accepted for it and how that went, and what ran at all. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from agent.lexicon.exit_answers import asks_about_last
from agent.memory.model import Worked
from agent.protocol.records import LABEL

LONGEST_GOAL = 400
LONGEST_COMMAND = 2_000
_ENDED = ("completed", "answered")
_TURNED_DOWN = ("regenerate", "skipped", "declined")
_KILLED = 128
_TIMED_OUT = 124
# What is true of one moment only: dates, numbers such as process ids, names of commits and temporary files.
_OF_A_MOMENT = re.compile(
    r"\d{4}-\d\d(?:-\d\d)?|(?<![\w.])\d{5,}(?![\w.])|\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b|/tmp/tmp[.\w]+"
)
_CONSTANTS = frozenset(("86400", "604800", "1000000", "1048576", "1073741824", "1000000000", "65535", "65536"))
_OF_A_PROCESS = re.compile(r"\b(?:kill|renice|taskset|chrt|strace|gdb|lsof|pidstat|pmap)\b[^|;&\n]*?\s(\d{2,})\b")

Kind = Literal["taught", "ran", "failed", "refused"]


class RanCommand(Struct, frozen=True):
    """A command of a goal as the index has it."""

    proposed: str
    run: str
    origin: str
    cwd: str
    at: int
    level: int
    outcome: str
    by: str
    exit_code: int | None


class PastGoal(Struct, frozen=True):
    """A goal of the log with its commands."""

    text: str
    origin: str
    status: str
    planner: str
    commands: tuple[RanCommand, ...]


class Use(Struct, frozen=True):
    """One fact about a command for the goal. `taught`: a person accepted it and it worked; `ran`: it worked, and nobody was asked;
    `refused`: the person put another in its place. `chosen`: the person took it instead of what was proposed first.
    """

    command: str
    kind: Kind
    edited: bool
    cwd: str
    at: int
    level: int
    chosen: bool = False


class Run(Struct, frozen=True):
    """One run of a command, whatever it was for."""

    command: str
    cwd: str
    at: int
    worked: bool


def uses_of(goal: PastGoal, worked: Worked) -> list[Use]:
    """Return what a goal in plain words teaches. Only one that ended, with one command in the end that did it, teaches a command."""
    if goal.origin != "goal" or goal.status == "open" or not is_rememberable(goal.text):
        return []
    ran = [command for command in goal.commands if _has_run(command) and command.origin != "person"]
    good = [command for command in ran if worked(command.run, command.exit_code or 0)]
    found = [_use(command, "failed") for command in ran if command not in good and _tells(command)]
    if goal.status in _ENDED and len(good) == 1 and ran[-1] is good[0] and not _left_the_goal(goal.text, ran):
        found += _lesson(good[0], goal.commands)
    return [use for use in found if _is_command(goal.text, use.command)]


def _lesson(command: RanCommand, commands: Sequence[RanCommand]) -> list[Use]:
    """Return what the one that worked teaches, and what it was taken instead of."""
    if command.by != "person":
        return [_use(command, "ran")]
    if any(other.outcome == "remark" for other in commands):
        return []  # the goal alone does not say what was wanted
    edited = command.run.strip() != command.proposed.strip()
    instead = [other.proposed for other in commands if other.outcome in _TURNED_DOWN]
    instead += [command.proposed] if edited else []
    found = [_use(command, "taught", edited=edited, chosen=bool(instead))]
    for text in dict.fromkeys(instead):
        if text.strip() != command.run.strip():
            found.append(Use(text, "refused", False, command.cwd, command.at, command.level))
    return found


def runs_of(commands: Sequence[RanCommand], worked: Worked) -> list[Run]:
    """Return what ran for real, with how it went; a replay of a session is no new experience, and a signal says nothing of the command."""
    return [
        Run(command.run, command.cwd, command.at, worked(command.run, command.exit_code or 0))
        for command in commands
        if _has_run(command) and _tells(command) and len(command.run) <= LONGEST_COMMAND
    ]


def _left_the_goal(goal: str, ran: Sequence[RanCommand]) -> bool:
    """Tell whether a correction on the way took another file, number or name than the goal says: that was for that day."""
    tried = {word for command in ran[:-1] for word in _shell_words(command.run)}
    return any(word in tried and word not in _shell_words(ran[-1].run) for word in _shell_words(goal))


def _shell_words(text: str) -> set[str]:
    return set(re.findall(r"[^\s'\"|;&<>(),]{2,}", text))


def is_rememberable(goal: str) -> bool:
    """Tell whether a goal can be remembered: one short line without anything that stands for a secret, that says itself what is wanted."""
    text = goal.strip()
    plain = 0 < len(text) <= LONGEST_GOAL and "\n" not in text and LABEL not in goal and goal.isprintable()
    return plain and not asks_about_last(text)


def _is_command(goal: str, command: str) -> bool:
    if not command.strip() or len(command) > LONGEST_COMMAND or LABEL in command:
        return False
    if not command.replace("\n", "").replace("\t", "").isprintable():
        return False
    moments = [found for found in _OF_A_MOMENT.findall(command) if found not in _CONSTANTS]
    moments += _OF_A_PROCESS.findall(command)
    return all(moment in goal for moment in moments)


def _has_run(command: RanCommand) -> bool:
    for_real = command.outcome == "ran" and command.origin != "replay"
    return for_real and bool(command.run) and command.exit_code is not None


def _tells(command: RanCommand) -> bool:
    code = command.exit_code or 0
    return 0 <= code < _KILLED and code != _TIMED_OUT


def _use(command: RanCommand, kind: Kind, *, edited: bool = False, chosen: bool = False) -> Use:
    return Use(command.run, kind, edited, command.cwd, command.at, command.level, chosen)
