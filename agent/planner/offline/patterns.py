"""Phrasings: `unpack|extract <archive:file> [to|into <dir>]` compiled once, matched as a whole goal or as a part of one."""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct

from agent.planner.offline.slots import CUED_TYPES, READERS, Scene, read_slot
from agent.planner.offline.values import Value
from agent.planner.offline.words import Token

_PIECE = re.compile(r"[\[\]]|<[a-z_]+(?::[a-z]+)?>|[^\s\[\]<>]+")
_NO_CUES: frozenset[str] = frozenset()
# Between an announcing word and its slot people put articles and the type of what follows.
_ARTICLES = frozenset({"does", "do", "did", "the", "a", "an", "my", "this", "all", "any", "every", "its"})
_SKIPPED = _ARTICLES | {"file", "files", "folder", "directory", "called", "named"}


class Literal(Struct, frozen=True, kw_only=True):
    """One of `concepts` must (or, optional, may) be in the goal."""

    concepts: frozenset[str]
    optional: bool = False
    filler: bool = False


class Slot(Struct, frozen=True, kw_only=True):
    """A place for a value. `cues`: concepts that announce it when they stand right before."""

    name: str
    kind: str
    cues: frozenset[str] = frozenset()
    optional: bool = False


# What a value costs that could as well be a word of the goal.
DOUBT = 0.15

Element = Literal | Slot


class Phrasing(Struct, frozen=True, kw_only=True):
    """A compiled phrasing."""

    source: str
    elements: tuple[Element, ...]

    @property
    def required(self) -> tuple[frozenset[str], ...]:
        """The concepts that a goal must have, one of each set."""
        return tuple(e.concepts for e in self.elements if isinstance(e, Literal) and not e.optional and not e.filler)


class Binding(Struct, kw_only=True):
    """How a goal fits: values of slots, tokens explained, required words met, all words met, cost of liberties taken."""

    values: dict[str, Value]
    used: set[int]
    literals: int = 0
    words: int = 0
    slots: int = 0
    cost: float = 0.0


class PhrasingCompiler:
    """Compiles phrasings; the same groups of words come again and again, so they are made once."""

    def __init__(self, concept: Callable[[str], str], fillers: frozenset[str]) -> None:
        self._concept = concept
        self._fillers = fillers
        self._literals: dict[tuple[str, bool], Literal] = {}

    def compile(self, source: str) -> Phrasing:
        """Compile one phrasing. ValueError names what is wrong with it."""
        elements: list[Element] = []
        inside = False
        cues: frozenset[str] = _NO_CUES
        pieces = _PIECE.findall(source)
        if sum(map(len, pieces)) != len(source.replace(" ", "")):
            raise ValueError(f"cannot read phrasing {source!r}")
        for piece in pieces:
            if piece in "[]":
                if inside is (piece == "["):
                    raise ValueError(f"brackets do not match in phrasing {source!r}")
                inside = not inside
            elif piece[0] == "<":
                elements.append(_slot(piece, cues, inside, source))
                cues = _NO_CUES
            else:
                literal = self._literals.get((piece, inside)) or self._literal(piece, inside)
                elements.append(literal)
                # A required word ends what came before it; optional ones and prepositions add to it.
                cues = cues | literal.concepts if literal.filler or inside else literal.concepts
        if inside:
            raise ValueError(f"an open bracket in phrasing {source!r}")
        return Phrasing(source=source, elements=tuple(elements))

    def _literal(self, piece: str, optional: bool) -> Literal:
        words = piece.split("|")
        concepts = frozenset(map(self._concept, words))
        literal = Literal(concepts=concepts, optional=optional, filler=self._fillers.issuperset(words))
        self._literals[piece, optional] = literal
        return literal


def _slot(piece: str, cues: frozenset[str], optional: bool, source: str) -> Slot:
    name, _, kind = piece[1:-1].partition(":")
    kind = kind or name
    if kind not in READERS:
        raise ValueError(f"unknown slot type {kind!r} in phrasing {source!r}")
    return Slot(name=name, kind=kind, cues=cues, optional=optional)


# --- a phrasing for a whole goal: words in any order, slots found by type and by what announces them ---


def bind(phrasing: Phrasing, goal: str, tokens: list[Token], scene: Scene, taken: frozenset[int]) -> Binding | None:
    """Fit a phrasing to all tokens that are not `taken`; None when a required word or slot is missing."""
    binding = Binding(values={}, used=set())
    slots = [e for e in phrasing.elements if isinstance(e, Slot)]
    if not _bind_slots(slots, goal, tokens, scene, taken, binding):
        return None
    for element in phrasing.elements:
        if not isinstance(element, Literal) or element.filler:
            continue
        at = _find_literal(element, tokens, binding.used, taken)
        if at is not None:
            binding.used.add(at)
            binding.literals += not element.optional
            binding.words += 1
            continue
        if not element.optional:
            return None
    for at, token in enumerate(tokens):
        # A word of the phrasing that comes twice ("find files and list files") explains itself.
        if at not in binding.used and any(
            isinstance(e, Literal) and token.concept in e.concepts for e in phrasing.elements
        ):
            binding.used.add(at)
    return binding


