"""Find the intent of a goal from its pieces; what no operation takes up is counted as not understood."""

from __future__ import annotations

from msgspec import Struct, structs

from agent.planner.offline.grammar.assemble import assemble
from agent.planner.offline.grammar.intent import Intent
from agent.planner.offline.grammar.pieces import Piece
from agent.planner.offline.grammar.understanding.deeds import Deeds
from agent.planner.offline.grammar.understanding.done import verbs_done
from agent.planner.offline.grammar.understanding.forms import Forms

# Verbs that rules may begin with.
_VERB_WORDS = frozenset(
    {"delete", "replace", "convert", "change", "add", "append", "prepend", "find", "show", "count", "sort"}
)
# Rules in which the file may stand between the words: "prefix every line of x.txt with ..."
_WITH_PLACE = frozenset({"stage", "add", "joinlines", "join", "everyfirst", "occurrence"})
# What adds one step, with its kind, its name, and what it holds ("<NUM>": what the rule caught; "<>": all that it did).
_STEPS = {
    "dups": ("unique", "dups"),
    "once": ("unique", "once"),
    "shortest": ("count", "shortest"),
    "joinlines": ("join", "join", " "),
    "wrap": ("change", "wrap", "<NUM>"),
    "uniquekeep": ("unique", "uniq_keep"),
    "before": ("part", "before", "<SEP>"),
    "after": ("part", "after", "<SEP>"),
    "numbers": ("part", "numbers"),
    "nl": ("change", "nl"),
    "double": ("change", "double"),
    "headed": ("limit", "head", "1"),
    "told": ("skip", "skip", "1"),
    "aligned": ("join", "align", "\x00"),
    "onward": ("range", "between", "<>", ""),
    "until": ("range", "between", "", "<>"),
}
_ACTS = frozenset({"touch", "empty", "archive"})
_OF_LINES = frozenset({"line", "where", "chars"})


class Understood(Struct, frozen=True, kw_only=True):
    """An intent with the pieces that had no place in it, and how many were weak guesses."""

    intent: Intent
    lost: tuple[Piece, ...] = ()
    done: bool = True


class Understanding(Forms, Deeds):
    """One goal on its way from pieces to an intent."""

    def run(self) -> Understood:
        """Apply every piece, then put the intent together."""
        for read, clause in zip(self.row.pieces, self.row.clauses, strict=True):
            piece = read
            first = self.row.lemmas[piece.start]
            if piece.op not in ("verb", "seek", "free") and first in _VERB_WORDS:
                self.verbs.append((first, clause))
            if piece.op in ("free", "form") and "file" in self.row.lemmas[piece.start : piece.end]:
                self.on_noun(structs.replace(piece, meaning="noun file"), clause)
            if piece.op in ("limit", "stage") and "line" in self.row.lemmas[piece.start : piece.end]:
                self.nouns.append(("line", clause))
            if piece.op in _WITH_PLACE and "PATH" in piece.values:
                self._place(piece.values["PATH"], clause, "file")
                values = {hole: value for hole, value in piece.values.items() if hole != "PATH"}
                piece = structs.replace(piece, values=values)
            if not self._take_up(piece, clause):
                self.lost.append(piece)
        if self.pending is not None or self.action.startswith("chown open") or self.action == "chmod open":
            return Understood(intent=assemble(self), lost=tuple(self.lost), done=False)
        intent = assemble(self)
        return Understood(
            intent=intent, lost=tuple(self.lost), done=verbs_done(intent, {verb for verb, _ in self.verbs}, self)
        )

    def _take_up(self, piece: Piece, clause: int) -> bool:
        if piece.op in _ACTS:
            return self._act(piece.op, piece)
        if piece.op in _STEPS:
            caught = {f"<{hole}>": value.text for hole, value in piece.values.items()}
            caught["<>"] = next(iter(caught.values()), "")
            return self.stages.add(*(caught.get(part, part) for part in _STEPS[piece.op]), clause=clause)
        if piece.op in _OF_LINES:
            return bool(getattr(self.stages, piece.op)(piece.param, piece, clause))
        handler = getattr(self, f"on_{piece.op}", None)
        return handler is not None and handler(piece, clause)
