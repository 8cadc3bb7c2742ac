"""Turn words about a table into steps on its lines: columns by name, conditions on values, one result for each group."""

from __future__ import annotations

from msgspec import structs

from agent.planner.offline.grammar.intent import Order, Stage
from agent.planner.offline.grammar.pieces import Piece
from agent.planner.offline.grammar.tablewords import table_in
from agent.planner.offline.grammar.understanding.seen import LineReading

_GROUPING = frozenset({"per", "each", "by"})
# Steps whose result would be wrong or odd with the line of names among the others.
_NO_HEADER = frozenset({"agg", "unique", "dups", "once", "uniq_c", "uniq", "groupsum", "groupcount", "groupaverage"})
_COMPARED = frozenset({">", "<", ">=", "<=", "!="})


class TableReading(LineReading):
    """The part of an understanding that is about tables."""

    grouped: str = ""

    def on_colname(self, piece: Piece, clause: int) -> bool:
        """A column by name: what things are grouped by, else what is shown."""
        column = piece.values["HEAD"].text
        if self._before(piece) in _GROUPING and (
            self.counting >= 0 or self.counts or self._sums() or self.stages.frequency
        ):
            self.grouped = column
            return True
        if any(step.stage.op == "cols" and column in step.stage.args for step in self.stages.steps):
            return True
        if self.counting >= 0:
            # "count the departments", "number of different cities"
            self.counting = -1
            self.stages.add("count", "count", "l", clause=clause)
        return self.show_column(column, clause)

    def on_occurs(self, piece: Piece, clause: int) -> bool:
        """A word that the text has: lines with it are meant."""
        return self.stages.add("match", "match", self.stages.letters, "plain", piece.values["SEEN"].text, clause=clause)

    def show_column(self, column: str, clause: int) -> bool:
        """One more column that is shown."""
        for step in self.stages.steps:
            if step.stage.op == "cols" and step.clause == clause:
                step.stage = structs.replace(step.stage, args=(*step.stage.args, column))
                return True
        return self.stages.add("col", "cols", "\0", column, clause=clause)

    def on_groupby(self, piece: Piece, clause: int) -> bool:
        """Take up what things are put together by, or what lines are sorted by."""
        column = piece.values["HEAD"].text
        if self.stages.order is not None and self.stages.order.key == "whole":
            return self.stages.sort(clause, key="col", column=column)
        self.grouped = column
        return True

    def on_colmost(self, piece: Piece, clause: int) -> bool:
        """The lines with the largest or smallest values of a column."""
        column = piece.values["HEAD"].text
        number = piece.values["NUM"].text if "NUM" in piece.values else "1"
        large = piece.param == "large"
        self.stages.sort(clause, key="col", column=column, numeric=True, reverse=large)
        return self.stages.add("limit", "head", number, clause=clause)

    def on_maxof(self, piece: Piece, clause: int) -> bool:
        """The largest or smallest value of a column of numbers; of any other the last or first line in its order."""
        table = table_in(self.row.sentence)
        column = piece.values["HEAD"].text
        if table is not None and column in table.numeric:
            return self.stages.add("count", "agg", piece.param, "\0", column, clause=clause)
        if "top" in self._lows(piece):
            self.topped = "ranked"
            return self.show_column(column, clause)
        self.stages.add("col", "cols", "\0", column, clause=clause)
        self.stages.sort(clause, key="whole", reverse=piece.param == "max")
        return self.stages.add("limit", "head", "1", clause=clause)

    def on_cell(self, piece: Piece, clause: int) -> bool:
        """A value that a column must, or must not, have."""
        value = piece.values["CELL"]
        if "HEAD" in piece.values and piece.values["HEAD"].text != value.forms["column"]:
            self.on_colname(piece, clause)
        sign = "!=" if piece.param == "not" else "=="
        return self.stages.add("where", "where", "\0", value.forms["column"], sign, value.text, clause=clause)

    def on_sumof(self, piece: Piece, clause: int) -> bool:
        """The sum of a column of numbers."""
        table = table_in(self.row.sentence)
        column = piece.values["HEAD"].text
        if table is None or column not in table.numeric:
            return False
        return self.stages.add("count", "agg", "sum", "\0", column, clause=clause)

    def on_joinwith(self, piece: Piece, clause: int) -> bool:
        """Take up what stands between lines that are joined."""
        return self.stages.alter("join", args=(next(iter(piece.values.values())).text,))

    def on_setting(self, piece: Piece, clause: int) -> bool:
        """The value of a key."""
        self.stages.add("match", "anchored", "", "^", piece.values["KEY"].text + "=", "", clause=clause)
        return self.stages.add("part", "after", "=", clause=clause)

    def _sums(self) -> bool:
        return any(step.stage.op == "agg" for step in self.stages.steps)

    def _before(self, piece: Piece) -> str:
        at = piece.start - 1
        while at >= 0 and self.row.lemmas[at] in ("the", "unique", "different"):
            at -= 1
        return self.row.lemmas[at] if at >= 0 else ""


