"""Guess from a command's words which kind of terminal it needs. Data in interactive.toml.

A wrong guess is an inconvenience only (a pager that copies, an output that is not coloured): `:tty` puts it right.
"""

from __future__ import annotations

import functools
import os
import re
from contextlib import suppress
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from agent.risk.reader.cursor import BudgetError
from agent.risk.reader.syntax import Parser
from agent.risk.reader.tree import Node, Pipeline, Sequence, Simple

_WRAPPERS = ("env", "command", "exec", "nohup", "nice", "ionice", "stdbuf", "builtin", "sudo", "doas")
_WRAPPER_VALUES = {
    "sudo": ("-u", "-g", "-h", "-p", "-C", "-r", "-t"),
    "doas": ("-u",),
    "nice": ("-n",),
    "env": ("-u", "-C"),
}
_VERSION = re.compile(r"-?\d+\.[\d.]+\Z")


class Segment(Struct, frozen=True):
    """One simple command: its words, and whether its input and output go elsewhere, by itself or by a group around it."""

    words: tuple[str, ...] = ()
    is_fed: bool = False
    is_taken: bool = False
    background: bool = False


def segments(command: str) -> list[Segment]:
    """Every simple command in the text, as far as it can be read."""
    found: list[Segment] = []
    with suppress(BudgetError):
        _walk(Parser(command).parse(), Segment(), command, found)
    return found


def _walk(value: object, around: Segment, text: str, found: list[Segment]) -> None:
    """Add the commands in a node, or in what a node holds, to `found`; `around`: where input and output go there."""
    match value:
        case Sequence(items=items):
            around = _redirected(value, around)
            for _, item, background in items:
                _walk(item, replace(around, background=around.background or background), text, found)
            return
        case Pipeline(commands=commands):
            last = len(commands) - 1
            for place, stage in enumerate(commands):
                fed, taken = around.is_fed or place > 0, around.is_taken or place < last
                _walk(stage, replace(around, is_fed=fed, is_taken=taken), text, found)
            return
        case ("cmd" | "proc", Sequence() as inner, _):
            _walk(inner, Segment(is_taken=True), text, found)
            return
        case Simple(words=words):
            around = _redirected(value, around)
            said = tuple(word.unquoted() or text[word.start : word.end] for word in words)
            found += [replace(around, words=said)] if said else []
        case Node():
            around = _redirected(value, around)
    parts = [getattr(value, name) for name in value.__struct_fields__] if isinstance(value, Struct) else value
    for part in parts if isinstance(parts, list | tuple) else ():
        _walk(part, around, text, found)


def _redirected(node: Node, around: Segment) -> Segment:
    fed = any(each.operator.startswith("<") for each in node.redirects)
    taken = any(not each.operator.startswith("<") and each.fd in ("", "1") for each in node.redirects)
    return replace(around, is_fed=around.is_fed or fed, is_taken=around.is_taken or taken)


def _unwrapped(words: tuple[str, ...]) -> list[str]:
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
        batch = rules["batch"].get(words[0], [])  # a short one also with more behind it (`-bn1`)
        begins = tuple(option for option in batch if len(option) == 2)
        if options & {"--help", "--version"} or any(word in batch or word.startswith(begins) for word in words):
            return False
        return not segment.is_taken or _listed(words, rules["beside"])
    if _listed(words, rules["pagers"]):
        return not segment.is_taken and not options & {"--help", "--version"}
    for name, unless in rules["editing"].items():
        if _begins(words, name.split()):
            return not options & set(unless)
    for name, rule in rules["prompts"].items():
        head = name.split()
        if _begins(words, head):
            rest = [word for word in words[len(head) :] if not word.startswith("-")]
            wanted = not rule.get("needs") or bool(options & set(rule["needs"]))
            from_elsewhere = segment.is_fed
            return wanted and not from_elsewhere and not options & set(rule["unless"]) and len(rest) <= rule["words"]
    return False


def _shows_progress(segment: Segment) -> bool:
    words = _program(segment)
    return bool(words) and not segment.is_taken and _listed(words, _rules()["screen"])


def _program(segment: Segment) -> list[str]:
    """Its words from the program on, which is named without its folder and its version (python3.11)."""
    words = _unwrapped(segment.words)
    return [_VERSION.sub("", os.path.basename(words[0])), *words[1:]] if words else []


def _listed(words: list[str], names: list[str]) -> bool:
    return any(_begins(words, name.split()) for name in names)


def _begins(words: list[str], head: list[str]) -> bool:
    """Tell whether program and sub-commands stand first and the options of `head` anywhere."""
    fixed = [word for word in head if not word.startswith("-")]
    return words[: len(fixed)] == fixed and all(word in words for word in head if word.startswith("-"))


@functools.cache
def _rules() -> dict[str, Any]:
    import tomllib
    from importlib import resources

    return tomllib.loads(resources.files(__package__).joinpath("interactive.toml").read_text("utf-8"))
