"""Write the commands that change a repository, for the gate to run in a worktree of it. Pure.

Hooks are respected, nothing is ever forced, and no text of a model stands in them unquoted.
"""

from __future__ import annotations

import re
from shlex import quote

FORGET_WORKTREES = "git worktree prune"
"""Has git forget worktrees whose folders are gone."""
_MOVED = re.compile(r"^ {3}([0-9a-f]{4,64})\.\.[0-9a-f]{4,64} ", re.M)
_NEW = re.compile(r"^ \* \[", re.M)


def fetch(remote: str) -> str:
    """Return what brings in the branches of a remote, and nothing else of it."""
    return f"git fetch --prune --no-tags -- {quote(remote)}"


def add_worktree(folder: str, branch: str, *, new_from: str = "") -> str:
    """Return what checks a branch out in a folder of its own; `new_from`: it is made, from that revision."""
    if new_from:
        return f"git worktree add --no-track -b {quote(branch)} -- {quote(folder)} {quote(new_from)}"
    return f"git worktree add -- {quote(folder)} {quote(branch)}"


def remove_worktree(folder: str) -> str:
    """Return what removes the folder of a worktree; git refuses where something in it is in no commit."""
    return f"git worktree remove -- {quote(folder)}"


def commit(message: str, *, sign_off: bool = False) -> str:
    """Return what commits all that differs. `sign_off`: with the person's line, where they vouch for their commits so."""
    return f"git add -A && git commit {'--signoff ' if sign_off else ''}-m {quote(message)}"


def was_left_at(commit: str, tip: str, said: str) -> bool:
    """Tell from what a push said whether it found the branch of the remote at that commit ("" for none), and brought it to `tip`."""
    if moved := _MOVED.findall(said):
        return bool(commit) and commit.startswith(moved[-1])
    return _NEW.search(said) is not None or commit == tip
