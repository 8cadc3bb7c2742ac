"""Commands of vi and vim given on the command line: `-c ':!sh'`, `+'py import os'`, `--cmd 'call system("…")'`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.risk.invocation import Invocation
from agent.risk.words import Word

if TYPE_CHECKING:
    from agent.risk.walk import Walker

_LANGUAGES = {"py": "python", "py3": "python", "python": "python", "python3": "python", "pyx": "python", "pythonx": "python",
              "lua": "lua", "perl": "perl", "ruby": "ruby", "rub": "ruby", "tcl": "tclsh", "mz": "racket"}  # fmt: skip
_CALLS = re.compile(
    r"\b(?:system|systemlist|term_start|job_start|jobstart|termopen)\s*\(\s*\[?\s*(?:'((?:[^']|'')+)'|\"((?:[^\"\\\\]|\\\\.)+)\")",
    re.S,
)
_RANGE = r"[%\d,$.'<>\s]*"


def judge_ex(walker: Walker, invocation: Invocation, word: Word) -> None:
    """Findings for one ex command line; none for a line number, a search or an option of the editor."""
    text = word.text.strip().lstrip(":").strip()
    if not text or text.isdigit() or text[0] in "/?" or text == "$":
        return
    name = re.match(r"(?:silent!?\s+|exe(?:cute)?\s+['\"]:?|normal!?\s+:?)*([A-Za-z0-9]+)?", text)
    verb = (name.group(1) if name else "") or ""
    rest = text[name.end() :].lstrip("!").strip() if name else ""
    if verb in _LANGUAGES:
        from agent.risk import inline_code

        inline_code.judge(walker, invocation, rest, _LANGUAGES[verb], word.taint)
        _runs(walker, invocation, word)
        return
    bang = re.match(rf"(?:silent!?\s+)?{_RANGE}(?:r|re|read|w|write)?\s*!\s*(.+)", text, re.S)
    if bang:
        _shell_text(walker, invocation, word, bang.group(1))
    for call in _CALLS.finditer(text):
        text_given = (call.group(1) or "").replace("''", "'") or (call.group(2) or "").replace('\\"', '"')
        _shell_text(walker, invocation, word, text_given)
    for part in re.split(r"(?<!\|)\|(?!\|)", text):
        command = part.strip().lstrip(":")
        if re.fullmatch(r"(?:sh|she|shel|shell|ter|term|terminal)(?:\s+.*)?", command):
            walker.add("shell-escape", [], invocation.place)
        elif inner := re.match(rf"(?:silent!?\s+)?{_RANGE}!\s*(.+)", command, re.S):
            if not bang:
                _shell_text(walker, invocation, word, inner.group(1))
        elif re.match(r"(?:so|source|runtime)\b", command):
            _runs(walker, invocation, word)


def _shell_text(walker: Walker, invocation: Invocation, word: Word, text: str) -> None:
    walker.script(text.strip("'\""), invocation.place, invocation)
    _runs(walker, invocation, word)


def _runs(walker: Walker, invocation: Invocation, word: Word) -> None:
    walker.add("run", [word], invocation.place, reason="has the editor run a command", rule="editor.execute")
