"""Ask git about a directory, in a way in which a hostile repository cannot make git run anything.

A repository's own configuration may name programs that even `git status` runs: a file-system monitor, hooks, clean filters, helpers
that fetch missing objects. All of them are switched off; where filters are configured in the repository, the working tree is not
compared at all.
"""

from __future__ import annotations

import os
import re

from agent.planner.facts.regular_file import beginning
from agent.protocol.execution import Processes

CONFIG_TIMEOUT, STATUS_TIMEOUT = 0.1, 0.2  # seconds; a goal does not wait longer for what is only nice to know
HARDENED = (  # git and its own words before those of a question
    *("env", "LC_ALL=C", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", "GIT_TERMINAL_PROMPT=0"),
    *("git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.sshCommand=false"),
    *("-c", "safe.bareRepository=explicit", "--no-optional-locks", "--no-pager"),
)
_STATUS = ("status", "--porcelain=v1", "-b", "--ignore-submodules=all", "--no-renames")
_FILTERS = ("config", "--show-scope", "--name-only", "--includes", "--get-regexp", r"^filter\.")


async def git_summary(processes: Processes, cwd: str) -> str:
    """A phrase such as "branch main, 2 changed, 1 untracked"; "" outside a repository. Never raises for what git does."""
    top = repository_of(cwd)
    if not top:
        return ""
    head = head_branch(top)
    if not await _without_filters(processes, cwd):
        return head
    try:
        code, text = await processes.capture((*HARDENED, *_STATUS), cwd=cwd, timeout=STATUS_TIMEOUT)
    except Exception:  # no git, or it took too long: the branch alone is worth telling
        return head
    return summarise(text) if code == 0 else head


def summarise(status: str) -> str:
    """`git status --porcelain=v1 -b` in a few words."""
    lines = status.splitlines()
    branch = "branch unknown"
    if lines and lines[0].startswith("## "):
        name = re.sub(r"^(No commits yet on|Initial commit on) ", "", lines[0][3:])
        detached = name.startswith("HEAD (no branch)")
        branch = "no branch (detached HEAD)" if detached else f"branch {name.split('...')[0].split(' [')[0]}"
        if ahead := re.search(r"\[(.*)\]$", name):
            branch += f" ({ahead.group(1)})"
    untracked = sum(line.startswith("?? ") for line in lines)
    changed = sum(not line.startswith(("## ", "?? ", "!! ")) for line in lines)
    counts = [f"{number} {word}" for number, word in ((changed, "changed"), (untracked, "untracked")) if number]
    return ", ".join([branch, *(counts or ["clean"])])


def repository_of(cwd: str) -> str:
    """The top level of the repository that `cwd` lies in, found without running git; "" for none."""
    here = os.path.realpath(cwd or ".")
    for _ in range(64):
        if _is_repository(os.path.join(here, ".git")):
            return here
        below, here = here, os.path.dirname(here)
        if here == below:
            break
    return ""


def workspace_of(cwd: str, home: str) -> str:
    """The git top level of `cwd`, or `cwd` itself.

    A repository that is, or holds, the home folder or the whole disk bounds nothing: then the folder itself counts.
    """
    top = repository_of(cwd)
    folder = os.path.realpath(home) if home else ""
    if not top or top == "/" or (folder and (folder + "/").startswith(top + "/")):
        return cwd
    return top


def head_branch(top: str) -> str:
    """ "branch NAME" from the repository's HEAD file, "" where that says nothing."""
    text = beginning(os.path.join(top, ".git", "HEAD"), 512).decode("utf-8", "replace").strip()
    return f"branch {text[16:]}" if text.startswith("ref: refs/heads/") else ""


def _is_repository(path: str) -> bool:
    """As git sees it: a folder with a HEAD, or a file that points to one. An empty `.git` is none."""
    if os.path.isdir(path):
        return os.path.lexists(os.path.join(path, "HEAD")) and os.path.isdir(os.path.join(path, "objects"))
    if not os.path.isfile(path):
        return False
    name, _, target = os.fsdecode(beginning(path, 4096)).partition(": ")
    folder = os.path.join(os.path.dirname(path), target.strip())
    return name == "gitdir" and "\0" not in folder and os.path.lexists(os.path.join(folder, "HEAD"))


async def _without_filters(processes: Processes, cwd: str) -> bool:
    """Tell whether the repository itself configures no content filter. Any doubt counts as no."""
    try:
        code, text = await processes.capture((*HARDENED, *_FILTERS), cwd=cwd, timeout=CONFIG_TIMEOUT)
    except Exception:  # as above
        return False
    if code == 1:  # nothing matched
        return True
    return code == 0 and all(line.startswith(("system\t", "global\t")) for line in text.splitlines())
