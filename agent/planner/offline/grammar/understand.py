"""From the pieces of a goal to its intent; what no operation takes up is counted as not understood."""

from __future__ import annotations

from msgspec import Struct, structs

from agent.planner.offline.grammar.assemble import assemble
from agent.planner.offline.grammar.filesread import FilesDraft, is_archive
from agent.planner.offline.grammar.holes import SEPARATORS
from agent.planner.offline.grammar.intent import Intent, Order, Sink, Stage
from agent.planner.offline.grammar.pieces import Piece
from agent.planner.offline.grammar.reader import Row, comma_before, is_file_path
from agent.planner.offline.grammar.stagesread import StagesDraft, as_conditions
from agent.planner.offline.grammar.tableread import TableReading
from agent.planner.offline.grammar.tablewords import as_in_the_file
from agent.planner.offline.values import Value

_LINE_NOUNS = frozenset({"line", "word", "char", "content", "byte"})
_FILE_NOUNS = frozenset({"file", "dir", "subdir", "both", "link", "broken", "socket", "pipe", "script"})
_ACTION_OPS = frozenset({"chmod", "chown", "touch", "rename", "hash", "du", "empty", "archive"})
# Verbs that rules may begin with.
_VERB_WORDS = frozenset(
    {"delete", "replace", "convert", "change", "add", "append", "prepend", "find", "show", "count", "sort"}
)
_NEEDS_DESTINATION = frozenset({"copy", "move"})
# Verbs after which a text is changed where it stands, unless the goal says that the result is shown or written elsewhere.
_EDITING = frozenset({"replace", "delete", "change", "add", "append"})
# Rules in which the file may stand between the words: "prefix every line of x.txt with ..."
_WITH_PLACE = frozenset({"stage", "add", "joinlines", "join", "everyfirst", "occurrence"})
_NEGATED = {"range": "delrange", "line": "delline"}


class Understood(Struct, frozen=True, kw_only=True):
    """An intent with the pieces that had no place in it, and how many were weak guesses."""

    intent: Intent
    lost: tuple[Piece, ...] = ()
    done: bool = True