def fit_to_table(draft: TableReading, stages: list[Stage], separator: str) -> list[Stage]:
    """The steps with what is known of the table: groups, numbers as numbers, the line of names kept out of results."""
    table = table_in(draft.row.sentence)
    if draft.stages.folded and any(stage.op in ("uniq_c", "uniq_d", "uniq_u") for stage in stages):
        stages = [Stage(op="wordsplain") if stage.op == "words" else stage for stage in stages]
        first = next(at for at, stage in enumerate(stages) if stage.order is not None)
        stages.insert(first, Stage(op="lower"))
    if "i" in draft.stages.letters and not any(
        stage.op in ("match", "anchored", "regex", "occurrences") for stage in stages
    ):
        # "ignoring case" is about the order where nothing is looked for
        stages = [
            structs.replace(stage, order=structs.replace(stage.order, nocase=True))
            if stage.order is not None
            else stage
            for stage in stages
        ]
    if draft.grouped:
        stages = _grouped(stages, draft.grouped, separator, table.numeric if table is not None else frozenset())
    if table is None:
        return stages
    lemmas = set(draft.row.lemmas)
    out = []
    for stage in stages:
        order = stage.order
        if order is not None and not lemmas & {"alpha", "dictionary"}:
            column = order.column.partition(":")[0]
            numbers = (order.key == "col" and column in table.numeric) or (order.key == "whole" and table.numbers_only)
            if numbers and not order.human:
                out.append(structs.replace(stage, order=structs.replace(order, numeric=True)))
                continue
        out.append(stage)
    if not table.header or any(stage.op in ("skip", "line", "range", "head") for stage in out[:1]):
        return out
    limited = any(s.order is not None and s.order.key == "col" for s in out) and any(
        s.op in ("head", "tail") for s in out
    )
    compared = any(stage.op == "where" and stage.args[2] in _COMPARED for stage in out)
    unique = any(stage.order is not None and stage.order.then == "unique" for stage in out)
    counted = any(s.op == "count" for s in out) and "line" not in lemmas
    if counted or limited or compared or unique or any(stage.op in _NO_HEADER for stage in out):
        return [Stage(op="skip", args=("1",)), *out]
    return out


def _grouped(stages: list[Stage], column: str, separator: str, numeric: frozenset[str]) -> list[Stage]:
    """One result for each value of a column: how many lines, or the sum or average of another column."""
    sums = next((stage for stage in stages if stage.op == "agg" and stage.args[0] in ("sum", "average")), None)
    before = [stage for stage in stages if stage.op in ("match", "anchored", "regex", "where", "skip")]
    limits = [stage for stage in stages if stage.op in ("head", "tail")]
    order = next((stage.order for stage in stages if stage.order is not None), None)
    shown = [stage for stage in stages if stage.op == "cols"]
    summed = shown[0].args[1] if len(shown) == 1 and len(shown[0].args) == 2 else column
    if sums is None and summed in numeric and summed != column:
        return [*before, Stage(op="groupsum", args=(separator, column, summed))]  # "units per product"
    if sums is not None:
        if len(sums.args) < 3:
            return [Stage(op="nothing")]
        return [*before, Stage(op="group" + sums.args[0], args=(separator, column, sums.args[-1]))]
    counted = [
        Stage(op="cols", args=(separator, column)),
        Stage(op="sort", order=Order(key="whole")),
        Stage(op="uniq_c"),
    ]
    if limits or order is not None:
        reverse = order is None or order.reverse or order.key == "count"
        counted.append(Stage(op="sort", order=Order(key="whole", numeric=True, reverse=reverse)))
    return [*before, *counted, *limits]
