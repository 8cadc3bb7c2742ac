"""Policy and settings of the program itself: whoever changes them decides what runs. Pure."""

from __future__ import annotations

from functools import lru_cache

from agent.policy.model import PolicyFile, Rule

BUILT_IN = "built-in"
_CHANGES = (
    "append", "chmod", "chown", "copy-to", "create", "delete", "extract", "link", "modify", "move", "overwrite", "permission-wide",
    "shred", "truncate", "write",
)  # fmt: skip


@lru_cache(maxsize=64)
def guard(paths: tuple[str, ...]) -> PolicyFile:
    """A rule that has the word typed for every change of `paths` (files and folders, absolute): no approve mode covers it.

    What may be such a change, because not all of it is known, is left to its level.
    """
    rule = Rule(
        name="own-files",
        action="type",
        program=("*",),
        paths=paths,
        effects=_CHANGES,
        reason="changes what agent-shell itself may run or is told to forbid",
    )
    return PolicyFile(path=BUILT_IN, trust="site", rules=(rule,) if paths else ())