def _find_literal(element: Literal, tokens: list[Token], used: set[int], taken: frozenset[int]) -> int | None:
    for at, token in enumerate(tokens):
        # "the src folder" is one value, and still says that a folder is meant.
        free = at not in used or token.low in ("folder", "directory", "file")
        if free and at not in taken and not token.quoted and token.concept in element.concepts:
            return at
    return None


def _bind_slots(
    slots: list[Slot], goal: str, tokens: list[Token], scene: Scene, taken: frozenset[int], binding: Binding
) -> bool:
    """Announced slots first, then the others in order of appearance."""
    pending: list[Slot] = []
    for slot in slots:
        if not (slot.cues and _place(slot, goal, tokens, scene, taken, binding, announced=True)):
            pending.append(slot)
    for slot in pending:
        if slot.kind not in CUED_TYPES or slot.kind == "text":
            # An optional folder is only taken when something announces it: what else stands there is not for us.
            if _place(slot, goal, tokens, scene, taken, binding, announced=False):
                continue
        if not slot.optional:
            return False
    return True


def _place(
    slot: Slot,
    goal: str,
    tokens: list[Token],
    scene: Scene,
    taken: frozenset[int],
    binding: Binding,
    *,
    announced: bool,
) -> bool:
    for at in range(len(tokens)):
        if at in binding.used or at in taken:
            continue
        cue = _announced_by(slot, tokens, at)
        if announced and cue is None:
            continue
        cue_word = tokens[cue].low if announced and cue is not None else ""
        if cue_word and slot.kind in CUED_TYPES and not tokens[at].quoted and tokens[at].concept in slot.cues:
            continue  # "find the word error": "word" announces, too
        found = read_slot(slot.kind, goal, tokens, at, scene, cue_word)
        if found is None:
            continue
        used = set(range(at, at + found[0]))
        if used & (binding.used | taken):
            continue
        binding.used |= used
        if cue is not None:
            binding.used |= set(range(cue + 1, at))
        binding.values[slot.name] = found[1]
        binding.slots += 1
        binding.cost += DOUBT if found[1].doubtful else 0.0
        return True
    return False


def _announced_by(slot: Slot, tokens: list[Token], at: int) -> int | None:
    """Position of the word that announces a slot at `at`."""
    skipped = _ARTICLES if slot.kind in ("text", "literal", "rest") else _SKIPPED
    before = at - 1
    while before >= 0 and not tokens[before].quoted:
        if tokens[before].concept in slot.cues:
            return before
        if tokens[before].low not in skipped:
            return None
        before -= 1
    return None


# --- a phrasing for a part of a goal: words in order, from a position on ---


def match_at(
    phrasing: Phrasing, goal: str, tokens: list[Token], at: int, scene: Scene
) -> tuple[int, dict[str, Value]] | None:
    """The longest fit of a phrasing that starts exactly at `at`: position after it and values."""
    return _match(phrasing.elements, 0, goal, tokens, at, scene, "")


def _match(
    elements: tuple[Element, ...], index: int, goal: str, tokens: list[Token], at: int, scene: Scene, after_word: str
) -> tuple[int, dict[str, Value]] | None:
    if index == len(elements):
        return at, {}
    element = elements[index]
    best: tuple[int, dict[str, Value]] | None = None
    if element.optional:
        best = _match(elements, index + 1, goal, tokens, at, scene, after_word)
    where = at
    while where < len(tokens):
        token = tokens[where]
        step = _step(element, goal, tokens, where, scene, after_word)
        if step is not None:
            rest = _match(
                elements,
                index + 1,
                goal,
                tokens,
                where + step[0],
                scene,
                tokens[where].low if isinstance(element, Literal) else "",
            )
            if rest is not None and (best is None or rest[0] > best[0]):
                best = rest[0], step[1] | rest[1]
            break
        if (
            index == 0
            or token.quoted
            or token.low
            not in ("the", "a", "an", "my", "any", "is", "are", "all", "have", "has", "been", "was", "were")
        ):
            break
        where += 1
    return best


def _step(
    element: Element, goal: str, tokens: list[Token], at: int, scene: Scene, cued: str
) -> tuple[int, dict[str, Value]] | None:
    if isinstance(element, Literal):
        token = tokens[at]
        return (1, {}) if not token.quoted and token.concept in element.concepts else None
    found = read_slot(element.kind, goal, tokens, at, scene, cued)
    return (found[0], {element.name: found[1]}) if found else None
