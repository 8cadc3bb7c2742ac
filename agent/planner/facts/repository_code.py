"""Find what a repository has git run untold: settings that name programs, also those of submodules, and hooks that any command runs."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator

from agent.planner.facts.file_systems import listed
from agent.planner.facts.git_facts import repository_of
from agent.planner.facts.git_work import submodules
from agent.planner.facts.regular_file import read_regular
from agent.planner.facts.wildcards import UNREAD, expanded
from agent.protocol.decisions import ProgramRun
from agent.risk.paths.absolute import absolute

_LARGEST = 64_000  # bytes of a configuration that is read
_MAX_REPOSITORIES = 64
_SECTION = re.compile(r'\[\s*([\w.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]')
_SETTING = re.compile(r"([A-Za-z][\w-]*)\s*(?:=\s*(.*))?$")
# What is usual in a checkout and no surprise: git-lfs, and the hooks and aliases that a person asks for by name.
_USUAL = re.compile(r"filter\.lfs\.|alias\.|core\.hookspath$")
_UNTOLD_HOOKS = ("post-index-change", "reference-transaction", "pre-auto-gc")
"""Those that `git status` or `git fetch` runs; the others belong to what they are named after."""
_PLACES = frozenset(("GIT_DIR", "GIT_COMMON_DIR"))
_HARMLESS = ("cat", "less", "more", "delta", "true", "false", "store", "cache", "osxkeychain", "manager", "ssh", "")


def code_of_repositories(run: ProgramRun) -> list[str]:
    """Names of settings and hooks by which a command of git starts a program; "…" where something could not be looked at."""
    if not _PLACES.isdisjoint(run.environment):
        return [UNREAD]  # which repository that is, is not known here
    folders = _git_folders(run)
    if folders is None:
        return [UNREAD]
    found: dict[str, None] = {}
    queue = [folder for folder in folders if folder]
    for folder in queue:
        names, top = _code_of(folder)
        found.update(dict.fromkeys(names))
        inner = submodules(top)  # git goes into these by itself
        if inner is None or len(queue) + len(inner) > _MAX_REPOSITORIES:
            return [*found, UNREAD]
        queue += [os.path.join(top, name, ".git") for name in inner]
    return list(found)


def settings_and_hooks(run: ProgramRun) -> Iterator[str]:
    """Paths of the settings of each repository that a command of git works in, and of its hooks, where they usually are. Never raises."""
    for folder in (_git_folders(run) or []) if _PLACES.isdisjoint(run.environment) else []:
        try:
            own, common = _places(folder) if folder else ("", "")
        except OSError:
            continue
        if own:
            yield from (f"{common}/config", f"{own}/config.worktree", f"{common}/info/attributes")
            yield from (f"{common}/hooks/{name}" for name in listed(f"{common}/hooks") if not name.endswith(".sample"))


def _code_of(folder: str) -> tuple[list[str], str]:
    """The same of one repository by its `.git`, and the folder of its working tree."""
    top = os.path.dirname(folder)
    try:
        own, common = _places(folder)
        texts = [_read(os.path.join(common, "config")), _read(os.path.join(own, "config.worktree"))]
    except OSError:
        return [UNREAD], top
    if any(len(text) > _LARGEST for text in texts):
        return [UNREAD], top
    settings = [setting for text in texts for setting in _settings(text.decode("utf-8", "replace"))]
    for name, value in settings:
        top = absolute(value, own) if name == "core.worktree" else top
    named = [value for name, value in settings if name == "core.hookspath"]
    places = [absolute(os.path.expanduser(value), top) for value in named] or [os.path.join(common, "hooks")]
    hooks = [name for name in _UNTOLD_HOOKS for place in places if os.access(os.path.join(place, name), os.X_OK)]
    return [name for name, value in settings if _runs(name, value)] + [f"hooks/{name}" for name in hooks], top


def _git_folders(run: ProgramRun) -> list[str] | None:
    """Each `.git` that a command of git may read its settings from; None where that is only known when it runs."""
    folder, given = run.cwd, ""
    for option, value in itertools.pairwise(run.words):
        if option == "-C":
            folder = absolute(value, folder)
        elif option == "--git-dir":
            given = value
    given = next((word.partition("=")[2] for word in run.words if word.startswith("--git-dir=")), given)
    folders = expanded(absolute(given, folder) if given else folder)
    if folders is None or given:
        return folders
    found = dict.fromkeys(_git_folder(one) for one in folders)
    return list(found)


def _git_folder(folder: str) -> str:
    """The `.git` of the repository around a folder, "" for none."""
    bare = _bare_around(folder)
    if bare:
        return bare
    top = repository_of(folder)
    return os.path.join(top, ".git") if top else ""


def _bare_around(folder: str) -> str:
    """The folder at or above this one that git takes for a repository without a work tree, "" where a `.git` comes first."""
    while not os.path.lexists(os.path.join(folder, ".git")):
        if all(os.path.exists(os.path.join(folder, part)) for part in ("HEAD", "objects", "refs")):
            return folder
        above = os.path.dirname(folder)
        if above == folder:
            break
        folder = above
    return ""


def _read(path: str) -> bytes:
    """The beginning of a configuration, nothing where there is none. Raises OSError for one that cannot be read."""
    data, status = read_regular(path, _LARGEST + 1)
    if status is None and os.path.lexists(path):
        raise PermissionError(path)
    return data


def _places(folder: str) -> tuple[str, str]:
    """The folder of a working tree's own records, and the one that holds the configuration: of a worktree or submodule, `.git` is a file
    that leads there.
    """
    if os.path.isfile(folder):
        with open(folder, encoding="utf-8", errors="replace") as file:
            leads = file.readline(_LARGEST).partition("gitdir:")[2].strip()
        folder = absolute(leads, os.path.dirname(folder))
    common = os.path.join(folder, "commondir")
    if os.path.isfile(common):
        with open(common, encoding="utf-8", errors="replace") as file:
            return folder, absolute(file.readline(_LARGEST).strip(), folder)
    return folder, folder


def _settings(text: str) -> list[tuple[str, str]]:
    """Name and value of each setting, in lower case but for what is quoted in a section."""
    found: list[tuple[str, str]] = []
    section = ""
    for raw in text.replace("\\\n", "").splitlines():
        line = raw.strip()
        opened = _SECTION.match(line)
        if opened:
            section = opened.group(1).lower() + (f".{opened.group(2)}" if opened.group(2) else "")
            line = line[opened.end() :].strip()
        setting = _SETTING.match(line)
        if setting:
            found.append((f"{section}.{setting.group(1).lower()}", (setting.group(2) or "").strip().strip('"')))
    return found


def _runs(name: str, value: str) -> bool:
    from agent.risk.programs.git import RUNS_A_PROGRAM
    from agent.risk.reader.words import runs_only

    if _USUAL.match(name) or (name == "core.fsmonitor" and value.lower() in ("true", "false", "")):
        return False
    return RUNS_A_PROGRAM.match(name.lower()) is not None and bool(value) and not runs_only(value, _HARMLESS)
