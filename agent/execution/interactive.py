"""Guess from a command's words whether it needs the terminal for itself. Data in interactive.toml.

A wrong guess is an inconvenience only (a pager that copies, an output that is not coloured), never a question of safety,
so this is a small scanner and not a shell grammar.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

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
    "then",
    "do",
    "else",
    "!",
    "{",
)
_WRAPPER_VALUES = {
    "sudo": ("-u", "-g", "-h", "-p", "-C", "-r", "-t"),
    "doas": ("-u",),
    "nice": ("-n",),
    "env": ("-u", "-C"),
}
_OPERATORS = ("&&", "||", ";;", "|&", ">>", "<<", "<(", ">(", "|", "&", ";", "\n", "(", ")", "<", ">")


@dataclass
class _Segment:
    """One simple command: its words, and where its input and output go."""

    words: list[str] = field(default_factory=list)
    piped_in: bool = False
    piped_out: bool = False
    redirected_in: bool = False
    redirected_out: bool = False
    background: bool = False


def wants_terminal(command: str, extra: tuple[str, ...] = ()) -> bool:
    """Whether some part of `command` is a full-screen program, an editor, or a prompt. `extra`: more program names."""
    return any(_interactive(segment, extra) for segment in _segments(command))


def _interactive(segment: _Segment, extra: tuple[str, ...]) -> bool:
    if segment.background:
        return False
    rules = _rules()
    words = _unwrap(segment.words)
    if not words:
        return False
    words[0] = os.path.basename(words[0])
    if words[0] in extra or _listed(words, rules["always"]):
        return not segment.redirected_out or words[0] in ("vim", "vi", "nano")
    output_is_terminal = not segment.piped_out and not segment.redirected_out
    if _listed(words, rules["pagers"]):
        return output_is_terminal
    options = {word.split("=", 1)[0] for word in words if word.startswith("-")}
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


def _listed(words: list[str], names: list[str]) -> bool:
    return any(_begins(words, name.split()) for name in names)


def _begins(words: list[str], head: list[str]) -> bool:
    """Whether program and sub-commands stand first and the options of `head` anywhere."""
    fixed = [word for word in head if not word.startswith("-")]
    return words[: len(fixed)] == fixed and all(word in words for word in head if word.startswith("-"))


def _unwrap(words: list[str]) -> list[str]:
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


def _segments(command: str) -> Iterator[_Segment]:
    segment = _Segment()
    redirect = ""
    for operator, text in _tokens(command):
        if not operator:
            if not redirect:
                segment.words.append(text)
            redirect = ""
        elif text in ("<", "<<"):
            segment.redirected_in, redirect = True, text
        elif text in (">", ">>"):
            if segment.words and segment.words[-1].isdigit():
                number = segment.words.pop()
                segment.redirected_out |= number == "1"
            else:
                segment.redirected_out = True
            redirect = text
        else:
            piped = text in ("|", "|&")
            segment.piped_out, segment.background = piped, text == "&"
            yield segment
            segment, redirect = _Segment(piped_in=piped), ""
    yield segment


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


@functools.cache
def _rules() -> dict[str, Any]:
    import tomllib
    from importlib import resources

    return tomllib.loads(resources.files(__package__).joinpath("interactive.toml").read_text("utf-8"))
