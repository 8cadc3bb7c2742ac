"""Guess from a command's words which kind of terminal it needs. Data in interactive.toml.

A wrong guess is an inconvenience only (a pager that copies, an output that is not coloured): `:tty` puts it right.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

_WRAPPERS = (
    "env", "command", "exec", "time", "nohup", "nice", "ionice", "stdbuf", "builtin", "sudo", "doas", "if", "while", "until", "then", "do",
    "else", "elif", "!", "{",
)  # fmt: skip
_WRAPPER_VALUES = {
    "sudo": ("-u", "-g", "-h", "-p", "-C", "-r", "-t"),
    "doas": ("-u",),
    "nice": ("-n",),
    "env": ("-u", "-C"),
}
_TOKEN = re.compile(
    r"""'(?P<single>[^']*)'?|"(?P<double>[^"]*)"?|\\(?P<escaped>.?)|"""
    r"(?P<operator>&>>|&&|&>|>&|<&|\|\||;;|\|&|>>|<<|<\(|>\(|[|&;\n()<>])|(?P<blank>\s)|(?P<plain>.)",
    re.DOTALL,
)
_VERSION = re.compile(r"-?\d+\.[\d.]+\Z")
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
        return not self.piped_out and not self.redirected_out


@dataclass
class _Group:
    """A part in brackets, or between `do` and `done`. `outer` goes on where it was a part of a word."""

    found: list[Segment] = field(default_factory=list)
    outer: Segment | None = None
    data: bool = False


def segments(command: str) -> list[Segment]:
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
            continue
        if name not in _WRAPPERS:
            break
        inner = rest[1:]
        while inner and inner[0].startswith("-"):
            valued = inner[0] in _WRAPPER_VALUES.get(name, ())
            inner = inner[2 if valued else 1 :]
        if not inner:
            break
        rest = inner
    return rest


def _tokens(command: str) -> Iterator[tuple[bool, str]]:
    """Yield (is operator, text), quotes removed, comments and expansions left as they are."""
    word: str | None = None
    for match in _TOKEN.finditer(command):
        kind = match.lastgroup or ""
        if kind not in ("operator", "blank"):
            word = (word or "") + match[kind]
            continue
        if word is not None:
            yield False, word
        word = None
        if kind == "operator":
            yield True, match[kind]
    if word is not None:
        yield False, word


Need = Literal["pipes", "screen", "whole"]
"""Output through pipes; standard output to a terminal of its own, errors apart; the whole terminal, passed through."""


def needed(command: str, extra: tuple[str, ...] = ()) -> Need:
    """The need of the most demanding part of `command`. `extra`: names of more programs that need the whole terminal."""
    found = [segment for segment in segments(command) if not segment.background]
    if any(_takes_all(segment, extra) for segment in found):
        return "whole"
    return "screen" if any(_shows_progress(segment) for segment in found) else "pipes"


def _takes_all(segment: Segment, extra: tuple[str, ...]) -> bool:
    rules = _rules()
    words = _program(segment)
    if not words:
        return False
    options = {word.split("=", 1)[0] for word in words if word.startswith("-")}
    if words[0] in extra or _listed(words, rules["always"]):
        if options & {"--help", "--version"} or _has_option(words, rules["batch"].get(words[0], [])):
            return False
        return segment.shows or _listed(words, rules["beside"])
    if _listed(words, rules["pagers"]):
        return segment.shows and not options & {"--help", "--version"}
    for name, unless in rules["editing"].items():
        if _begins(words, name.split()):
            return not options & set(unless)
    for name, rule in rules["prompts"].items():
        head = name.split()
        if _begins(words, head):
            rest = [word for word in words[len(head) :] if not word.startswith("-")]
            wanted = not rule.get("needs") or bool(options & set(rule["needs"]))
            from_elsewhere = segment.piped_in or segment.redirected_in
            return wanted and not from_elsewhere and not options & set(rule["unless"]) and len(rest) <= rule["words"]
    return False


def _shows_progress(segment: Segment) -> bool:
    words = _program(segment)
    return bool(words) and segment.shows and _listed(words, _rules()["screen"])


def _program(segment: Segment) -> list[str]:
    """Its words from the program on, which is named without its folder and its version (python3.11)."""
    words = unwrap(segment.words)
    return [_VERSION.sub("", os.path.basename(words[0])), *words[1:]] if words else []


def _listed(words: list[str], names: list[str]) -> bool:
    return any(_begins(words, name.split()) for name in names)


def _begins(words: list[str], head: list[str]) -> bool:
    """Tell whether program and sub-commands stand first and the options of `head` anywhere."""
    fixed = [word for word in head if not word.startswith("-")]
    return words[: len(fixed)] == fixed and all(word in words for word in head if word.startswith("-"))


def _has_option(words: list[str], wanted: list[str]) -> bool:
    """Tell whether one of the options is there, a short one also with more behind it (`-bn1`)."""
    return any(word == option or (len(option) == 2 and word.startswith(option)) for word in words for option in wanted)


@functools.cache
def _rules() -> dict[str, Any]:
    import tomllib
    from importlib import resources

    return tomllib.loads(resources.files(__package__).joinpath("interactive.toml").read_text("utf-8"))
