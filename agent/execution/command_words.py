"""The simple commands of a line, roughly: their words, and where input and output of each go.

A small scanner and not a shell grammar, for guesses where being wrong is an inconvenience only (which kind of terminal a
command gets), never for questions of safety.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field

_WRAPPERS = (
    "env",
    "command",
    "exec",
    "time",
    "nohup",
    "nice",
    "ionice",
    "stdbuf",
    "builtin",
    "sudo",
    "doas",
    "if",
    "while",
    "until",
    "then",
    "do",
    "else",
    "elif",
    "!",
    "{",
)
_WRAPPER_VALUES = {
    "sudo": ("-u", "-g", "-h", "-p", "-C", "-r", "-t"),
    "doas": ("-u",),
    "nice": ("-n",),
    "env": ("-u", "-C"),
}
_OPERATORS = (
    "&>>",
    "&&",
    "&>",
    ">&",
    "<&",
    "||",
    ";;",
    "|&",
    ">>",
    "<<",
    "<(",
    ">(",
    "|",
    "&",
    ";",
    "\n",
    "(",
    ")",
    "<",
    ">",
)
_OPENING, _CLOSING = ("{", "if", "while", "until", "for", "select", "case"), ("}", "fi", "done", "esac")


@dataclass
class Segment:
    """One simple command: its words, and where its input and output go, those of the groups around it included."""

    words: list[str] = field(default_factory=list)
    piped_in: bool = False
    piped_out: bool = False
    redirected_in: bool = False
    redirected_out: bool = False
    background: bool = False

    @property
    def shows(self) -> bool:
        """Tell whether its output goes to the terminal."""
        return not self.piped_out and not self.redirected_out


@dataclass
class _Group:
    """What stands between brackets, or between `do` and `done`. `outer` goes on where it was a part of a word."""

    found: list[Segment] = field(default_factory=list)
    outer: Segment | None = None
    data: bool = False


def segments(command: str) -> list[Segment]:
    """The simple commands of `command`, in order."""
    return _Scanner().scan(command)


class _Scanner:
    def __init__(self) -> None:
        self._found: list[Segment] = []
        self._groups: list[_Group] = []
        self._now = Segment()
        self._closed: list[Segment] = []  # of the group that ended just before: what follows is about it
        self._target = False  # the next word is where a redirection goes

    def scan(self, command: str) -> list[Segment]:
        for operator, text in _tokens(command):
            if not operator:
                self._word(text)
            elif text in ("(", "<(", ">("):
                self._open(substitution=text != "(")
            elif text == ")":
                self._close()
            elif text in ("<", "<<", "<&"):
                self._now.redirected_in = self._target = True
            elif text in (">", ">>", ">&", "&>", "&>>"):
                self._redirect()
            else:
                self._end(text)
        self._end("")
        return self._found

    def _word(self, text: str) -> None:
        if self._target:
            self._target = False
            return
        if not self._now.words and text in _CLOSING and self._groups:
            self._closed = self._groups.pop().found
            return
        self._now.words.append(text)
        if text in _OPENING and all(word in _WRAPPERS for word in self._now.words[:-1]):
            self._groups.append(_Group())

    def _redirect(self) -> None:
        descriptor = "1"
        if self._now.words and self._now.words[-1].isdigit():
            descriptor = self._now.words.pop()
        if descriptor == "1":
            for segment in (self._now, *self._closed):
                segment.redirected_out = True
        self._target = True

    def _open(self, *, substitution: bool) -> None:
        words = self._now.words
        captured = substitution or (bool(words) and words[-1].endswith("$"))
        data = not substitution and bool(words) and words[-1].endswith("=")  # an array
        self._groups.append(_Group(outer=self._now if words or substitution else None, data=data))
        self._now, self._target = Segment(redirected_out=captured), False

    def _close(self) -> None:
        self._end(")")
        group = self._groups.pop() if self._groups else _Group()
        if group.outer is None:
            self._closed = group.found
        elif group.found or group.data:
            self._now = group.outer
            if group.data:
                for segment in group.found:
                    segment.words.clear()
        # else: `name ()`, and what follows is the body of a function

    def _end(self, operator: str) -> None:
        """A command ended; `operator` says what becomes of its output, and of the group's that ended just before it."""
        for segment in (self._now, *self._closed):
            segment.piped_out |= operator in ("|", "|&")
            segment.background |= operator == "&"
        if self._now.words:
            self._found.append(self._now)
            for group in self._groups:
                group.found.append(self._now)
        self._closed, self._target = [], False
        self._now = Segment(piped_in=operator in ("|", "|&"))


def unwrap(words: list[str]) -> list[str]:
    """Drop assignments and wrappers such as `sudo -u x`; a bare `sudo -i` stays what it is."""
    rest = list(words)
    while rest:
        name = os.path.basename(rest[0])
        if "=" in name and name.split("=", 1)[0].isidentifier():
            rest.pop(0)
        elif name in _WRAPPERS:
            inner = rest[1:]
            while inner and inner[0].startswith("-"):
                option = inner.pop(0)
                if option in _WRAPPER_VALUES.get(name, ()) and inner:
                    inner.pop(0)
            if not inner:
                return rest
            rest = inner
        else:
            return rest
    return rest


def _tokens(command: str) -> Iterator[tuple[bool, str]]:
    """Yield (is operator, text), quotes removed, comments and expansions left as they are."""
    word: list[str] | None = None
    at = 0
    while at < len(command):
        character = command[at]
        if character in "'\"":
            end = command.find(character, at + 1)
            end = len(command) if end < 0 else end
            word = [*(word or []), command[at + 1 : end]]
            at = end + 1
        elif character == "\\":
            word = [*(word or []), command[at + 1 : at + 2]]
            at += 2
        elif operator := next((text for text in _OPERATORS if command.startswith(text, at)), ""):
            if word is not None:
                yield False, "".join(word)
            word = None
            yield True, operator
            at += len(operator)
        elif character.isspace():
            if word is not None:
                yield False, "".join(word)
            word = None
            at += 1
        else:
            word = [*(word or []), character]
            at += 1
    if word is not None:
        yield False, "".join(word)
