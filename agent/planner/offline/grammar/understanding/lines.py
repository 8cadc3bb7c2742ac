"""Pieces about lines: which of them, which part of them."""

from __future__ import annotations

from msgspec import structs

from agent.planner.offline.grammar.pieces import Piece
from agent.planner.offline.grammar.understanding.things import Things
from agent.planner.offline.values import Value


class Lines(Things):
    """Take up which lines, and what of them."""

    def on_contain(self, piece: Piece, clause: int) -> bool:
        if self._about_lines(clause):
            return self.stages.contain(piece.param, self._as_written(piece), clause)
        return self.files.contain(piece.param, piece)

    def on_lack(self, piece: Piece, clause: int) -> bool:
        if self._about_lines(clause):
            return self.stages.lack(tuple(v.text for v in piece.values.values()), clause)
        return self.files.lack(piece)

    def on_seek(self, piece: Piece, clause: int) -> bool:
        if piece.param == "for" and not self._seeks_now():
            return False
        if piece.param == "line" and not self._is_in_the_files(next(iter(piece.values.values()))):
            return False
        self.seeks = True
        if piece.param == "line":
            self.on_noun(structs.replace(piece, meaning="noun line"), clause)
        self.verbs.append(("find", clause))
        if piece.param == "first":
            self.stages.add("limit", "head", "1", clause=clause)
        values = dict(piece.values)
        places = [values.pop(hole) for hole in ("PATH", "FILE") if hole in values]
        kind = "either" if piece.param == "either" else ""
        self.stages.contain(kind, self._as_written(piece), clause)
        return all([self._place(place, clause, "") for place in places])  # noqa: C419 - each must be taken up

    def _is_in_the_files(self, value: Value) -> bool:
        """Tell whether a word before "lines" can be a text: one in capitals, or one that a file of the goal has."""
        if not value.text.islower():
            return True
        texts = [self.scene.peek(token.raw) for token in self.row.sentence.tokens if token.raw != value.origin]
        known = [text for text in texts if text]
        return not known or any(value.text in text.lower() for text in known)

    def _seeks_now(self) -> bool:
        """Tell whether "for X" can be what is searched for: after a verb of searching and what is searched through."""
        if not self.verbs or self.verbs[-1][0] != "find":
            return False
        grep = self.row.sentence.tokens and self.row.sentence.tokens[0].low == "grep"
        return bool(
            self._known_source() or (grep and any(p.op in ("scope", "path", "kinds", "glob") for p in self.row.pieces))
        )

    def on_context(self, piece: Piece, clause: int) -> bool:
        number = piece.values["NUM"].text if "NUM" in piece.values else "1"
        if "WORD" in piece.values:
            self.stages.contain("", (piece.values["WORD"].text,), clause)
        self.stages.context = ({"around": "C", "after": "A", "before": "B"}[piece.param], number)
        return True

    def on_limit(self, piece: Piece, clause: int) -> bool:
        if self.counting == clause and piece.param.startswith("head"):
            self.counting = -1
        kept, _, fixed = piece.param.partition(" ")
        if kept == "random":
            number = piece.values["NUM"].text if "NUM" in piece.values else "1"
            return self.stages.add("limit", "sample", number, clause=clause)
        lows = self._lows(piece)
        if "top" in lows and kept in ("head", "ranked") and not lows & {"line", "entry", "one"}:
            self.topped = kept
        if kept == "ranked":
            return True
        if (
            kept in ("skip", "drop")
            and clause in self.deleting
            and "delete" not in self.row.lemmas[piece.start : piece.end]
        ):
            # "delete all but the first line" keeps that one
            number = fixed or next(iter(piece.values.values())).text
            return self.stages.add("match", f"keep_{kept}", number, clause=clause)
        return self.stages.limit(piece.param, piece, clause)

    def _lows(self, piece: Piece) -> set[str]:
        return {token.low for token in self.row.sentence.tokens[piece.start : piece.end]}

    def on_col(self, piece: Piece, clause: int) -> bool:
        if self.stages.order is not None and self.stages.order.key in ("whole",) and self._just_after_sort(piece):
            return self.stages.sort(clause, key="col", column=piece.values["COL"].text)
        return self.stages.col(piece.param, piece, clause)

    def _just_after_sort(self, piece: Piece) -> bool:
        at = piece.start - 1
        lemmas = self.row.lemmas
        while at >= 0 and lemmas[at] in ("by", "on", "the", "using", "its", "their"):
            at -= 1
        return at >= 0 and lemmas[at] == "sort" and at < piece.start - 1

    def on_delimiter(self, piece: Piece, clause: int) -> bool:
        self.stages.separator = piece.values["SEP"].text
        return True

    def on_only(self, piece: Piece, clause: int) -> bool:
        self.stages.letters += "o"
        return True
