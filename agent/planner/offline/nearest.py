"""Find the commands that come nearest to a goal which none fits, filled with what the goal says; what it does not say stays a slot.

Three sources, the surest first: recipes that fit but for a word or two, commands that were not sure enough, and recipes that share the
goal's words. None that changes more than the goal's verb says, none that is rated high, none whose programs are not here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from msgspec import Struct, structs

from agent.lexicon.words import Token, stems
from agent.planner.offline.fitting import Binding, Fitter
from agent.planner.offline.grammar.guards import HOLDS_NO_TEXT
from agent.planner.offline.grammar.ordering import order_of
from agent.planner.offline.matching import Match, Matcher, Reading, suits
from agent.planner.offline.offers import Offers, as_meant
from agent.planner.offline.paths import ENDINGS
from agent.planner.offline.patterns import Literal, Phrasing, Slot
from agent.planner.offline.recipes import Recipe
from agent.planner.offline.rendering import SLOT, describe, render, slot_kinds, without_sudo
from agent.planner.offline.sentences import DONE_TO_FILES, Sentence
from agent.planner.offline.surroundings import Surroundings
from agent.planner.offline.values import Blank
from agent.protocol.confirmations import Alternative
from agent.protocol.messages import GoalItem
from agent.text.fuzzy import Ranking

MOST = 5
_LOOKED_AT = 30  # recipes that share words, and are fitted
_LEAST = 0.38  # of the goal's meaning that a recipe has to take up
_BEHIND = 0.65  # how far a choice may fall behind the best
_PER_SLOT = 0.08  # what a slot that the person has to fill costs
_STRANGE = 3.0  # what a word counts that no recipe knows
# Rare in recipes, and yet in what people say of anything.
_EVERYDAY = frozenset(("good", "set", "get", "take", "use", "long", "other", "current", "new", "open", "name", "work"))
_OF_TEXT = ("text", "tables", "json")
_NAMES_NO_FILE = ("host", "branch", "service", "package", "user", "commit", "remote", "image", "variable")


class _Near(Struct, frozen=True, kw_only=True):
    """A recipe with what of it the goal says; `worth` is 0..1."""

    match: Match
    worth: float


class Nearest:
    """Looks through one book. The words of its recipes are gathered with the first goal that needs them."""

    def __init__(self, matcher: Matcher, offers: Offers) -> None:
        self._matcher = matcher
        self._offers = offers

    def choices(
        self, reading: Reading, goal: GoalItem, around: Surroundings
    ) -> tuple[tuple[Alternative, ...], Recipe | None]:
        """At most five commands, the nearest first; and the recipe that comes nearest of all, where a program that it needs is not here."""
        order = self._matcher.book.lexicon.concept(order_of(reading.goal))
        safe, shared = _Safety(reading.goal, order, goal, around), self._shared(reading, order)
        found: dict[str, Alternative] = {}
        for proposed, reason, slots in self._candidates(reading, goal, around, safe, shared):
            command = as_meant(proposed, goal.environment.cwd)
            if command not in found:
                found[command] = Alternative(command=command, reason=reason, slots=slots)
            if len(found) == MOST:
                break
        nearest = next((match.recipe for match in (*reading.near, *(each.match for each in shared))), None)
        return tuple(found.values()), nearest if nearest and self._is_lacking(nearest, goal, around, safe) else None

    def _is_lacking(self, near: Recipe, goal: GoalItem, around: Surroundings, safe: _Safety) -> bool:
        if self._offers.usable(near, goal, around):
            return False
        said = _words_of(near)
        slots = {form.command: tuple(found[0] for found in SLOT.finditer(form.command)) for form in near.forms}
        return all(safe.offers(command, said, blanks) for command, blanks in slots.items())

    def _candidates(
        self, reading: Reading, goal: GoalItem, around: Surroundings, safe: _Safety, shared: list[_Near]
    ) -> Iterator[tuple[str, str, tuple[str, ...]]]:
        for offer in self._offers.every(reading, goal, around)[:2]:
            if safe.offers(offer.command, _words_of(offer.match.recipe) if offer.match is not None else frozenset()):
                yield offer.command, offer.reason, ()
        near = [_Near(match=match, worth=match.score) for match in reading.near if _is_sound(match, reading)][:MOST]
        composed = self._offers.composed_here(reading.nearly, goal, around)
        if composed is not None and safe.offers(composed.command, frozenset()):
            before = sum(each.worth >= composed.composed.score for each in near) if composed.composed is not None else 0
            yield from self._filled(near[:before], goal, around, safe)
            yield composed.command, composed.reason, ()
        yield from self._filled([*near, *shared], goal, around, safe)

    def _filled(
        self, found: list[_Near], goal: GoalItem, around: Surroundings, safe: _Safety
    ) -> Iterator[tuple[str, str, tuple[str, ...]]]:
        """Their commands, as far as the goal says what goes into them."""
        for each in found:
            entry = each.match.recipe.entry
            for form in self._offers.usable(each.match.recipe, goal, around)[:1]:
                template = without_sudo(form.command) if around.is_root else form.command
                match, slots = _with_blanks(each.match, template)
                try:
                    command = render(template, match).strip()
                except KeyError:
                    continue
                if safe.offers(command, _words_of(each.match.recipe), slots):
                    yield command, describe(entry.reason, match) if not slots else entry.title, slots

    def _shared(self, reading: Reading, order: str) -> list[_Near]:
        """Recipes that share words with a goal, the nearest first, none that is far behind."""
        sentence = reading.sentence
        meant = {token.concept: token.low for token in sentence.tokens if _means(token)}
        known = meant.keys() & self._words.rarity.keys()
        # One word alone has to be there itself, not one that may mean the same: "delete left" is not about what is unused.
        words = [low for concept, low in meant.items() if concept in known and concept != order]
        alone = {words[0], *stems(words[0])} if len(words) == 1 and (not order or order in DONE_TO_FILES) else set()
        found = [
            self._fitted(recipe, sentence, reading)
            for recipe in map(self._matcher.book.recipes.__getitem__, self._words.best(known, _LOOKED_AT))
            if (order not in DONE_TO_FILES or order in _words_of(recipe))
            and (not alone or alone & set(_said_of(recipe)))
        ]
        near = sorted(
            (each for each in found if each is not None and _is_sound(each.match, reading)),
            key=lambda each: -each.worth,
        )
        return [each for each in near if each.worth >= max(_LEAST, near[0].worth * _BEHIND)]

    def _fitted(self, recipe: Recipe, sentence: Sentence, reading: Reading) -> _Near | None:
        """The phrasing of a recipe that takes up most of a goal."""
        if recipe.entry.filters and not suits(recipe, reading.frame):
            return None
        taken = frozenset(reading.frame.used) if recipe.entry.filters else frozenset()
        best: _Near | None = None
        for phrasing in recipe.phrasings:
            binding = Fitter(phrasing, sentence, taken).loose()
            worth = self._worth(phrasing, binding, sentence, taken)
            if best is None or worth > best.worth:
                match = Match(recipe=recipe, score=0.0, weight=0, binding=binding, frame=reading.frame)
                best = _Near(match=match, worth=worth)
        return best

    def _worth(self, phrasing: Phrasing, binding: Binding, sentence: Sentence, taken: frozenset[int]) -> float:
        """The share of what the goal and the phrasing say that both say, rare words counting most; 0 where they share little but values."""
        rarity = self._words.rarity
        known = {concept for each in phrasing.elements if isinstance(each, Literal) for concept in each.concepts}
        both = mine = words = shared = 0.0
        kinds: set[str] = set()
        for at, token in enumerate(sentence.tokens):
            is_word = _means(token)
            if not (is_word or token.quoted or token.is_path):
                continue
            weight = rarity.get(token.concept, _STRANGE)
            mine += weight
            if at in binding.used or at in taken:
                both += weight / 2 if at in binding.guessed else weight
            if is_word and not _is_value(token):
                words += weight
                if at in taken or (at in binding.used and token.concept in known):
                    shared += weight
                    kinds.add(token.concept)
        if shared < _LEAST * words or not shared:
            return 0.0
        said = {token.concept for token in sentence.tokens if not token.quoted}
        theirs = sum(
            min(rarity.get(concept, 1.0) for concept in concepts)
            for concepts in phrasing.required
            if not concepts & said
        )
        if theirs and kinds <= DONE_TO_FILES:
            return 0.0  # "delete x" says nothing of a branch
        slots = [each for each in phrasing.elements if isinstance(each, Slot) and not each.optional]
        left_open = sum(slot.name not in binding.values for slot in slots)
        of_its_type = sum(slot.kind in ENDINGS and slot.name in binding.values for slot in slots)
        return both / (mine + 0.7 * theirs) - _PER_SLOT * (left_open - of_its_type)

    @cached_property
    def _words(self) -> Ranking:
        lexicon, recipes = self._matcher.book.lexicon, self._matcher.book.recipes
        ranking = Ranking(
            [lexicon.concept(word) for word in _said_of(recipe) if word not in lexicon.fillers] for recipe in recipes
        )
        ranking.rarity |= {word: min(ranking.rarity[word], 1.0) for word in _EVERYDAY & ranking.rarity.keys()}
        return ranking


def _said_of(recipe: Recipe) -> list[str]:
    texts = (recipe.entry.title, *recipe.entry.phrasings, *recipe.entry.needs, recipe.area)
    return re.findall(r"[a-z0-9][a-z0-9-]*", re.sub(r"<[^>]*>", " ", " ".join(texts)).lower())


class _Safety:
    """Limits of what may be among the choices for one goal."""

    def __init__(self, text: str, order: str, goal: GoalItem, around: Surroundings) -> None:
        from agent.planner.offline.grammar.guards import resolver

        self._text = text
        self._exists = resolver(goal.environment.cwd, around.exists)
        self._cwd = goal.environment.cwd
        self._order = order

    def offers(self, command: str, words: frozenset[str], slots: tuple[str, ...] = ()) -> bool:
        """Tell whether a command changes no more than the goal orders. `words`: those that its recipe knows; a command that changes
        something has to have the goal's verb among them."""
        from agent.planner.offline.grammar.changes import operations
        from agent.planner.offline.grammar.guards import refusal
        from agent.protocol.decisions import Level, RiskContext
        from agent.risk.classifier import classify

        for slot in slots:
            command = command.replace(slot, slot.strip("<>"))
        if refusal(self._text, command, self._exists):
            return False
        level = classify(command, RiskContext(cwd=self._cwd)).level
        changes = level is not Level.LOW or operations(command) - {"system"}  # which many only ask
        return level is not Level.HIGH and (not changes or not words or (bool(self._order) and self._order in words))


