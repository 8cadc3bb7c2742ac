"""Word an offer, and what is said where there is none."""

from __future__ import annotations

import os

from msgspec import structs

from agent.planner.offline.goals import program_to_end
from agent.planner.offline.installing import install_advice
from agent.planner.offline.matching import Matcher, Reading
from agent.planner.offline.offers import Offer, Offers, how_read
from agent.planner.offline.recipes import Recipe
from agent.planner.offline.rendering import describe, missing_programs
from agent.planner.offline.surroundings import Surroundings
from agent.protocol.messages import GoalItem
from agent.protocol.replies import Alternative, Chat, Command

MOST_ALTERNATIVES = 3
# Shown where nothing comes near.
_SHOWCASE = (
    "find the 5 largest files under this folder",
    "how much disk space is free",
    "count the lines of notes.txt",
)


def command_of(offer: Offer, others: list[Offer] | None = None) -> Command:
    """The reply for an offer; what else the goal may have meant goes with it."""
    found = (Alternative(command=other.command, reason=_reason(other)) for other in others or ())
    return structs.replace(_alone(offer), alternatives=tuple(found)[:MOST_ALTERNATIVES])


def _reason(offer: Offer) -> str:
    """How a goal has to be read for an offer."""
    if offer.composed is not None:
        return offer.composed.reading
    return describe(offer.match.recipe.entry.reason, offer.match) if offer.match is not None else ""


def _alone(offer: Offer) -> Command:
    if offer.composed is not None:
        composed = offer.composed
        return Command(
            command=offer.command,
            reason=composed.reading,
            confidence=round(offer.sure, 2),
            reading=composed.reading,
            unused=composed.unused,
        )
    assert offer.match is not None
    reason = describe(offer.match.recipe.entry.reason, offer.match)
    return Command(command=offer.command, reason=reason, confidence=round(offer.sure, 2))


class NoOffer:
    """Says why there is no command."""

    def __init__(self, matcher: Matcher, offers: Offers) -> None:
        self._matcher = matcher
        self._offers = offers

    def refused(self, reading: Reading, goal: GoalItem, around: Surroundings) -> str:
        """Words on the best command where it is refused or not sure enough, else ""."""
        from agent.planner.offline.confidence import OFFERED, confidence, unseen
        from agent.planner.offline.grammar.guards import refusal, resolver

        exists = resolver(goal.environment.cwd, around.exists)
        for offer in self._offers.every(reading, goal, around)[:1]:
            why = refusal(reading.goal, offer.command, exists)
            if why:
                return (
                    f"I propose no command that changes something here: {why}. "
                    "Say plainly what is to be done, or type the command yourself."
                )
            read = how_read(reading, offer)
            if confidence(read, offer.command, exists) < OFFERED:
                doubts = unseen(read, offer.command, exists)
                unsure = (
                    f"I don't know what to do about {' and '.join(doubts[:3])}."
                    if doubts
                    else "I am not sure what you mean."
                )
                return "\n".join([unsure, *self._nearest(reading)])
        return ""

    def missing(self, recipe: Recipe, goal: GoalItem, around: Surroundings) -> Chat:
        """What a recipe that fits lacks here."""

        def here(name: str) -> bool:
            return around.exists(os.path.join(goal.environment.cwd or os.curdir, name))

        if not any(not form.here or here(form.here) for form in recipe.forms):
            wanted = list(dict.fromkeys(form.here for form in recipe.forms))
            return Chat(
                message=f"this ({recipe.entry.title}) needs one of these files here: {', '.join(wanted)}", reached=False
            )
        names = missing_programs(
            recipe, goal.environment.os, around.present, is_root=around.is_root, flavour=around.flavour, here=here
        )
        if not names and self._offers.usable(recipe, goal, around):
            example = next((example.goal for example in recipe.entry.examples), recipe.entry.title)
            return Chat(message=f"this ({recipe.entry.title}) needs a name, as in: {example}", reached=False)
        if not names:
            return Chat(message=f"I know how to do this ({recipe.entry.title}), but not on this system", reached=False)
        advice = install_advice(names[0], around)
        return Chat(
            message=f"this ({recipe.entry.title}) needs {' and '.join(names)}, which is not installed here. {advice}",
            reached=False,
        )

    def unknown(self, reading: Reading) -> Chat:
        """What of a goal was not understood, and what comes near."""
        lines = ["I do not know how to do that without a model."]
        if reading.unknown:
            words = ", ".join(repr(word[:40]) for word in reading.unknown[:4])
            lines = [f"I understood only a part of that; I do not know what to do with {words}."]
        program = program_to_end(reading.tokens)
        if program:
            return Chat(
                message=f"I see no running process called {program!r}, so there is nothing to end. "
                "`show the running processes` lists them all.",
                reached=False,
            )
        return Chat(message="\n".join([*lines, *self._nearest(reading)]), reached=False)

    def _nearest(self, reading: Reading) -> list[str]:
        """Lines that show what comes near, or what can be done at all."""
        near = self._matcher.nearest(reading)
        if not near:
            return ["What I can do, for example:", *(f"  - {goal}" for goal in _SHOWCASE), "", "Type `help` for more."]
        goals = [recipe.entry.examples[0].goal if recipe.entry.examples else recipe.entry.title for recipe in near]
        return ["The nearest things I can do:", *(f"  - {goal}" for goal in goals)]
