"""Compose a command from a sentence by the whole grammar, with its score and its reading."""

from __future__ import annotations

from msgspec import Struct, structs

from agent.planner.offline.grammar import rules_files, rules_lines, rules_output, rules_text
from agent.planner.offline.grammar.assemble import assemble
from agent.planner.offline.grammar.intent import Intent
from agent.planner.offline.grammar.pieces import Piece, RuleBook
from agent.planner.offline.grammar.reader import PieceReader
from agent.planner.offline.grammar.render import NoCommand, render
from agent.planner.offline.grammar.understanding.deeds import Deeds
from agent.planner.offline.grammar.understanding.done import verbs_done
from agent.planner.offline.grammar.understanding.forms import Forms
from agent.planner.offline.sentences import Sentence

# Verbs that rules may begin with.
_VERB_WORDS = frozenset(
    {"delete", "replace", "convert", "change", "add", "append", "prepend", "find", "show", "count", "sort"}
)
# Rules in which the file may stand between the words: "prefix every line of x.txt with ..."
_WITH_PLACE = frozenset({"stage", "add", "joinlines", "join", "occurrence"})
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
_WISHES = frozenset({"inplace", "stdout", "nooverwrite", "keeptimes", "preserve"})
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
        if piece.op in _WISHES:
            self.form.add(piece.op)
            return True
        if piece.op in _STEPS:
            caught = {f"<{hole}>": value.text for hole, value in piece.values.items()}
            caught["<>"] = next(iter(caught.values()), "")
            return self.stages.add(*(caught.get(part, part) for part in _STEPS[piece.op]), clause=clause)
        if piece.op in _OF_LINES:
            return bool(getattr(self.stages, piece.op)(piece.param, piece, clause))
        handler = getattr(self, f"on_{piece.op}", None)
        return handler is not None and handler(piece, clause)


_LINE_ORDERS = frozenset({"whole", "name", "col", "length", "human", "version", "month", "random", "count"})
_FILE_ORDERS = frozenset({"whole", "name", "size", "time", "atime", "human", "version", "random"})
# Wishes that change nothing where they do not apply.
_HARMLESS = frozenset({
    "find", "recursive", "show content", "each", "all", "stdout", "onlynumber", "inplace",
    "super", "quiet", "withname", "octal", "hiddentoo", "oneperline",
})  # fmt: skip
_FORMS = {
    "files": frozenset({
        "basename", "noext", "extonly", "absolute", "relative", "size", "humansize", "mtime", "atime", "owner", "group", "mode",
        "inode", "details", "lines", "null", "target", "superlines", "noname", "type",
    }),
    "content": frozenset({"noname", "linenumber", "basename"}),
    "text": frozenset({"linenumber", "noname", "humansize", "size", "mtime", "atime",
        "owner", "group", "mode", "inode", "type", "details"}),
    "literal": frozenset(),
}  # fmt: skip
_ACTION_FORMS = frozenset(
    {"preserve", "nooverwrite", "humansize", "size", "average", "keeptimes", "newfolder", "bytes"}
)


def coherent(intent: Intent) -> bool:
    """Tell whether no part of an intent would be lost in its command."""
    files = intent.files
    orders = [stage.order for stage in intent.stages if stage.order is not None]
    if len(orders) > 2 or sum(stage.op == "count" for stage in intent.stages) > 1:
        return False
    if intent.source in ("text", "literal") and (
        files.narrow or files.excluded or files.max_depth or files.min_depth or files.type in ("d", "l")
    ):
        return False
    if intent.source == "literal" and files.roots:
        return False
    known = _LINE_ORDERS if intent.source != "files" else _FILE_ORDERS
    if any(order.key not in known for order in orders) and intent.action != "du":
        return False
    allowed = _HARMLESS | (_ACTION_FORMS if intent.action else _FORMS[intent.source])
    if intent.source == "files" and any(stage.op in ("uniq_d", "uniq_u") for stage in intent.stages):
        return "basename" in intent.form  # duplicate files are found by what is in them
    if intent.group and (intent.source != "files" or (intent.action and intent.action != "du")):
        return False
    counted = [at for at, stage in enumerate(intent.stages) if stage.op == "count"]
    if counted and any(stage.op not in ("agg",) for stage in intent.stages[counted[0] + 1 :]):
        return False
    kept = {wish for wish in intent.form if wish.startswith("backup ")}
    return (not kept or intent.sink.kind == "inplace") and intent.form - kept <= allowed


_TYPES = {
    "f": "files", "d": "folders", "l": "links", "any": "files and folders", "broken": "broken links",
    "": "files and folders", "s": "sockets", "p": "pipes",
}  # fmt: skip


