"""Offer remembered commands before what recipes know: the one that a person accepted for this goal, and what comes near it.

It is a proposal like any other. What changed something comes back only for the same words with the same literals, in the same folder.
"""

from __future__ import annotations

import datetime
import os
import re
import shlex
from collections.abc import Callable, Sequence
from typing import Protocol

from msgspec import Struct, structs

from agent.memory.comparing import goal_words
from agent.memory.model import GoalWords, Remembered
from agent.planner.offline.filling import fill
from agent.protocol.replies import Alternative, Chat, Command, Reply
from agent.text.times import day_name

_SINGLE_QUOTED = re.compile(r"'[^']*'")
_NOTHING = frozenset(("", ".", "-", "{}", "+", ";", "--"))


def unsaid(goal: str, command: str, proposed: str = "", *, changes: bool) -> str:
    """The first such part, "" where there is none. `proposed`: what recipes make of the goal, whose words count as said.

    `changes`: that the command changes something, and then every option counts.
    """
    found = re.search(r"[`$]", _SINGLE_QUOTED.sub("", command))
    if found:
        return found[0]
    try:
        words = _words(command)
        known = {*_words(proposed)}
    except ValueError:  # a quote that is not closed
        return command[:40]
    said = goal.lower()
    begins = True
    for word in words:
        if set(word) <= set("|;&<>()\n") and word not in known:
            if word != "|":
                return word
            begins = True
            continue
        if not begins and word not in known and not _is_said(word, said, changes=changes):
            return word
        begins = False
    return ""


def _words(command: str) -> list[str]:
    lexer = shlex.shlex(command.replace("\n", " ; "), posix=True, punctuation_chars=True)
    lexer.commenters = ""
    return list(lexer)


def _is_said(word: str, goal: str, *, changes: bool) -> bool:
    value = word
    if word.startswith("-"):
        name, _, value = word.partition("=")
        if changes and name.strip("-").lower() not in goal:
            return False
        value = value or "".join(re.findall(r"\d+", name))
    plain = value.lower().removeprefix("./").rstrip("/")
    return plain in _NOTHING or re.search(rf"(?<![\w./-]){re.escape(plain)}(?![\w-])", goal) is not None


WAIT_SECONDS = 0.15  # for what the last goals taught; what takes longer counts the next time
LEAST_SUCCESS = 0.6
_LIKE = 0.75
_MOST_ALTERNATIVES = 3
_LOW = 1


class Recall(Protocol):
    """Questions to a memory; see `agent.memory.service.Memory`."""

    def refresh(self, wait: float) -> bool: ...

    def for_goal(self, words: GoalWords, cwd: str) -> tuple[list[Remembered], list[Remembered]]: ...

    def like_goal(self, words: GoalWords, cwd: str, *, least: float, most: int) -> list[Remembered]: ...


class _Here(Struct, frozen=True):
    """The place and the day of the question."""

    cwd: str
    today: datetime.date


class RememberedCommands:
    """Puts what is remembered beside what the recipes say. `taken_back`: commands whose last run was undone, each with its folder."""

    def __init__(self, recall: Recall, taken_back: Callable[[], frozenset[tuple[str, str]]] = frozenset) -> None:
        self._recall = recall
        self._taken_back = taken_back

    def beside(
        self,
        reply: Reply,
        goal: str,
        cwd: str,
        *,
        today: datetime.date,
        present: Callable[[str], bool],
        exists: Callable[[str], bool] = os.path.lexists,
    ) -> Reply:
        """The reply of the recipes to a new goal, with what is remembered before it or as alternatives.

        What changes something is judged as what recipes propose: the same words may now be a question, and words that are nearly the
        same need not order it. What a person accepted for these very words need not be in them.
        """
        if not isinstance(reply, (Chat, Command)):
            return reply
        words = goal_words(goal)
        if not words.key:
            return reply
        # With the first goal that may be remembered, not while the planner loads.
        from agent.planner.offline.grammar.guards import no_plain_order, refusal, resolver

        self._recall.refresh(WAIT_SECONDS)
        same, others = self._recall.for_goal(words, cwd)
        undone = self._taken_back() if any(item.level > _LOW for item in (*same, *others)) else ()
        same, others = ([item for item in found if (item.command, item.cwd) not in undone] for found in (same, others))
        same = [item for item in same if not no_plain_order(goal, item.command)]
        there = resolver(cwd, exists)

        proposed = reply.command if isinstance(reply, Command) else ""

        def more(item: Remembered, command: str) -> str:
            return unsaid(goal, command, proposed, changes=item.level > _LOW)

        def asked_for(item: Remembered, command: str) -> bool:
            fits = not item.edited or item.same_folder or not more(item, command)
            return fits and not refusal(goal, command, there)

        same = [item for item in same if not item.edited or item.same_folder or not more(item, item.command)]
        same = [item for item in same if not _is_about_another_file(item, words)]
        first = next((item for item in same if _may_come_first(item) and present(_program(item.command))), None)
        if first is not None and _stands_back(first, reply):
            first = None
        here = _Here(cwd, today)
        near = [found for found in self._near(words, cwd, same, others) if asked_for(*found)]
        if first is not None:
            return _looked_at(_command((first, first.command), reply, near, here), more(first, first.command))
        filled = next(
            ((item, command) for item in others if (command := _filled(item, words)) and asked_for(item, command)), None
        )
        if filled is not None and isinstance(reply, Chat) and present(_program(filled[1])):
            return _looked_at(_command(filled, reply, near, here), more(*filled))
        if isinstance(reply, Command):
            return _with_alternatives(reply, [*([filled] if filled else []), *near], here)
        return reply

    def _near(
        self, words: GoalWords, cwd: str, same: Sequence[Remembered], others: Sequence[Remembered]
    ) -> list[tuple[Remembered, str]]:
        """Commands for goals that say nearly the same, with the literals of this one."""
        known = {item.entry for item in (*same, *others)}
        found: list[tuple[Remembered, str]] = []
        for item in self._recall.like_goal(words, cwd, least=_LIKE, most=12):
            if item.entry in known or not _speaks_for_itself(item) or item.level > _LOW:
                continue
            command = item.command if item.slots == words.slots else _filled(item, words)
            if command:
                found.append((item, command))
        return found[:_MOST_ALTERNATIVES]


