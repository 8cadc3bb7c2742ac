"""Pieces that change lines: replaced, deleted, added, joined, split."""

from __future__ import annotations

import re

from msgspec import structs

from agent.planner.offline.grammar.holes import SEPARATORS
from agent.planner.offline.grammar.intent import Stage
from agent.planner.offline.grammar.pieces import Piece
from agent.planner.offline.grammar.understanding.draft import Draft
from agent.planner.offline.values import Value


class Edits(Draft):
    """Take up what becomes of lines."""

    def on_stage(self, piece: Piece, clause: int) -> bool:
        if piece.param == "tac" and self.stages.order is not None:
            return self.stages.sort(self.stages.order_clause, reverse=True)
        return self.stages.change(piece.param, clause)

    def on_replace(self, piece: Piece, clause: int) -> bool:
        self.verbs.append(("replace", clause))
        values = list(piece.values.values())
        kind = piece.param
        if kind == "sep":
            return self.stages.add("change", "trsep", values[0].text, values[1].text, clause=clause)
        old, new = (
            piece.values.get("TEXT") or piece.values["QUOTED"],
            piece.values.get("TEXT2") or piece.values["QUOTED2"],
        )
        old, new = self._sign_in(piece, old), self._sign_in(piece, new)
        if {len(old.text), len(new.text)} == {1} and not old.text.isalnum() and kind == "":
            return self.stages.add("change", "trsep", old.text, new.text, clause=clause)
        flags = {"": "g", "first": "", "nth": piece.values["NTH"].text if "NTH" in piece.values else ""}.get(kind)
        if flags is None:
            return False
        op = "replaceword" if "w" in self.stages.letters else "replace"
        return self.stages.add("change", op, old.text, new.text, flags, clause=clause)

    def _sign_in(self, piece: Piece, value: Value) -> Value:
        """A text of a piece; where it is the name of a sign ("commas"), and the file does not speak of it, the sign."""
        token = next((t for t in self.row.sentence.tokens[piece.start : piece.end] if t.raw == value.origin), None)
        sign = SEPARATORS.get(value.text.lower()) if token is not None and not token.quoted else None
        if (
            sign is None
            or len(sign) > 1
            or any(_speaks_of(self.scene.peek(text.text), value.text) for text in self.texts)
        ):
            return value
        return structs.replace(value, text=sign)

    def on_ropen(self, piece: Piece, clause: int) -> bool:
        self.verbs.append(("replace", clause))
        self.pending = (self._named_sign(piece), clause)
        return True

    @staticmethod
    def _named_sign(piece: Piece) -> Value:
        """The sign that a rule caught; "dash" without quotes is the sign."""
        value = next(iter(piece.values.values()))
        sign = SEPARATORS.get(value.text, "") if "WORD" in piece.values else ""
        return structs.replace(value, text=sign) if len(sign) == 1 else value

    on_ropensep = on_ropen

    def on_rclose(self, piece: Piece, clause: int) -> bool:
        if self.pending is None:
            return False
        (old, at), self.pending = self.pending, None
        new = self._named_sign(piece)
        if len(old.text) == 1 and len(new.text) == 1 and not old.text.isalnum():
            return self.stages.add("change", "trsep", old.text, new.text, clause=at)
        return self.stages.add("change", "replace", old.text, new.text, "g", clause=at)

    on_rclosesep = on_rclose

    def on_delete(self, piece: Piece, clause: int) -> bool:
        self.verbs.append(("delete", clause))
        value = next(iter(piece.values.values()))
        if len(value.text) == 1:
            return self.stages.add("change", "delchar", value.text, clause=clause)
        return self.stages.add("change", "replace", value.text, "", "g", clause=clause)

    def on_add(self, piece: Piece, clause: int) -> bool:
        self.verbs.append(("add", clause))
        values = piece.values
        text = (values.get("TEXT") or values.get("QUOTED") or next(iter(values.values()))).text
        kind = piece.param.removesuffix(" sep")
        if kind in ("start", "end"):
            return self.stages.add("change", f"add{kind}", text, clause=clause)
        number = {"first": "1", "last": "$"}.get(kind) or values["NUM"].text
        return self.stages.add(
            "change", "insert" if kind in ("before", "first") else "addafter", number, text, clause=clause
        )

    def on_join(self, piece: Piece, clause: int) -> bool:
        self.stages.steps = [step for step in self.stages.steps if step.stage != Stage(op="join", args=(" ",))]
        return self.stages.add(
            "join", "join", piece.values["SEP"].text if "SEP" in piece.values else ",", clause=clause
        )

    def on_split(self, piece: Piece, clause: int) -> bool:
        if "SEP" not in piece.values:
            if self.nouns and self.nouns[-1][0] == "word" and self.texts:
                return self.stages.add("split", "words", clause=clause)
            return True
        separator = piece.values["SEP"].text
        return len(separator) == 1 and self.stages.add("split", "trsep", separator, "\n", clause=clause)


def _speaks_of(text: str, word: str) -> bool:
    return re.search(rf"\b{re.escape(word)}\b", text) is not None
