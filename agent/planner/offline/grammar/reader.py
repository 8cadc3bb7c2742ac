"""Read a goal as a row of pieces: at each word the rule that reads most, in the sense that the noun before suggests."""

from __future__ import annotations

import re

from msgspec import Struct, structs

from agent.lexicon.words import Token
from agent.planner.offline.filters import read_kinds
from agent.planner.offline.grammar.filesread import is_archive
from agent.planner.offline.grammar.holes import read_hole
from agent.planner.offline.grammar.lemmas import LEMMAS, lemma_of
from agent.planner.offline.grammar.pieces import SKIPPED, Piece, RuleBook
from agent.planner.offline.grammar.tablewords import ROW_NOUNS, table_in
from agent.planner.offline.paths import FILE_EXTENSION, looks_like_path
from agent.planner.offline.sentences import GoalContext, Sentence
from agent.planner.offline.values import Value

_ABOUT_FILES = frozenset({"file", "dir", "subdir", "both", "link", "broken", "script"})
_ABOUT_LINES = frozenset({"line", "word", "char", "content", "entry", "number"})
# Pieces that say less than the file does.
_GIVES_WAY = frozenset({"noun", "free", "verb", "form", "super", "kinds"})
_TOLD = frozenset({"listed", "shown", "reported", "displayed"})
_ALONE = {"PATH": "path", "GLOB": "glob", "QUOTED": "literal", "SIZE": "size", "NUM": "number"}
_CONNECTIVES = frozenset({"and", "then", "afterwards", "finally", "next", "also"})


class Row(Struct, frozen=True, kw_only=True):
    """The pieces of a goal in order, the clause (0, 1, ...) that each belongs to, and the words that nothing read."""

    sentence: Sentence
    lemmas: list[str]
    pieces: list[Piece]
    clauses: list[int]
    strange: list[Token]
    weak: int = 0


def is_file_path(value: Value, scene: GoalContext) -> bool:
    """Tell whether a path is that of a file rather than a folder, by what is there, else by its looks."""
    text = value.text
    if value.kind == "pattern":
        return True
    if text in (".", "..", "~", "/") or text.endswith("/"):
        return False
    if scene.exists(text + "/."):
        return False
    return scene.exists(text) or FILE_EXTENSION.match(text.rsplit("/", 1)[-1]) is not None


class PieceReader:
    """Reads rows with one book of rules."""

    def __init__(self, book: RuleBook) -> None:
        self._book = book

    def read(self, sentence: Sentence) -> Row:
        """Every piece of a goal, left to right."""
        tokens, known = sentence.tokens, self._book.words
        lemmas = ["\0" if t.quoted or t.is_path or _is_acronym(t) else lemma_of(t.low, known) for t in tokens]
        row = Row(sentence=sentence, lemmas=lemmas, pieces=[], clauses=[], strange=[])
        about = self._default_subject(sentence, lemmas)
        at = clause = weak = 0
        opened = False
        gates: frozenset[str] = frozenset()
        while at < len(tokens):
            piece = self._piece(sentence, lemmas, at, about, gates)
            if piece is not None and piece.op == "seek" and lemmas[piece.end - 1] in ("in", "inside", "within", "from"):
                piece = structs.replace(piece, end=piece.end - 1)  # the preposition begins the place
            if piece is not None and piece.op == "free" and any(_is_shouted(token) for token in tokens[at : piece.end]):
                piece = None  # PATH is no path
            piece = piece or _code_after_lines(sentence, lemmas, at) or _seen_in_the_text(sentence, at)
            if piece is None:
                token = tokens[at]
                if _is_what_a_file_holds(sentence, token) or _describes_lines(sentence, row.pieces, at):
                    row.pieces.append(Piece(meaning="noun line", values={}, start=at, end=at + 1))
                    row.clauses.append(clause)
                    at += 1
                    continue
                opened = opened or token.low in _CONNECTIVES or comma_before(sentence, at)
                if _is_unread(token):
                    weak += token.weak
                    row.strange.extend(() if token.weak else (token,))
                at += 1
                continue
            opened = opened or comma_before(sentence, at)
            if opened and piece.op in ("verb", "to", "chmod", "replace", "stage") and row.pieces:
                clause += 1
            opened = opened and piece.op == "free"
            row.pieces.append(piece)
            row.clauses.append(clause)
            gates = _gates_after(piece, gates)
            if piece.op in ("noun", "kinds", "form", "free"):
                about = self._subject(piece, about, lemmas)
            at = piece.end
        return Row(
            sentence=sentence, lemmas=lemmas, pieces=row.pieces, clauses=row.clauses, strange=row.strange, weak=weak
        )

    def _piece(self, sentence: Sentence, lemmas: list[str], at: int, about: str, gates: frozenset[str]) -> Piece | None:
        token = sentence.tokens[at]
        if at and token.low in _TOLD and not token.quoted:
            return Piece(meaning="free", values={}, start=at, end=at + 1)  # "the names listed in x" orders nothing
        best = self._book.longest(sentence, lemmas, at, about, gates)
        return (
            _as_the_table_says(sentence, at, best)
            or _before_the_place(sentence, at, best)
            or _kinds_left_out(sentence, lemmas, at, best)
            or _kinds_named(sentence, at, best)
            or best
            or _value_alone(sentence, at)
        )

    @staticmethod
    def _subject(piece: Piece, before: str, lemmas: list[str]) -> str:
        if piece.op in ("form", "free"):
            return "file" if _ABOUT_FILES & set(lemmas[piece.start : piece.end]) else before
        if piece.op == "kinds" or piece.param in _ABOUT_FILES:
            return "file"
        return "line" if piece.param in _ABOUT_LINES else before

    @staticmethod
    def _default_subject(sentence: Sentence, lemmas: list[str]) -> str:
        scene = sentence.scene
        files = any(lemma in _ABOUT_FILES or lemma == "link" for lemma in lemmas)
        for token in sentence.tokens:
            if (
                looks_like_path(token, scene)
                and not is_archive(token.raw)
                and is_file_path(Value(text=token.raw, kind="path"), scene)
            ):
                return "line"
        return "file" if files else ""


