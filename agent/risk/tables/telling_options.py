"""Judge options that a program's table does not name by what their own names say: files they write, code they run.

`--log-file F` writes F and `--pager CMD` runs CMD whichever program has such an option, and a table can have missed it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.risk.reader.invocation import Invocation
from agent.risk.reader.words import Word
from agent.risk.tables.options import Args
from agent.risk.tables.store import Program
from agent.text.lazy_pattern import LazyPattern

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

_WRITES = LazyPattern(
    r"outp?u?|out(?:puts?)?(?:files?|dirs?|paths?|to)?|\w*(?:out|log|save|dump|write|err|pid|trace|report)file|logdir|save(?:as|to)?|write(?:to)?|"
    r"export(?:to)?|dumpto|record|tee|dest|destination"
)
_RUNS = LazyPattern(
    r"\w*(?:cmd|command|exec|script|prog|program|plugin|hook|pager|editor|wrapper|helper|rsh|configfile|rcfile|askpass|processor)s?|"
    r"execute|load|preload|require|pre|post|shell|compressor|browser|viewer|eval|config|conf|rc|modules?|engine|interpreter|"
    r"callback|lib|library|init|trigger"
)
_LOGS = frozenset(
    (
        "log",
        "trace",
        "dump",
        "report",
        "profile",
        "error",
        "errors",
        "debug",
        "pid",
        "status",
        "stats",
        "state",
        "attribute",
        "cursor",
    )
)
_PLACES = frozenset(("file", "path", "to", "dir", "directory", "folder"))
# About what is written or run, not where or what: `--output-format`, `--log-level`, `--no-config`.
_MANNER_NAMES = """format type style delimiter separator encoding width level fields field color colour mode charset size limit buffer
only no not without skip ignore indent version name timeout count max min interval prefix suffix template append overwrite errors help
list show print quiet verbose rate depth len length wait retry all indicator duplicates lineterminator read data"""
_MANNER = frozenset(_MANNER_NAMES.split())
_PART = LazyPattern(r"[A-Z]?[a-z]+|[A-Z]+|\d+")
# What says how output is to look where `--output` names no file.
_FORMAT = LazyPattern(
    r"(?:json|yaml|yml|xml|toml|csv|tsv|text|txt|table|html|wide|name|plain|raw|short|long|full|none|id|value|env|tree|list|pretty|human|"
    r"default|jsonl|ndjson|markdown|md|sarif|dot|stdout|bash|zsh|fish|powershell|[A-Z]+(?:,[A-Z]+)+|(?:json|go|custom)[\w-]*(?:=.*)?|-|true|false|auto|never|always|yes|no)",
    re.S,
)


def judge_telling_options(walker: Walker, invocation: Invocation, table: Program, args: Args) -> None:
    """At least medium for a value that would be written to, or run, by what its option is called."""
    for name, value in args.options:
        if len(name) < 4 or (name[1] != "-" and table.style != "long") or _named(table, name):
            continue
        role = told_by(name)
        if not role:
            continue
        word = value if value is not None else _behind(invocation, name)
        if word is None or _FORMAT.fullmatch(word.text):
            continue
        if role == "write":
            walker.add("write", [word], invocation.place, invocation=invocation, rule="write.option")
        else:
            reason = f"may run or load {{targets}}, by its option {name[:30]}"
            walker.add("run", [word], invocation.place, reason=reason, rule="run.option")


def told_by(name: str) -> str:
    """What an option's value is by its name: "write", "run", or "" where that is not said."""
    parts = [part.lower() for part in _PART.findall(name)]
    if not _MANNER.isdisjoint(parts):
        return ""
    if any(map(_WRITES.fullmatch, parts)) or (not _LOGS.isdisjoint(parts) and not _PLACES.isdisjoint(parts)):
        return "write"
    return "run" if parts == ["filter"] or any(map(_RUNS.fullmatch, parts)) else ""


def _named(table: Program, name: str) -> bool:
    return name in table.value or name in table.longs or name in table.singles or name in table.dry


def _behind(invocation: Invocation, name: str) -> Word | None:
    """The word that follows the option, unless that is one too."""
    words = invocation.words
    for index, word in enumerate(words[1:-1], 1):
        if word.text == name:
            following = words[index + 1]
            return None if following.text.startswith("-") and len(following.text) > 1 else following
    return None
