"""Compose a command from a sentence by the whole grammar, with its score and its reading."""

from __future__ import annotations

from msgspec import Struct

from agent.planner.offline.grammar import rules_files, rules_lines, rules_output, rules_text
from agent.planner.offline.grammar.checks import coherent
from agent.planner.offline.grammar.explain import explain
from agent.planner.offline.grammar.intent import Intent
from agent.planner.offline.grammar.pieces import Piece, RuleBook
from agent.planner.offline.grammar.reader import PieceReader
from agent.planner.offline.grammar.render import NoCommand, render
from agent.planner.offline.grammar.understand import Understanding
from agent.planner.offline.sentences import Sentence

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
        or (files.roots and (intent.stages or intent.action or files.narrow))
        or (intent.source == "content" and "recursive" in intent.form and intent.stages)
        or (intent.source == "content" and _asks_where(intent))
    )
