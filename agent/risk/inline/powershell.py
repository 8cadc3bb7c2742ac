"""Judge PowerShell code by what its cmdlets would do."""

from __future__ import annotations

import base64
import binascii
import re
from typing import TYPE_CHECKING

from agent.risk.inline.files import below_home
from agent.risk.inline.programs import suspect_text
from agent.risk.reader.words import UNKNOWN, Invocation, Word
from agent.risk.tables.names import names, pattern, patterns

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

_READS = pattern("powershell.reads", re.I)
_EFFECTS = patterns("powershell.effects", re.I)
_METHODS = names("powershell.methods")


def decoded(text: str) -> str:
    try:
        return base64.b64decode(text + "===").decode("utf-16-le", "replace")
    except (binascii.Error, ValueError):
        return UNKNOWN


def judge_cmdlets(walker: Walker, invocation: Invocation, code: str) -> None:
    """Findings for PowerShell code; none for code that only gets, filters and shows."""
    place = invocation.place
    if UNKNOWN in code:
        walker.add("run-opaque", [], place)
    found = False
    for kind, sign in _EFFECTS.items():
        if sign.search(code):
            found = True
            walker.add(kind, [], place, rule=f"{kind}.powershell")
    if re.search(r"\biex\b|Invoke-Expression|\.Invoke\(|ScriptBlock\]::Create", code, re.I):
        fetched = re.search(r"Download|WebClient|\biwr\b|\birm\b|Invoke-(?:WebRequest|RestMethod)", code, re.I)
        walker.add("run-remote" if fetched else "run-opaque", [], place)
        return
    if re.search(r"FromBase64String|-join\s*\[char", code, re.I):
        walker.add("run-decoded", [], place)
    for match in re.finditer(r"(?:Remove-Item|\brm|\bri|\bdel|\brmdir|\berase)\s+([^;|\n]*)", code, re.I):
        found = True
        paths = [
            re.sub(r"^[A-Za-z]:", "", part.strip("\"'")) or "/" for part in match.group(1).split() if part[0] != "-"
        ]
        deep = re.search(r"-r(?:ecurse|ec)?\b", match.group(1), re.I) is not None
        words = [
            Word(below_home(walker, path.replace("\\", "/")), *place, glob="*" in path)
            for path in paths[:4]
            if path[0] not in "01234567$"
        ]
        walker.add(
            "delete", words or [Word(UNKNOWN, *place, taint="var")], place, recursive=deep, invocation=invocation
        )
    suspect_text(walker, invocation, code)  # programs that are no cmdlets run as in any shell
    parts = [part.strip() for part in re.split(r"[;|\n]", code) if part.strip()]
    calls = {name.lower() for name in re.findall(r"(?:\.|::)(\w+)\(", code)} - _METHODS
    if not calls.isdisjoint(("delete", "terminate", "win32shutdown", "clear", "format", "clearlog")):
        walker.add("destroy", [], place, rule="destroy.powershell")
    elif not found and (calls or any(_READS.match(part) is None for part in parts)):
        walker.add("run", [Word("PowerShell code", *place)], place, rule="run.powershell")
