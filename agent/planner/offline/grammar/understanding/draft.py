"""A goal on its way from pieces to an intent: what was read so far, and what several kinds of pieces ask of it."""

from __future__ import annotations

from agent.planner.offline.grammar.filesread import FilesDraft
from agent.planner.offline.grammar.intent import Sink
from agent.planner.offline.grammar.pieces import Piece
from agent.planner.offline.grammar.reader import Row, comma_before, is_file_path
from agent.planner.offline.grammar.stagesread import StagesDraft
from agent.planner.offline.grammar.tablewords import as_in_the_file
from agent.planner.offline.values import Value

LINE_NOUNS = frozenset({"line", "word", "char", "content", "byte"})
FILE_NOUNS = frozenset({"file", "dir", "subdir", "both", "link", "broken", "socket", "pipe", "script"})
NEEDS_DESTINATION = frozenset({"copy", "move"})


class Draft:
    """Collect what is known so far. Pieces are taken up by methods `on_...`, which are False for what has no place here."""

    def __init__(self, row: Row) -> None:
        self.row = row
        self.scene = row.sentence.scene
        self.files = FilesDraft()
        self.stages = StagesDraft()
        self.nouns: list[tuple[str, int]] = []
        self.verbs: list[tuple[str, int]] = []
        self.texts: list[Value] = []
        self.literals: list[Value] = []
        self.form: set[str] = set()
        self.shown: list[str] = []
        self.sink = Sink()
        self.dest: Value | None = None
        self.action = ""
        self.args: tuple[Value, ...] = ()
        self.counts: list[tuple[str, int]] = []
        self.counting = -1
        self.deleting: list[int] = []
        self.super_order: tuple[str, str] | None = None
        self.seeks = False
        self.lost: list[Piece] = []
        self.has_kinds = False
        self.group = ""
        self.topped = ""  # "ranked" where "top" cannot mean the first lines
        self.pending: tuple[Value, int] | None = None

    def _joined(self, piece: Piece) -> bool:
        """Tell whether "and" stands right before a place."""
        before = piece.start - 1
        while before > 0 and self.row.lemmas[before] in ("the", "in", "under", "of"):
            before -= 1
        return before >= 0 and (
            self.row.lemmas[before] in ("and", "or") or comma_before(self.row.sentence, piece.start)
        )

    def _place(self, value: Value, clause: int, said: str) -> bool:
        last = self.verbs[-1][0] if self.verbs else ""
        if last in ("save", "append") and self.sink.kind == "show" and self._known_source():
            return self._to_file("append" if last == "append" else "file", value)
        if last in NEEDS_DESTINATION and self.dest is None and self._known_source() and not said:
            self.dest = value
            return True
        if is_file_path(value, self.scene) or (said == "file" and not self.scene.exists(value.text + "/.")):
            if all(text.text != value.text for text in self.texts):
                self.texts.append(value)
            return True
        return self.files.add_root(value)

    def _known_source(self) -> bool:
        return bool(self.texts or self.files.roots or self.files.names or self.files.type)

    def _to_file(self, kind: str, value: Value) -> bool:
        if self.sink.path is not None:
            return False
        self.sink = Sink(kind=kind, path=value)
        return True

    def _about_lines(self, clause: int) -> bool:
        for kind, _ in reversed(self.nouns):
            if kind in LINE_NOUNS:
                return True
            if kind in FILE_NOUNS:
                return bool(self.texts) and not self.has_kinds
        return bool(self.texts) or not self.files.type

    def _as_written(self, piece: Piece) -> tuple[str, ...]:
        """The texts of a piece; words without quotes as the named file has them, where it has them in one way only."""
        sentence = self.row.sentence
        plain = {token.raw for token in sentence.tokens[piece.start : piece.end] if not token.quoted}
        nocase = "i" in self.stages.letters
        return tuple(
            as_in_the_file(sentence, value.text) if value.text in plain and not nocase else value.text
            for name, value in piece.values.items()
            if name not in ("PATH", "FILE")
        )
