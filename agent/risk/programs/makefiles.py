"""Judge make and what runs recipes like it (just, task, rake), and read the recipes that the command itself gives: on standard input,
with --eval, or written just before."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.risk.inline.origins import feed_findings
from agent.risk.inline.programs import is_like_command, suspect_text
from agent.risk.invocations.option_names import judge_evaluation
from agent.risk.reader.words import Invocation, Output, Word
from agent.risk.tables.options import Args
from agent.risk.tables.store import Program

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

_STANDARD_INPUT = ("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")
_DEFAULT_NAMES = ("GNUmakefile", "makefile", "Makefile")
_MACRO = re.compile(r"\s*(?:export\s+|override\s+)?([\w.]+)\s*(!|\?|\+|::?:?)?=\s*(.*)", re.S)
_RULE = re.compile(r"[^\s=:#][^=:]*::?(?![=:])(?:[^;=]*;(.*))?", re.S)
_USE = re.compile(r"\$[({](\w+)[)}]|\$([A-Za-z])")
_SHELL = re.compile(r"\$[({]shell\s(?:(.*)[)}]|(.+))|\$\{[^{}!]*:!(.*?)!", re.S)
_FILE = re.compile(r"\$[({]file\s+>{1,2}\s*([^\s,)}]+)")


def make(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """make: runs the project's recipes; -n only shows them; SHELL= and --eval are code."""
    for word in invocation.words[1:]:
        if word.text.startswith(("SHELL=", ".SHELLFLAGS=")):
            walker.add("environment", [word], invocation.place, rule="make.shell")
            walker.script(word.text.partition("=")[2], invocation.place, invocation)
    files = args.values("-f", "--file", "--makefile")
    for word in files:
        if "net" in word.taint:
            walker.add("run-remote", [word], invocation.place)
    if invocation.words[0].text.rpartition("/")[2].endswith("make"):
        judge_makefiles(walker, invocation, files)
        for word in args.values("--eval", "-E"):
            judge_makefile(walker, invocation, word.text)
        _judge_definitions(walker, invocation)
    else:
        judge_recipes(walker, invocation, [*files, *args.values("--justfile", "--taskfile")])
    for word in args.values("--eval", "-E"):
        walker.add("run", [word], invocation.place, rule="make.eval")
    return None


def _judge_definitions(walker: Walker, invocation: Invocation) -> None:
    """`make CC='$(shell …)'`: variables on the line are text of make's own, and often a program that its recipes run."""
    for word in invocation.words[1:]:
        value = word.text.partition("=")[2]
        if "$" in word.text or "!" in word.text:
            judge_makefile(walker, invocation, word.text)
        if is_like_command(value):
            suspect_text(walker, invocation, value)


def task(walker: Walker, invocation: Invocation, table: Program, args: Args) -> Output | None:
    """task --list --json runs what the recipes say to find out whether they are up to date."""
    judge_recipes(walker, invocation, args.values("-t", "--taskfile"))
    if args.has("--json", "-j", "--status") and not args.has("--no-status", "--help", "-h", "--version"):
        judge_evaluation(walker, invocation)
    return None


def judge_makefiles(walker: Walker, invocation: Invocation, files: list[Word]) -> None:
    """Findings for what the makefiles of `make` hold, as far as that is known; nothing for files of the project."""
    for word in files or [Word(name, *invocation.place) for name in _DEFAULT_NAMES]:
        known = walker.files.read(word, invocation.cwd)
        given: Output | None = invocation.stdin if word.text in _STANDARD_INPUT else known
        if given is not None:
            feed_findings(walker, invocation, *given)
            judge_makefile(walker, invocation, given[0] or "")


def judge_recipes(walker: Walker, invocation: Invocation, files: list[Word]) -> None:
    """Findings for recipes in another form (just, task, rake …): each line that could be shell is judged as that."""
    for word in files:
        given = invocation.stdin if word.text in _STANDARD_INPUT else walker.files.read(word, invocation.cwd)
        if given is None:
            continue
        feed_findings(walker, invocation, *given)
        for line in (given[0] or "").splitlines():
            _script(walker, invocation, line.strip().lstrip("-@ ").removeprefix("sh ").strip("'\""), {})
            for code in re.findall(r"`([^`]+)`", line):
                _script(walker, invocation, code, {})


def judge_makefile(walker: Walker, invocation: Invocation, text: str) -> None:
    """Judge the recipes of a makefile, and the commands that make runs while it reads one, as shell text."""
    macros: dict[str, str] = {}
    prefix = "\t"
    for line in text.replace("\\\n", " ").splitlines():
        for computed in _SHELL.finditer(line):
            _script(walker, invocation, computed[1] or computed[2] or computed[3] or "", macros)
        for written in _FILE.finditer(line):
            walker.add("write", [Word(written[1], *invocation.place)], invocation.place, invocation=invocation)
        if line.startswith(prefix):
            _script(walker, invocation, line[1:], macros)
        elif macro := _MACRO.fullmatch(line):
            name, operator, value = macro.groups()
            if operator == "!":
                _script(walker, invocation, value, macros)
            if name == ".RECIPEPREFIX":
                prefix = value[:1] or "\t"
            before = f"{macros.get(name, '')} " if operator == "+" else ""
            macros[name] = (before + _expanded(value, macros))[:2_000]
        elif (rule := _RULE.fullmatch(line)) and rule.group(1):
            _script(walker, invocation, rule.group(1), macros)


def _script(walker: Walker, invocation: Invocation, text: str, macros: dict[str, str]) -> None:
    walker.work.spend(10 + len(text))
    shell = _expanded(text.lstrip().lstrip("@-+ "), macros).replace("$$", "$")
    walker.script(shell, invocation.place, invocation)


def _expanded(text: str, macros: dict[str, str]) -> str:
    """`text` with the macros that are known; what make computes itself stays as it is."""
    return _USE.sub(lambda use: macros.get(use.group(1) or use.group(2), use.group()), text)[:4_000]
