"""Phrasings: `unpack|extract <archive:file> [to|into <dir>]` compiled once, matched as a whole goal or as a part of one."""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct

from agent.planner.offline.slots import READERS

_PIECE = re.compile(r"[\[\]]|<[a-z_]+(?::[a-z]+)?>|[^\s\[\]<>]+")
_NO_CUES: frozenset[str] = frozenset()


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


Element = Literal | Slot


class Phrasing(Struct, frozen=True, kw_only=True):
    """A compiled phrasing."""

    source: str
    elements: tuple[Element, ...]

    @property
    def required(self) -> tuple[frozenset[str], ...]:
        """The concepts that a goal must have, one of each set."""
        return tuple(e.concepts for e in self.elements if isinstance(e, Literal) and not e.optional and not e.filler)


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
        # "in!" must be there although it is a preposition, which otherwise only announces what follows.
        words = piece.removesuffix("!").split("|")
        filler = self._fillers.issuperset(words) and not piece.endswith("!")
        literal = Literal(concepts=frozenset(map(self._concept, words)), optional=optional, filler=filler)
        self._literals[piece, optional] = literal
        return literal


def _slot(piece: str, cues: frozenset[str], optional: bool, source: str) -> Slot:
    name, _, kind = piece[1:-1].partition(":")
    kind = kind or name
    if kind not in READERS:
        raise ValueError(f"unknown slot type {kind!r} in phrasing {source!r}")
    return Slot(name=name, kind=kind, cues=cues, optional=optional)
