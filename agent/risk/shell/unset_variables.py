"""`rm -rf "$DIR"/` where DIR is not known: which variable it is, and the form that stops instead of deleting `/`."""

from __future__ import annotations

import re

import msgspec

from agent.protocol.decisions import Finding
from agent.risk.reader.words import UNKNOWN, Word

_KINDS = frozenset(("delete", "shred", "move", "chmod", "chown", "permission-wide"))
_VARIABLE = re.compile(r"\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})")


def name_variable(finding: Finding, words: list[Word], text: str) -> Finding:
    """`finding` with the variable named on which it hangs, where one of `words`, a part of `text`, has one that is not known."""
    if finding.effect is None or finding.effect.kind not in _KINDS:
        return finding
    for word in words:
        if UNKNOWN not in word.text or "var" not in word.taint:
            continue
        found = _VARIABLE.search(text, word.start, word.end)
        if found is not None:
            name = found.group(1) or found.group(2)
            return msgspec.structs.replace(
                finding,
                reason=f"{finding.reason}: ${name} may be empty or anything",
                safer=f"write ${{{name}:?}}, which stops where {name} is empty",
            )
    return finding
