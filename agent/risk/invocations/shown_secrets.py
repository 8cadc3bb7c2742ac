"""Find secrets that a reader shows by something else than its operands: files that options or its program name, environments."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from agent.risk.invocations.leaks import is_kept
from agent.risk.reader.invocation import Invocation
from agent.risk.reader.words import Word
from agent.risk.tables.store import Program

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

_PATH = re.compile(r"[\w.~/+-]*[./][\w.~/+-]+")
# What names files to leave out, or says how to log in, and what only names the file.
_OTHERWISE = re.compile(
    r"--?[\w-]*(?:exclude|include|ignore|glob|name|pattern|without|skip|key|cert|identity|config|cred|token|profile|password|auth|netrc|"
    r"\brc|label|title|color|colour|type|suffix|prefix|output|log)[\w-]*"
)
_LANGUAGES = frozenset(("yq", "mlr", "xsltproc", "xmlstarlet", "xml", "gnuplot", "bc", "dc", "m4"))
_NAME_AND_FILE = ("--rawfile", "--slurpfile", "--argfile")  # `jq --rawfile NAME FILE`
_PATTERN_FIRST = frozenset(("grep", "rg", "ag", "ack", "ugrep", "git"))


def judge_shown_files(walker: Walker, name: str, invocation: Invocation, table: Program) -> None:
    """Secret files that the options of a reader, or expressions in its own language, name."""
    reads = any(role.startswith("read") for role in table.operands) or table.name in _LANGUAGES
    if not reads or name in _PATTERN_FIRST or table.name in _PATTERN_FIRST:
        return
    words = invocation.words
    named_twice = {words[at + 2].start for at in range(1, len(words) - 2) if words[at].text in _NAME_AND_FILE}
    for before, word in pairwise(words):
        option, equals, value = word.text.partition("=")
        if "." not in word.text and "/" not in word.text:
            continue
        if word.text.startswith("-"):
            named = [value] if equals and not _OTHERWISE.fullmatch(option) else []
        elif _OTHERWISE.fullmatch(before.text):
            named = []
        elif name in _LANGUAGES:
            named = _PATH.findall(word.text)[:8]
        else:
            named = (
                [word.text.lstrip("@")]
                if before.text.startswith("-") or word.start in named_twice or table.name in _LANGUAGES
                else []
            )
        kept = [piece for text in named if is_kept(walker, invocation, piece := word.part(text))]
        if kept:
            walker.add("secret", kept, invocation.place, invocation=invocation, rule="secret.named")
            return


def environments(walker: Walker, invocation: Invocation, word: Word) -> None:
    """ps shows the environments of processes with the letter `e` of its old options, which have no dash (`ps eww`)."""
    texts = [other.text for other in invocation.words[1:]]
    for before, text in zip(("", *texts), texts, strict=False):
        old = re.fullmatch(r"[a-zA-Z]*e[a-zA-Z]*", text) is not None and before not in _PS_VALUES
        if old or text in ("-E", "environ") or re.fullmatch(r"-[a-zA-Z]*E[a-zA-Z]*", text):
            walker.add("secret", [], invocation.place, rule="secret.environment")
            return


_PS_VALUES = frozenset(
    ("-u", "-U", "-C", "-g", "-G", "-o", "-O", "-p", "-q", "-s", "-t", "o", "O", "k", "U", "p", "q", "t", "--sort", "--format", "--user",
     "--User", "--group", "--Group", "--cols", "--rows", "--pid", "--ppid", "--sid", "--tty", "-k", "--context")
)  # fmt: skip
