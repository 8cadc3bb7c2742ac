"""Judge arithmetic and names of array elements: bash runs the commands in a value's subscripts while it counts.

`x='a[$(cmd)]'; echo $((x))` runs cmd: names in an expression stand for expressions, and a subscript in one is expanded once
more. So a known value is walked as bash would, and one that is not known may hold any command. What is sure to be a number
holds none: its taint is "number" and nothing else.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.protocol.decisions import Level
from agent.risk.reader.words import NUMBER, UNKNOWN
from agent.risk.shell.state import Value

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

_TOKEN = re.compile(r"(?P<number>\d[\w#@]*)|(?P<name>[A-Za-z_]\w*)|(?P<end>[;,])")
_ASSIGNS = re.compile(r"\s*(?:(=)(?!=)|(?:\*\*|<<|>>|[-+*/%&|^])=|\+\+|--)")
_MAY_NOT_HAPPEN = re.compile(r"&&|\|\||\?")
_OPENED = {"[": 1, "]": -1}
_MAX_NAMES = 200


def evaluate(walker: Walker, text: str, taint: str) -> None:
    """Judge what bash would run to find the value of `text`, an expression in which `$…` is already replaced."""
    expression = _Expression(walker)
    expression.pending.append((text, taint))
    expression.settle()


def refer(walker: Walker, text: str, taint: str) -> None:
    """Judge what bash would run to find the variable called `text`, which may be the element of an array."""
    expression = _Expression(walker)
    text = expression.known(text, taint)
    name, opened, _ = text.partition("[")
    if opened and name not in walker.state.associative:
        expression.pending.append((text, taint))
        expression.seen.add(name)
        expression.settle()
    elif opened:
        walker.expander.again(text[len(name) + 1 :])


class _Expression:
    """One expression, with those that its names stand for."""

    def __init__(self, walker: Walker) -> None:
        self.walker = walker
        self.pending: list[tuple[str, str]] = []
        self.seen: set[str] = set()
        self.doubted = False

    def known(self, text: str, taint: str) -> str:
        """`text` with numbers for what is not known; said, unless it can be nothing else than a number."""
        if UNKNOWN not in text:
            return text
        if taint != NUMBER:
            self.doubt(taint)
        return text.replace(UNKNOWN, "1")

    def doubt(self, taint: str) -> None:
        """A value that is not known: any command may be in it."""
        if self.doubted:
            return
        self.doubted = True
        place = self.walker.expander.place
        if "net" in taint:
            self.walker.add("run-remote", [], place, rule="run-remote.value")
        elif "opaque" in taint:
            self.walker.add("run-decoded", [], place, rule="run-decoded.value")
        else:
            reason = (
                "reads a value that is only known when it runs as a number or a name: bash would run commands in it"
            )
            self.walker.add("run-unknown", [], place, level=Level.MEDIUM, reason=reason, rule="run.value")

    def settle(self) -> None:
        first = True
        while self.pending:
            text, taint = self.pending.pop()
            self.walker.work.spend(2 + len(text) / 8)
            self.read(self.known(text, taint), keeps=first)
            first = False

    def read(self, text: str, *, keeps: bool) -> None:
        """Look at the names in one expression, from left to right, and at what it assigns."""
        assigned: list[str] = []
        here: list[str] = []  # assigned since the last comma or semicolon
        may_not_happen = _MAY_NOT_HAPPEN.search(text) is not None
        pos = 0
        while (token := _TOKEN.search(text, pos)) is not None:
            pos = token.end()
            name = token.group("name")
            if token.group("end") and not may_not_happen:
                assigned += here
                here = []
            if name is None:
                continue
            if text.startswith("[", pos):
                pos = self.subscript(name, text, pos)
                if name not in assigned and self.walker.expander.lookup(name) is not None:
                    self.look_up(name)  # an array that was not set here has no elements: the environment holds none
                continue
            assigns = _ASSIGNS.match(text, pos)
            before = text[: token.start()].rstrip()
            if assigns is not None or before.endswith(("++", "--")):
                here.append(name)
            if name not in assigned and not (assigns is not None and assigns.group(1)):
                self.look_up(name, counts=assigns is not None)
        if keeps and not may_not_happen:
            for name in assigned + here:
                self.walker.state.put(name, Value(["1"]))

    def subscript(self, name: str, text: str, start: int) -> int:
        """Expand the subscript that opens at `start` once more, and read it; the position behind it."""
        level = 0
        for pos in range(start, len(text)):
            level += _OPENED.get(text[pos], 0)
            if level == 0:
                break
        inner = text[start + 1 : pos]
        if inner not in ("@", "*") and not inner.isdigit():
            again, taint = self.walker.expander.again(inner)
            if name not in self.walker.state.associative:
                self.pending.append((again, taint))
        return pos + 1

    def look_up(self, name: str, *, counts: bool = False) -> None:
        """The expressions that a name may stand for. What only counts up, such as `((n++))`, begins at nothing if it was not set."""
        if name in self.seen:
            return
        if len(self.seen) > _MAX_NAMES:
            self.doubt("var")
            return
        self.seen.add(name)
        value = self.walker.expander.lookup(name) or Value([UNKNOWN], "var")
        begins = counts and name.islower() and value.taint == "var"
        self.pending += [
            (text, value.taint) for text in value.texts if not (text.isdigit() or (begins and text == UNKNOWN))
        ]
