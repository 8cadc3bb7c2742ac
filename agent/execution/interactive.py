"""Guess from a command's words which kind of terminal it needs. Data in interactive.toml.

A wrong guess is an inconvenience only (a pager that copies, an output that is not coloured): `:tty` puts it right.
"""

from __future__ import annotations

import functools
import os
from typing import Any, Literal

from agent.execution.command_words import Segment, segments, unwrap

Need = Literal["pipes", "screen", "whole"]
"""Output through pipes; standard output to a terminal of its own, errors apart; the whole terminal, passed through."""


def needed(command: str, extra: tuple[str, ...] = ()) -> Need:
    """What the most demanding part of `command` needs. `extra`: names of more programs that need the whole terminal."""
    found = [segment for segment in segments(command) if not segment.background]
    if any(_takes_all(segment, extra) for segment in found):
        return "whole"
    return "screen" if any(_shows_progress(segment) for segment in found) else "pipes"


def wants_terminal(command: str, extra: tuple[str, ...] = ()) -> bool:
    """Tell whether some part of `command` is a full-screen program, an editor, or a prompt."""
    return needed(command, extra) == "whole"


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
    """Its words from the program on, which is named without its folder."""
    words = unwrap(segment.words)
    return [os.path.basename(words[0]), *words[1:]] if words else []


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