def _is_acronym(token: Token) -> bool:
    """Tell whether a word in capitals, "GETs", only looks like the word of ours that it would be in small letters."""
    return re.fullmatch(r"[A-Z]{3,}s", token.raw) is not None and token.low[:-1] in LEMMAS


def _is_shouted(token: Token) -> bool:
    return not token.quoted and len(token.raw) > 2 and token.raw.isalpha() and token.raw.isupper()


def _told_by_table(sentence: Sentence, at: int) -> Piece | None:
    """A word that the file of the goal explains: a column, a value in one, a key, or what its lines are."""
    if table_in(sentence) is None:
        return None
    for hole, meaning in (("HEAD", "colname"), ("CELL", "cell"), ("KEY", "setting")):
        found = read_hole(hole, sentence, at)
        if found is not None:
            return Piece(meaning=meaning, values={hole: found[1]}, start=at, end=at + found[0])
    return None


def _code_after_lines(sentence: Sentence, lemmas: list[str], at: int) -> Piece | None:
    """ "lines of Python": a language stands for its files after what files hold."""
    token = sentence.tokens[at]
    extensions = sentence.scene.lexicon.kinds.get(token.low)
    before = [lemma for lemma in lemmas[:at] if lemma not in ("of", "the", "in", "all")]
    if not extensions or token.quoted or not before or before[-1] not in ("line", "function", "comment"):
        return None
    values = {str(number): Value(text="*." + extension) for number, extension in enumerate(extensions)}
    end = at + 1 + (at + 1 < len(lemmas) and lemmas[at + 1] in ("code", "source", "sources"))
    return Piece(meaning="kinds", values=values, start=at, end=end)


def _describes_lines(sentence: Sentence, pieces: list[Piece], at: int) -> bool:
    """The plural in "failed logins in auth.log", once something of them was seen in the file."""
    tokens = sentence.tokens
    return (
        bool(pieces)
        and pieces[-1].op == "occurs"
        and pieces[-1].end == at
        and tokens[at].low.endswith("s")
        and at + 1 < len(tokens)
        and tokens[at + 1].low in ("in", "of", "from")
    )


def _seen_in_the_text(sentence: Sentence, at: int) -> Piece | None:
    """A word without any other meaning that is in the text which the goal names: "failed logins in auth.log"."""
    table = table_in(sentence)
    if table is None or table.header:
        return None
    found = read_hole("SEEN", sentence, at)
    return (
        Piece(meaning="occurs", values={"SEEN": found[1]}, start=at, end=at + found[0]) if found is not None else None
    )


def _is_what_a_file_holds(sentence: Sentence, token: Token) -> bool:
    """Tell whether an unknown word is what a file in the same goal is named after: "employees in employees.csv" are its lines."""
    if token.quoted or token.is_path or not token.low.isalpha():
        return False
    if token.low in ROW_NOUNS and table_in(sentence) is not None:
        return True
    stem = token.low.rstrip("s")
    for other in sentence.tokens:
        name = other.raw.rsplit("/", 1)[-1].lower()
        if len(stem) > 2 and name.startswith(stem) and name[len(stem) :].removeprefix("s").startswith("."):
            return True
    return False


