"""Judge commands of debuggers and their like for what they hand on: a line for a shell, code, files that are written or obeyed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.risk.gtfobins.general import file, library, runs, shell_text, texts
from agent.risk.reader.words import Invocation, Word
from agent.text.lazy_pattern import LazyPattern

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

# What stands in front of a command that it is done with or for.
_AROUND = LazyPattern(
    r"\A\s*(?:(?:server|silent|taas|tfaas|faas|sudo)\s+|(?:thread|frame)\s+apply\s+\S+\s+(?:-\w+\s+)*|w(?:ith)?\s.*?\s--\s+"
    r"|(?:command\s+alias|alias|define|document)\s+(?:-\w+\s+)*\S+\s*=?\s+)+"
)
_SHELL = LazyPattern(
    r"(?:#!pipe|[.=]?!+(?!=)|(?:sh|she|shel|shell|plat\w*\s+sh\w*|\.shell)(?![\w-]))\s*(?:-[th]\s*\w+\s+)*(?:--\s+)?(.*)",
    re.S,
)
_PIPE = LazyPattern(r"(?:pipe\b|\|)\s*(?:-d\s+(\S+)\s+)?(.*)", re.S)
_REMOTE = LazyPattern(r"tar\w*\s+(?:extended-)?rem\w*\s*\|\s*(.+)", re.S)
_MAKES = LazyPattern(r"(make\b.*)", re.S)
_WRAPPER = LazyPattern(r"set\s+exec-wrapper\s+(.+)", re.S)
_STARTS = LazyPattern(r"(?:r|run|start|starti|set\s+args|process\s+launch)\b(.*)", re.S)
_PYTHON = LazyPattern(r"(?:python|py|python-interactive|pi|script|sc)\b(?:\s+|\n)(.*?)(?:\n\s*end\b.*)?\Z", re.S)
_CALLED = LazyPattern(r"\b(?:system|execl?p?|popen)\s*\(\s*\"([^\"]*)\"")
_WRITES = LazyPattern(
    r"(?:(?:dump|append)\s+(?:(?:binary|ihex|srec|tekhex|verilog)\s+)?(?:memory|value)|gcore|generate-core-file|save\s+\S+|set\s+logging\s+(?:file|redirect)"
    r"|process\s+save-core|transcript|wtf|memory\s+read\s.*?(?:--outfile|-o))\s+(\S+)"
)
_OBEYS = LazyPattern(r"(?:source|so|command\s+(?:source|script\s+import)|\.)\s+(?:-\w+\s+)*([^\s|]+)")
_LOADS = LazyPattern(r"(?:plugin\s+load|add-symbol-file|symbol-file|sharedlibrary|load)\s+(\S+)")
# Whose commands may end in a pipe or a file as those of a shell; and of those, whose lines hold several.
_LIKE_SHELLS = ("r2", "radare2", "rizin", "crash", "guestfish")
_SEVERAL = ("r2", "radare2", "rizin")
_FEED = LazyPattern(r"(?<!\|)\|(?!\|)(.+)|>{1,2}\s*([^\s>]+)\s*\Z", re.S)


def debugger(walker: Walker, invocation: Invocation, word: Word) -> None:
    """A command of a debugger, or several lines of them."""
    name = invocation.words[0].text.rpartition("/")[2]
    text = word.text.strip()
    if code := _PYTHON.match(_AROUND.sub("", text, count=1)):
        from agent.risk.inline import code as inline_code

        inline_code.judge(walker, invocation, code[1], "python", word.taint)
        runs(walker, invocation, word)
        return
    for line in text.splitlines():
        for each in line.split(";") if name in _SEVERAL else (line,):
            _command(walker, invocation, word.part(_AROUND.sub("", each.strip(), count=1)), name)
    texts(walker, invocation, word)


def typed_debugger(walker: Walker, invocation: Invocation, word: Word) -> None:
    """The commands that a debugger reads from standard input."""
    text, taint = invocation.stdin or ("", "")
    if text and text.strip():
        read = word.part(text)
        read.taint = taint
        debugger(walker, invocation, read)


def _command(walker: Walker, invocation: Invocation, word: Word, name: str) -> None:
    text = word.text.strip()
    if piped := _PIPE.match(text):
        first, _, rest = piped[2].partition(piped[1] or "|")
        shell_text(walker, invocation, word.part(rest))
        if first.strip():
            _command(walker, invocation, word.part(first), name)
        return
    if shell := _SHELL.match(text):
        shell_text(walker, invocation, word.part(shell[1] or "sh"))
        if text[0] == "." and "net" in walker.script(shell[1], invocation.place, invocation)[1]:
            walker.add("run-remote", [], invocation.place)  # what it prints is obeyed
        return
    for found in (_REMOTE.match(text), _MAKES.match(text)):
        if found:
            shell_text(walker, invocation, word.part(found[1]))
    if wrapper := _WRAPPER.match(text):
        shell_text(walker, invocation, word.part(wrapper[1]))
    if (started := _STARTS.match(text)) and started[1].strip():  # which a shell reads
        walker.script(f": {started[1]}", invocation.place, invocation)
    for found in _CALLED.finditer(text):
        shell_text(walker, invocation, word.part(found[1]))
    _files(walker, invocation, word, text)
    if name in _LIKE_SHELLS and (fed := _FEED.search(text)):
        if fed[1]:
            shell_text(walker, invocation, word.part(fed[1]))
        else:
            walker.add("write", [word.part(fed[2])], invocation.place, invocation=invocation)


def _files(walker: Walker, invocation: Invocation, word: Word, text: str) -> None:
    """Files that a command writes, obeys or loads."""
    if written := _WRITES.match(text):
        path = written[1].replace("~", walker.rater.scopes.home, 1) if written[1][:2] == "~/" else written[1]
        walker.add("write", [word.part(path)], invocation.place, invocation=invocation)
    if obeyed := _OBEYS.match(text):
        file(walker, invocation, word.part(obeyed[1]))
        runs(walker, invocation, word.part(obeyed[1]))
    if loaded := _LOADS.match(text):
        library(walker, invocation, word.part(loaded[1]))
