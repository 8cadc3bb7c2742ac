"""Judge variables before a program that may obey them: settings, sources of code, files that are written, and unknown names."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from agent.protocol.decisions import Level, worst
from agent.risk.invocations.environment import (
    PLACE,
    SWITCH,
    WHEN_SET,
    counts_when_set,
    found,
    from_elsewhere,
    is_trusted,
    judge_environment,
    judge_obeyed_value,
)
from agent.risk.invocations.written_code import judge_language
from agent.risk.reader.words import HISTORY_VARIABLES, UNKNOWN, Invocation, Word
from agent.risk.tables.store import program
from agent.risk.tables.variables import variables

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

_CODE = {"PERL5DB": "perl"}  # what holds code, and in which language
_MAX_VISIBLE = 2_000
_TOLD_ELSEWHERE = HISTORY_VARIABLES | {"PATH"}
_NAMELESS = re.compile(r"[\w.@+-]*|[a-z][a-z0-9+]*://[\w.@:/?=%+-]*")  # a word or an address: nothing of this machine


# Names of variables that say where something is written (`FFREPORT=file=PATH`), and parts of those that say how.
_WRITTEN_TO = re.compile(r"LOG|TRACE|REPORT|DUMP|DEBUG|OUTPUT|OUT_?FILE|RECORD|CAPTURE|COVERAGE|HISTORY")
_SAYS_HOW = re.compile(r"CONF|LEVEL|FORMAT|RC$|CATALOG|LOGIN|LOGO|DIALOG|BLOG")
_PLACES = re.compile(r"(?<![\w/])[~/][\w./@+-]+")
_RUNS_SCRIPTS = (
    "request-pull",
    "filter-branch",
    "mergetool",
    "difftool",
    "instaweb",
    "web--browse",
    "quiltimport",
    "submodule",
)


def is_command(text: str) -> bool:
    """Tell whether a value could be a program, or a command, that a script starts."""
    first = text.split(maxsplit=1)[:1]
    return bool(first) and ("/" in first[0] or program(first[0]) is not None)


def _is_script(invocation: Invocation) -> bool:
    """Tell whether what is started is a script of a shell, also one of git's own."""
    name = invocation.words[0].text.rpartition("/")[2]
    return name in variables().scripts or (
        name == "git" and any(word.text in _RUNS_SCRIPTS for word in invocation.words[1:6])
    )


def judge_started(walker: Walker, program: str, invocation: Invocation) -> None:
    """Judge what was set for this program, or exported by this command before."""
    given = list(invocation.environment)
    for name in walker.state.exported:
        value = walker.state.variables.get(name)
        if value is None and variables().kind(name) == "config":  # `export HOME` says nothing new
            continue
        texts, taint = (value.texts, value.taint) if value is not None else ([UNKNOWN], "var")
        given += [(name, Word(text, *invocation.place, taint=taint)) for text in texts]
    if len(given) > _MAX_VISIBLE:
        walker.add("run-opaque", [], invocation.place, reason="sets more variables than can be followed")
        return
    walker.work.spend(len(given) / 4)
    with _obeying(walker) as first:
        for name, word in given if first else ():
            if not word.text or not variables().may_obey(program, name):
                continue
            told = walker.obeyed.get((name, word.text))
            if told is not None:  # what was exported once is not told of every program behind it
                walker.programs.found(told)
                continue
            before = len(walker.findings)
            _judge_obeyed(walker, name, word, invocation, given)
            if len(walker.findings) > before:
                walker.obeyed[name, word.text] = worst(tuple(finding.level for finding in walker.findings[before:]))


def judge_earlier(walker: Walker, program: str, invocation: Invocation, exports: dict[str, str]) -> list[str]:
    """Judge what earlier commands of the session exported; the names of those that count."""
    word = invocation.words[0]
    given = [(name, word.part(value)) for name, value in exports.items() if value]
    counted = []
    with _obeying(walker) as first:
        for name, value in given if first else ():
            if name in _TOLD_ELSEWHERE or not name.isidentifier() or not variables().obeys(program, name):
                continue
            kind = variables().kind(name)
            if kind == "" and _NAMELESS.fullmatch(value.text):  # of all that a session sets, little is for this program
                continue
            before = len(walker.findings)
            judge_environment(walker, [(name, value)], invocation.place)
            _judge_obeyed(walker, name, value, invocation, given)
            if len(walker.findings) > before:
                counted.append(name)
    return counted