def _is_sound(match: Match, reading: Reading) -> bool:
    """Tell whether what the slots caught can be what they ask for: a file that is here is no branch, a film holds no lines."""
    kinds = slot_kinds(match.recipe)
    for name, value in match.binding.values.items():
        if value.kind == "path":
            if match.recipe.area in _OF_TEXT and HOLDS_NO_TEXT.search(value.text):
                return False
            if (
                match.recipe.area == "json"
                and "." in value.text
                and not re.search(r"\.(?:json\w*|ndjson)\Z", value.text)
            ):
                return False
            if kinds.get(name) in ("dir", "folder", "isdir") and reading.sentence.scene.peek(value.text):
                return False
        elif kinds.get(name) in _NAMES_NO_FILE and reading.sentence.scene.exists(value.text):
            return False
    return True


def _means(token: Token) -> bool:
    return not (token.filler or token.weak or token.quoted or token.is_path)


def _is_value(token: Token) -> bool:
    """Tell whether a word is a number, a path or an address rather than a word of a language."""
    return bool(re.search(r"[\d./:@~*]", token.raw))


def _words_of(recipe: Recipe) -> frozenset[str]:
    """The words and concepts that a recipe's phrasings require."""
    return frozenset(concept for phrasing in recipe.phrasings for concepts in phrasing.required for concept in concepts)


def _with_blanks(match: Match, template: str) -> tuple[Match, tuple[str, ...]]:
    """The match with a blank for each slot of a template that nothing fills, and these blanks as they will stand in the command."""
    known = {*match.binding.values, *match.recipe.entry.defaults}
    frame = {"find", "list", "lines", "root"} if match.recipe.entry.filters else set()
    kinds = slot_kinds(match.recipe)
    wanted = [name for name, _ in SLOT.findall(template) if name not in known and name not in frame]
    blanks = {name: f"<{_slot_name(name, kinds.get(name, name))}>" for name in dict.fromkeys(wanted)}
    if not blanks:
        return match, ()
    values = match.binding.values | {name: Blank(text=text) for name, text in blanks.items()}
    return structs.replace(match, binding=structs.replace(match.binding, values=values)), tuple(blanks.values())


_SAID = {"dst": "target", "dest": "target", "src": "source", "n": "number", "rev": "commit"}


def _slot_name(name: str, kind: str) -> str:
    """Name a slot as a person does: by its own name where that says something, else by its type."""
    said = _SAID.get(name, name)
    return said.replace("_", "-") if len(said) > 1 else f"{kind}-{name}"
