"""Compare what a rating stood on with what is there now: what paths are, code on disk, the shell's definitions. Pure."""

from __future__ import annotations

import os
from collections.abc import Iterator

from agent.protocol.decisions import RiskContext

_COUNTED = frozenset(("entries", "bytes", "more", "changed", "stashes", "many"))
"""Facts that only count: they matter where they make the rating worse, and files that grow do not."""
_MOST_TOLD = 3


def change_words(then: RiskContext, now: RiskContext) -> str:
    """What is another thing now than it was then, "" for nothing. What is no longer known about a path is no change."""
    told = list(dict.fromkeys(_changes(then, now)))
    more = f" and {len(told) - _MOST_TOLD:,} more" if len(told) > _MOST_TOLD else ""
    return ", ".join(told[:_MOST_TOLD]) + more


def _changes(then: RiskContext, now: RiskContext) -> Iterator[str]:
    for name, said in (("functions", "functions"), ("aliases", "aliases"), ("exports", "variables")):
        if getattr(then, name) != getattr(now, name):
            yield f"the shell's {said} changed"
    if then.workspace != now.workspace:
        yield "the workspace changed"
    for path in dict.fromkeys((*now.facts, *then.files, *now.files)):
        known = then.facts.get(path, ())
        new = [fact for fact in now.facts.get(path, ()) if fact not in known and fact.partition("=")[0] not in _COUNTED]
        before, after = then.files.get(path), now.files.get(path)
        if new or before != after:
            yield f"{_shown(path, now.cwd)} {_became(new, before, after)}"


def _became(new: list[str], before: str | None, after: str | None) -> str:
    leads = next((fact.partition("=")[2] for fact in new if fact.startswith(("to=", "at="))), "")
    if leads:
        return f"leads to {leads} now"
    if after is not None and after.startswith("program "):
        return f"is {after.removeprefix('program ')} now"
    if "missing" in new or (after is None and before is not None):
        return "is gone"
    if not new and before is None:
        return "is new"
    if not new and after is not None and not after.startswith("folder "):
        return "has other contents"
    return "is not what it was"


def _shown(path: str, cwd: str) -> str:
    return "this folder" if path == cwd else path.removeprefix(os.path.join(cwd, "")) if cwd else path
