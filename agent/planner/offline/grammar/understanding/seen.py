"""Turn words about lines into steps: lines that a file is seen to have, stretches between lines, definitions."""

from __future__ import annotations

import re

from msgspec import structs

from agent.planner.offline.grammar.pieces import Piece
from agent.planner.offline.grammar.understanding.lines import Lines


class LineReading(Lines):
    """The part of an understanding that is about lines."""

    def on_seenline(self, piece: Piece, clause: int) -> bool:
        """Lines with a word that the file has, or one of two."""
        if piece.param == "either":
            return self.stages.contain("either", tuple(value.text for value in piece.values.values()), clause)
        return self.stages.contain("", (_only(piece),), clause)

    on_dated = on_seenline

    def on_firstseen(self, piece: Piece, clause: int) -> bool:
        """The first line with a word."""
        return self.on_seenline(piece, clause) and self.stages.add("limit", "head", "1", clause=clause)

    def on_lastseen(self, piece: Piece, clause: int) -> bool:
        """The last line with a word."""
        return self.on_seenline(piece, clause) and self.stages.add("limit", "tail", "1", clause=clause)

    def on_definition(self, piece: Piece, clause: int) -> bool:
        """Look for the definition of a name of a program, in any of the usual languages."""
        name = _only(piece)
        if not re.fullmatch(r"\w+", name):
            return False
        self.seeks = True
        self.stages.letters += "" if "n" in self.stages.letters else "n"
        self.files.recursive = True
        pattern = rf"\b(def|class|function|func|fn|struct|interface)\s+{name}\b"
        return self.stages.add("match", "regex", self.stages.letters, pattern, clause=clause)

    def on_either(self, piece: Piece, clause: int) -> bool:
        """Lines that begin, or end, in one of two ways."""
        one, two = (value.text for value in piece.values.values())
        single = all(len(text) == 1 and text not in "^]\\-" for text in (one, two))
        inner = f"[{one}{two}]" if single else f"({_extended(one)}|{_extended(two)})"
        pattern = f"^{inner}" if piece.param == "start" else f"{inner}$"
        return self.stages.add("match", "regex", self.stages.letters, pattern, clause=clause)

    def on_span(self, piece: Piece, clause: int) -> bool:
        """From lines with one text to lines with another."""
        one, two = (value.text for value in piece.values.values())
        return self.stages.add("range", "between", one, two, clause=clause)

    def on_bytes(self, piece: Piece, clause: int) -> bool:
        """So many bytes of one end."""
        return self.stages.add("skip", f"bytes_{piece.param}", _only(piece), clause=clause)

    def on_firstofevery(self, piece: Piece, clause: int) -> bool:
        """Every nth line was said before: now that the first is one of them."""
        for step in self.stages.steps:
            if step.stage.op == "every":
                step.stage = structs.replace(step.stage, args=(step.stage.args[0], "1"))
                return True
        return False

    def on_alike(self, piece: Piece, clause: int) -> bool:
        """Upper and lower case are the same."""
        self.stages.letters += "" if "i" in self.stages.letters else "i"
        self.stages.folded = True
        if not any(noun == "line" for noun, _ in self.nouns):
            self.files.nocase = True  # names are meant
        return True


def _only(piece: Piece) -> str:
    return next(iter(piece.values.values())).text


def _extended(text: str) -> str:
    """Text in an extended regular expression."""
    return re.sub(r"([.^$*+?()\[\]{}|\\])", r"\\\1", text)
