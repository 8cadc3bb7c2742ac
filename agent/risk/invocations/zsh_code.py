"""Find what zsh runs to pick files: the code in glob qualifiers, `*(e{'…'})`, `*(oe:'…':)`, `*(+name)`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent.risk.inline.tokens import CLOSING
from agent.risk.invocations.open_places import raise_open
from agent.risk.reader.words import Invocation

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

# Behind a pattern; in front of the code stand other qualifiers, numbers among them (`*(.om[1,3]Lk+1e{…})`).
_QUALIFIERS = re.compile(
    r"(?<=[\w*?/.\])\"'~}])\((?:#q)?(?:[^()\s'\"`$|;&e+]|\+(?:\d|[rwxst]+[:,\]}]))*(?:e([^\w\s])|\+([A-Za-z_][\w-]*))"
)
_QUOTED = re.compile(r"'[^']*'|\"(?:\\.|[^\"\\])*\"", re.S)
_MOST = 50


def judge_qualifiers(walker: Walker, invocation: Invocation, code: str) -> None:
    """Judge `code` once more without its qualifiers, and behind it what they run, which may be a function of it."""
    bare, runs, at = [], [], 0
    for found in list(_QUALIFIERS.finditer(code))[:_MOST]:
        if found.start() < at:
            continue
        end = found.end()
        if found[1]:
            skipped = _QUOTED.match(code, end)  # a sign within quotes ends nothing
            close = code.find(CLOSING.get(found[1], found[1]), skipped.end() if skipped else end)
            close = len(code) if close < 0 else close
            text, end = code[end:close], close
            quoted = re.fullmatch(r"(['\"])(.*)\1", text.strip(), re.S)
            runs.append(quoted[2] if quoted else text)
        else:
            runs.append(found[2])
        bare.append(code[at : found.start()])
        behind = code.find(")", end)
        at = len(code) if behind < 0 else behind + 1
    if not runs:
        return
    begin = len(walker.findings)
    walker.script("\n".join(("".join([*bare, code[at:]]), *runs)), invocation.place, invocation.inner([], "zsh"))
    raise_open(walker, None, begin)
    walker.add("run", [], invocation.place, reason="has zsh run code to pick files", rule="run.qualifier")
