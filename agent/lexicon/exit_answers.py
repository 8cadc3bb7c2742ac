"""Know which exit codes are answers and no failures ("nothing matched"), and which questions are about the last run.

The table is exit_answers.toml, read when first asked about.
"""

from __future__ import annotations

import os
import re
import tomllib
from functools import cache
from typing import Any

from agent.protocol.messages import CommandItem

_THAT = r"(?:it|this|that|the\ (?:last\ )?(?:command|error|failure))"
_ABOUT_LAST = re.compile(
    rf"""(?:(?:so|and|but|ok(?:ay)?,?|please)\ )?(?:
            why | why\ not | why\ (?:did|does|has|is|was)(?:\ not|n't)?\ {_THAT}(?:\ (?:just|not))*(?:\ \w+(?:\ wrong)?)?
          | what(?:'s|\ is|\ was|\ went)\ (?:wrong|the\ (?:error|problem|failure|matter))(?:\ (?:with|there|here|{_THAT}))*
          | what\ (?:happened|failed) | what\ (?:does|did)\ {_THAT}\ mean | explain\ {_THAT} | that\ (?:failed|did\ not\ work|didn't\ work)
          | (?:can\ you\ |could\ you\ )?(?:fix|correct|repair)\ {_THAT} | how\ (?:do|can|could|should)\ i\ (?:fix|correct|repair)\ {_THAT}
        )(?:\ please)?[\s?!.]*""",
    re.IGNORECASE | re.VERBOSE,
)


def asks_about_last(text: str) -> bool:
    """Tell whether a goal is about the command before it and nothing else: "why did that fail", "fix it"."""
    return len(text) <= 80 and _ABOUT_LAST.fullmatch(text.strip()) is not None


_PREFIXES = frozenset(("sudo", "doas", "env", "command", "exec", "nohup", "nice", "time", "builtin"))
_LINES_READ = 50
_QUOTED = re.compile(r"\\.|'[^']*'|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)
_SEMICOLON = re.compile(r"[;\n]")


def succeeded(item: CommandItem) -> bool:
    """Tell whether a command that ran did what it was to do: exit code 0, or one that is an answer."""
    return item.exit_code == 0 or bool(answer_of(item))


def answer_of(item: CommandItem) -> str:
    """Return what a non-zero exit code means where it is no failure; "" for 0, for a failure, and for what was ended."""
    if item.exit_code in (0, None) or item.timed_out or item.interrupted:
        return ""
    programs = deciding_programs(item.run or item.proposed)
    complaint = item.stderr.strip()
    for entry in _table():
        if entry["exit"] != item.exit_code or programs.isdisjoint(entry["programs"]):
            continue
        partial = entry.get("partial")
        if partial is None and not complaint:
            return str(entry["says"])
        if (
            partial is not None
            and complaint
            and all(re.search(partial, line) for line in complaint.splitlines()[:_LINES_READ])
        ):
            return str(entry["says"])
    return ""


def deciding_programs(command: str) -> set[str]:
    """Programs whose exit code the command may have: the first word of its stages, with "git diff" as one. What stands before the last
    semicolon has none of it.
    """
    programs: set[str] = set()
    plain = _QUOTED.sub("'", command)
    for stage in re.split(r"\|\|?|&&", _SEMICOLON.split(plain.strip("; \n"))[-1]):
        words = stage.split()
        while words and (words[0] in _PREFIXES or re.match(r"\w+=", words[0])):
            words = words[1:]
        if words:
            programs.add(words[0].rsplit("/", 1)[-1])
            programs.add(" ".join(words[:2]))
    return programs


@cache
def _table() -> list[dict[str, Any]]:
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "exit_answers.toml"), "rb") as file:
        results: list[dict[str, Any]] = tomllib.load(file)["result"]
    return results
