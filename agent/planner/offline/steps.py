"""Goals of several steps: a plan, where every step is understood by itself."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import pairwise

from msgspec import structs

from agent.planner.offline.answers import Answerer
from agent.planner.offline.clauses import MOST_CLAUSES, clauses, halves, without_lead
from agent.planner.offline.goals import MAX_GOAL
from agent.planner.offline.grammar.changes import operations
from agent.planner.offline.grammar.ordering import order_of, starts_with_order
from agent.planner.offline.referring import Told, after, resolved, says_them
from agent.planner.offline.surroundings import Surroundings
from agent.planner.offline.wording import numbered
from agent.protocol.messages import GoalItem
from agent.protocol.replies import Alternative, Chat, Command, Plan, PlanStep, Reply
from agent.protocol.requests import PlannerRequest

_FOR = re.compile(r"(?i)(for|of|with|containing)\s+([\w.'\"-]+)")
_PER_STEP = 0.97
# What is done to two things one after the other; "zip a and b" and "copy a and b" are done to both at once.
_FOR_EACH = frozenset((
    "delete", "remove", "rm", "erase", "stop", "start", "restart", "reload", "install", "uninstall", "reinstall", "upgrade", "kill",
    "enable", "disable", "create", "make", "touch", "mkdir", "print", "cat", "show",
))  # fmt: skip
_MOST_TRIES = 24
_MOST_CUT = 300  # characters of a clause that is cut at its "and"
_ORDERS_IT = re.compile(r"(?i)\w+ (?:it|them|that|this|these|those)\b")  # whatever that verb may mean
_MAKES = re.compile(r"(?i)\A(?:please\s+)?(?:create|make|add)\b")
_LAST_NAME = re.compile(r"(?i)\b(folder|directory|file)(\s+(?:called|named))?\s+([\w.+-]+)\Z")


def plan_or(reply: Reply, answerer: Answerer, goal: GoalItem, around: Surroundings) -> Reply:
    """A plan, where the goal is said in steps that are all understood; else `reply`, which is the goal read as one.

    One command for all of it is better, where the later steps only go on with what the first one finds ("find …, then count them"). For
    anything else it would be one that passes over a step.
    """
    text = goal.text.strip()
    if isinstance(reply, Command) and (reply.command == text or len(clauses(text)) < 2):
        return reply
    planning = _Planning(answerer, goal, around)
    planned = planning.plan()
    if isinstance(reply, Command) and (not isinstance(planned, Plan) or (planning.is_one_stream and not reply.unused)):
        return reply
    return planned or reply


class _Planning:
    """One goal on the way to its plan. Bounded: what needs more tries than that is not said plainly."""

    def __init__(self, answerer: Answerer, goal: GoalItem, around: Surroundings) -> None:
        self._answerer = answerer
        self._goal = goal
        self._around = around
        self._tries = 0
        self.is_one_stream = True  # each later step is about what the first one finds

    def plan(self) -> Reply | None:
        """A plan of two steps or more, words on the one that is not understood, or None where it is not said in steps."""
        text = self._goal.text.strip()
        if len(text) > MAX_GOAL:
            return None
        parts = clauses(text)
        if len(parts) > MOST_CLAUSES:
            return None
        told = Told(cwd=self._goal.environment.cwd or os.curdir)
        steps: list[tuple[str, Command]] = []
        for part in parts:
            self.is_one_stream = self.is_one_stream and (not steps or (says_them(part) and not told.written))
            whole = _ordered(_again(part, parts[: parts.index(part)]), steps)
            found = self._steps(whole, told)
            if found is None:
                return _not_understood(parts, whole, steps) if len(parts) > 1 and steps else self._half(part, told)
            more, told = found
            steps += more
        if len(steps) < 2:
            return None
        if any(_ends_what_is_uncertain(text, before, later) for (_, before), (_, later) in pairwise(steps)):
            return _only_first(
                "I am not certain what to delete or rename there; name it: delete the folder photos", steps[0]
            )
        least = min(command.confidence for _, command in steps if command.confidence is not None)
        sure = least * _PER_STEP ** (len(steps) - 1)  # each was sure enough by itself
        return Plan(message="", steps=tuple(_step(*each) for each in steps), confidence=round(sure, 2))

    def _half(self, part: str, told: Told) -> Chat | None:
        """Words on the second half of a goal where only the first is understood, and the second is an order about it."""
        for left, right in halves(part) if len(part) <= _MOST_CUT else ():
            if not re.search(r"(?i)\b(?:it|them|there|those|these)\b", right) or order_of(right) == order_of(left):
                continue
            first = self._understood(left, told)
            if first is not None:
                return _not_understood((left, right), right, [first])
        return None

    def _steps(self, part: str, told: Told) -> tuple[list[tuple[str, Command]], Told] | None:
        """The step or steps of one clause, and what is true behind them."""
        one = self._understood(part, told)
        if one is not None:
            return [one], after(told, *_words(one))
        for left, right in halves(part) if len(part) <= _MOST_CUT else ():
            first = self._understood(left, told)
            if first is None:
                continue
            again = _ordered(right, [first]) if order_of(left) in _FOR_EACH else right
            rest = self._steps(again, after(told, *_words(first)))
            if rest is not None and (again == right or _does_the_same(first[1], rest[0][0][1])):
                return [first, *rest[0]], rest[1]
        return None

    def _understood(self, clause: str, told: Told) -> tuple[str, Command] | None:
        """The clause as a goal of its own, in full, with its command."""
        if not starts_with_order(clause):
            return None
        for variant in _variants(clause):
            text = resolved(variant, told)
            if text is None:
                continue
            self._tries += 1
            if self._tries > _MOST_TRIES:
                return None
            environment = structs.replace(self._goal.environment, cwd=told.cwd)
            item = GoalItem(goal_id=self._goal.goal_id, text=text, environment=environment)
            reply = self._answerer.answer(PlannerRequest(history=(item,)), self._behind(told))
            if isinstance(reply, Command):
                return text, reply
        return None

    def _behind(self, told: Told) -> Surroundings:
        """The surroundings when the steps before have been done."""
        real = self._around.exists
        return structs.replace(self._around, exists=lambda path: real(path) or told.exists(path))


def _again(part: str, before: tuple[str, ...]) -> str:
    """ "for plum" after "the units for apple in sales.csv" is the same for something else."""
    same = _FOR.fullmatch(part)
    if same is None or not before:
        return part
    heads = list(re.finditer(rf"(?i)\b{same[1]}\s+([\w.'\"-]+)", before[-1]))
    if len(heads) != 1:
        return part
    return before[-1][: heads[0].start(1)] + same[2] + before[-1][heads[0].end(1) :]


def _ordered(part: str, before: list[tuple[str, Command]]) -> str:
    """ "the folder src" after "delete a.py" is deleted, too: a part without an order takes that of the step before."""
    if not before or starts_with_order(part) or _ORDERS_IT.match(part):
        return part
    return f"{order_of(before[-1][0])} {part}".strip()


def _does_the_same(before: Command, later: Command) -> bool:
    """Tell whether an order that was said once is done alike to both, so that it can have been meant for both."""
    return operations(before.command) == operations(later.command)


def _ends_what_is_uncertain(text: str, before: Command, later: Command) -> bool:
    """Tell whether "it" is deleted behind a command that has two of them: what it read, and what it made."""
    deletes = re.match(r"(?:sudo )?(?:rm|rmdir|mv|find .* -delete)\b", later.command)
    makes = re.match(r"(?:.*&& ?)?(?:zip|unzip|tar|cp|mv|gzip|rsync|curl|wget|scp)\b|.* > \S+\Z", before.command)
    said_it = re.search(
        r"(?i)\b(?:delete|remove|erase|rm|rid of|drop|rename)\s+(?:it|them|that|this|those|these)\b", text
    )
    only_shown = re.search(r"\bin the output\b", text) and "sed -i" in later.command
    return bool((deletes and makes and said_it) or only_shown)


def _variants(clause: str) -> Iterator[str]:
    """The clause, and the same with less doubt about which of its words are names."""
    for text in dict.fromkeys((clause, without_lead(clause))):
        named = _LAST_NAME.search(text)
        makes = named is not None and _MAKES.match(text) is not None
        if not makes:
            yield text
        if named:
            yield f'{text[: named.start()]}{named[1]} "{named[3]}"'
            yield f'{text[: named.start()]}{named[1]} "./{named[3]}"'
        if makes:
            yield text


def _words(step: tuple[str, Command]) -> tuple[str, str]:
    return step[0], step[1].command


def _step(goal: str, reply: Command) -> PlanStep:
    return PlanStep(
        goal=goal,
        command=reply.command,
        reason=reply.reason,
        reading=reply.reading,
        unused=reply.unused,
        alternatives=reply.alternatives,
    )


def _not_understood(parts: tuple[str, ...], part: str, steps: list[tuple[str, Command]]) -> Chat:
    told = f"That is {len(parts)} steps, and I do not know how to do this one without a model: {part[:200]}"
    if len(steps) > 1:
        told += "\nThe steps before it I understand:\n" + "\n".join(f"  - {goal[:200]}" for goal, _ in steps)
    return _only_first(told, steps[0])


def _only_first(told: str, step: tuple[str, Command]) -> Chat:
    """Say why there is no plan, and offer the first step, which is understood."""
    first = Alternative(command=step[1].command, reason=step[1].reason)
    return Chat(message=f"{told}\nThe first step alone:\n{numbered((first,))}", reached=False, choices=(first,))
