"""Pieces that count, sum up and put together what is the same."""

from __future__ import annotations

from agent.planner.offline.grammar.pieces import Piece
from agent.planner.offline.grammar.tablewords import table_in
from agent.planner.offline.grammar.understanding.draft import LINE_NOUNS
from agent.planner.offline.grammar.understanding.tables import TableReading


class Counts(TableReading):
    """Take up how many, how often, how much."""

    def on_group(self, piece: Piece, clause: int) -> bool:
        self.group = piece.param
        return True

    def on_count(self, piece: Piece, clause: int) -> bool:
        self.verbs.append(("count", clause))
        return self.stages.add("count", "occurrences", self.stages.letters, *self._as_written(piece), clause=clause)

    def on_frequency(self, piece: Piece, clause: int) -> bool:
        self.verbs.append(("count", clause))
        self.stages.frequency = piece.param
        if "HEAD" in piece.values:
            self.show_column(piece.values["HEAD"].text, clause)
        self.counting = -1
        if "word" in self.row.lemmas[piece.start : piece.end]:
            self.nouns.append(("word", clause))
        if "NUM" in piece.values:
            self.stages.add("limit", "head", piece.values["NUM"].text, clause=clause)
        elif piece.param == "common" and self._asks_for_one(piece):
            self.stages.add("limit", "head", "1", clause=clause)
        return True

    def _asks_for_one(self, piece: Piece) -> bool:
        """Tell whether "the most common line" is meant rather than "the most common lines"."""
        last = self.row.sentence.tokens[piece.end - 1]
        superlative = {"most", "commonest"} & {t.low for t in self.row.sentence.tokens[piece.start : piece.end]}
        return bool(superlative) and last.low in ("line", "word", "value", "entry", "name", "number", "item")

    def on_uniquecount(self, piece: Piece, clause: int) -> bool:
        self.verbs.append(("count", clause))
        self.counting = clause
        return self.stages.add("unique", "unique", clause=clause)

    def on_unique(self, piece: Piece, clause: int) -> bool:
        return self.stages.add("unique", "unique", clause=clause)

    def on_agg(self, piece: Piece, clause: int) -> bool:
        if piece.param == "median":
            return False
        if piece.param == "range":
            self.stages.sort(clause, key="whole", numeric=True)
            return self.stages.add("count", "ends", clause=clause)
        if (self.nouns and self.nouns[-1][0] == "size") or "size" in self.row.lemmas[piece.end : piece.end + 2]:
            self.action = "du"
            self.form.add("average" if piece.param == "average" else "all")
            return True
        if self.files.type and not self.texts and not any(kind in LINE_NOUNS for kind, _ in self.nouns):
            self.form.add("all")
        table = table_in(self.row.sentence)
        columns = ["1"] if table is None or not table.separator else list(table.numeric)
        column = columns[0] if len(columns) == 1 else ""
        return self.stages.add("count", "agg", piece.param, "\0", column, clause=clause)

    def on_longest(self, piece: Piece, clause: int) -> bool:
        if piece.param == "length":
            return self.stages.add("count", "longest_length", clause=clause)
        if piece.param == "word":
            self.stages.add("split", "words", clause=clause)
        return self.stages.add("count", "longest", clause=clause)

    def on_length(self, piece: Piece, clause: int) -> bool:
        self.counting = -1
        return self.stages.add("change", "length", clause=clause)

    def on_ncols(self, piece: Piece, clause: int) -> bool:
        self.counting = -1
        return self.stages.add("count", "ncols", "\0", clause=clause)
