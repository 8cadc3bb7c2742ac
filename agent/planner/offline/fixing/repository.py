"""Correct git's names: the nearest branch, and what a push needs."""

from __future__ import annotations

import os
import re

from agent.planner.facts.git_facts import repository_of
from agent.planner.facts.regular_file import beginning
from agent.planner.offline.fixing.failure import NOTHING, Failure, Fix
from agent.planner.offline.fixing.nearest import nearest
from agent.planner.offline.fixing.paths import nearest_path
from agent.planner.offline.fixing.rewriting import destroys, replace_written

_REF = re.compile(r"[A-Za-z0-9_][\w./+@-]{0,120}")
_MAX_REFS = 3000
_MAX_BYTES = 1_000_000
_MAIN = ("main", "master", "trunk")


def nearest_branch(failure: Failure) -> Fix:
    """A branch or tag that does not exist becomes the nearest one that does; `main` becomes what the main branch is called here."""
    wrong = failure.caught.get("name", "")
    if not _REF.fullmatch(wrong):
        return NOTHING
    remote, _, short = wrong.partition("/") if wrong.startswith("origin/") else ("", "", wrong)
    refs = branches(failure.resolve("."))
    found = [name for name in _MAIN if name in refs] if short in _MAIN else nearest(short, refs)
    if len(found) != 1:
        return Fix(note="it could be " + " or ".join(found[:4])) if found else NOTHING
    right = f"{remote}/{found[0]}" if remote else found[0]
    if right == wrong:
        return NOTHING
    command = replace_written(failure.command, wrong, right)
    if not command or destroys(failure.command):
        return Fix(note=f"the nearest is {right}")
    return Fix(command=command)


def nearest_branch_or_path(failure: Failure) -> Fix:
    """For a word that git takes for a file or a branch, whichever is near."""
    fix = nearest_branch(failure)
    return fix if fix.command or fix.note else nearest_path(failure)


def branches(cwd: str) -> set[str]:
    """Short names of branches and tags, of this repository and of its remotes, that can stand in a command; read without git."""
    folder = git_folder(cwd)
    found: set[str] = set()
    if not folder:
        return found
    for kind in ("refs/heads", "refs/tags", "refs/remotes/origin"):
        top = os.path.join(folder, kind)
        for here, _, names in os.walk(top):
            found.update(os.path.relpath(os.path.join(here, name), top) for name in names)
            if len(found) > _MAX_REFS:
                break
    for line in _start_of(os.path.join(folder, "packed-refs")).splitlines()[:_MAX_REFS]:
        match = re.fullmatch(r"[0-9a-f]{40,64} refs/(?:heads|tags|remotes/origin)/(\S+)", line)
        if match:
            found.add(match[1])
    return {name for name in found if _REF.fullmatch(name) and ".." not in name and name != "HEAD"}


def git_folder(cwd: str) -> str:
    """The folder with the refs of the repository around `cwd`, that of a worktree's main repository; "" for none."""
    top = repository_of(cwd)
    if not top:
        return ""
    folder = os.path.join(top, ".git")
    if os.path.isfile(folder):
        match = re.match(r"gitdir: (.+)", _start_of(folder))
        folder = os.path.normpath(os.path.join(top, match[1].strip())) if match else ""
        common = _start_of(os.path.join(folder, "commondir")).strip().replace("\0", "") if folder else ""
        folder = os.path.normpath(os.path.join(folder, common)) if common else folder
    return folder


def current_branch(cwd: str) -> str:
    """The branch that is checked out, "" for none or for a name that cannot stand in a command."""
    top = repository_of(cwd)
    head = os.path.join(top, ".git", "HEAD") if top else ""
    if head and not os.path.isfile(head):
        match = re.match(r"gitdir: (.+)", _start_of(os.path.join(top, ".git")))
        head = os.path.join(top, match[1].strip(), "HEAD") if match else ""
    match = re.match(r"ref: refs/heads/(\S+)", _start_of(head)) if head else None
    return match[1] if match and _REF.fullmatch(match[1]) else ""


def set_upstream(failure: Failure) -> Fix:
    """`git push` of a branch without a counterpart names one; the branch is the one that is checked out, not one that was printed."""
    branch = current_branch(failure.resolve("."))
    if not branch or branch != failure.caught.get("name"):
        return NOTHING
    return Fix(command=f"git push --set-upstream origin {branch}")


def _start_of(path: str) -> str:
    return beginning(path, _MAX_BYTES).decode("utf-8", "replace")