def explain(intent: Intent) -> str:
    """The parts of an intent, joined by middle dots."""
    files = intent.files
    parts = [intent.action or ("find" if intent.source == "files" else "text")]
    if intent.source in ("files", "content"):
        parts.append(_TYPES.get(files.type, files.type))
        parts += [" or ".join(files.names)] if files.names else []
        parts += [test.replace("{name}", "-name") for test in files.tests]
        for condition in files.content:
            parts.append(("without " if condition.negated else "containing ") + " or ".join(condition.texts))
        parts.append("under " + " and ".join(root.text for root in files.roots) if files.roots else "here")
        parts += [f"not in {folder}" for folder in files.excluded]
    parts += [text.text for text in intent.texts]
    for stage in intent.stages:
        if stage.order is not None:
            parts.append("sorted by " + stage.order.key + (" descending" if stage.order.reverse else ""))
        else:
            parts.append(" ".join([stage.op, *(arg for arg in stage.args if arg)]))
    if intent.sink.path is not None:
        parts.append("into " + intent.sink.path.text)
    return " · ".join(parts)


UNEXPLAINED = 0.4
WEAK = 0.05


class Composed(Struct, frozen=True, kw_only=True):
    """A goal as the grammar understood it. `score` is 0..1; `unused` are words that nothing took up."""

    intent: Intent
    command: str
    score: float
    reading: str
    unused: tuple[str, ...] = ()
    pieces: tuple[Piece, ...] = ()


def rule_book() -> RuleBook:
    """All rules; their patterns are compiled as they are needed."""
    return RuleBook(
        [
            ("line", _beginning(rules_lines.LINES, ("either", "line"))),
            ("", _others(rules_lines.LINES, ("either", "line"))),
            ("", rules_files.NOUNS),
            ("file", rules_files.NAMES),
            ("", rules_files.TESTS),
            ("", rules_files.SCOPE),
            ("", _others(rules_text.MATCHING, ("line",))),
            ("line", _beginning(rules_text.MATCHING, ("line",))),
            ("", rules_text.PARTS),
            ("", rules_text.CHANGES),
            ("", rules_text.AGGREGATES),
            ("", rules_output.ORDER),
            ("", rules_output.FORM),
            ("", rules_output.ACTIONS),
            *rules_text.GATED.items(),
        ]
    )


def _beginning(table: dict[str, str], words: tuple[str, ...]) -> dict[str, str]:
    return {meaning: patterns for meaning, patterns in table.items() if meaning.startswith(words)}


def _others(table: dict[str, str], words: tuple[str, ...]) -> dict[str, str]:
    return {meaning: patterns for meaning, patterns in table.items() if not meaning.startswith(words)}


class Grammar:
    """Composes commands; one instance serves all goals."""

    def __init__(self) -> None:
        self._reader = PieceReader(rule_book())

    def compose(self, sentence: Sentence) -> Composed | None:
        """The command for a sentence; None where the pieces make none."""
        if not sentence.tokens or len(sentence.tokens) > 80:
            return None
        row = self._reader.read(sentence)
        understanding = Understanding(row)
        understood = understanding.run()
        if not _has_object(understood.intent) or not coherent(understood.intent) or not understood.done:
            return None
        try:
            command = render(understood.intent)
        except (NoCommand, KeyError):
            return None
        if understanding.literals and understood.intent.source != "literal":
            return None  # a quoted text that does nothing was not understood
        lost = [sentence.text[sentence.tokens[p.start].start : sentence.tokens[p.end - 1].end] for p in understood.lost]
        unused = tuple(list(dict.fromkeys(sentence.typed(token) for token in row.strange)) + lost)
        score = max(0.0, 1.0 - UNEXPLAINED * len(unused) - WEAK * row.weak)
        return Composed(
            intent=understood.intent,
            command=command,
            score=score,
            reading=explain(understood.intent),
            unused=unused,
            pieces=tuple(row.pieces),
        )


def _asks_where(intent: Intent) -> bool:
    """Tell whether lines with a text are asked for by their numbers, wherever they are."""
    numbered = "linenumber" in intent.form or any(stage.op == "number" for stage in intent.stages)
    return numbered and bool(intent.stages) and intent.stages[0].op in ("match", "anchored", "regex")


def _has_object(intent: Intent) -> bool:
    """Tell whether the goal says on what to work at all."""
    files = intent.files
    if intent.source == "literal":
        return bool(intent.stages)
    return bool(
        intent.texts
        or files.type
        or files.names
        or (files.roots and (intent.stages or intent.action or files.narrow or "size" in intent.form))
        or (intent.source == "content" and "recursive" in intent.form and intent.stages)
        or (intent.source == "content" and _asks_where(intent))
    )
