"""Complete sub-commands of programs and branches of git, which are read from the repository's files; nothing is run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress

_SUB_COMMANDS = {
    "git": """add am apply archive bisect blame branch bundle checkout cherry-pick clean clone commit config describe diff fetch
        format-patch gc grep init log merge mv notes pull push range-diff rebase reflog remote reset restore revert rm shortlog show
        sparse-checkout stash status submodule switch tag worktree""",
    "docker": """attach build buildx compose container context cp create diff events exec export history image images import info
        inspect kill load login logout logs manifest network node pause plugin port ps pull push rename restart rm rmi run save
        search stack start stats stop swarm system tag top unpause update version volume wait""",
    "kubectl": """annotate api-resources apply attach auth autoscale certificate cluster-info completion config cordon cp create
        debug delete describe diff drain edit events exec explain expose get label logs patch port-forward proxy replace rollout run
        scale set taint top uncordon version wait""",
    "systemctl": """cat daemon-reload disable edit enable is-active is-enabled is-failed isolate kill list-dependencies list-jobs
        list-timers list-unit-files list-units mask reload restart show start status stop unmask""",
    "npm": "audit ci exec init install link list outdated pack prune publish run search start test uninstall update version view",
    "cargo": "add bench build check clean clippy doc fetch fmt init install metadata new publish remove run search test tree update",
}
_SUB_COMMANDS["podman"] = _SUB_COMMANDS["docker"]
_TAKE_BRANCHES = frozenset(
    {"checkout", "switch", "merge", "rebase", "branch", "diff", "log", "show", "cherry-pick", "reset", "push"}
)
_TAKE_NO_FILES = frozenset({"switch", "merge", "rebase", "branch", "cherry-pick", "push"})
_MOST_BRANCHES = 500
_MOST_TEXT = 1 << 20


def program_words(text: str, cwd: str) -> list[str]:
    """List what may continue the last word of `text`, "!" in front of it left out; [] where it is no such line."""
    words = text.lstrip("! ").split(" ")
    if len(words) < 2 or words[0] not in _SUB_COMMANDS:
        return []
    begun = words[-1]
    if len(words) == 2:
        return [word for word in sorted(_SUB_COMMANDS[words[0]].split()) if word.startswith(begun)]
    if words[0] == "git" and words[1] in _TAKE_BRANCHES and not begun.startswith("-"):
        return [name for name in branches(cwd) if name.startswith(begun)]
    return []


def takes_files(text: str) -> bool:
    """Tell whether a file may stand at the end of `text`: not where a sub-command or only a branch can."""
    words = text.lstrip("! ").split(" ")
    if words[0] not in _SUB_COMMANDS:
        return True
    return len(words) > 2 and not (words[0] == "git" and words[1] in _TAKE_NO_FILES)


def branches(cwd: str) -> list[str]:
    """Names of the local branches of the repository around `cwd`, as its files tell; [] where there is none."""
    folder = _repository(cwd)
    if not folder:
        return []
    heads = os.path.join(folder, "refs", "heads")
    found = set()
    for place, _folders, files in os.walk(heads):
        found |= {os.path.relpath(os.path.join(place, file), heads) for file in files if not file.endswith(".lock")}
        if len(found) > _MOST_BRANCHES:
            break
    found |= set(_packed(os.path.join(folder, "packed-refs")))
    return sorted(name for name in found if name.isprintable() and " " not in name)[:_MOST_BRANCHES]


def _repository(cwd: str) -> str:
    """The folder with the references: of a linked work tree that of the main one."""
    folder = cwd
    while not os.path.lexists(os.path.join(folder, ".git")):
        if folder == os.path.dirname(folder):
            return ""
        folder = os.path.dirname(folder)
    inside = os.path.join(folder, ".git")
    if not os.path.isdir(inside):
        inside = os.path.join(folder, _text(inside).removeprefix("gitdir:").strip())
    common = _text(os.path.join(inside, "commondir")).strip()
    return os.path.join(inside, common) if common else inside


def _packed(path: str) -> Iterator[str]:
    for line in _text(path).splitlines():
        _hash, _, name = line.partition(" ")
        if name.startswith("refs/heads/"):
            yield name.removeprefix("refs/heads/")


def _text(path: str) -> str:
    """The beginning of a file, "" where there is none to read; a pipe there makes nobody wait."""
    with suppress(OSError, ValueError):
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(fd, encoding="utf-8", errors="replace") as file:
            return file.read(_MOST_TEXT).replace("\0", "")
    return ""
