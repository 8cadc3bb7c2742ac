"""One reply for one request: a new goal, or what to say about the command that just ran."""

from __future__ import annotations

import contextlib
import datetime
import os
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct, structs

from agent.meanings.exit_answers import succeeded
from agent.meanings.words import Token
from agent.planner.offline.aftermath import Aftermath
from agent.planner.offline.goals import last_goal, program_to_end, split_pasted, strip_remark, unusable
from agent.planner.offline.grammar.grammar import Composed
from agent.planner.offline.grammar.programs import programs
from agent.planner.offline.matching import Match, Matcher, Reading, prefers_grammar
from agent.planner.offline.recipes import Form, Recipe, RecipeEntry, load_book
from agent.planner.offline.rendering import Flavour, describe, missing_programs, render, usable_forms, without_sudo
from agent.planner.offline.sentences import Scene
from agent.planner.offline.system_tools import usual_flavour
from agent.planner.offline.talk import Talk
from agent.protocol.messages import CommandItem, GoalItem
from agent.protocol.replies import Alternative, Chat, Command, Reply
from agent.protocol.requests import PlannerRequest

if TYPE_CHECKING:
    from agent.planner.offline.confidence import Read

# `git commit -m x` is a command line; `find photos -please` is not.
_WITH_SUBCOMMANDS = frozenset(
    {"git", "docker", "npm", "pip", "pip3", "cargo", "kubectl", "systemctl", "apt-get", "brew", "go"}
)
MOST_ALTERNATIVES = 3
_BESIDE_A_NAME = frozenset({"the", "a", "my", "file", "folder", "directory", "called", "named", "one"})
_NAMES_FOLLOW = frozenset({"folder", "directory", "file", "called", "named"})
# Shown where nothing comes near.
_SHOWCASE = (
    "find the 5 largest files under this folder",
    "how much disk space is free",
    "count the lines of notes.txt",
)


class Surroundings(Struct, frozen=True, kw_only=True):
    """What is true around the request: which programs and paths exist, the day, whether we are root (no sudo then), the
    full name of a running process, "" where there is none, whose a program is, and how a text file begins."""

    present: Callable[[str], bool]
    today: datetime.date
    exists: Callable[[str], bool]
    is_root: bool = False
    running: Callable[[str], str] = lambda name: ""
    peek: Callable[[str], str] = lambda path: ""
    flavour: Flavour = usual_flavour


class Offer(Struct, frozen=True, kw_only=True):
    """One command that fits a goal, with the match and form it came from, or with what the grammar composed.

    `sure` is 0..1: how sure it is that it does what the goal says. See `confidence`.
    """

    command: str
    sure: float = 1.0
    match: Match | None = None
    form: Form | None = None
    composed: Composed | None = None

    @property
    def filters(self) -> bool:
        """Whether filters of the goal are in the command."""
        return self.match is None or self.match.recipe.entry.filters


