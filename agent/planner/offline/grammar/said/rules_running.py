"""Commands that are run again and again, several times, with the time they take, or in the background."""

from __future__ import annotations

import re
import shlex

from agent.planner.offline.grammar.said.sentence_rules import Heard, Said
from agent.planner.offline.values import quote_path

_MOST_TIMES = 1000
_SECONDS = {"second": 1, "sec": 1, "s": 1, "minute": 60, "min": 60, "hour": 3600}
# What may be said without quotes: programs whose names are no other words in such a place.
_PROGRAMS = frozenset(
    [
        "ls",
        "df",
        "du",
        "date",
        "ps",
        "uptime",
        "free",
        "who",
        "w",
        "id",
        "pwd",
        "vmstat",
        "iostat",
        "netstat",
        "ss",
        "ping",
        "curl",
        "wget",
        "cat",
        "wc",
        "git",
        "make",
        "npm",
        "pytest",
        "python",
        "python3",
        "node",
        "cargo",
        "go",
        "docker",
        "kubectl",
        "sensors",
        "ifconfig",
        "ip",
        "dig",
        "stat",
        "head",
        "tail",
        "grep",
        "find",
        "sort",
        "hostname",
        "uname",
        "lsblk",
        "lsof",
        "nvidia-smi",
        "echo",
        "sleep",
    ]
)
_PLAIN = re.compile(r"[\w./:=@%+,-]+(?: [\w./:=@%+,-]+){0,6}\Z")
_ENGLISH = re.compile(
    r"(?:\A| )(?:the|my|a|an|it|this|that|all|every|and|then|to|in|on|for|with|of|until|again)(?: |\Z)", re.IGNORECASE
)
_SHELL = {"#!/bin/sh": "sh", "#!/usr/bin/sh": "sh"}


def command_said(heard: Heard, name: str) -> str:
    """The command that a hole speaks of: quoted, a script that is here, or a program with plain arguments; "" for none."""
    said = heard.text(name).strip()
    if heard.raw(name).strip() != said:
        return said
    words = said.split()
    if not words or not _PLAIN.match(said) or _ENGLISH.search(said):
        return ""
    if words[0] in _PROGRAMS:
        return said
    return _script(heard, words)


def _unquoted(heard: Heard) -> str:
    """A command without quotes; recipes know those in quotes."""
    return command_said(heard, "cmd") if heard.raw("cmd") == heard.text("cmd") else ""


def _script(heard: Heard, words: list[str]) -> str:
    text = heard.scene.peek(words[0])
    path, rest = quote_path(words[0]), " ".join(words[1:])
    ending = words[0].rpartition(".")[2].lower() if "." in words[0] else ""
    if ending in ("sh", "bash"):
        program = _SHELL.get(text.split("\n", 1)[0].strip(), "bash")
        return f"{program} {path} {rest}".rstrip() if text else ""
    if ending == "py" and text:
        return f"python3 {path} {rest}".rstrip()
    if text.startswith("#!"):
        return f"{path if '/' in path else './' + path} {rest}".rstrip()
    return ""


def _times(heard: Heard) -> str | None:
    command, times = _unquoted(heard), int(heard.number("n"))
    if not command or not 1 <= times <= _MOST_TIMES:
        return None
    numbers = " ".join(map(str, range(1, times + 1))) if times <= 20 else f"$(seq {times})"
    pause = f"; sleep {_pause(heard)}" if heard.has("p") else ""
    return f"for i in {numbers}; do {command}{pause}; done"


def _pause(heard: Heard) -> str:
    unit = heard.low("unit").rstrip("s") or "second"
    every = heard.number("p") if heard.has("p") else "1"
    return str(int(every) * _SECONDS.get(unit, 1))


def _again(heard: Heard) -> str | None:
    command = _unquoted(heard)
    return f"watch -n {_pause(heard)} {shlex.quote(command)}" if command and _pause(heard) != "0" else None


def _timed(heard: Heard) -> str | None:
    command = _unquoted(heard)
    return f"time {command}" if command else None


def _behind(heard: Heard) -> str | None:
    command = _unquoted(heard)
    return f"nohup bash -c {shlex.quote(command)} > nohup.out 2>&1 &" if command else None


def _run(heard: Heard) -> str | None:
    command = _unquoted(heard)
    return command if command and heard.scene.peek(heard.text("cmd").split()[0]) else None


_RUN = r"(?:run|execute|call|start|launch|invoke|repeat)"
_CMD = r"(?:the )?(?:command |program |script )?(?P<cmd>'[^'\0]+'|\"[^\"\0]+\"|`[^`\0]+`|[\w./:=@%+, -]+?)"
_UNIT = r"(?P<unit>seconds?|secs?|minutes?|mins?|hours?|s)"

RULES = [
    Said(
        "times twice", rf"{_RUN} {_CMD},? (?:exactly )?<n:int> times(?: in a row| one after (?:another|the other))?(?:,? (?:with (?:a pause of |a delay of )?|waiting |every |pausing )<p:int> {_UNIT}(?: (?:in )?between(?: (?:them|each|the runs))?| pause| apart)?)?",
        _times, "a command several times",
    ),
    Said("every each seconds", rf"(?:{_RUN}|watch|do|show|print|refresh) (?:the output of )?{_CMD},? (?:again |over and over |repeatedly )*(?:every|each|once every|once an?|once a) (?:<p:int> )?{_UNIT}", _again, "a command again and again"),
    Said(
        "long time measure",
        rf"(?:(?:measure|time|tell me|show|show me|find out|check|see) )?how long (?:does |do |it takes to |it takes for )?(?:it take to )?(?:running |run |executing |execute )?{_CMD}(?: takes?| take| runs?| needs?| lasts?)?(?: (?:to (?:run|finish|complete|execute)))?",
        _timed, "time that a command takes",
    ),
    Said("time measure", rf"(?:time|measure|benchmark) (?:the )?(?:(?:run(?:ning)? |execution )?time (?:of|for|it takes to run) |execution of |run of |how much time (?:is needed for|is needed by) )?{_CMD}", _timed, "time that a command takes"),
    Said("background behind", rf"(?:{_RUN}|put|send) {_CMD} (?:in|into|to) (?:the )?background(?:,? (?:and )?(?:so that it )?(?:keeps?|keeping)(?: it)? (?:running|going|alive)(?: (?:after|when|if|even) .{{3,30}})?)?", _behind, "a command in the background"),
    Said("run execute start launch", rf"{_RUN} {_CMD}", _run, "a script"),
]  # fmt: skip