@contextmanager
def _obeying(walker: Walker) -> Iterator[bool]:
    """Tell whether this is not already within what a variable runs, which gets the same variables."""
    first = not walker.obeying
    walker.obeying = True
    try:
        yield first
    finally:
        walker.obeying = not first


def _judge_obeyed(walker: Walker, name: str, word: Word, invocation: Invocation, given: list[tuple[str, Word]]) -> None:
    """One variable, before a program that may obey it."""
    kind = variables().kind(name)
    place, text = invocation.place, word.text
    if name in _CODE:
        judge_language(walker, invocation, text, _CODE[name], word.taint)
    _as_arguments(walker, kind, name, word, invocation)
    if kind in WHEN_SET and not counts_when_set(name):
        judge_obeyed_value(walker, kind, name, word, place)
    elif kind == "setting":
        _git_setting(walker, name, word, invocation, given)
    elif kind == "write":
        if not SWITCH.fullmatch(text) and ("/" in text or not name.startswith("GIT_TRACE")):
            within = [word.part(path) for path in _PLACES.findall(text)] if "=" in text else []  # `file=PATH:level=32`
            walker.add("write", within or [word], place, invocation=invocation, rule="environment.write")
    elif kind == "source":
        if text not in variables().plain["source"] and not SWITCH.fullmatch(text):
            unprotected = Level.HIGH if "http://" in text or "net" in word.taint else None
            reason = "takes code from where {targets} says"
            words = [word.part(f"{name}={text}")]
            walker.add("environment", words, place, level=unprotected, reason=reason, rule="environment.source")
    elif kind == "config":
        only_says_how = SWITCH.fullmatch(text) and not counts_when_set(name)  # `XDG_CONFIG_HOME=test` is a folder
        if not only_says_how and not is_trusted(walker, text):
            open_ = from_elsewhere(walker, word, PLACE.findall(text))
            found(walker, name, word, place, "environment.settings", open_=open_)
    elif kind == "obeyed" or (kind == "" and not SWITCH.fullmatch(text)):
        if _WRITTEN_TO.search(name) and not _SAYS_HOW.search(name):
            walker.add("write", [word.part(path) for path in _PLACES.findall(text)], place, rule="environment.write")
        if _is_script(invocation) and is_command(text):
            judge_obeyed_value(walker, "command", name, word, place)
        reason = "may load or run something because of {targets}"
        words = [word.part(f"{name}={text}")]
        walker.add("environment", words, place, reason=reason, rule="environment.unknown")


_ARGUMENTS = re.compile(r"(?:_CLI)?_(?:ARGS?|ARGUMENTS|OPTS?|OPTIONS|FLAGS|ADDOPTS)(?:_(\w+))?$|FLAGS$")


def _as_arguments(walker: Walker, kind: str, name: str, word: Word, invocation: Invocation) -> None:
    """Arguments in a variable for the program of its name, or a sub-command of it, as if they stood on its line: high counts."""
    ending, program_name = _ARGUMENTS.search(name), invocation.words[0].text.rpartition("/")[2]
    if kind != "options" or ending is None:
        return
    owner, sub_command = name[: ending.start()].lower().replace("_", "-"), (ending[1] or "").partition("_")[0]
    known = any(held.hold(name) and program_name in programs for held, programs in variables().obeyed_by)
    if not known and not program_name.startswith(owner or "\0"):
        return
    if sub_command and all(sub_command != given.text for given in invocation.words[1:]):
        return
    try:
        texts = shlex.split(word.text)
    except ValueError:
        texts = word.text.split()
    before = len(walker.findings)
    walker.dispatch(invocation.inner([*invocation.words, *(word.part(text) for text in texts)], name))
    walker.findings[before:] = [found for found in walker.findings[before:] if found.level is Level.HIGH]


def _git_setting(walker: Walker, name: str, word: Word, invocation: Invocation, given: list[tuple[str, Word]]) -> None:
    """Settings of git by variables mean what `git -c` means."""
    from agent.risk.programs.git import judge_setting

    if name == "GIT_CONFIG_PARAMETERS":
        for text in re.sub(r"'='", "=", word.text).split("' '"):
            judge_setting(walker, word.part(text.strip("'")), invocation)
        return
    kind, _, number = name.removeprefix("GIT_CONFIG_").partition("_")
    partner = f"GIT_CONFIG_{'VALUE' if kind == 'KEY' else 'KEY'}_{number}"
    partners = [other for key, other in given if key == partner]
    if not partners:
        found(walker, name, word, invocation.place, "environment.unknown")
    for key in partners if kind == "VALUE" else ():
        judge_setting(walker, word.part(f"{key.text}={word.text}"), invocation)
