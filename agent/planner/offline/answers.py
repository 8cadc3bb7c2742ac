"""One reply for one request: a new goal, or what to say about the command that just ran."""

from __future__ import annotations

import contextlib
import os
import re
from functools import cached_property, reduce
from typing import TYPE_CHECKING

from msgspec import structs

from agent.lexicon.exit_answers import asks_about_last, succeeded
from agent.planner.offline.goals import command_before, goals_that_ran, last_goal, split_pasted, strip_remark, unusable
from agent.planner.offline.matching import Matcher
from agent.planner.offline.offers import Offer, Offers, as_meant, is_best
from agent.planner.offline.recipe_files import RecipeEntry
from agent.planner.offline.recipes import AddRecipes, load_book
from agent.planner.offline.referring import SAYS_NO_MORE, Told, added, after, changes_files, is_follow_up, resolved
from agent.planner.offline.remarks import Remarks
from agent.planner.offline.rendering import render
from agent.planner.offline.surroundings import Surroundings
from agent.planner.offline.talk import Talk
from agent.planner.offline.wording import NoOffer, command_of
from agent.planner.product_answers import answer_of_product
from agent.protocol.messages import CommandItem, GoalItem
from agent.protocol.replies import Chat, Command, Reply
from agent.protocol.requests import PlannerRequest

if TYPE_CHECKING:
    from agent.planner.offline.after_run import AfterRun

# `git commit -m x` is a command line; `find photos -please` is not.
_WITH_SUBCOMMANDS = frozenset(
    {"git", "docker", "npm", "pip", "pip3", "cargo", "kubectl", "systemctl", "apt-get", "brew", "go"}
)