class Understanding(TableReading):
    """One goal on its way from pieces to an intent."""

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
        self.compares: list[str] = []
        self.seeks = False
        self.lost: list[Piece] = []
        self.has_kinds = False
        self.group = ""
        self.pending: tuple[Value, int] | None = None

    def run(self) -> Understood:
        """Apply every piece, then put the intent together."""
        for piece, clause in zip(self.row.pieces, self.row.clauses, strict=True):
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
            handler = getattr(self, f"on_{piece.op}", None)
            if handler is None or not handler(piece, clause):
                self.lost.append(piece)
        if self.pending is not None or self.action.startswith("chown open") or self.action == "chmod open":
            return Understood(intent=self.intent(), lost=tuple(self.lost), done=False)
        intent = self.intent()
        return Understood(
            intent=intent, lost=tuple(self.lost), done=verbs_done(intent, {verb for verb, _ in self.verbs}, self)
        )

    # --- words that name things ---

    def on_free(self, piece: Piece, clause: int) -> bool:
        return True

    def on_noun(self, piece: Piece, clause: int) -> bool:
        kind = piece.param
        if kind in _FILE_NOUNS and not self.files.noun(kind) and not (kind == "file" and self.form & {"each", "all"}):
            return False
        if (
            kind == "name"
            and not self.files.type
            and (
                self.row.sentence.tokens[piece.start].low == "filename"
                or "file" in self.row.lemmas[piece.start : piece.end]
            )
        ):
            self.files.noun("file")
        if kind == "name" and "name" not in self.shown:
            self.shown.append("name")
        if kind == "size" and self.counting < 0:
            self.shown.append("size")
        if self.counting >= 0 and kind not in ("name", "content", "size"):
            self.counts.append((kind, self.counting))
            self.counting = -1
        elif self.counts and kind in ("line", "word", "char", "byte") and self._joined(piece):
            self.counts.append((kind, self.counts[-1][1]))  # "lines, words and characters"
        self.nouns.append((kind, clause))
        return True

    def on_kinds(self, piece: Piece, clause: int) -> bool:
        self.nouns.append(("file", clause))
        self.has_kinds = True
        if self.counting >= 0:
            self.counts.append(("file", self.counting))
            self.counting = -1
        return self.files.kinds(piece)

    def on_verb(self, piece: Piece, clause: int) -> bool:
        verb = piece.param
        self.verbs.append((verb, clause))
        if verb == "count":
            self.counting = clause
        if verb == "sort":
            self.stages.sort(clause)
        if verb == "delete":
            self.deleting.append(clause)
        return True

    # --- places ---

    def on_scope(self, piece: Piece, clause: int) -> bool:
        lows = {token.low for token in self.row.sentence.tokens[piece.start : piece.end]}
        if lows & {"folders", "directories"} and lows & {"named", "called"}:
            return False  # wherever folders of that name are
        if (
            piece.param == "file"
            and "file" in self.row.lemmas[piece.start : piece.end]
            and not all(is_file_path(value, self.scene) for value in piece.values.values())
        ):
            self.on_noun(structs.replace(piece, meaning="noun file"), clause)  # "the files here"
        self.files.several = self.files.several or piece.param == "two" or self._joined(piece)
        explicit = piece.param == "file" and "file" in self.row.lemmas[piece.start : piece.end]
        said = "file" if explicit else "in"
        return all([self._place(value, clause, said) for value in piece.values.values()])  # noqa: C419 - each must be taken up

    def _joined(self, piece: Piece) -> bool:
        """Whether "and" stands right before a place."""
        before = piece.start - 1
        while before > 0 and self.row.lemmas[before] in ("the", "in", "under", "of"):
            before -= 1
        return before >= 0 and (
            self.row.lemmas[before] in ("and", "or") or comma_before(self.row.sentence, piece.start)
        )

    def on_path(self, piece: Piece, clause: int) -> bool:
        self.files.several = self.files.several or self._joined(piece)
        return self._place(piece.values["PATH"], clause, "")

    def _place(self, value: Value, clause: int, said: str) -> bool:
        last = self.verbs[-1][0] if self.verbs else ""
        if last in ("save", "append") and self.sink.kind == "show" and self._known_source():
            return self._to_file("append" if last == "append" else "file", value)
        if last in _NEEDS_DESTINATION and self.dest is None and self._known_source() and not said:
            self.dest = value
            return True
        if is_file_path(value, self.scene) or (said == "file" and not self.scene.exists(value.text + "/.")):
            if all(text.text != value.text for text in self.texts):
                self.texts.append(value)
            return True
        return self.files.add_root(value)

    def _known_source(self) -> bool:
        return bool(self.texts or self.files.roots or self.files.names or self.files.type)

    def on_glob(self, piece: Piece, clause: int) -> bool:
        value = piece.values["GLOB"]
        token = self.row.sentence.tokens[piece.start]
        if not token.quoted and not self.files.type and not self.files.roots and self._about_lines(clause):
            self.texts.append(Value(text=value.text, kind="pattern", origin=value.text))
            return True
        self.files.names.append(value.text)
        self.files.type = self.files.type or "f"
        self.has_kinds = True
        return True

    def on_notkinds(self, piece: Piece, clause: int) -> bool:
        for value in piece.values.values():
            self.files.notname("glob", structs.replace(piece, values={"NAME": value}))
        self.files.type = self.files.type or "f"
        return True

    def on_literal(self, piece: Piece, clause: int) -> bool:
        self.literals.append(piece.values["QUOTED"])
        return True

    def on_name(self, piece: Piece, clause: int) -> bool:
        named = next(iter(piece.values.values()), None)
        making = self.action.startswith("archive") or any(verb in ("archive", "create") for verb, _ in self.verbs)
        if piece.param == "exact" and making and named is not None and is_archive(named.text) and self.dest is None:
            self.dest = Value(text=named.text, kind="path", origin=named.origin)
            return True
        return self.files.name(piece.param, piece)

    def on_notname(self, piece: Piece, clause: int) -> bool:
        return self.files.notname(piece.param, piece)

    def on_nocase(self, piece: Piece, clause: int) -> bool:
        self.files.nocase = True
        self.stages.letters += "" if "i" in self.stages.letters else "i"
        return True

    def on_wholeword(self, piece: Piece, clause: int) -> bool:
        self.files.word = True
        self.stages.letters += "" if "w" in self.stages.letters else "w"
        return True

    def on_hidden(self, piece: Piece, clause: int) -> bool:
        if piece.param == "too":
            self.form.add("hiddentoo")
        return self.files.hidden(piece.param)

    def on_test(self, piece: Piece, clause: int) -> bool:
        return self.files.test(piece.param, piece)

    def on_exactsize(self, piece: Piece, clause: int) -> bool:
        return self.files.exact("exactsize", piece)

    def on_exactage(self, piece: Piece, clause: int) -> bool:
        return self.files.exact("exactage", piece)

    def on_depth(self, piece: Piece, clause: int) -> bool:
        files = {
            hole: value for hole, value in piece.values.items() if hole == "PATH" and is_file_path(value, self.scene)
        }
        if files:  # "in notes.txt, only ..."
            return all([self._place(value, clause, "file") for value in files.values()])  # noqa: C419 - each must be taken up
        return self.files.depth(piece.param, piece)

    def on_recursive(self, piece: Piece, clause: int) -> bool:
        self.files.recursive = True
        return True

    def on_exclude(self, piece: Piece, clause: int) -> bool:
        return self.files.exclude(piece)

    # --- lines ---

    def on_contain(self, piece: Piece, clause: int) -> bool:
        if self._about_lines(clause):
            return self.stages.contain(piece.param, self._as_written(piece), clause)
        return self.files.contain(piece.param, piece)

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

    def on_lack(self, piece: Piece, clause: int) -> bool:
        if self._about_lines(clause):
            return self.stages.lack(tuple(v.text for v in piece.values.values()), clause)
        return self.files.lack(piece)

    def _about_lines(self, clause: int) -> bool:
        for kind, _ in reversed(self.nouns):
            if kind in _LINE_NOUNS:
                return True
            if kind in _FILE_NOUNS:
                return bool(self.texts) and not self.has_kinds
        return bool(self.texts) or not self.files.type

    def on_seek(self, piece: Piece, clause: int) -> bool:
        if piece.param == "for" and not self._seeks_now():
            return False
        self.seeks = True
        if piece.param == "line":
            self.on_noun(structs.replace(piece, meaning="noun line"), clause)
        self.verbs.append(("find", clause))
        if piece.param == "first":
            self.stages.add("limit", "head", "1", clause=clause)
        values = dict(piece.values)
        places = [values.pop(hole) for hole in ("PATH", "FILE") if hole in values]
        kind = "either" if piece.param == "either" else ""
        self.stages.contain(kind, self._as_written(piece), clause)
        return all([self._place(place, clause, "") for place in places])  # noqa: C419 - each must be taken up

    def _seeks_now(self) -> bool:
        """Whether "for X" can be what is searched for: after a verb of searching and what is searched through."""
        if not self.verbs or self.verbs[-1][0] != "find":
            return False
        grep = self.row.sentence.tokens and self.row.sentence.tokens[0].low == "grep"
        return bool(
            self._known_source() or (grep and any(p.op in ("scope", "path", "kinds", "glob") for p in self.row.pieces))
        )

    def on_uniquekeep(self, piece: Piece, clause: int) -> bool:
        return self.stages.add("unique", "uniq_keep", clause=clause)

    def on_group(self, piece: Piece, clause: int) -> bool:
        self.group = piece.param
        return True

    def on_line(self, piece: Piece, clause: int) -> bool:
        return self.stages.line(piece.param, piece, clause)

    def on_where(self, piece: Piece, clause: int) -> bool:
        return self.stages.where(piece.param, piece, clause)

    def on_context(self, piece: Piece, clause: int) -> bool:
        number = piece.values["NUM"].text if "NUM" in piece.values else "1"
        if "WORD" in piece.values:
            self.stages.contain("", (piece.values["WORD"].text,), clause)
        self.stages.context = ({"around": "C", "after": "A", "before": "B"}[piece.param], number)
        return True

    def on_limit(self, piece: Piece, clause: int) -> bool:
        if self.counting == clause and piece.param.startswith("head"):
            self.counting = -1
        kept, _, fixed = piece.param.partition(" ")
        if (
            kept in ("skip", "drop")
            and clause in self.deleting
            and "delete" not in self.row.lemmas[piece.start : piece.end]
        ):
            # "delete all but the first line" keeps that one
            number = fixed or next(iter(piece.values.values())).text
            return self.stages.add("match", f"keep_{kept}", number, clause=clause)
        return self.stages.limit(piece.param, piece, clause)

    def on_col(self, piece: Piece, clause: int) -> bool:
        if self.stages.order is not None and self.stages.order.key in ("whole",) and self._just_after_sort(piece):
            return self.stages.sort(clause, key="col", column=piece.values["COL"].text)
        return self.stages.col(piece.param, piece, clause)

    def _just_after_sort(self, piece: Piece) -> bool:
        at = piece.start - 1
        lemmas = self.row.lemmas
        while at >= 0 and lemmas[at] in ("by", "on", "the", "using", "its", "their"):
            at -= 1
        return at >= 0 and lemmas[at] == "sort" and at < piece.start - 1

    def on_chars(self, piece: Piece, clause: int) -> bool:
        return self.stages.chars(piece.param, piece, clause)

    def on_delimiter(self, piece: Piece, clause: int) -> bool:
        self.stages.separator = piece.values["SEP"].text
        return True

    def on_before(self, piece: Piece, clause: int) -> bool:
        return self.stages.add("part", "before", piece.values["SEP"].text, clause=clause)

    def on_after(self, piece: Piece, clause: int) -> bool:
        return self.stages.add("part", "after", piece.values["SEP"].text, clause=clause)

    def on_numbers(self, piece: Piece, clause: int) -> bool:
        return self.stages.add("part", "numbers", clause=clause)

    def on_only(self, piece: Piece, clause: int) -> bool:
        self.stages.letters += "o"
        return True

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
        flags = {"": "g", "first": "", "nth": piece.values["NTH"].text if "NTH" in piece.values else ""}.get(kind)
        if flags is None:
            return False
        op = "replaceword" if "w" in self.stages.letters else "replace"
        return self.stages.add("change", op, old.text, new.text, flags, clause=clause)

    def on_ropen(self, piece: Piece, clause: int) -> bool:
        self.verbs.append(("replace", clause))
        self.pending = (self._named_sign(piece), clause)
        return True

    @staticmethod
    def _named_sign(piece: Piece) -> Value:
        """What a rule caught; "dash" without quotes is the sign."""
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

    def on_superlines(self, piece: Piece, clause: int) -> bool:
        self.form.add("superlines")
        self.files.type = self.files.type or "f"
        return True

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

    def on_joinlines(self, piece: Piece, clause: int) -> bool:
        return self.stages.add("join", "join", " ", clause=clause)

    def on_pair(self, piece: Piece, clause: int) -> bool:
        number = int(piece.values["NUM"].text) if "NUM" in piece.values else 2
        return 2 <= number <= 20 and self.stages.add("join", "pair", str(number), clause=clause)

    def on_split(self, piece: Piece, clause: int) -> bool:
        if "SEP" not in piece.values:
            if self.nouns and self.nouns[-1][0] == "word" and self.texts:
                return self.stages.add("split", "words", clause=clause)
            return True
        separator = piece.values["SEP"].text
        return len(separator) == 1 and self.stages.add("split", "trsep", separator, "\n", clause=clause)

    def on_wrap(self, piece: Piece, clause: int) -> bool:
        return self.stages.add("change", "wrap", piece.values["NUM"].text, clause=clause)

    def on_indent(self, piece: Piece, clause: int) -> bool:
        return self.stages.add("change", "addstart", " " * min(int(piece.values["NUM"].text), 80), clause=clause)

    # --- counting ---

    def on_count(self, piece: Piece, clause: int) -> bool:
        self.verbs.append(("count", clause))
        return self.stages.add("count", "occurrences", self.stages.letters, piece.values["TEXT"].text, clause=clause)

    def on_frequency(self, piece: Piece, clause: int) -> bool:
        self.verbs.append(("count", clause))
        self.stages.frequency, self.stages.frequency_clause = piece.param, clause
        if "HEAD" in piece.values:
            self.show_column(piece.values["HEAD"].text, clause)
        self.counting = -1
        if "word" in self.row.lemmas[piece.start : piece.end]:
            self.nouns.append(("word", clause))
        if "NUM" in piece.values:
            self.stages.add("limit", "head", piece.values["NUM"].text, clause=clause)
        return True

    def on_uniquecount(self, piece: Piece, clause: int) -> bool:
        self.verbs.append(("count", clause))
        self.counting = clause
        return self.stages.add("unique", "unique", clause=clause)

    def on_unique(self, piece: Piece, clause: int) -> bool:
        return self.stages.add("unique", "unique", clause=clause)

    def on_dups(self, piece: Piece, clause: int) -> bool:
        return self.stages.add("unique", "dups", clause=clause)

    def on_once(self, piece: Piece, clause: int) -> bool:
        return self.stages.add("unique", "once", clause=clause)

    def on_agg(self, piece: Piece, clause: int) -> bool:
        if piece.param == "median":
            return False
        if piece.param == "range":
            self.stages.sort(clause, key="whole", numeric=True)
            return self.stages.add("count", "ends", clause=clause)
        if (self.nouns and self.nouns[-1][0] == "size") or "size" in self.row.lemmas[piece.end : piece.end + 2]:
            self.action = "du"
            self.form.add("all")
            return True
        if self.files.type and not self.texts and not any(kind in _LINE_NOUNS for kind, _ in self.nouns):
            self.form.add("all")
        return self.stages.add("count", "agg", piece.param, "\0", "1", clause=clause)

    def on_longest(self, piece: Piece, clause: int) -> bool:
        if piece.param == "length":
            return self.stages.add("count", "longest_length", clause=clause)
        if piece.param == "word":
            self.stages.add("split", "words", clause=clause)
        return self.stages.add("count", "longest", clause=clause)

    def on_shortest(self, piece: Piece, clause: int) -> bool:
        return self.stages.add("count", "shortest", clause=clause)

    def on_length(self, piece: Piece, clause: int) -> bool:
        self.counting = -1
        return self.stages.add("change", "length", clause=clause)

    def on_nwords(self, piece: Piece, clause: int) -> bool:
        self.counting = -1
        return self.stages.add("change", "nwords", clause=clause)

    def on_ncols(self, piece: Piece, clause: int) -> bool:
        self.counting = -1
        return self.stages.add("count", "ncols", "\0", clause=clause)

    # --- order and form ---

    def on_order(self, piece: Piece, clause: int) -> bool:
        fields: dict[str, object] = {"key": piece.param}
        if piece.param == "col":
            fields["column"] = piece.values["COL"].text
        if piece.param in ("frequent", "rare"):
            return self.stages.sort(clause, key="count", numeric=True, reverse=piece.param == "frequent")
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
        if self.stages.order is None:
            if kind == "reverse":
                return self.stages.change("tac", clause) if self.texts else self.stages.sort(clause, reverse=True)
            if kind == "unique":
                return self.on_unique(piece, clause)
            if kind == "alphareverse":
                return self.stages.sort(clause, reverse=True)
            if kind == "nocase":
                return self.on_nocase(piece, clause)
        fields = {
            "num": "numeric",
            "reverse": "reverse",
            "desc": "reverse",
            "alphareverse": "reverse",
            "nocase": "nocase",
            "human": "human",
        }
        if kind in fields:
            return self.stages.sort(clause, **{fields[kind]: True})
        return self.stages.sort(clause)

    def on_super(self, piece: Piece, clause: int) -> bool:
        kind = piece.param.split()[0]
        number = piece.values["NUM"].text if "NUM" in piece.values else ""
        lemmas = self.row.lemmas[piece.start : piece.end]
        for noun, letter in (("dir", "dir"), ("file", "file")):
            if noun in lemmas:
                self.on_noun(structs.replace(piece, meaning=f"noun {letter}"), clause)
        self.super_order = (kind.removesuffix("count"), number)
        return True

    def on_form(self, piece: Piece, clause: int) -> bool:
        kind = piece.param
        if kind == "comma" and any(step.stage.op == "join" for step in self.stages.steps):
            return self.on_join(structs.replace(piece, values={}), clause)
        if kind in ("size", "mtime", "target", "atime", "owner", "group", "mode", "inode", "type", "lines"):
            self.shown.append(kind)
        self.form.add(kind)
        if "PATH" in piece.values:
            return self._place(piece.values["PATH"], clause, "")
        return True

    def on_inplace(self, piece: Piece, clause: int) -> bool:
        self.form.add("inplace")
        return True

    def on_stdout(self, piece: Piece, clause: int) -> bool:
        self.form.add("stdout")
        return True

    def on_nooverwrite(self, piece: Piece, clause: int) -> bool:
        self.form.add("nooverwrite")
        return True

    def on_preserve(self, piece: Piece, clause: int) -> bool:
        self.form.add("preserve")
        return True

    # --- where the result goes, what is done ---

    def on_to(self, piece: Piece, clause: int) -> bool:
        value = next(iter(piece.values.values()))
        verbs = [verb for verb, _ in self.verbs]
        if piece.param == "append":
            return self._to_file("append", value)
        if piece.param == "file":
            if any(verb in _NEEDS_DESTINATION for verb in verbs) and "save" not in verbs:
                self.dest = value
                return True
            if "archive" in verbs or self.action.startswith("archive"):
                self.dest = value
                return True
            return self._to_file("file", value)
        if any(verb in ("copy", "move", "archive", "extract") for verb in verbs) or self.action.startswith("archive"):
            self.dest = value
            return True
        if is_file_path(value, self.scene):
            return self._to_file("append" if verbs and verbs[-1] in ("append", "add") else "file", value)
        return False

    def _to_file(self, kind: str, value: Value) -> bool:
        if self.sink.path is not None:
            return False
        self.sink = Sink(kind=kind, path=value)
        return True

    def _act(self, op: str, piece: Piece) -> bool:
        action = f"{op} {piece.param}".strip()
        if self.action and self.action != action:
            return op == "archive" and self.action.startswith("archive")
        self.action, self.args = action, tuple(piece.values.values())
        return True

    def on_chmod(self, piece: Piece, clause: int) -> bool:
        if piece.param == "open":
            self.action = "chmod open"
            return True
        if piece.param == "to" and self.action == "chmod open":
            self.action = ""
        words = self.row.lemmas[piece.start : piece.end]
        verbs = {verb for verb, _ in self.verbs}
        if not {
            "change",
            "permission",
            "chmod",
            "give",
            "add",
            "grant",
            "create",
            "executable",
            "delete",
            "revoke",
        } & set(words) and not verbs & {"change", "create", "add"}:
            return False
        if piece.param == "to" or self.action.startswith("chmod"):
            return self._act("chmod", piece)
        words = [token.low for token in self.row.sentence.tokens[piece.start : piece.end]]
        lemmas = self.row.lemmas[piece.start : piece.end]
        who = "".join(letter for letter, names in _WHO.items() if any(word in names for word in words))
        what = "".join(
            letter for letter, names in _WHAT.items() if any(name in lemmas or name in words for name in names)
        )
        if "readonly" in lemmas or "read-only" in lemmas:
            self.action, self.args = "chmod to", (Value(text="a-w"),)
            return True
        sign = "+" if piece.param == "add" else "-"
        if not what:
            return False
        self.action, self.args = (
            "chmod to",
            (Value(text=f"{'' if 'a' in who else who}{sign}{what}" if who != "a" else f"a{sign}{what}"),),
        )
        return True

    def on_chown(self, piece: Piece, clause: int) -> bool:
        kind = piece.param
        if kind.startswith("open"):
            self.action = f"chown {kind}"
            return True
        if kind == "close":
            self.action, self.args = self.action.replace("open ", ""), tuple(piece.values.values())
            return True
        return self._act("chown", piece)

    def on_hash(self, piece: Piece, clause: int) -> bool:
        if self.action.startswith("hash") and piece.param == "default":
            return True
        return self._act("hash", piece)

    def on_touch(self, piece: Piece, clause: int) -> bool:
        return self._act("touch", piece)

    def on_rename(self, piece: Piece, clause: int) -> bool:
        return self._act("rename", piece)

    def on_du(self, piece: Piece, clause: int) -> bool:
        self.action = self.action or "du"
        return True

    def on_empty(self, piece: Piece, clause: int) -> bool:
        return self._act("empty", piece)

    def on_archive(self, piece: Piece, clause: int) -> bool:
        return self._act("archive", piece)

    def on_compare(self, piece: Piece, clause: int) -> bool:
        self.action = self.action or f"compare {piece.param}"
        return all([self._place(value, clause, "file") for value in piece.values.values()])  # noqa: C419 - each must be taken up

    # --- the whole ---

    def intent(self) -> Intent:
        """The intent as far as it was read."""
        return assemble(self)


