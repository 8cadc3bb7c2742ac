"""Read from pieces the steps on lines: which lines, which part of them, how they are changed, counted and ordered."""

from __future__ import annotations

from msgspec import Struct, structs

from agent.planner.offline.grammar.intent import Order, Stage
from agent.planner.offline.grammar.pieces import Piece

# Within one clause people say things in any order; they happen in this one.
RANKS = {
    "skip": 0, "match": 1, "where": 1, "range": 2, "sort": 3, "col": 4, "part": 4, "change": 5, "split": 5.5, "unique": 6,
    "resort": 7, "limit": 8, "join": 9, "count": 10,
}  # fmt: skip
_SIMPLE = {
    "upper": "change", "lower": "change", "swapcase": "change", "title": "change", "rev": "change", "number": "change",
    "delblank": "match", "plainlines": "match", "squeezelines": "change", "squeeze": "change", "trim": "change", "ltrim": "change",
    "rtrim": "change", "nospace": "change", "nonewline": "join", "nodigit": "change", "nopunct": "change",
    "novowel": "change", "nocomment": "match", "nocr": "change", "crlf": "change", "expand": "change",
    "unexpand": "change", "shuffle": "resort", "words": "split", "chars": "split", "tac": "resort",
    "hexdump": "join", "base64": "join", "unbase64": "join",
}  # fmt: skip


_SIGNS = {
    "equal": "==", "unequal": "!=", "larger": ">", "smaller": "<", "atleast": ">=", "atmost": "<=", "start": "start",
    "numbercol": ">",
}  # fmt: skip


class Step(Struct, kw_only=True):
    """A stage with the clause it belongs to and its rank there. `open_order` is an order whose adverbs may still come."""

    clause: int
    rank: float
    stage: Stage


