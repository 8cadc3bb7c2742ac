"""Expand the parts of a word: literal text, parameters in all their forms, substitutions."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from agent.risk.reader.cursor import BudgetError, Work
from agent.risk.reader.words import MAX_VALUE, NUMBER, UNKNOWN, UNKNOWN_VARIABLE, join_taint, origin
from agent.risk.shell.braces import BREAK, HIDE, PLAIN_AFTER, SHOW, edit_value, either, spread
from agent.risk.shell.state import Judge, State, Value, known_variable, unjudged
from agent.text.lazy_pattern import lazily

if TYPE_CHECKING:
    from agent.risk.reader.tree import Part

Substitute = Callable[[object, str], tuple[str | None, str]]

_SUBSCRIPTS = lazily(r"!\[[@*]")
_DIGITS_STAY = lazily(r"//\[[!^](?:0-9|\[:digit:\])\](?:/|\Z)")


class ParameterExpander:
    """Joins parts into raw text, with marks.

    `substitute` runs a nested command list: its output as (text or None, taint). `evaluate` judges arithmetic, `refer` a name.
    """

    def __init__(self, state: State, substitute: Substitute, work: Work) -> None:
        self.state = state
        self.substitute = substitute
        self.evaluate: Judge = unjudged
        self.refer: Judge = unjudged
        self.place = (0, 0)
        self.detached = 0  # > 0: what is expanded does not stand in the text that is walked
        self.work = work

    def join(self, parts: list[Part]) -> tuple[str, str]:
        pieces: list[str] = []
        taint = ""
        for part in parts:
            kind = part[0]
            if kind == "lit":
                text = part[1]
                pieces.append(text.translate(HIDE) if part[2] else text)
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
                self.count(part[1])
                text, found, quoted = "1", "", True
            elif kind == "name":
                text, found = self.join(part[1])
                for one in self.plain(text):
                    self.refer(one, found)
                quoted = True
            else:
                assignment = part[1]
                values = [self.join(value.parts) for value in assignment.values]
                subscript = (
                    "" if assignment.subscript is None else f"[{self.index(assignment.name, assignment.subscript)}]"
                )
                value = " ".join(value for value, _ in values).replace(BREAK, " ")
                text = f"{assignment.name}{subscript}=" + (f"({value})" if assignment.array else value)
                found = next((taint for _, taint in values if taint), "")
                quoted = True
            taint = join_taint(taint, found)
            pieces.append(text.translate(HIDE) if quoted else self.split_marks(text))
        raw = "".join(pieces)
        if len(raw) > MAX_VALUE:
            raise BudgetError("expands to too much text")
        self.work.spend(1 + len(raw) / 15)
        return raw, taint

    def parameter(self, part: Part) -> tuple[str, str]:
        """A parameter's value; several alternatives or elements are joined by the field break."""
        _, name, operator, argument, quoted, *subscript = part
        index = self.index(name, subscript[0]) if subscript else ""
        value = self.named(name, operator)
        if operator[:1] == "!":
            if _SUBSCRIPTS.match(operator):
                return UNKNOWN, "var" if name in self.state.associative else NUMBER
            if argument and argument[0][1] in ("@", "*"):
                return UNKNOWN, "var"  # names that begin so
            value = self.indirect(value)
        elif operator[:1] == "#":
            return "1", ""
        if argument:
            return self.operate(name, value, argument, quoted, index)
        if value is None:
            return UNKNOWN, origin(name)
        together = quoted and (name == "*" or operator.startswith("[*"))
        return self.shown(value, together=together), value.taint

    def indirect(self, value: Value | None) -> Value | None:
        """The variable whose name `value` is."""
        value = value if value is not None else Value([UNKNOWN], "var")
        for text in value.texts:
            self.refer(text, value.taint)
        found = [self.lookup(text) for text in value.texts]
        return found[0] if len(found) == 1 else None

    def count(self, parts: list[Part]) -> None:
        """Arithmetic: what its values may run."""
        raw, taint = self.join(parts)
        for text in self.plain(raw):
            self.evaluate(text, taint)

    def index(self, name: str, parts: list[Part]) -> str:
        """A subscript of `name`: what it says, and what its values may run."""
        raw, taint = self.join(parts)
        texts = self.plain(raw)
        if texts[0] not in ("@", "*") and name not in self.state.associative:
            for text in texts:
                self.evaluate(text, taint)
        return texts[0] if parts[0][0] == "lit" and len(parts) == 1 else UNKNOWN

    def plain(self, raw: str) -> list[str]:
        """The texts that `raw` may stand for, without marks."""
        return [one.translate(SHOW).replace(BREAK, " ") for one in spread(raw)]

    def shown(self, value: Value, *, together: bool = False) -> str:
        """Elements of an array are fields (one field where they stand `together`); other values are one of several."""
        if not value.array:
            return either(value.texts)
        if not together:
            return BREAK.join(value.texts)
        separators = self.state.variables.get("IFS")
        if separators is None:
            return " ".join(value.texts)
        return either(list(dict.fromkeys(text[:1].join(value.texts) for text in separators.texts)))

    def named(self, name: str, operator: str) -> Value | None:
        """The value that a parameter stands for: a plain variable, the first element of an array, one of them, or all."""
        value = self.lookup(name)
        if value is None or not value.array or name in ("@", "*"):
            return value
        subscript = operator.lstrip("!#")[1:].rpartition("]")[0]
        if subscript in ("@", "*"):
            return value
        if value.mixed:
            return Value(value.texts, value.taint)
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

    def operate(
        self, name: str, value: Value | None, argument: list[Part], quoted: bool, index: str = ""
    ) -> tuple[str, str]:
        first = str(argument[0][1]) if argument[0][0] == "lit" else ""
        operator = first[:2] if first[:1] == ":" else first[:1]
        operator = operator if operator in (":-", ":=", ":+", ":?") else first[:1]
        if operator in (":-", ":=", ":+", ":?", "-", "=", "+", "?"):
            rest: list[Part] = [("lit", first[len(operator) :], argument[0][2]), *argument[1:]]
            text, taint = self.join(rest)
            text = self.tilde(text).translate(SHOW).replace(BREAK, " ")
            if operator[-1] == "?":
                return (UNKNOWN, origin(name)) if value is None else (self.shown(value), value.taint)
            if operator[-1] == "+":
                return text, taint
            if value is None or value.texts == [""]:
                if operator[-1] == "=" and index:
                    self.state.assign_element(name, index, Value([text], taint))
                elif operator[-1] == "=":
                    self.state.assign(name, Value([text], taint))
                return (text, taint) if value is not None else (text, join_taint(taint, origin(name)))
            return self.shown(value), value.taint
        raw, found = self.join(argument)
        text = raw.translate(SHOW)
        if text == "@P":
            value = value if value is not None else Value([UNKNOWN], "var")
            pieces = [self.expand_later(old, value.taint) for old in value.texts]
            return either([piece for piece, _ in pieces]), join_taint(value.taint, pieces[0][1] if pieces else "")
        if operator == ":":
            for one in self.plain(raw):
                self.evaluate(one[1:], found)
        if _DIGITS_STAY.match(text):
            return UNKNOWN, NUMBER
        if value is None or UNKNOWN in text or spread(text) != [text]:
            return UNKNOWN, "var"
        for old in value.texts:
            self.work.spend(10 + len(old) ** 2 / 500)
        taint = join_taint(value.taint, "var") if operator == "/" and NUMBER in value.taint else value.taint
        return self.shown(Value([edit_value(old, text) for old in value.texts], array=value.array)), taint

    def expand_later(self, text: str, taint: str) -> tuple[str, str]:
        """As `again`, for a text that may not be known."""
        self.refer(text if UNKNOWN in text else "", taint)
        return self.again(text)

    def again(self, text: str) -> tuple[str, str]:
        """A value that is expanded once more, substitutions and all, as in `${name@P}`."""
        if "$" not in text and "`" not in text:
            return text, ""
        from agent.risk.reader.expansions import IN_BODY
        from agent.risk.reader.syntax import Parser

        self.work.spend(10 + 2 * len(text))
        parts: list[Part] = []
        Parser(text.replace(UNKNOWN, UNKNOWN_VARIABLE)).quoted_run(parts, IN_BODY, "")
        self.detached += 1
        raw, taint = self.join(parts)
        self.detached -= 1
        return "\n".join(self.plain(raw)), taint

    def split_marks(self, text: str) -> str:
        """Unquoted expansion: blanks (or what IFS says) split, wildcards stay wildcards, braces and tildes are plain."""
        separators = self.state.variables.get("IFS")
        if separators is not None:
            chars = "".join(separators.texts)
            text = "".join(BREAK if char in chars else char for char in text)
        if "{" in text or "~" in text:
            text = text.translate(PLAIN_AFTER)
        if separators is not None:
            return text
        if " " in text or "\t" in text or "\n" in text:
            return re.sub(r"[ \t\n]+", BREAK, text)
        return text

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
