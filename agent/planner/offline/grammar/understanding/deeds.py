"""Pieces that do something with files, or say where the result goes."""

from __future__ import annotations

from msgspec import structs

from agent.planner.offline.grammar.pieces import Piece
from agent.planner.offline.grammar.reader import is_file_path
from agent.planner.offline.grammar.understanding.draft import NEEDS_DESTINATION
from agent.planner.offline.grammar.understanding.edits import Edits
from agent.planner.offline.values import Value

_WHO = {
    "u": ("owner", "user", "owners"),
    "g": ("group",),
    "o": ("others", "other", "world"),
    "a": ("everyone", "all", "everybody", "anyone"),
}
_WHAT = {"r": ("read",), "w": ("write", "writable"), "x": ("execute", "executable", "execution")}


class Deeds(Edits):
    """Take up what is done with files, and where results go."""

    def on_to(self, piece: Piece, clause: int) -> bool:
        value = next(iter(piece.values.values()))
        verbs = [verb for verb, _ in self.verbs]
        if piece.param == "append":
            return self._to_file("append", value)
        if piece.param == "file":
            if any(verb in NEEDS_DESTINATION for verb in verbs) and "save" not in verbs:
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
        asked = {"change", "permission", "chmod", "give", "add", "grant", "create", "executable", "delete", "revoke"}
        if not asked & set(words) and not verbs & {"change", "create", "add"}:
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

    def on_rename(self, piece: Piece, clause: int) -> bool:
        if piece.param == "replace":
            old, new = (self._sign_in(piece, value) for value in piece.values.values())
            piece = structs.replace(piece, values={"TEXT": old, "TEXT2": new})
        return self._act("rename", piece)

    def on_du(self, piece: Piece, clause: int) -> bool:
        self.action = self.action or "du"
        return True

    def on_compare(self, piece: Piece, clause: int) -> bool:
        self.action = self.action or f"compare {piece.param}"
        return all([self._place(value, clause, "file") for value in piece.values.values()])  # noqa: C419 - each must be taken up
