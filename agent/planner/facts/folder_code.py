"""Find what a folder has programs run untold: modules in place of Python's own, settings of a repository, files like `.Rprofile`."""

from __future__ import annotations

import itertools
import os
import re
import stat
import sys
from shutil import which

from agent.planner.facts.git_facts import repository_of
from agent.planner.facts.regular_file import beginning
from agent.protocol.decisions import ProgramRun, RiskContext
from agent.risk.invocations.folder_files import Loaded, files_loaded
from agent.risk.paths.absolute import absolute
from agent.risk.paths.search_path import STANDARD_FOLDERS

_LARGEST = 64_000  # bytes of a configuration that is read
_MAX_ENTRIES = 4_000
_MAX_TOLD = 2
_SECTION = re.compile(r'\[\s*([\w.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]')
_SETTING = re.compile(r"([A-Za-z][\w-]*)\s*(?:=\s*(.*))?$")
# What is usual in a checkout and no surprise: git-lfs, and the hooks and aliases that a person asks for by name.
_USUAL = re.compile(r"filter\.lfs\.|alias\.|core\.hookspath$")
_PLACES = frozenset(("GIT_DIR", "GIT_COMMON_DIR"))
_HARMLESS = ("cat", "less", "more", "delta", "true", "false", "store", "cache", "osxkeychain", "manager", "ssh", "")


def code_of_folder(run: ProgramRun) -> tuple[str, list[str]]:
    """The folder whose facts these are, and the facts: "shadows=json.py", "runs=core.fsmonitor"."""
    name = run.words[0].rpartition("/")[2].rstrip("0123456789.") if run.words else ""
    if run.remote or not run.cwd.startswith("/"):
        return "", []
    if name in ("python", "pypy", "ipython"):
        return run.cwd, [f"shadows={file}" for file in _shadowing(run.cwd)[:_MAX_TOLD]]
    if name == "git" and not _PLACES.isdisjoint(run.environment):
        return run.cwd, ["runs=…"]  # which repository that is, is not known here
    if name == "git":
        return run.cwd, [f"runs={setting}" for setting in _settings_that_run(_git_folder(run))[:_MAX_TOLD]]
    program = run.words[0].rpartition("/")[2] if run.words else ""
    loaded = [one.file for one in files_loaded(run.words) if _is_there(one, run.cwd)]
    return run.cwd, [f"loads={program}:{file}" for file in loaded[:_MAX_TOLD]]


def doubtful_program(run: ProgramRun, context: RiskContext) -> list[str]:
    """ "found=FILE" for a program that is only named, where PATH finds it in a place that others, or the project, could have filled.

    A virtual environment that the person has activated is the person's own.
    """
    name = run.words[0] if run.words else ""
    path = which(name) if name and "/" not in name and not run.remote else None
    if path is None or os.path.dirname(path) in STANDARD_FOLDERS:
        return []
    folder, real = os.path.dirname(path), os.path.realpath(path)
    workspace = "" if context.workspace == context.home else f"{context.workspace}/"
    activated = os.path.dirname(folder) in (os.environ.get("VIRTUAL_ENV"), os.environ.get("CONDA_PREFIX"))
    projects = bool(workspace) and not activated and path.startswith(workspace) and real.startswith(workspace)
    shadows = projects and which(name, path=":".join(STANDARD_FOLDERS)) is not None
    return [f"found={path}"] if shadows or any(_is_open(one) for one in (folder, real)) else []


def _is_open(path: str) -> bool:
    """Tell whether others than the person and the system may write to a file or a folder."""
    try:
        status = os.stat(path)
    except OSError:
        return True
    return bool(status.st_mode & stat.S_IWOTH) or status.st_uid not in (0, os.geteuid())


def _is_there(loaded: Loaded, folder: str) -> bool:
    """Tell whether a folder, or one above it where those count, has the file, and it says what matters."""
    while True:
        path = os.path.join(folder, loaded.file)
        if os.path.exists(path):
            text = beginning(path, _LARGEST + 1) if loaded.says else b""
            squeezed = text.translate(None, b" \t")  # `git = ./x` is `git=./x`
            return (
                not loaded.says
                or len(text) > _LARGEST
                or any(word.encode() in squeezed for word in loaded.says.split())
            )
        above = os.path.dirname(folder)
        if not loaded.above or above == folder:
            return False
        folder = above


def _shadowing(folder: str) -> list[str]:
    """Files of a folder that Python would load in the place of modules of its own library, where the folder comes first."""
    found = []
    try:
        with os.scandir(folder) as listing:
            for entry in itertools.islice(listing, _MAX_ENTRIES):
                name, dot, ending = entry.name.partition(".")
                if name not in sys.stdlib_module_names or name in sys.builtin_module_names:
                    continue
                if ending.endswith(("py", "pyc", "so")) if dot else os.path.exists(f"{entry.path}/__init__.py"):
                    found.append(entry.name)
    except OSError:
        return []
    return sorted(found)


def _git_folder(run: ProgramRun) -> str:
    """The `.git` that a command of git reads its settings from, "" for none."""
    folder = run.cwd
    for option, value in itertools.pairwise(run.words):
        if option == "-C":
            folder = absolute(value, folder)
        elif option == "--git-dir":
            return absolute(value, folder)
    given = next((word.partition("=")[2] for word in run.words if word.startswith("--git-dir=")), "")
    if given:
        return absolute(given, folder)
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


def _settings_that_run(folder: str) -> list[str]:
    """Names of settings of a repository that have git start a program; ["…"] for a configuration that cannot be read."""
    if not folder:
        return []
    try:
        with open(os.path.join(_common(folder), "config"), "rb") as file:
            text = file.read(_LARGEST + 1)
    except FileNotFoundError:
        return []
    except OSError:
        return ["…"]
    if len(text) > _LARGEST:
        return ["…"]
    return [name for name, value in _settings(text.decode("utf-8", "replace")) if _runs(name, value)]


def _common(folder: str) -> str:
    """The folder that holds the configuration: of a worktree or submodule, `.git` is a file that leads there."""
    if os.path.isfile(folder):
        with open(folder, encoding="utf-8", errors="replace") as file:
            leads = file.readline(_LARGEST).partition("gitdir:")[2].strip()
        folder = absolute(leads, os.path.dirname(folder))
    common = os.path.join(folder, "commondir")
    if os.path.isfile(common):
        with open(common, encoding="utf-8", errors="replace") as file:
            folder = absolute(file.readline(_LARGEST).strip(), folder)
    return folder


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
