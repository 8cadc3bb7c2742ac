"""Choose examples for a model: goals of the offline planner's recipes, with their commands, that are most like a goal."""

from __future__ import annotations

import math
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from threading import Lock
from typing import NamedTuple

from msgspec import Struct

MOST = 5
_LEAST = 0.12  # below this an example says nothing about the goal
_OF_ONE_RECIPE = 2
_LONGEST = 300  # characters of an example's command: longer ones cost more than they teach
_PLACES = {"path": "<path>", "number": "<number>", "text": "<text>"}


class Shot(NamedTuple):
    """One example: a goal in plain words and the command that does it."""

    goal: str
    command: str


class _Known(Struct, frozen=True):
    shot: Shot
    recipe: str
    terms: frozenset[str]


class FewShot:
    """Finds examples. Reads the recipes at its first use (about 0.1 s of CPU); safe in several threads."""

    def __init__(self) -> None:
        self._known: list[_Known] = []
        self._weights: dict[str, float] = {}
        self._lock = Lock()
        self._read = _goal_terms()

    def load(self) -> None:
        """Read the recipes now instead of with the first goal."""
        with self._lock:
            if self._known:
                return
            known = list(_examples(self._read))
            seen = Counter(term for one in known for term in one.terms)
            self._weights = {term: math.log(1 + len(known) / count) for term, count in seen.items()}
            self._known = known

    def nearest(self, goal: str, most: int = MOST) -> tuple[Shot, ...]:
        """Up to `most` examples, the most like one last (which models heed most); none for a goal that is like none."""
        self.load()
        terms = self._read(goal)
        if not terms:
            return ()
        rare = max(self._weights.values(), default=1.0)
        own = sum(self._weights.get(term, rare) for term in terms)
        scored = [(self._likeness(terms, own, known), known) for known in self._known]
        found: list[_Known] = []
        taken: Counter[str] = Counter()
        commands: set[str] = set()
        for likeness, known in sorted(scored, key=lambda pair: -pair[0]):
            if likeness < _LEAST or len(found) == most:
                break
            if taken[known.recipe] < _OF_ONE_RECIPE and known.shot.command not in commands:
                taken[known.recipe] += 1
                commands.add(known.shot.command)
                found.append(known)
        return tuple(known.shot for known in reversed(found))

    def _likeness(self, terms: frozenset[str], own: float, known: _Known) -> float:
        """0..1: the weight of what both say, against that of all that either says."""
        shared = sum(self._weights[term] for term in terms & known.terms)
        if not shared:
            return 0.0
        return shared / (own + sum(self._weights[term] for term in known.terms) - shared)


def _goal_terms() -> Callable[[str], frozenset[str]]:
    """The function that reads a goal as a set of terms: concepts, and that there is a path, a number, a text."""
    from agent.memory.comparing import goal_words

    def terms(goal: str) -> frozenset[str]:
        words = goal_words(goal)
        plain = {term for term in words.terms if not term.startswith(("~", "<"))}
        endings = {os.path.splitext(slot.text)[1].lower() for slot in words.slots if slot.kind == "path"}
        return frozenset(plain | {_PLACES[slot.kind] for slot in words.slots} | (endings - {""}))

    return terms


def _examples(terms: Callable[[str], frozenset[str]]) -> Iterable[_Known]:
    from agent.planner.offline.recipe_files import load_entries

    system = {"linux": "linux", "darwin": "macos"}.get(sys.platform, "")
    for _, entry in load_entries():
        if entry.os and entry.os != system:
            continue
        for example in entry.examples:
            command = example.command.strip()
            if len(command) <= _LONGEST and "\n" not in command:
                yield _Known(Shot(example.goal, command), entry.id, terms(example.goal))