def _is_unread(token: Token) -> bool:
    """Tell whether a word that no rule takes should mean something."""
    return _is_shouted(token) or (token.low not in SKIPPED and not token.filler and token.low not in _CONNECTIVES)


def _gates_after(piece: Piece, gates: frozenset[str]) -> frozenset[str]:
    """The rules that wait for what a piece opened, and no more for what it closed."""
    if piece.op in ("joinlines", "join"):
        return gates | {"joining"}
    if piece.op in ("ropen", "ropensep"):
        return gates | {"replacing"}
    if piece.op == "chown" and piece.param.startswith("open"):
        return gates | {"chowning"}
    return gates - {"replacing"} if piece.op in ("rclose", "rclosesep") else gates


def _as_the_table_says(sentence: Sentence, at: int, best: Piece | None) -> Piece | None:
    """A column or value of the named file, where the best rule says less than that."""
    if best is None or best.op in _GIVES_WAY:
        told = _told_by_table(sentence, at)
        if told is not None and (best is None or told.end >= best.end):
            return told
    if best is not None and best.op in ("scope", "to"):
        # "in Engineering" is no folder where that is a value of a column.
        told = _told_by_table(sentence, best.end - 1)
        is_cell = told is not None and told.op == "cell" and best.end - at <= 2
        if told is not None and is_cell and not sentence.scene.exists(sentence.tokens[best.end - 1].raw):
            return structs.replace(told, start=at)
    if best is not None and best.op in ("form", "order") and "COL" not in best.values:
        # "just the names" of a table are a column of it, and "by name" is by that column.
        for inner in range(at + 1, best.end):
            told = _told_by_table(sentence, inner)
            if told is not None and told.op == "colname" and told.end >= best.end:
                return structs.replace(told, start=at, meaning="colname" if best.op == "form" else "groupby")
    return None


def _before_the_place(sentence: Sentence, at: int, best: Piece | None) -> Piece | None:
    """Read a kind that is said between the preposition and the place: "in all log files here"."""
    if best is None or best.op != "scope":
        return None
    inner = range(at + 1, best.end - 1)
    kind = next((k for k in inner if read_kinds(sentence.tokens, k, sentence.scene) is not None), None)
    return Piece(meaning="free", values={}, start=at, end=kind) if kind is not None else None


def _kinds_left_out(sentence: Sentence, lemmas: list[str], at: int, best: Piece | None) -> Piece | None:
    """Kinds of files behind "not" and "except"."""
    if lemmas[at] not in ("not", "except"):
        return None
    after = at + 1
    while after < len(lemmas) and lemmas[after] in SKIPPED:
        after += 1
    found = read_kinds(sentence.tokens, after, sentence.scene) if after < len(lemmas) else None
    if found is None or (best is not None and found[0] < best.end):
        return None
    return _kinds("notkinds", at, found)


def _kinds_named(sentence: Sentence, at: int, best: Piece | None) -> Piece | None:
    """Kinds of files, where they are longer than what the best rule reads, or that says less."""
    token = sentence.tokens[at]
    found = None if token.quoted or token.is_path else read_kinds(sentence.tokens, at, sentence.scene)
    if found is None:
        return None
    more = best is None or found[0] > best.end or (found[0] == best.end and best.op in ("free", "noun", "verb"))
    return _kinds("kinds", at, found) if more else None


def _kinds(meaning: str, at: int, found: tuple[int, list[str]]) -> Piece:
    values = {str(index): Value(text=name) for index, name in enumerate(found[1])}
    return Piece(meaning=meaning, values=values, start=at, end=found[0])


def _value_alone(sentence: Sentence, at: int) -> Piece | None:
    """A path, quoted text, size or number that no rule takes."""
    for hole, meaning in _ALONE.items():
        found = read_hole(hole, sentence, at)
        if found is not None:
            return Piece(meaning=meaning, values={hole: found[1]}, start=at, end=at + found[0])
    return None


def comma_before(sentence: Sentence, at: int) -> bool:
    """Tell whether punctuation stands between a token and the one before it."""
    tokens = sentence.tokens
    if not at:
        return False
    between = sentence.text[tokens[at - 1].end : tokens[at].start]
    return any(mark in between for mark in ",;.:")
