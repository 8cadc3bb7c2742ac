"""Offer the commands that fit a goal, in order, with how sure each of them is."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct, structs

from agent.planner.offline.clauses import without_reason
from agent.planner.offline.grammar.grammar import Composed
from agent.planner.offline.grammar.programs import only_gnu, programs
from agent.planner.offline.matching import Match, Matcher, Reading, prefers_grammar
from agent.planner.offline.recipe_files import Form
from agent.planner.offline.recipes import Recipe
from agent.planner.offline.rendering import describe, in_any_case, render, usable_forms, without_sudo
from agent.planner.offline.sentences import GoalContext
from agent.planner.offline.surroundings import Surroundings
from agent.planner.offline.system_tools import GNU
from agent.protocol.messages import GoalItem

if TYPE_CHECKING:
    from agent.planner.offline.confidence import Read


# Behind these even "old" is what something is called.
_ANNOUNCE_NAMES = frozenset((
    "called", "named", "branch", "container", "service", "package", "image", "tag", "user", "volume", "folder",
    "directory", "file",
))  # fmt: skip


class Offer(Struct, frozen=True, kw_only=True):
    """One command that fits a goal, with the match and form it came from, or with what the grammar composed.

    `sure` is 0..1: how sure it is that it does what the goal says. See `confidence`. `unused`: words of the goal
    that it does nothing about.
    """

    command: str
    sure: float = 1.0
    match: Match | None = None
    form: Form | None = None
    composed: Composed | None = None
    unused: tuple[str, ...] = ()

    @property
    def reason(self) -> str:
        """Say how a goal has to be read for it."""
        if self.composed is not None:
            return self.composed.reading
        return describe(self.match.recipe.entry.reason, self.match) if self.match is not None else ""

    @property
    def filters(self) -> bool:
        """Tell whether filters of the goal are in the command."""
        return self.match is None or self.match.recipe.entry.filters


class Offers:
    """Reads goals with one matcher, and makes commands of what was read."""

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher

    def read(self, text: str, goal: GoalItem, around: Surroundings, also: str = "") -> Reading:
        """A text as it is read where the goal was given; `also` is a remark on it."""
        cwd = goal.environment.cwd or os.curdir

        def there(name: str) -> str:
            return os.path.join(cwd, os.path.expanduser(name) if name.startswith("~/") else name)

        looked_at: dict[str, str] = {}  # a file is read once for a goal, however many rules ask

        def peek(name: str) -> str:
            if name not in looked_at:
                looked_at[name] = around.peek(there(name))
            return looked_at[name]

        scene = GoalContext(
            lexicon=self._matcher.book.lexicon,
            today=around.today,
            exists=lambda name: around.exists(there(name)),
            running=around.running,
            peek=peek,
        )
        said, aside = without_reason(text)
        reading = self._matcher.read(said, scene, also=also)
        return structs.replace(reading, goal=f"{said} {also}" if also else said, aside=aside)

    def offers(self, reading: Reading, goal: GoalItem, around: Surroundings) -> list[Offer]:
        """Every distinct command that fits, that nothing in the goal speaks against, and that is sure enough, the best first.

        Where the best is refused there is none: what fits less well was not meant.
        """
        # With the first goal, not while the planner loads.
        from agent.planner.offline.confidence import OFFERED
        from agent.planner.offline.evidence import idle
        from agent.planner.offline.grammar.guards import resolver
        from agent.planner.offline.grammar.reach import with_folder_made
        from agent.planner.offline.grammar.saying import masked

        cwd, said = goal.environment.cwd, masked(reading.goal)
        exists = resolver(cwd, around.exists)
        offers = []
        for offer in self.every(reading, goal, around):
            why, sure = judged(offer, reading, exists)
            if sure >= OFFERED and not why:
                own = offer.match is not None and offer.match.is_own
                command = offer.command if own else as_meant(with_folder_made(offer.command, said, exists), cwd)
                lost = offer.composed.unused if offer.composed is not None else ()
                unused = (*lost, *(() if own else idle(said, command)), *([reading.aside] if reading.aside else []))
                offers.append(structs.replace(offer, sure=sure, command=command, unused=unused))
            elif not offers:
                return []
        return offers

    def every(self, reading: Reading, goal: GoalItem, around: Surroundings) -> list[Offer]:
        """Every distinct command that fits, the best first."""
        offers: list[Offer] = []
        composed = self.composed_here(reading.composed, goal, around)
        if composed is not None and prefers_grammar(reading):
            offers.append(composed)
        for match in reading.matches:
            for form in self.usable(match.recipe, goal, around):
                template = without_sudo(form.command) if around.is_root else form.command
                try:
                    command = render(template, match).strip()
                except KeyError:  # "." has no name to make `NAME.zip` of
                    if not offers:
                        return []  # what fits less well is not what was meant
                    continue
                if form.command.startswith("<") and not around.present(command.split(maxsplit=1)[0]):
                    continue  # the goal names the program, and it is not here
                if all(offer.command != command for offer in offers):
                    offers.append(Offer(command=command, match=match, form=form))
        if composed is not None and all(offer.command != composed.command for offer in offers):
            offers.append(composed)
        return offers

    def usable(self, recipe: Recipe, goal: GoalItem, around: Surroundings) -> list[Form]:
        """The forms of a recipe that can be had here."""
        return usable_forms(recipe, goal.environment, around)

    def composed_here(self, composed: Composed | None, goal: GoalItem, around: Surroundings) -> Offer | None:
        """Offer what the grammar composed, where all its programs are there, and are those that know what it says."""
        if composed is None or not all(around.present(name) for name in programs(composed.command)):
            return None
        if any(around.flavour(name, goal.environment.os) != GNU for name in only_gnu(composed.command)):
            return None
        return Offer(command=composed.command, composed=composed)


def as_meant(command: str, cwd: str) -> str:
    """A command as it was composed, with what nobody says: what it leaves out there, and names in any case."""
    from agent.planner.offline.spared_folders import without_spared_folders

    return in_any_case(without_spared_folders(command, cwd))


def judged(offer: Offer, reading: Reading, exists: Callable[[str], bool]) -> tuple[str, float]:
    """Say why a command is refused, "" for not, and how sure (0..1) it does what the goal says; a person says what own words mean."""
    from agent.planner.offline.confidence import confidence
    from agent.planner.offline.grammar.guards import no_plain_order, refusal

    if offer.match is not None and offer.match.is_own:
        return no_plain_order(reading.goal, offer.command), offer.match.score
    why = refusal(reading.goal, offer.command, exists)
    return why, 0.0 if why else confidence(how_read(reading, offer), offer.command, exists)


def how_read(reading: Reading, offer: Offer) -> Read:
    """Sum up for `confidence` how a goal was read for an offer."""
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
        composed=composed is not None,
        names=_plain_names(reading, match, paths=False),
        paths=_plain_names(reading, match, paths=True),
    )


def _plain_names(reading: Reading, match: Match | None, *, paths: bool) -> tuple[str, ...]:
    """The words that a recipe takes for a name, and that are neither quoted nor announced as one."""
    if match is None:
        return ()
    values = match.binding.values.values()
    caught = {value.origin for value in values if value.origin and (value.kind == "path") is paths}
    pairs = zip(["", *(token.low for token in reading.tokens)], reading.tokens, strict=False)
    return tuple(
        token.raw
        for before, token in pairs
        if token.raw in caught and not token.quoted and not token.is_path and before not in _ANNOUNCE_NAMES
    )


def is_best(offer: Offer, reading: Reading) -> bool:
    """Tell whether nothing fits the goal better than an offer does."""
    match = offer.match
    if match is None:
        return prefers_grammar(reading)
    best = reading.matches[0]
    return (round(match.score, 3), match.weight) == (round(best.score, 3), best.weight)
