"""Find what a folder has programs run untold: modules in place of Python's own, settings of a repository, files like `.Rprofile`."""

from __future__ import annotations

import itertools
import os
import stat
import sys
from shutil import which

from agent.planner.facts.regular_file import beginning
from agent.planner.facts.repository_code import code_of_repositories
from agent.planner.facts.wildcards import UNREAD, expanded
from agent.protocol.decisions import ProgramRun, RiskContext
from agent.risk.invocations.folder_files import Loaded, files_loaded
from agent.risk.paths.search_path import STANDARD_FOLDERS

_LARGEST = 64_000  # bytes of a configuration that is read
_MAX_ENTRIES = 4_000
_MAX_TOLD = 2


def code_of_folder(run: ProgramRun) -> tuple[str, list[str]]:
    """The folder whose facts these are, and the facts: "shadows=json.py", "runs=core.fsmonitor". Of a folder with wildcards those of all
    that it may be, of more than can be looked at any ("…").
    """
    program = run.words[0].rpartition("/")[2] if run.words else ""
    name = program.rstrip("0123456789.")
    if run.remote or not run.cwd.startswith("/"):
        return "", []
    if name == "git":
        return run.cwd, [f"runs={setting}" for setting in code_of_repositories(run)[:_MAX_TOLD]]
    folders = expanded(run.cwd)
    if name in ("python", "pypy", "ipython"):
        files = [UNREAD] if folders is None else [file for folder in folders for file in _shadowing(folder)]
        return run.cwd, [f"shadows={file}" for file in files[:_MAX_TOLD]]
    may = files_loaded(run.words)
    loaded = [one.file for one in may if folders is None or any(_is_there(one, folder) for folder in folders)]
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
