"""Pieces about the result: its order and its form."""

from __future__ import annotations

from msgspec import structs

from agent.planner.offline.grammar.pieces import Piece
from agent.planner.offline.grammar.understanding.counts import Counts
from agent.planner.offline.grammar.understanding.edits import Edits

# Words of superlatives that do not end like one.
_MOST = frozenset({"most", "recent", "recently", "last", "least", "ago", "space"})

_AGES = frozenset({"new", "old", "recent", "recently"})


class Forms(Counts, Edits):
    """Take up how the result is shown."""

    def on_order(self, piece: Piece, clause: int) -> bool:
        fields: dict[str, object] = {"key": piece.param}
        if piece.param == "col":
            fields["column"] = piece.values["COL"].text
        if piece.param in ("frequent", "rare"):
            how = "" if piece.param == "frequent" else "rare"
            return self.stages.sort(clause, key="count", numeric=True, reverse=piece.param == "frequent", then=how)
        if piece.param in ("count", "value"):
            fields["numeric"] = True
        if piece.param == "value":
            fields["key"] = "whole"
        if piece.param == "human":
            fields["human"] = True
        return self.stages.sort(clause, **fields)

    def on_adv(self, piece: Piece, clause: int) -> bool:
        kind = piece.param
        if kind == "unique":
            return self.stages.add("unique", "unique", clause=clause)
        words = set(self.row.lemmas[piece.start : piece.end])
        first = kind in ("asc", "desc") and "first" in words and not self.texts
        if first and self.stages.order is None and (self.files.type or self.files.roots):
            # "newest first" of files says also by what
            key = "time" if words & _AGES else "size" if words & {"large", "small"} else ""
            if key:
                return self.stages.sort(clause, key=key, reverse=kind == "desc", rising=kind == "asc")
        if self.stages.order is None:
            if kind == "reverse" and self.texts:
                return self.stages.change("tac", clause)
            if kind == "nocase":
                return self.on_nocase(piece, clause)
        fields = {
            "num": "numeric", "reverse": "reverse", "desc": "reverse", "alphareverse": "reverse",
            "nocase": "nocase", "human": "human", "asc": "rising",
        }  # fmt: skip
        if kind in fields:
            return self.stages.sort(clause, **{fields[kind]: True})
        return self.stages.sort(clause)

    def on_super(self, piece: Piece, clause: int) -> bool:
        kind = piece.param.split()[0]
        lows = {token.low for token in self.row.sentence.tokens[piece.start : piece.end]}
        if not lows & _MOST and not any(low.endswith("est") for low in lows):
            return False  # "old logs" are not the oldest
        number = piece.values["NUM"].text if "NUM" in piece.values else ""
        lemmas = self.row.lemmas[piece.start : piece.end]
        for noun, letter in (("dir", "dir"), ("file", "file")):
            if noun in lemmas:
                self.on_noun(structs.replace(piece, meaning=f"noun {letter}"), clause)
        self.super_order = (kind.removesuffix("count"), number)
        return True

    def on_superlines(self, piece: Piece, clause: int) -> bool:
        self.form.add("superlines")
        self.files.type = self.files.type or "f"
        return True

    def on_form(self, piece: Piece, clause: int) -> bool:
        kind = piece.param
        if kind == "comma" and any(step.stage.op == "join" for step in self.stages.steps):
            return self.on_join(structs.replace(piece, values={}), clause)
        if kind == "bothtarget":
            self.shown.append("bothtarget")
            return True
        if kind in ("size", "mtime", "target", "atime", "owner", "group", "mode", "inode", "type", "lines"):
            self.shown.append(kind)
        self.form.add(kind)
        if "PATH" in piece.values:
            return self._place(piece.values["PATH"], clause, "")
        return True

    def on_backup(self, piece: Piece, clause: int) -> bool:
        """Keep the file as it is before it is edited, under the name with an ending more."""
        kept = piece.values["FILE"].text
        ending = kept.removeprefix(self.texts[-1].text) if self.texts else ""
        if not ending.startswith((".", "~", "_")) or ending == kept or "/" in ending:
            return False
        self.form.add("backup " + ending)
        return True

    def on_softwrap(self, piece: Piece, clause: int) -> bool:
        """Lines are broken between words only."""
        return self.stages.alter("wrap", op="softwrap")
