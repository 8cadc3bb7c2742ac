"""Offer the nearest commands where none was sure enough, and take the one that the person picks."""

from __future__ import annotations

from msgspec.structs import replace

from agent.engine.goal import Goal
from agent.protocol.decisions import Alternative
from agent.protocol.events.notices import ChoiceMade, ChoicesOffered
from agent.protocol.ports import Picker
from agent.protocol.replies import Command
from agent.waiting import cancellable


async def pick(goal: Goal, choices: tuple[Alternative, ...]) -> Command | None:
    """The one that was picked, as a proposal beside the others; None where none was, or nobody is there to pick.

    They stay for `:alternatives N`. What they are must have been said. Raises RecordingError and Cancelled.
    """
    goal.ctx.last_alternatives = choices
    await goal.events.send(ChoicesOffered(choices=choices))
    person, options = goal.confirmer, goal.options
    if not options.approval.interactive or options.code_only or not isinstance(person, Picker):
        return None
    number = await cancellable(person.pick(choices), options.cancel)
    if not 0 < number <= len(choices):
        return None
    await goal.events.send(ChoiceMade(number=number))
    return _as_proposal(choices, number)


def _as_proposal(choices: tuple[Alternative, ...], number: int) -> Command:
    chosen = choices[number - 1]
    others = tuple(replace(each, slots=()) for each in choices if each is not chosen)
    slots = dict.fromkeys(slot for each in choices for slot in each.slots)  # the others can take its place
    return Command(command=chosen.command, reason=chosen.reason, alternatives=others, slots=tuple(slots))