class Answerer:
    """Holds the loaded data; everything else comes with the request."""

    def __init__(self, add: AddRecipes | None = None) -> None:
        self._matcher = Matcher(load_book(add))
        self._talk = Talk()
        self._offers = Offers(self._matcher)
        self._no_offer = NoOffer(self._matcher, self._offers)
        self._remarks = Remarks(self._offers, self._matcher.book.lexicon)

    @cached_property
    def _after(self) -> AfterRun:
        from agent.planner.offline.after_run import AfterRun  # most goals come before any command

        return AfterRun()

    def answer(self, request: PlannerRequest, around: Surroundings) -> Reply:
        """The reply to the last goal of `request.history`."""
        goal, steps = last_goal(request.history)
        if goal is None:
            return Chat(message="there is no goal to work on; type one in plain words")
        around = structs.replace(around, is_root=goal.environment.is_root)
        text, context = split_pasted(goal)
        refusal = unusable(text)
        if refusal:
            return Chat(message=refusal, reached=False)
        if not steps:
            before = command_before(request.history) if not context and asks_about_last(text) else None
            if before is not None and not succeeded(before):
                return self._after.repair([before], [], before.cwd or goal.environment.cwd, around)
            following = None if context or not is_follow_up(text) else self._following(text, request, goal, around)
            return following or self._first(text, context, goal, around)
        return self._next(text, goal, steps, around)

    # --- a goal about the result of the one before it ---

    def _following(self, text: str, request: PlannerRequest, goal: GoalItem, around: Surroundings) -> Reply | None:
        """ "only the ones in src", "sort them by size": more about what ran last, which may itself have been more about what ran before.

        None where nothing ran and the goal can stand for itself.
        """
        ran = goals_that_ran(request.history)
        if not ran or not succeeded(ran[-1][1][-1]):
            lacking = "There is no result yet to go on with: say what to list, and which of it, as one goal."
            return Chat(message=lacking, reached=False) if SAYS_NO_MORE.fullmatch(text.strip()) else None
        listed = ran[-1][1][-1].run
        parts: list[str] = []
        for before, _ in ran:
            parts = [*parts, before.text] if parts and is_follow_up(before.text) else [before.text]
        tried = {command for step in ran[-1][1] for command in (step.proposed, step.run) if command}
        told = after(Told(cwd=goal.environment.cwd or os.curdir), reduce(added, parts), listed)
        # It shows another depth than a search for the same words does.
        is_list = bool(re.match(r"(?:ls|dir|tree)\b", listed))
        words = f"{text} in {told.folder or '.'}" if is_list else resolved(text, told)
        reply = self._first(words, "", goal, around) if words and words != text else None
        part = not listed.startswith("find ") or re.search(r"\| (?:head|tail)\b", listed)
        reply = reply if isinstance(reply, Command) else None
        if reply is None and not is_list:
            # Of how many there are, or what is done to all, the order says nothing.
            unordered = [said for said in parts if not re.match(r"(?i)(?:\w+ )?(?:sort|order)", said)]
            for whole in (parts, unordered)[: 1 if part else 2]:
                reply = reply or self._narrowed(reduce(added, whole), text, goal, tried, around)
        # What was listed by other means than a search, or only in part, may be less than what the same words find.
        if reply is not None and not (part and changes_files(reply.command)):
            return reply
        message = f"I can't tell how to do that with the result of `{listed}`: say it as one goal."
        return Chat(message=message, reached=False)

    def _narrowed(self, text: str, said: str, goal: GoalItem, tried: set[str], around: Surroundings) -> Command | None:
        """The goal with a remark that says which ones, or how they are to be shown."""
        remark = strip_remark(said)
        as_filters = [found for found, filters in self._remarks.readings(text, [remark], goal, around) if filters]
        more = [self._offers.read(whole, goal, around) for whole in (added(text, said), f"{text} {remark}")]
        for reading in (*as_filters, *more):
            for offer in self._offers.offers(reading, goal, around):
                if offer.command not in tried and offer.filters and is_best(offer, reading):
                    return command_of(offer)
        return None

    # --- a new goal ---

    def _first(self, text: str, context: str, goal: GoalItem, around: Surroundings) -> Reply:
        said = self._talk.answer(text)
        if said is not None:
            return Chat(message=said)
        if self._talk.asks_why(text) and context:
            return Chat(message=self._after.explain_text(context))
        typed = self._typed_command(text, around) or answer_of_product(text, around.present)
        if typed is not None:
            return typed
        reading = self._offers.read(text, goal, around)
        offers = self._offers.offers(reading, goal, around)
        # What fits less well than a recipe that cannot be used was not meant: "edit my crontab" is no file to edit.
        if offers and is_best(offers[0], reading):
            return command_of(offers[0], offers[1:])
        refused = self._no_offer.refused(reading, goal, around)
        if refused is not None:
            return refused
        if reading.matches:
            best = reading.matches[0]
            values = [value.text for value in best.binding.values.values()]
            return self._no_offer.missing(best.recipe, goal, around, values)
        if self._talk.asks_why(text):
            return Chat(
                message='I can explain errors that I can see: pipe the output in, as in `make 2>&1 | agent-shell "why does this fail"`',
                reached=False,
            )
        return self._no_offer.unknown(reading, goal, around)

    def _typed_command(self, text: str, around: Surroundings) -> Command | None:
        """A goal that is itself a command line: a program that exists, followed by an option."""
        match = re.match(r"([a-z][a-z0-9_.+-]*)((?:\s+[a-z][a-z-]*)?)\s+--?[A-Za-z][\w=-]*(\s|\Z)", text)
        if match is None or (match[2] and match[1] not in _WITH_SUBCOMMANDS) or not around.present(match[1]):
            return None
        return Command(command=text, reason="this is a command already; it is proposed as you typed it", confidence=1.0)

    # --- after a command ---

    def _next(self, text: str, goal: GoalItem, steps: list[CommandItem], around: Surroundings) -> Reply:
        last = steps[-1]
        tried = {command for step in steps for command in (step.proposed, step.run) if command}
        if last.outcome == "remark":
            return self._remarked(text, goal, steps, tried, around)
        if last.outcome == "regenerate":
            return self._another(text, goal, steps, tried, around)
        if last.outcome != "ran":
            return Chat(message="")  # how the goal ends says it
        offer = self._origin(text, goal, steps, around)
        entry = self._entry(offer, text, goal, around) if offer is not None else None
        if succeeded(last):
            return Chat(message=self._after.summary(last, entry))
        reading = self._offers.read(text, goal, around)
        alternatives = [
            other.command for other in self._offers.offers(reading, goal, around) if is_best(other, reading)
        ]
        return self._after.repair(steps, alternatives, goal.environment.cwd, around)

    def _origin(self, text: str, goal: GoalItem, steps: list[CommandItem], around: Surroundings) -> Offer | None:
        """The recipe whose command ran as it was proposed."""
        last = steps[-1]
        if last.run and last.run != last.proposed:
            return None
        for candidate in [text, *(f"{text} {step.remark}" for step in steps if step.remark)]:
            for offer in self._offers.offers(self._offers.read(candidate, goal, around), goal, around):
                if offer.command == last.proposed:
                    return offer
        return None

    def _entry(self, offer: Offer, text: str, goal: GoalItem, around: Surroundings) -> RecipeEntry | None:
        """The recipe whose words fit a result: that of the offer, else one that would have said the same command."""
        entry = self._matcher.entry_of(offer.match, offer.composed)
        if entry is not None or offer.composed is None:
            return entry
        for match in self._offers.read(text, goal, around).matches:
            for form in self._offers.usable(match.recipe, goal, around):
                with contextlib.suppress(KeyError):
                    command = render(form.command, match).strip()
                    if as_meant(command, goal.environment.cwd) == offer.command:
                        return match.recipe.entry
        return None

    def _another(
        self, text: str, goal: GoalItem, steps: list[CommandItem], tried: set[str], around: Surroundings
    ) -> Reply:
        for offer in self._offers.offers(self._offers.read(text, goal, around), goal, around):
            if offer.command not in tried:
                return command_of(offer)
        return Chat(
            message="I have no other command for this goal; edit the proposal, or say it in other words", reached=False
        )

    def _remarked(
        self, text: str, goal: GoalItem, steps: list[CommandItem], tried: set[str], around: Surroundings
    ) -> Reply:
        remarks = [strip_remark(step.remark) for step in steps if step.outcome == "remark"]
        refusal = unusable(" ".join(remarks))
        if refusal:
            return Chat(message=refusal, reached=False)
        for reading, as_filter in self._remarks.readings(text, remarks, goal, around):
            for offer in self._offers.offers(reading, goal, around):
                # A recipe that knows no filters would leave the remark out and look like an answer to it.
                if offer.command not in tried and (not as_filter or offer.filters):
                    return command_of(offer)
        return Chat(message="I cannot apply that remark; edit the command, or type the whole goal again", reached=False)
