"""Pieces that name things: nouns, kinds of files, names, conditions on files, and places."""

from __future__ import annotations

from msgspec import structs

from agent.planner.offline.grammar.filesread import is_archive
from agent.planner.offline.grammar.pieces import Piece
from agent.planner.offline.grammar.reader import is_file_path
from agent.planner.offline.grammar.understanding.draft import FILE_NOUNS, Draft
from agent.planner.offline.values import Value

ARTIFACTS = frozenset(
    {"node_modules", "__pycache__", ".git", ".svn", ".hg", "venv", ".venv", "vendor", "dist", "target", ".tox"}
)


class Things(Draft):
    """Take up what is spoken of, and where it is."""

    def on_free(self, piece: Piece, clause: int) -> bool:
        return True

    def on_noun(self, piece: Piece, clause: int) -> bool:
        kind = piece.param
        if kind in FILE_NOUNS and not self.files.noun(kind) and not (kind == "file" and self.form & {"each", "all"}):
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
        if kind == "byte" and self.action == "du":
            self.form.add("bytes")
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

    def on_path(self, piece: Piece, clause: int) -> bool:
        self.files.several = self.files.several or self._joined(piece)
        return self._place(piece.values["PATH"], clause, "")

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
        if piece.param == "noext" and self.has_kinds and any("." in name for name in self.files.names):
            self.form.add("noext")  # what is searched by its extension is to be shown without it
            return True
        return self.files.name(piece.param, piece)

    def on_notname(self, piece: Piece, clause: int) -> bool:
        value = next(iter(piece.values.values()))
        if piece.param == "exact" and (self.scene.exists(value.text + "/.") or value.text in ARTIFACTS):
            return self.files.exclude(piece)  # "except tests" is about what is in that folder
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
        return self.files.exact(piece.op, piece)

    on_exactage = on_exactsize

    def on_depth(self, piece: Piece, clause: int) -> bool:
        files = {
            hole: value for hole, value in piece.values.items() if hole == "PATH" and is_file_path(value, self.scene)
        }
        if files:  # "in notes.txt, only ..."
            return all([self._place(value, clause, "file") for value in files.values()])  # noqa: C419 - each must be taken up
        return self.files.depth(piece.param, piece)

    def on_recursive(self, piece: Piece, clause: int) -> bool:
        if "each" in self.row.lemmas[piece.start : piece.end] and (self.counting >= 0 or self.counts):
            self.group = "dir"
        self.files.recursive = True
        return True

    def on_exclude(self, piece: Piece, clause: int) -> bool:
        return self.files.exclude(piece)
