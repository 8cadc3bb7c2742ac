"""Read Tcl code for what is not on the list of the harmless: what stands where a command does, in braces and brackets too."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent.risk.inline.tokens import Reading
from agent.risk.tables.names import members, names

COMMANDS, FUNCTIONS = names("tcl.commands"), names("tcl.functions")
MEMBERS = members("tcl.members")

_BODIES = {"if": "", "while": "", "for": "", "foreach": "", "lmap": "", "catch": "", "expr": "", "proc": ""}
_SORTING = frozenset(
    ("-integer", "-real", "-unique", "-decreasing", "-increasing", "-ascii", "-dictionary", "-nocase", "-index")
)
_WORDS_OF_IF = frozenset(("else", "elseif", "then"))
_CONDITIONS = {"while": (0,), "for": (1,), "foreach": (), "lmap": ()}
_MAX_DEPTH = 12
_FUNCTION = re.compile(r"([A-Za-z_]\w*)\s*\(")


class _Word:
    """A word as written; `braced`: nothing in it is replaced."""

    __slots__ = ("braced", "text")

    def __init__(self, text: str, *, braced: bool) -> None:
        self.text = text
        self.braced = braced


class _Tcl:
    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.own: set[str] = set()  # commands that the code has defined by now

    def script(self, text: str, depth: int = 0) -> None:
        if depth > _MAX_DEPTH or len(text) > 20_000:
            self.reading.doubt("more than can be read")
            return
        for command in self._commands(text, depth):
            self._command(command, depth)

    def _commands(self, text: str, depth: int) -> Iterator[list[_Word]]:
        """The words of one command after the other: what is defined by one is known to the next."""
        words: list[_Word] = []
        index = 0
        while index < len(text):
            char = text[index]
            if char in "\n;":
                if words:
                    yield words
                words = []
                index += 1
            elif char.isspace():
                index += 1
            elif char == "#" and not words:
                end = text.find("\n", index)
                end = len(text) if end < 0 else end
                if text[end - 1] == "\\":
                    self.reading.doubt("a comment that goes on")
                index = end
            else:
                index = self._word(text, index, words, depth)
        if words:
            yield words

    def _word(self, text: str, start: int, words: list[_Word], depth: int) -> int:
        """Read one word; what is in brackets in it is code."""
        if text[start] == "{":
            end = self._closed(text, start)
            words.append(_Word(text[start + 1 : end], braced=True))
            if end + 1 < len(text) and text[end + 1] not in " \t\n;":
                self.reading.doubt("a word that is expanded")
            return end + 1
        quoted = text[start] == '"'
        index = start + quoted
        while index < len(text) and (text[index] != '"' if quoted else text[index] not in " \t\n;"):
            if text[index] == "\\":
                index += 1
            elif text[index] == "[":
                end = self._closed(text, index)
                self.script(text[index + 1 : end], depth + 1)
                index = end
            elif text.startswith("${", index):
                index = self._closed(text, index + 1)
            index += 1
        words.append(_Word(text[start + quoted : index], braced=False))
        return index + quoted

    def _closed(self, text: str, start: int) -> int:
        """Find the bracket that closes the one at `start`. Quotes in it that hide brackets are doubted."""
        pair = {"{": "}", "[": "]"}[text[start]]
        depth, index = 0, start
        while index < len(text):
            if text[index] == "\\":
                index += 1
            elif text[index] == text[start]:
                depth += 1
            elif text[index] == pair:
                depth -= 1
                if not depth:
                    inside = text[start:index]
                    if pair == "]" and (inside.count('"') % 2 or inside.count("{") != inside.count("}")):
                        self.reading.doubt("a bracket in quotes")
                    return index
            index += 1
        self.reading.doubt("a bracket without an end")
        return len(text)

    def _command(self, words: list[_Word], depth: int) -> None:
        name, given = words[0].text, words[1:]
        if name == "proc" and len(given) == 3 and not depth:  # deeper, it may not happen
            self.own.add(given[0].text)
        first = given[0].text if given else ""
        if name in MEMBERS:
            if first not in MEMBERS[name]:
                self.reading.doubt(f"{name} {first}")
        elif name in _BODIES:
            self._bodies(name, given, depth)
        elif name == "after":
            if len(given) != 1:
                self.reading.doubt(name)
        elif name not in COMMANDS and name not in self.own:
            self.reading.doubt(name)
        elif name == "lsort" and any(word.text not in _SORTING and not word.text.isdigit() for word in given[:-1]):
            self.reading.doubt("lsort by a command")
        elif (name == "regsub" and any(word.text[:2] == "-c" for word in given)) or (
            name == "regsub" and first[:1] in ("$", "[")
        ):
            self.reading.doubt(f"{name} -command")

    def _bodies(self, name: str, given: list[_Word], depth: int) -> None:
        """Commands whose words are code or conditions. These have to be in braces, else they are put together as it runs."""
        if name == "proc":
            given = given[2:]
        elif name in ("foreach", "lmap"):
            given = given[-1:]
        elif name == "catch":
            given = given[:1]
        conditions = _CONDITIONS.get(name, range(len(given)) if name == "expr" else ())
        for index, word in enumerate(given):
            is_condition = index in conditions or (name == "if" and (not index or given[index - 1].text == "elseif"))
            if name == "if" and word.text in _WORDS_OF_IF:
                continue
            if (not word.braced and re.search(r"[$\[\\]|\w\s", word.text)) or (not word.braced and not is_condition):
                self.reading.doubt(f"{name} with a computed word")
            if is_condition:
                self._condition(word.text, depth)
            else:
                self.script(word.text, depth + 1)

    def _condition(self, text: str, depth: int) -> None:
        for function in _FUNCTION.findall(re.sub(r"\$\w+\(", "$x ", text)):
            if function not in FUNCTIONS:
                self.reading.doubt(function)
        index = text.find("[")
        while index >= 0:
            end = self._closed(text, index)
            self.script(text[index + 1 : end], depth + 1)
            index = text.find("[", end)


def read(code: str) -> Reading:
    """Read Tcl `code`, for what is not understood of it."""
    reading = Reading()
    _Tcl(reading).script(code)
    return reading