class StagesDraft(Struct, kw_only=True):
    """Steps while they are read."""

    steps: list[Step] = []
    separator: str = ""
    letters: str = ""
    order: Order | None = None
    order_clause: int = 0
    pending: dict[str, bool] = {}
    frequency: str = ""
    count: str = ""
    limits: int = 0
    folded: bool = False
    context: tuple[str, str] | None = None

    def add(self, kind: str, op: str, *args: str, clause: int = 0) -> bool:
        """Append one step."""
        self.steps.append(Step(clause=clause, rank=RANKS[kind], stage=Stage(op=op, args=args)))
        return True

    def alter(self, sought: str, **fields: object) -> bool:
        """Change the first step of one kind; False where there is none."""
        step = next((step for step in self.steps if step.stage.op == sought), None)
        if step is not None:
            step.stage = structs.replace(step.stage, **fields)
        return step is not None

    # --- which lines ---

    def contain(self, param: str, texts: tuple[str, ...], clause: int) -> bool:
        """Lines with a text."""
        if param == "both":
            return all(self.add("match", "match", self.letters, "plain", text, clause=clause) for text in texts)
        if param == "but":
            self.add("match", "match", self.letters, "plain", texts[0], clause=clause)
            return self.add("match", "match", self.letters + "v", "plain", texts[1], clause=clause)
        return self.add("match", "match", self.letters, "regex" if param == "regex" else "plain", *texts, clause=clause)

    def lack(self, texts: tuple[str, ...], clause: int) -> bool:
        """Lines without a text."""
        return self.add("match", "match", self.letters + "v", "plain", *texts, clause=clause)

    def line(self, param: str, piece: Piece, clause: int) -> bool:
        """Lines of a shape."""
        kind, _, rest = param.partition(" ")
        value = next(iter(piece.values.values())).text if piece.values else ""
        if kind in ("start", "notstart", "end", "notend"):
            invert = "v" if kind.startswith("not") else ""
            before, after = ("^", "") if kind.endswith("start") else ("", "$")
            return self.add("match", "anchored", self.letters + invert, before, value, after, clause=clause)
        if kind in ("class", "noclass"):
            return self.add("match", "regex", "v" if kind == "noclass" else "", rest, clause=clause)
        if kind in ("endsep", "startsep"):
            marks = "".join(v.text for v in piece.values.values())
            if not marks or any(mark in "]^\\-" for mark in marks):
                return False
            pattern = f"[{marks}]" if len(marks) > 1 or marks in ".*$[" else marks
            return self.add("match", "regex", "", f"^{pattern}" if kind == "startsep" else f"{pattern}$", clause=clause)
        if kind == "exact":
            return self.add("match", "match", self.letters + "x", "plain", value, clause=clause)
        if kind == "blank":
            return self.add("match", "regex", "", "^$", clause=clause)
        if kind == "nonblank":
            return self.add("match", "regex", "v", "^$", clause=clause)
        op = {
            "longer": "longer", "shorter": "shorter", "length": "length_is", "words": "words_over",
            "nwords": "words_are",
        }  # fmt: skip
        return self.add("match", op[kind], value, clause=clause)

    def where(self, param: str, piece: Piece, clause: int) -> bool:
        """Lines by the value of a column."""
        values = piece.values
        column = (values.get("COL") or values["HEAD"]).text
        value = (values.get("NUM") or values.get("TEXT") or values["QUOTED"]).text
        sign = _SIGNS[param.split(maxsplit=1)[0]]
        return self.add("where", "where", "\0", column, sign, value, clause=clause)

    def limit(self, param: str, piece: Piece, clause: int) -> bool:
        """Some of the lines by their place."""
        kind, _, fixed = param.partition(" ")
        numbers = [value.text for value in piece.values.values()]
        if kind == "nth":
            self.sort(clause, key="whole", numeric=True, reverse=fixed == "large")
            return self.add("limit", "line", numbers[0], clause=clause)
        if kind in ("head", "tail"):
            self.limits += 1
            return self.add("limit", kind, fixed or numbers[0], clause=clause)
        if kind in ("skip", "drop", "from"):
            return self.add("skip", kind, fixed or numbers[0], clause=clause)
        if kind in ("odd", "even"):
            return self.add("range", "every", "2", "1" if kind == "odd" else "0", clause=clause)
        if kind == "every":
            return self.add("range", "every", numbers[0] if numbers else "2", "0", clause=clause)
        return self.add("range", {"range": "range", "line": "line", "lines": "lines"}[kind], *numbers, clause=clause)

    # --- which part of them ---

    def col(self, param: str, piece: Piece, clause: int) -> bool:
        """Columns; the separator is known only at the end."""
        columns = [value.text for value in piece.values.values()]
        op = {
            "": "cols", "list": "cols", "three": "cols", "range": "colrange", "from": "colfrom",
            "except": "colexcept", "swap": "swap",
        }  # fmt: skip
        if param == "reverse":
            return self.add("col", "colreverse", "\0", clause=clause)
        if param == "firsttwo":
            return self.add("col", "colrange", "\0", "1", columns[0], clause=clause)
        if param == "lasttwo":
            return False
        if param == "swap" and not columns:
            columns = ["1", "2"]
        if param in ("range", "from") and "NF" in columns:
            return False
        return self.add("col", op[param], "\0", *columns, clause=clause)

    def chars(self, param: str, piece: Piece, clause: int) -> bool:
        """Characters by their place in the line."""
        kind, _, fixed = param.partition(" ")
        numbers = [value.text for value in piece.values.values()] or [fixed]
        if kind == "tail":
            return self.add("part", "regex_o", f".{{{numbers[0]}}}$", clause=clause)
        if kind == "cuthead":
            return self.add("part", "chars", f"{int(numbers[0]) + 1}-", clause=clause)
        if kind == "cuttail":
            cut = ("cuttail",) if numbers[0] == "1" else ("cutchars_tail", *numbers)
            return self.add("part", *cut, clause=clause)
        spans = {"head": f"1-{numbers[0]}" if numbers[0] != "1" else "1", "one": numbers[0], "range": "-".join(numbers)}
        return self.add("part", "chars", spans[kind], clause=clause)

    # --- how they are changed ---

    def change(self, name: str, clause: int) -> bool:
        """A change without values."""
        return self.add(_SIMPLE[name], {"chars": "singlechars", "shuffle": "shuffle"}.get(name, name), clause=clause)

    # --- their order ---

    def sort(self, clause: int, **fields: object) -> bool:
        """An order, or more about the order that was said before."""
        if self.order is None or (clause != self.order_clause and "key" in fields and self.order.key != "name"):
            self.flush()
            self.order, self.order_clause = Order(key="whole"), clause
        known = {
            name: value
            for name, value in fields.items()
            if name != "key" or self.order.key in ("whole", "name", "human")
        }
        if fields.get("key") == "col" and self.order.key == "col":
            self.order = structs.replace(self.order, then=str(fields["column"]))
            return True
        self.order = structs.replace(self.order, **known)
        return True

    def flush(self) -> None:
        """The order that was read, as a step."""
        if self.order is not None:
            kind = "sort" if self.order.key == "col" else "resort"
            step = Step(clause=self.order_clause, rank=RANKS[kind], stage=Stage(op="sort", order=self.order))
            self.steps.append(step)
            self.order = None

    def _give_context(self) -> None:
        """Lines around a match are shown by grep itself: the option follows the other letters, after a space."""
        if self.context is None:
            return
        for step in self.steps:
            if step.stage.op in ("match", "anchored", "regex"):
                letter, number = self.context
                letters = f"{step.stage.args[0]} -{letter} {number}"
                step.stage = structs.replace(step.stage, args=(letters, *step.stage.args[1:]))
                return
        self.add("match", "nothing")  # around what?

    def finish(self, separator: str) -> tuple[Stage, ...]:
        """The steps in the order in which they happen, with the separator of columns filled in."""
        self.flush()
        self._give_context()
        if any(step.stage.op == "join" for step in self.steps):
            self.steps = [step for step in self.steps if step.stage.op != "nonewline"]
        ordered = [step.stage for step in sorted(self.steps, key=lambda step: (step.clause, step.rank))]
        filled: list[Stage] = []
        for one in _together(ordered):
            stage = one
            if stage.order is not None and stage.order.key == "col":
                stage = structs.replace(
                    stage, order=structs.replace(stage.order, column=f"{stage.order.column}:{separator}")
                )
            args = tuple(separator if arg == "\0" else arg for arg in stage.args)
            if stage.op in ("match", "anchored", "occurrences"):
                # "ignoring case" is said before or after what it is about
                args = (args[0] + "".join(letter for letter in self.letters if letter not in args[0]), *args[1:])
            filled.append(structs.replace(stage, args=args))
        return tuple(filled)


def _together(stages: list[Stage]) -> list[Stage]:
    """Columns that were named one after the other are shown beside each other; what was said twice is done once."""
    out: list[Stage] = []
    for stage in stages:
        if out and stage == out[-1] and stage.op not in ("head", "tail"):
            continue
        if out and stage.op == out[-1].op == "cols":
            out[-1] = structs.replace(stage, args=(*out[-1].args, *stage.args[1:]))
            continue
        out.append(stage)
    return out