class Answerer:
    """Holds the loaded data; everything else comes with the request."""

    def __init__(self) -> None:
        self._matcher = Matcher(load_book())
        self._talk = Talk()
        self._aftermath = Aftermath()

    def answer(self, request: PlannerRequest, around: Surroundings) -> Reply:
        """The reply to the last goal of `request.history`."""
        goal, steps = last_goal(request.history)
        if goal is None:
            return Chat(message="there is no goal to work on; type one in plain words")
        around = structs.replace(around, is_root=goal.environment.is_root)
        text, context = split_pasted(goal)
        refusal = unusable(text)
        if refusal:
            return Chat(message=refusal)
        if not steps:
            return self._first(text, context, goal, around)
        return self._next(text, goal, steps, around)

    # --- a new goal ---

    def _first(self, text: str, context: str, goal: GoalItem, around: Surroundings) -> Reply:
        said = self._talk.answer(text)
        if said is not None:
            return Chat(message=said)
        if self._talk.asks_why(text) and context:
            return Chat(message=self._aftermath.explain_text(context))
        typed = self._typed_command(text, around)
        if typed is not None:
            return typed
        reading = self._read(text, goal, around)
        offers = self._offers(reading, goal, around)
        # What fits less well than a recipe that cannot be used was not meant: "edit my crontab" is no file to edit.
        if offers and _is_best(offers[0], reading):
            return self._command(offers[0], offers[1:])
        refused = self._refused(reading, goal, around)
        if refused:
            return Chat(message=refused)
        if reading.matches:
            return self._missing(reading.matches[0].recipe, goal, around)
        if self._talk.asks_why(text):
            return Chat(
                message='I can explain errors that I can see: pipe the output in, as in `make 2>&1 | agent-shell "why does this fail"`'
            )
        return self._unknown(reading)

    def _read(self, text: str, goal: GoalItem, around: Surroundings, also: str = "") -> Reading:
        cwd = goal.environment.cwd or os.curdir

        def there(name: str) -> str:
            return os.path.join(cwd, os.path.expanduser(name) if name.startswith("~/") else name)

        looked_at: dict[str, str] = {}  # a file is read once for a goal, however many rules ask

        def peek(name: str) -> str:
            if name not in looked_at:
                looked_at[name] = around.peek(there(name))
            return looked_at[name]

        scene = Scene(
            lexicon=self._matcher.book.lexicon,
            today=around.today,
            exists=lambda name: around.exists(there(name)),
            running=around.running,
            peek=peek,
        )
        reading = self._matcher.read(text, scene, also=also)
        return structs.replace(reading, goal=f"{text} {also}") if also else reading

    def _offers(self, reading: Reading, goal: GoalItem, around: Surroundings) -> list[Offer]:
        """Every distinct command that fits, that nothing in the goal speaks against, and that is sure enough, the best first.

        Where the best is refused there is none: what fits less well was not meant.
        """
        # With the first goal, not while the planner loads.
        from agent.planner.offline.confidence import OFFERED, confidence
        from agent.planner.offline.grammar.guards import refusal, resolver

        exists = resolver(goal.environment.cwd, around.exists)
        offers = []
        for offer in self._all_offers(reading, goal, around):
            refused = refusal(reading.goal, offer.command, exists)
            sure = 0.0 if refused else confidence(how_read(reading, offer), offer.command, exists)
            if sure >= OFFERED:
                offers.append(structs.replace(offer, sure=sure))
            elif not offers:
                return []
        return offers

    def _refused(self, reading: Reading, goal: GoalItem, around: Surroundings) -> str:
        """Words on the best command where it is refused or not sure enough, else ""."""
        from agent.planner.offline.confidence import OFFERED, confidence, unseen
        from agent.planner.offline.grammar.guards import refusal, resolver

        exists = resolver(goal.environment.cwd, around.exists)
        for offer in self._all_offers(reading, goal, around)[:1]:
            why = refusal(reading.goal, offer.command, exists)
            if why:
                return (
                    f"I propose no command that changes something here: {why}. "
                    "Say plainly what is to be done, or type the command yourself."
                )
            read = how_read(reading, offer)
            if confidence(read, offer.command, exists) < OFFERED:
                doubts = unseen(read, offer.command, exists)
                of_what = f": I see no way to do justice to {' and '.join(doubts[:3])}" if doubts else ""
                return "\n".join([f"I am not sure enough what is meant{of_what}.", *self._nearest(reading)])
        return ""

    def _all_offers(self, reading: Reading, goal: GoalItem, around: Surroundings) -> list[Offer]:
        """Every distinct command that fits, the best first."""
        offers: list[Offer] = []
        composed = self._composed(reading, around)
        if composed is not None and prefers_grammar(reading):
            offers.append(composed)
        for match in reading.matches:
            for form in self._usable(match.recipe, goal, around):
                template = without_sudo(form.command) if around.is_root else form.command
                try:
                    command = render(template, match).strip()
                except KeyError:  # "." has no name to make `NAME.zip` of
                    if not offers:
                        return []  # what fits less well is not what was meant
                    continue
                if all(offer.command != command for offer in offers):
                    offers.append(Offer(command=command, match=match, form=form))
        if composed is not None and all(offer.command != composed.command for offer in offers):
            offers.append(composed)
        return offers

    def _usable(self, recipe: Recipe, goal: GoalItem, around: Surroundings) -> list[Form]:
        return usable_forms(
            recipe,
            goal.environment.os,
            around.present,
            is_root=around.is_root,
            flavour=around.flavour,
            here=lambda name: around.exists(os.path.join(goal.environment.cwd or os.curdir, name)),
        )

    def _composed(self, reading: Reading, around: Surroundings) -> Offer | None:
        """What the grammar composed, where all its programs are there."""
        composed = reading.composed
        if composed is None or not all(around.present(name) for name in programs(composed.command)):
            return None
        return Offer(command=composed.command, composed=composed)

    def _command(self, offer: Offer, others: list[Offer] | None = None) -> Command:
        """The reply for an offer; what else the goal may have meant goes with it."""
        found = (Alternative(command=other.command, reason=self._reason(other)) for other in others or ())
        return structs.replace(self._alone(offer), alternatives=tuple(found)[:MOST_ALTERNATIVES])

    def _reason(self, offer: Offer) -> str:
        """How a goal has to be read for an offer."""
        if offer.composed is not None:
            return offer.composed.reading
        return describe(offer.match.recipe.entry.reason, offer.match) if offer.match is not None else ""

    def _alone(self, offer: Offer) -> Command:
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

    def _missing(self, recipe: Recipe, goal: GoalItem, around: Surroundings) -> Chat:
        def here(name: str) -> bool:
            return around.exists(os.path.join(goal.environment.cwd or os.curdir, name))

        if not any(not form.here or here(form.here) for form in recipe.forms):
            wanted = list(dict.fromkeys(form.here for form in recipe.forms))
            return Chat(message=f"this ({recipe.entry.title}) needs one of these files here: {', '.join(wanted)}")
        names = missing_programs(
            recipe, goal.environment.os, around.present, is_root=around.is_root, flavour=around.flavour, here=here
        )
        if not names and self._usable(recipe, goal, around):
            example = next((example.goal for example in recipe.entry.examples), recipe.entry.title)
            return Chat(message=f"this ({recipe.entry.title}) needs a name, as in: {example}")
        if not names:
            return Chat(message=f"I know how to do this ({recipe.entry.title}), but not on this system")
        advice = self._aftermath.install_advice(names[0], around)
        return Chat(
            message=f"this ({recipe.entry.title}) needs {' and '.join(names)}, which is not installed here. {advice}"
        )

    def _unknown(self, reading: Reading) -> Chat:
        lines = ["I do not know how to do that without a model."]
        if reading.unknown:
            words = ", ".join(repr(word[:40]) for word in reading.unknown[:4])
            lines = [f"I understood only a part of that; I do not know what to do with {words}."]
        program = program_to_end(reading.tokens)
        if program:
            return Chat(
                message=f"I see no running process called {program!r}, so there is nothing to end. "
                "`show the running processes` lists them all."
            )
        return Chat(message="\n".join([*lines, *self._nearest(reading)]))

    def _nearest(self, reading: Reading) -> list[str]:
        """Lines that show what comes near, or what can be done at all."""
        near = self._matcher.nearest(reading)
        if not near:
            return ["What I can do, for example:", *(f"  - {goal}" for goal in _SHOWCASE), "Type `help` for more."]
        goals = [recipe.entry.examples[0].goal if recipe.entry.examples else recipe.entry.title for recipe in near]
        return ["The nearest things I can do:", *(f"  - {goal}" for goal in goals)]

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
            return Chat(message=self._talk.outcome(last.outcome))
        offer = self._origin(text, goal, steps, around)
        entry = self._entry(offer, text, goal, around) if offer is not None else None
        if succeeded(last):
            return Chat(message=self._aftermath.summary(last, entry))
        reading = self._read(text, goal, around)
        alternatives = [other.command for other in self._offers(reading, goal, around) if _is_best(other, reading)]
        return self._aftermath.repair(steps, alternatives, goal.environment.cwd, around)

    def _origin(self, text: str, goal: GoalItem, steps: list[CommandItem], around: Surroundings) -> Offer | None:
        """The recipe whose command ran as it was proposed."""
        last = steps[-1]
        if last.run and last.run != last.proposed:
            return None
        for candidate in [text, *(f"{text} {step.remark}" for step in steps if step.remark)]:
            for offer in self._offers(self._read(candidate, goal, around), goal, around):
                if offer.command == last.proposed:
                    return offer
        return None

    def _entry(self, offer: Offer, text: str, goal: GoalItem, around: Surroundings) -> RecipeEntry | None:
        """The recipe whose words fit a result: that of the offer, else one that would have said the same command."""
        entry = self._matcher.entry_of(offer.match, offer.composed)
        if entry is not None or offer.composed is None:
            return entry
        for match in self._read(text, goal, around).matches:
            for form in self._usable(match.recipe, goal, around):
                with contextlib.suppress(KeyError):
                    if render(form.command, match).strip() == offer.command:
                        return match.recipe.entry
        return None

    def _another(
        self, text: str, goal: GoalItem, steps: list[CommandItem], tried: set[str], around: Surroundings
    ) -> Reply:
        for offer in self._offers(self._read(text, goal, around), goal, around):
            if offer.command not in tried:
                return self._command(offer)
        return Chat(message="I have no other command for this goal; edit the proposal, or say it in other words")

    def _remarked(
        self, text: str, goal: GoalItem, steps: list[CommandItem], tried: set[str], around: Surroundings
    ) -> Reply:
        remarks = [strip_remark(step.remark) for step in steps if step.outcome == "remark"]
        refusal = unusable(" ".join(remarks))
        if refusal:
            return Chat(message=refusal)
        latest = remarks[-1]
        swapped = self._swapped(text, latest, goal, around)
        readings = [
            (self._read(latest, goal, around) if len(latest.split()) > 2 else None, False),
            (
                self._read(text, goal, around, also=" ".join(remarks))
                if self._only_filters(latest, goal, around)
                else None,
                True,
            ),
            (self._read(swapped, goal, around) if swapped != text else None, False),
            (self._read(f"{text} {' '.join(remarks)}", goal, around), False),
        ]
        for reading, as_filter in readings:
            for offer in self._offers(reading, goal, around) if reading is not None else ():
                # A recipe that knows no filters would leave the remark out and look like an answer to it.
                if offer.command not in tried and (not as_filter or offer.filters):
                    return self._command(offer)
        return Chat(message="I cannot work that remark in; edit the command yourself, or say the whole goal anew")

    def _only_filters(self, remark: str, goal: GoalItem, around: Surroundings) -> bool:
        """Whether everything in a remark was understood as filters."""
        reading = self._read(remark, goal, around)
        left = [
            t for at, t in enumerate(reading.tokens) if at not in reading.frame.used and not t.filler and not t.weak
        ]
        return bool(reading.frame.used) and not left

    def _swapped(self, text: str, remark: str, goal: GoalItem, around: Surroundings) -> str:
        """The goal with its last path or number replaced by that of the remark, or its only plain name by the only one."""
        goal_tokens = self._read(text, goal, around).tokens
        remark_tokens = self._read(remark, goal, around).tokens
        names = [self._names(tokens) for tokens in (goal_tokens, remark_tokens)]
        # "in src" is a place and no other name, so the rest of the remark has to be about nothing.
        bare = all(token in names[1] or token.low in _BESIDE_A_NAME for token in remark_tokens)
        if bare and len(names[0]) == len(names[1]) == 1:
            old, new = names[0][0], names[1][0]
            return text[: old.start] + new.raw + text[old.end :]
        for token in reversed(remark_tokens):
            for kind in (r"[\w~./-]*[./][\w./-]+\Z", r"\d+\Z"):
                if not token.quoted and not re.match(kind, token.raw):
                    continue
                for old in reversed(goal_tokens):
                    if re.match(kind, old.raw) or (token.quoted and old.quoted):
                        said = f'"{token.raw}"' if token.quoted else token.raw
                        return text[: old.start] + said + text[old.end :]
        return text

    def _names(self, tokens: list[Token]) -> list[Token]:
        """Words that can only be what something is called; one that also means something is, right after "the folder"."""
        before = ["", *(token.low for token in tokens)]
        return [
            token
            for token, previous in zip(tokens, before, strict=False)
            if self._is_name(token) or (previous in _NAMES_FOLLOW and token.raw.isidentifier() and not token.filler)
        ]

    def _is_name(self, token: Token) -> bool:
        """Whether a word means nothing to any recipe, so that it can only be what something is called."""
        plain = token.raw.isidentifier() and not token.quoted and not token.is_path
        return plain and not self._matcher.book.lexicon.knows(token.low)


