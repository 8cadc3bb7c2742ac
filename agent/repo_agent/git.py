"""Run git in a repository, in a way in which a hostile one cannot make git run anything; and write the commands that change one.

What may be configured in the repository itself and would be run (hooks, monitors, filters, merge drivers, ssh commands) is switched off,
and nothing here uses the network.

Those are for the gate to run in a worktree: hooks are respected, nothing is ever forced, and no text of a model stands in them unquoted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from shlex import quote

from agent.planner.facts.git_facts import HARDENED
from agent.protocol.errors import IoError
from agent.protocol.execution import Processes

_TIMEOUT = 30.0
MOST = 1 << 20
_RUNS = r"^(filter\..*\.(clean|smudge|process|required)|merge\..*\.driver)$"
"""Settings that name programs which comparing or merging files would run, or that want them."""


@dataclass(frozen=True, eq=False)
class Git:
    """Git in the repository whose working tree has its top at `root`."""

    processes: Processes
    root: str

    async def line(self, *words: str) -> str:
        code, text = await self.answer(*words)
        return text.strip("\n") if code == 0 else ""

    async def asked(self, *words: str, quietly: tuple[str, ...] = (), most: int = MOST) -> str:
        code, text = await self.answer(*words, quietly=quietly, most=most)
        if most != MOST and len(text.encode()) >= most:
            raise IoError(
                f"`git {words[0]}` tells of more than {most:,} bytes that have changed, too much to look through"
            )
        if code:
            hint = f"`git -C {self.root} {words[0]}` says why; what is very large, or takes very long, is given up"
            raise IoError(f"`git {words[0]}` failed in {self.root} (exit code {code})", hint=hint)
        return text

    async def answer(self, *words: str, quietly: tuple[str, ...] = (), most: int = MOST) -> tuple[int, str]:
        argv = (HARDENED[0], *quietly, *HARDENED[1:], *words)
        return await self.processes.capture(argv, cwd=self.root, timeout=_TIMEOUT, most=most)

    async def quietly(self) -> tuple[str, ...]:
        """Words that switch off the programs which the repository itself names for comparing and merging."""
        options = ("--show-scope", "--name-only", "--includes", "-z", "--get-regexp", _RUNS)
        code, text = await self.answer("config", *options)
        if code not in (0, 1):
            raise IoError("git cannot read the configuration of the repository")
        return switched_off(text.split("\0"))


def switched_off(scoped: Iterable[str]) -> tuple[str, ...]:
    """Return variables that overrule settings; `scoped` are scopes, each followed by the name of a setting. The person's own stay."""
    each = iter(scoped)
    names = [name for scope, name in zip(each, each, strict=False) if scope not in ("system", "global")]
    values = []
    for number, name in enumerate(dict.fromkeys(names)):
        off = (
            "false" if name.endswith((".driver", ".required")) else ""
        )  # a driver that fails leaves a conflict to be seen
        values += [f"GIT_CONFIG_KEY_{number}={name}", f"GIT_CONFIG_VALUE_{number}={off}"]
    return (f"GIT_CONFIG_COUNT={len(values) // 2}", *values) if values else ()


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
