"""The programs that inline code starts: each text that may be a command is judged as one."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING

from agent.protocol.decisions import Level
from agent.risk.inline.files import judge_deletions
from agent.risk.inline.limits import first, tell_cut
from agent.risk.inline.patterns import patterns
from agent.risk.inline.texts import joined, listed, q_quoted
from agent.risk.reader.invocation import Invocation
from agent.risk.reader.words import Word

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

_LONGEST_LIST = 2_000  # characters


def starts_programs(walker: Walker, invocation: Invocation, code: str, language: str) -> None:
    """What the code starts, as it stands and with its texts put together."""
    _shell_outs(walker, invocation, code, language)
    whole, cut = joined(code)
    if cut:
        tell_cut(walker, invocation)
    if whole != code:
        walker.work.spend(10 + 2 * len(code))
        _shell_outs(walker, invocation, whole, language)
        judge_deletions(walker, invocation, whole, language)


def _executed_lists(code: str) -> Iterator[str]:
    """The insides of the lists that are executed, each looked up from its end: so the openers that end nowhere cost nothing."""
    for end in patterns()["executed"].finditer(code):
        before = code[max(0, end.start() - _LONGEST_LIST) : end.start()]
        for inside in (before.rpartition("]")[2], before):  # the second where a word of the list has a bracket in it
            opener = re.search(r"\[(?=\s*['\"])", inside)
            if opener is not None:
                yield inside[opener.end() :]
                break


def _shell_outs(walker: Walker, invocation: Invocation, code: str, language: str) -> None:
    signs = patterns()
    texts = [match.group("s") for match in signs["shell"].finditer(code)]
    for match in signs["backtick"].finditer(code):
        texts.append(next(group for group in match.groups() if group))
    if language == "expect" or invocation.words[0].text.rpartition("/")[2] in ("tclsh", "wish", "jimsh"):
        for text in re.findall(r"(?:spawn|exec|system)\s+(?:-\w+\s+)*([^\n;]+)", code):
            texts.append(re.sub(r"\{([^{}]*)\}", lambda braced: shlex.quote(braced[1]), text))  # what Tcl quotes with
    texts.extend(listed(code))
    found = False
    for words in (*(match.group(1) for match in signs["list"].finditer(code)), *_executed_lists(code)):
        items = [m.group("s") for m in signs["string"].finditer(words)]
        if len(items) > 1:
            texts.append(" ".join(items))
    for text in first(walker, invocation, iter(texts)):
        if text in ("child_process", "fs", "os", "fileutils", "w", "r"):
            continue
        found = True
        walker.script(text.replace("\\'", "'").replace('\\"', '"').replace("\\n", "\n"), invocation.place, invocation)
    if language == "perl":
        for text in first(walker, invocation, iter(q_quoted(code))):
            suspect_text(walker, invocation, text)
    for match in first(
        walker, invocation, signs["string"].finditer(code)
    ):  # whatever the call is named, its text gives it away
        text = match.group("s")
        if " " in text and 4 < len(text) < 2_000 and text not in texts:
            suspect_text(walker, invocation, text)
    walker.add(
        "run",
        [Word("other programs", *invocation.place)],
        invocation.place,
        reason="starts other programs from inline code"
        if found
        else "starts programs that cannot be seen from inline code",
        rule="inline.runs",
    )


def suspect_text(walker: Walker, invocation: Invocation, text: str) -> None:
    """Judge a string that may be a command: only high counts, and not that it is no shell."""
    before = len(walker.findings)
    walker.script(text.strip(" |"), invocation.place, invocation)
    walker.findings[before:] = [
        f
        for f in walker.findings[before:]
        if f.level is Level.HIGH and not f.rule.startswith(("run-opaque", "parse", "unreadable"))
    ]
