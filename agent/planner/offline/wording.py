"""Word an offer, and what is said where there is none."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import structs

from agent.planner.offline.goals import program_to_end
from agent.planner.offline.grammar.changes import operations
from agent.planner.offline.installing import install_advice
from agent.planner.offline.matching import Matcher, Reading
from agent.planner.offline.offers import Offer, Offers, how_read, is_best, judged
from agent.planner.offline.recipes import Recipe
from agent.planner.offline.rendering import missing_programs
from agent.planner.offline.surroundings import Surroundings
from agent.protocol.messages import GoalItem
from agent.protocol.replies import Alternative, Chat, Command

if TYPE_CHECKING:
    from agent.planner.offline.nearest import Nearest

MOST_ALTERNATIVES = 3
MODELS = "A model understands more: `:models` lists them."
# What a person says to have a change made, by what would be changed.
_ORDERS = {
    "delete": "delete", "move": "move or rename", "copy": "copy", "mode": "set the permissions of", "owner": "change the owner of",
    "empty": "empty", "edit": "replace", "write": "write to", "append": "append to", "create": "create",
}  # fmt: skip
# Shown where nothing comes near.
_SHOWCASE = (
    "find the 5 largest files under this folder",
    "how much disk space is free",
    "count the lines of notes.txt",
)


def command_of(offer: Offer, others: list[Offer] | None = None) -> Command:
    """The reply for an offer; what else the goal may have meant goes with it."""
    found = (Alternative(command=other.command, reason=other.reason) for other in others or ())
    return structs.replace(_alone(offer), alternatives=tuple(found)[:MOST_ALTERNATIVES])


def _alone(offer: Offer) -> Command:
    composed = offer.composed
    return Command(
        command=offer.command,
        reason=offer.reason,
        confidence=round(offer.sure, 2),
        reading=composed.reading if composed is not None else "",
        unused=offer.unused,
    )


class NoOffer:
    """Says why there is no command, and offers what comes near."""

    def __init__(self, matcher: Matcher, offers: Offers) -> None:
        self._matcher = matcher
        self._offers = offers

    @cached_property
    def _near(self) -> Nearest:
        from agent.planner.offline.nearest import Nearest  # most goals have a command

        return Nearest(self._matcher, self._offers)

    def refused(self, reading: Reading, goal: GoalItem, around: Surroundings) -> Chat | None:
        """Words on the best command where it is refused or not sure enough, else None."""
        from agent.planner.offline.confidence import OFFERED, unseen
        from agent.planner.offline.grammar.guards import resolver

        exists = resolver(goal.environment.cwd, around.exists)
        for offer in self._offers.every(reading, goal, around)[:1]:
            if not is_best(offer, reading):
                return None  # what fits best lacks a program here; the rest was not meant
            why, sure = judged(offer, reading, exists)
            if why:
                order = f" {_how_to_order(offer.command)}" if why.startswith("the goal ") else ""
                return Chat(message=f"No command that changes something is proposed: {why}.{order}", reached=False)
            if sure < OFFERED:
                doubts = unseen(how_read(reading, offer), offer.command, exists)
                doubts = [doubt for doubt in doubts if doubt.strip("'") in reading.goal]
                told = (
                    f"I don't know what to do about {' and '.join(doubts[:3])}."
                    if doubts
                    else "I am not sure what you mean."
                )
                return self._choices(told, reading, goal, around)
        return None

    def missing(self, recipe: Recipe, goal: GoalItem, around: Surroundings, said: Iterable[str] = ()) -> Chat:
        """Say what a recipe that fits lacks here. `said`: what the goal says of its slots."""
        names = missing_programs(recipe, goal.environment, around)
        if names is None:
            wanted = list(dict.fromkeys(form.here for form in recipe.forms))
            return Chat(
                message=f"this ({recipe.entry.title}) needs one of these files here: {', '.join(wanted)}", reached=False
            )
        if not names and self._offers.usable(recipe, goal, around):
            absent = next((word for word in said if recipe.entry.needs == () and not around.present(word)), "")
            if absent:
                told = f"{absent} is not installed here. {install_advice(absent, around)}"
                return Chat(message=told, reached=False, lacks=absent)
            example = next((example.goal for example in recipe.entry.examples), recipe.entry.title)
            return Chat(message=f"this ({recipe.entry.title}) needs a name, as in: {example}", reached=False)
        if not names:
            return Chat(message=f"I know how to do this ({recipe.entry.title}), but not on this system", reached=False)
        advice = install_advice(names[0], around)
        absent = "which is" if len(names) == 1 else "which are"
        return Chat(
            message=f"this ({recipe.entry.title}) needs {' and '.join(map(_said, names))}, {absent} not installed here. {advice}",
            reached=False,
            lacks=names[0],
        )

    def unknown(self, reading: Reading, goal: GoalItem, around: Surroundings) -> Chat:
        """Say what of a goal was not understood, and what comes near."""
        program = program_to_end(reading.tokens)
        if program:
            return Chat(
                message=f"I see no running process called {program!r}, so there is nothing to end. "
                "`show the running processes` lists them all.",
                reached=False,
            )
        knows = self._matcher.book.lexicon.knows
        strange = [word for word in dict.fromkeys(reading.unknown) if not (knows(word.lower()) or word.isdigit())]
        words = ", ".join(f"\u201c{word[:40]}\u201d" for word in strange[:4])
        told = f"I do not know what to do with {words} here." if words else "I have no command for exactly this."
        return self._choices(told, reading, goal, around)

    def _choices(self, told: str, reading: Reading, goal: GoalItem, around: Surroundings) -> Chat:
        """Offer what comes near, to be picked from; or say what can be done at all."""
        choices, lacking = self._near.choices(reading, goal, around)
        if lacking is not None:
            message = self.missing(lacking, goal, around).message
            told = f"{told} {message[:1].upper()}{message[1:]}"
        if not choices:
            shown = "\n".join(f"  - {goal}" for goal in _SHOWCASE)
            return Chat(
                message=f"{told}\nWhat I can do, for example:\n{shown}\n\nType `help` for more. {MODELS}", reached=False
            )
        return Chat(message=f"{told}\nThe nearest:\n{numbered(choices)}\n\n{MODELS}", reached=False, choices=choices)


def _said(name: str) -> str:
    """Name a program that is missing, or a module of Python."""
    return f"the Python module {name[8:]}" if name.startswith("python3 ") else name


def numbered(choices: tuple[Alternative, ...]) -> str:
    """Write choices on lines of their own, each as it is picked by its number."""
    lines = []
    for number, choice in enumerate(choices, 1):
        tick = "``" if "`" in choice.command else "`"
        command = choice.command.replace("\n", " ")
        lines.append(f"{number}. {tick}{command}{tick}" + (f" \u2013 {choice.reason}" if choice.reason else ""))
    return "\n".join(lines)


def _how_to_order(command: str) -> str:
    """Say how to ask for a change, where one is meant."""
    verb = next((_ORDERS[name] for name in _ORDERS if name in operations(command)), "")
    return "To have it done, say it as an order" + (f': "{verb} \u2026".' if verb else ".")
