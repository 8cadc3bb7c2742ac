"""Judge project files (package.json, justfile, Dockerfile …) that a command writes or fetches itself, and that a program then runs code of.

Such a file is read by its name in the folder, or because the program is given it. What it holds is no shell text: each line of it that
could be a command, and each text in it, is judged as one, and only what is high counts, since running the file at all is told already.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from agent.protocol.decisions import Finding, Level
from agent.risk.inline.files import judge_deletions
from agent.risk.inline.programs import is_like_command, judge_suspects, suspect_text
from agent.risk.invocations.written_code import judge_text
from agent.risk.paths.absolute import absolute
from agent.risk.reader.words import UNKNOWN, Invocation, Word
from agent.risk.tables.names import members, names

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

_FILES = members("project.files")  # by program: the files that it looks for
_RUNS = names("project.runs")  # effects of programs that run what such a file says
_APART = names("project.apart")  # programs that run code from elsewhere, apart from this machine
_LANGUAGES = {ending: language for language, endings in members("project.languages").items() for ending in endings}
_MAX_LINES = 200
_FIELDS = re.compile(
    r"\s*(?:@(?:reboot|hourly|daily|midnight|weekly|monthly|yearly|annually)|(?:[\d*/,-]+\s+){5})\s*(?:root\s+)?"
)  # of a line of cron
_KEY = re.compile(r"\s*(?:-\s+)?[\w.\"'-]+\s*[:=]\s*")
_STEP = re.compile(r"(?:RUN|CMD|ENTRYPOINT|ONBUILD|SHELL|run|exec|sh|cmd|command|post_install)\s+", re.I)


def judge_project_files(walker: Walker, name: str, invocation: Invocation, found: list[Finding]) -> None:
    """High findings for what files of this very command hold that the program runs; `found` is what was found about it so far."""
    if UNKNOWN in invocation.cwd or not any(one.effect is not None and one.effect.kind in _RUNS for one in found):
        return
    words = [word for word in invocation.words[1:] if word.known]
    given = {
        absolute(text, invocation.cwd) for word in words for text in (word.text, word.text.partition("=")[2]) if text
    }
    folders = {invocation.cwd, *given}
    patterns = _FILES.get(name.rstrip("0123456789."), frozenset())

    def is_named(path: str) -> bool:
        folder, _, base = path.rpartition("/")
        return folder in folders and any(fnmatchcase(base, one) for one in patterns)

    for path, (text, taint) in list(walker.files.written().items()):
        if path not in given and not is_named(path):
            continue
        if "net" in taint and path.startswith("/dev/") and name not in _APART:  # `crontab <(curl …)`
            reason = "runs what another machine answers"
            walker.add("run-remote", [], invocation.place, reason=reason, rule="run.fetched")
        elif text:
            _judge_content(walker, invocation, path, (text, taint))
    inside = {
        path for path in walker.downloads if path[-1] == "/" and any(f"{one}/".startswith(path) for one in folders)
    }
    named = {path for path in walker.downloads if is_named(path)}.union(inside if patterns else ())
    for path in sorted(named) if name not in _APART else ():
        reason = "runs what {targets} says, which comes from elsewhere"
        walker.add("run-remote", [Word(path, *invocation.place)], invocation.place, reason=reason, rule="run.fetched")


def _judge_content(walker: Walker, invocation: Invocation, path: str, content: tuple[str, str]) -> None:
    base = path.rpartition("/")[2]
    program = invocation.words[0].text.rpartition("/")[2]
    language = _LANGUAGES.get(base) or _LANGUAGES.get(f".{base.rpartition('.')[2]}") or _LANGUAGES.get(f"{program}:")
    judge_content(walker, invocation, *content, language or "")


def judge_content(walker: Walker, invocation: Invocation, text: str, taint: str, language: str) -> None:
    """Judge code of a language, or, without one, each line and each text that begins like a command: only high counts."""
    if language == "sh":
        suspect_text(walker, invocation, text)
        return
    if language:
        judge_text(walker, invocation, text, taint, language)
        return
    before = len(walker.findings)
    for line in _commands(text):
        suspect_text(walker, invocation, line)
    judge_suspects(walker, invocation, text)
    if '"' in text or "'" in text:
        judge_deletions(walker, invocation, text, "")
    walker.findings[before:] = [one for one in walker.findings[before:] if one.level is Level.HIGH]


def _commands(text: str) -> Iterator[str]:
    """The parts of lines that could be commands: behind a key, a step's name, the times of cron."""
    for line in text.replace("\\\n", " ").splitlines()[:_MAX_LINES]:
        whole = _FIELDS.sub("", line, count=1).strip().lstrip("@-+ ")
        for part in dict.fromkeys((whole, _KEY.sub("", whole, count=1), _STEP.sub("", whole, count=1))):
            plain = part.strip().strip("\"'`[](){} ")
            if is_like_command(plain):
                yield plain