def _is_about_another_file(item: Remembered, words: GoalWords) -> bool:
    """Tell whether an edited command that changes something leaves out a path of its goal: it was for that once."""
    paths = [slot.text.removeprefix("./").rstrip("/") for slot in words.slots if slot.kind == "path"]
    return item.edited and item.level > _LOW and not all(path in item.command for path in paths)


def provenance(item: Remembered, cwd: str, today: datetime.date) -> str:
    """Say where it comes from: "as on Nov 12 in this folder, 3 of 3 worked"."""
    day = datetime.datetime.fromtimestamp(item.at / 1e6).date()
    if day == today:
        when = "earlier today"
    elif day.year == today.year:
        when = f"on {day_name(day.isoformat())}"
    else:
        when = f"on {day.isoformat()}"
    where = "in this folder" if item.cwd == cwd else "in this project" if item.same_project else f"in {item.cwd}"
    edited = ", as you wrote it" if item.edited else ""
    return f"as {when} {where}{edited}; {item.worked} of {item.uses} worked"


def _command(
    found: tuple[Remembered, str], reply: Reply, near: Sequence[tuple[Remembered, str]], here: _Here
) -> Command:
    """Propose what is remembered, with what the recipes say as an alternative."""
    item, command = found
    base = Command(
        command=command,
        reason=provenance(item, here.cwd, here.today),
        confidence=round(min(1.0, 0.7 + 0.3 * item.rank), 2),
    )
    if not isinstance(reply, Command):
        return _with_alternatives(base, near, here)
    others = (Alternative(command=reply.command, reason=reply.reason), *reply.alternatives)
    base = structs.replace(base, alternatives=tuple(other for other in others if other.command != command))
    if reply.command == command:  # else the recipes' reading is of another command
        told = reply.reason if reply.reason != reply.reading else ""  # the reading is shown beside it
        reason = f"{told}; {base.reason}" if told else base.reason
        base = structs.replace(base, reason=reason, reading=reply.reading, unused=reply.unused)
    return _with_alternatives(base, near, here)


def _looked_at(reply: Command, more: str) -> Command:
    """Let what holds more than its goal says never run unasked: nobody said that now."""
    return structs.replace(reply, look=f"it is remembered, and the goal does not say {more!r}") if more else reply


def _with_alternatives(reply: Command, near: Sequence[tuple[Remembered, str]], here: _Here) -> Command:
    shown = {reply.command, *(other.command for other in reply.alternatives)}
    more: list[Alternative] = []
    for item, command in near:
        if command not in shown and len(more) < _MOST_ALTERNATIVES:
            shown.add(command)
            more.append(Alternative(command=command, reason=provenance(item, here.cwd, here.today)))
    return structs.replace(reply, alternatives=(*reply.alternatives, *more)) if more else reply


def _stands_back(item: Remembered, reply: Reply) -> bool:
    """Prefer recipes of today to what only recipes ever proposed: they know the date, and what exists here now."""
    return item.by_recipe and isinstance(reply, Command) and reply.command != item.command


def _may_come_first(item: Remembered) -> bool:
    return _speaks_for_itself(item) and (item.level <= _LOW or item.same_folder)


def _speaks_for_itself(item: Remembered) -> bool:
    """Tell whether it worked mostly, and the person did not put something else in its place."""
    return item.success >= LEAST_SUCCESS and not item.replaced


def _filled(item: Remembered, words: GoalWords) -> str:
    """The command with this goal's literals, "" where that is not certain, or would change something."""
    if item.level > _LOW or not _speaks_for_itself(item):
        return ""
    return fill(item.command, item.slots, words.slots) or ""


def _program(command: str) -> str:
    """The first program, for the question whether it is still here; of what cannot be told simply, the shell."""
    words = command.split(maxsplit=1)
    return words[0] if words and words[0].replace("-", "").replace("_", "").replace(".", "").isalnum() else "sh"