def how_read(reading: Reading, offer: Offer) -> Read:
    """How a goal was read for an offer, as `confidence` wants it."""
    from agent.planner.offline.confidence import Read

    match, composed = offer.match, offer.composed
    score = match.score if match is not None else composed.score if composed is not None else 0.0
    tied = match is not None and any(
        other.recipe is not match.recipe
        and (round(other.score, 3), other.weight) == (round(match.score, 3), match.weight)
        for other in reading.matches
    )
    return Read(
        goal=reading.goal,
        score=score,
        tokens=reading.tokens,
        tied=tied,
        names=_plain_names(reading, match, paths=False),
        paths=_plain_names(reading, match, paths=True),
    )


def _plain_names(reading: Reading, match: Match | None, *, paths: bool) -> tuple[str, ...]:
    """What a recipe takes for a name, and that is neither quoted nor announced as one."""
    if match is None:
        return ()
    values = match.binding.values.values()
    caught = {value.origin for value in values if value.origin and (value.kind == "path") is paths}
    pairs = zip(["", *(token.low for token in reading.tokens)], reading.tokens, strict=False)
    return tuple(
        token.raw
        for before, token in pairs
        if token.raw in caught and not token.quoted and not token.is_path and before not in ("called", "named")
    )


def _is_best(offer: Offer, reading: Reading) -> bool:
    """Whether nothing fits the goal better than an offer does."""
    match = offer.match
    if match is None:
        return prefers_grammar(reading)
    best = reading.matches[0]
    return (round(match.score, 3), match.weight) == (round(best.score, 3), best.weight)