_ALWAYS_DONE = frozenset({"show", "find", "count", "sort", "compute"})
_ON_LINES = frozenset(
    {"replace", "delete", "convert", "change", "add", "join", "split", "extract", "prepend", "append"}
)


def verbs_done(intent: Intent, verbs: set[str], draft: Understanding) -> bool:
    """Whether the intent does what every verb of the goal says."""
    kind = intent.action.partition(" ")[0]
    for verb in verbs - _ALWAYS_DONE:
        done = (
            verb == kind
            or (verb in _ON_LINES and intent.source != "files" and bool(intent.stages) and not kind)
            or (verb == "join" and len(intent.texts) > 1)
            or (verb == "join" and intent.source == "content")
            or (verb == "extract" and (bool(intent.stages) or bool(intent.shown)))
            or (verb in ("save", "append") and intent.sink.path is not None)
            or (verb in ("change", "add", "delete", "convert") and kind in ("chmod", "chown", "touch", "rename"))
            or (verb == "create" and (kind in ("chmod", "archive", "touch") or intent.sink.path is not None))
            or (verb == "create" and intent.source != "files" and bool(intent.stages) and not kind)
            or (verb == "replace" and kind == "rename")
            or (verb in ("execute", "save") and bool(intent.stages or kind))
            or (verb == "delete" and any("form " + form for form in draft.form & {"noext", "basename"}))
        )
        if not done:
            return False
    if intent.source == "content" and intent.sink.kind == "inplace":
        # "delete all files that ..." must never become an edit of what is in them
        chosen = any(stage.op in ("match", "anchored", "regex", "anyof", "either") for stage in intent.stages)
        spoken_of = {noun for noun, _ in draft.nouns}
        if "name" in draft.row.lemmas or (chosen and not spoken_of & _LINE_NOUNS):
            return False
    if intent.source == "text" and not intent.stages and not kind and not set(intent.shown) - {"name"}:
        # `cat` is what is left where nothing was understood; it needs a word that asks for it.
        kinds = {noun for noun, _ in draft.nouns}
        asked = bool(verbs & {"show", "join", "extract"}) or "content" in kinds or intent.sink.path is not None
        return asked and kinds <= {"content", "file", "line"}
    return True


_WHO = {
    "u": ("owner", "user", "owners"),
    "g": ("group",),
    "o": ("others", "other", "world"),
    "a": ("everyone", "all", "everybody", "anyone"),
}
_WHAT = {"r": ("read",), "w": ("write", "writable"), "x": ("execute", "executable", "execution")}
__all__ = ["Order", "Stage", "Understanding", "Understood", "as_conditions"]
