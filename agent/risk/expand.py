"""Expand words as bash does: quotes, parameters, substitutions, braces, tilde, splitting."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from agent.risk.braces import edit_value, expand_braces
from agent.risk.budget import Work
from agent.risk.state import State, Value, known_variable
from agent.risk.words import MAX_FIELDS, MAX_VALUE, UNKNOWN, Word, join_taint

if TYPE_CHECKING:
    from agent.risk.tree import Part, WordNode

# Quoted characters that would mean something unquoted travel as private characters until the word is complete.
_SPECIAL = "{},*?[]~ \t\n.=:"
_BASE = 0xE000
_HIDE = {ord(char): _BASE + index for index, char in enumerate(_SPECIAL)}
_SHOW = {_BASE + index: char for index, char in enumerate(_SPECIAL)}
_PLAIN_AFTER = {ord(char): _HIDE[ord(char)] for char in "{},~"}
_BREAK = chr(_BASE + 0x20)  # where an unquoted expansion splits
_NEEDS_HIDING = re.compile("[" + re.escape(_SPECIAL) + "]")
_HIDDEN = re.compile("[\ue000-\ue020]")


def has_wildcard(text: str) -> bool:
    """Whether unquoted `text` is a pattern that bash compares with file names."""
    if "*" in text or "?" in text:
        return True
    bracket = text.find("[")
    return bracket >= 0 and text.find("]", bracket + 2) >= 0


class Expander:
    """Expands words in a state. `substitute` runs a nested command list and gives its output as (text or None, taint)."""

    def __init__(self, state: State, substitute: Callable[[object, str], tuple[str | None, str]], work: Work) -> None:
        self.state = state
        self.substitute = substitute
        self.place = (0, 0)
        self.work = work

    def fields(self, node: WordNode, place: tuple[int, int]) -> list[Word]:
        """The arguments a word becomes: none, one, or several."""
        parts = node.parts
        if len(parts) == 1 and parts[0][0] == "lit":
            text = parts[0][1]
            if parts[0][2]:
                return [Word(text, *place, quoted=True)]
            if not _NEEDS_HIDING.search(text):
                return [Word(text, *place)]
        self.place = place
        raw, taint = self.join(parts)
        quoted = any(part[0] == "lit" and part[2] for part in parts)
        return self.finish(raw, taint, place, quoted=quoted, glob_ok=True)

    def text(self, node: WordNode, place: tuple[int, int]) -> Word:
        """One argument, as in an assignment or after a redirection: no splitting, no file names."""
        self.place = place
        raw, taint = self.join(node.parts)
        raw = raw.replace(_BREAK, " ")
        raw = self.tilde(raw)
        return Word(raw.translate(_SHOW), *place, taint=taint, glob=has_wildcard(raw))

    def body(self, parts: list[Part], place: tuple[int, int]) -> tuple[str, str]:
        """A here-document: text and taint."""
        self.place = place
        raw, taint = self.join(parts)
        return raw.replace(_BREAK, " ").translate(_SHOW), taint

    # --- joining parts ---

    def join(self, parts: list[Part]) -> tuple[str, str]:
        pieces: list[str] = []
        taint = ""
        for part in parts:
            kind = part[0]
            if kind == "lit":
                text = part[1]
                pieces.append(text.translate(_HIDE) if part[2] else text)
                continue
            if kind == "var":
                text, found = self.parameter(part)
                quoted = part[4]
            elif kind == "cmd":
                output, found = self.substitute(part[1], "cmd")
                text = UNKNOWN if output is None else output.rstrip("\n")
                quoted = part[2]
            elif kind == "proc":
                name, found = self.substitute(part[1], "proc" + part[2])
                text, quoted = name if name and part[2] == "<" else "/dev/fd/63", True
                found = found or "proc"
            elif kind == "arith":
                self.join(part[1])
                text, found, quoted = "1", "", True
            else:
                assignment = part[1]
                values = [self.text(value, self.place) for value in assignment.values]
                subscript = "" if assignment.subscript is None else f"[{assignment.subscript}]"
                text = f"{assignment.name}{subscript}=" + " ".join(v.text for v in values)
                found = next((v.taint for v in values if v.taint), "")
                quoted = True
            taint = join_taint(taint, found)
            pieces.append(text.translate(_HIDE) if quoted else self.split_marks(text))
        raw = "".join(pieces)[:MAX_VALUE]
        self.work.spend(1 + len(raw) / 15)
        return raw, taint

    def parameter(self, part: Part) -> tuple[str, str]:
        """A parameter's value; several alternatives or elements are joined by the field break."""
        _, name, operator, argument, quoted, *subscript = part
        if subscript:
            self.join(subscript[0])
        value = self.named(name, operator)
        if operator[:1] == "!":
            if operator[1:3] in ("[@", "[*") and not argument:
                return UNKNOWN, "var"  # the subscripts
            value = self.lookup(value.texts[0]) if value and value.texts and value.texts[0] != UNKNOWN else None
        elif operator[:1] == "#":
            return "1", ""
        if argument:
            return self.operate(name, value, argument, quoted)
        if value is None:
            return UNKNOWN, "var"
        together = quoted and (name == "*" or operator.startswith("[*"))
        return (" " if together else _BREAK).join(value.texts), value.taint

    def named(self, name: str, operator: str) -> Value | None:
        """The value that a parameter stands for: a plain variable, the first element of an array, one of them, or all."""
        value = self.lookup(name)
        if value is None or not value.array or name in ("@", "*"):
            return value
        subscript = operator.lstrip("!#")[1:].rpartition("]")[0]
        if subscript in ("@", "*"):
            return value
        element = self.lookup(f"{name}[{subscript or '0'}]")
        if element is not None:
            return element
        if not subscript or subscript.isdigit():
            index = int(subscript[:4] or "0")
            return Value(value.texts[index : index + 1] or [""], value.taint)
        return Value(value.texts, value.taint)  # any of them

    def lookup(self, name: str) -> Value | None:
        if name.isdigit() or name in ("@", "*"):
            words = self.state.positional
            if name == "0":
                return Value([self.state.shell_name])
            if words is None:
                return None
            if name in ("@", "*"):
                return Value([w.text for w in words], next((w.taint for w in words if w.taint), ""), array=True)
            index = int(name[:4]) - 1
            return Value([words[index].text], words[index].taint) if index < len(words) else Value([""])
        name = self.state.references.get(name, name)
        return self.state.variables.get(name) or known_variable(name, self.state)

    def operate(self, name: str, value: Value | None, argument: list[Part], quoted: bool) -> tuple[str, str]:
        first = str(argument[0][1]) if argument[0][0] == "lit" else ""
        operator = first[:2] if first[:1] == ":" else first[:1]
        operator = operator if operator in (":-", ":=", ":+", ":?") else first[:1]
        if operator in (":-", ":=", ":+", ":?", "-", "=", "+", "?"):
            rest: list[Part] = [("lit", first[len(operator) :], argument[0][2]), *argument[1:]]
            text, taint = self.join(rest)
            text = self.tilde(text).translate(_SHOW).replace(_BREAK, " ")
            if operator[-1] == "?":
                return (UNKNOWN, "var") if value is None else (_BREAK.join(value.texts), value.taint)
            if operator[-1] == "+":
                return text, taint
            if value is None or value.texts == [""]:
                if operator[-1] == "=":
                    self.state.assign(name, Value([text], taint))
                return text, taint
            return _BREAK.join(value.texts), value.taint
        text, _ = self.join(argument)
        text = text.translate(_SHOW)
        if text == "@P" and value is not None:
            pieces = [self.prompt(old) for old in value.texts]
            return _BREAK.join(piece for piece, _ in pieces), join_taint(value.taint, pieces[0][1] if pieces else "")
        if value is None or UNKNOWN in text:
            return UNKNOWN, "var"
        for old in value.texts:
            self.work.spend(10 + len(old) ** 2 / 500)
        return _BREAK.join(edit_value(old, text) for old in value.texts), value.taint

    def prompt(self, text: str) -> tuple[str, str]:
        """`${name@P}`: the value is expanded once more, substitutions and all."""
        from agent.risk.expansions import IN_BODY
        from agent.risk.syntax import Parser

        self.work.spend(10 + 2 * len(text))
        parts: list[Part] = []
        Parser(text).quoted_run(parts, IN_BODY, "")
        return self.join(parts)

    def split_marks(self, text: str) -> str:
        """Unquoted expansion: blanks (or what IFS says) split, wildcards stay wildcards, braces and tildes are plain."""
        if "{" in text or "~" in text:
            text = text.translate(_PLAIN_AFTER)
        separators = self.state.variables.get("IFS")
        if separators is not None:
            chars = "".join(separators.texts)
            return "".join(_BREAK if char in chars else char for char in text)
        if " " in text or "\t" in text or "\n" in text:
            return re.sub(r"[ \t\n]+", _BREAK, text)
        return text

    # --- after joining ---

    def tilde(self, raw: str) -> str:
        if not raw.startswith("~"):
            return raw
        head, slash, rest = raw.partition("/")
        if head == "~":
            return self.state.home + slash + rest
        if head == "~+":
            return (self.state.cwd or ".") + slash + rest
        if head == "~root":
            return "/root" + slash + rest
        if head[1:].replace("-", "").replace("_", "").isalnum():
            return "/home/" + head[1:] + slash + rest
        return raw

    def finish(self, raw: str, taint: str, place: tuple[int, int], *, quoted: bool, glob_ok: bool) -> list[Word]:
        raws = [raw]
        if "{" in raw and ("," in raw or ".." in raw):
            raws = expand_braces(raw)
        result: list[Word] = []
        for item in raws:
            texts = item.split(_BREAK) if _BREAK in item else (item,)
            for text in texts:
                if text == "" and not quoted:
                    continue
                value = self.tilde(text) if text.startswith("~") else text
                glob = glob_ok and has_wildcard(value)
                shown = value.translate(_SHOW) if _HIDDEN.search(value) else value
                result.append(Word(shown, *place, glob=glob, taint=taint, quoted=quoted))
        self.work.spend(len(result))
        return result[:MAX_FIELDS]
