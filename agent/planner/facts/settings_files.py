"""Find the settings that the programs of a command obey untold: the person's own, those of the folder and of its repository.

Which these are is said by program in `knowledge/_names_settings.toml`; what they name or include in turn is found in their text.
"""

from __future__ import annotations

import itertools
import os
import re
import stat
import sys
from collections.abc import Iterator
from functools import cache
from itertools import islice
from shutil import which

from agent.planner.facts.regular_file import Contents, beginning
from agent.planner.facts.repository_code import code_of_repositories, settings_and_hooks
from agent.planner.facts.wildcards import GLOB, UNREAD, expanded, matches
from agent.protocol.decisions import ProgramRun, RiskContext, RiskReport
from agent.risk.invocations.folder_files import Loaded, files_loaded
from agent.risk.paths.search_path import STANDARD_FOLDERS
from agent.risk.tables.names import members

_FILES = members("settings.files")
_OF_GIT = "~/.gitconfig"
_MAX_BELOW = 200
_MAX_NAMED = 64
_MAX_TEXT = 64 * 1024
_WORD = re.compile(r"[^\s\"'=:,;()\[\]{}<>|&#]{1,256}")
_INCLUDES = frozenset("include includeif import path source load read config file ir i so from".split())
"""Words behind which stands a file of more settings, as `Include work.conf` or `path = work.inc`."""


def add_settings(contents: Contents, report: RiskReport) -> None:
    """Take in what the programs on this machine obey, and what that names."""
    asked: set[tuple[str, str]] = set()
    for run in report.programs:
        name = _name(run.words[0]) if run.words and not run.remote and run.cwd.startswith("/") else ""
        if name in _FILES and (name, run.cwd) not in asked:
            asked.add((name, run.cwd))
            written = _written(name)
            for path in [path for one in written for path in _places(one, run.cwd)]:
                _add(contents, path)
            for path in settings_and_hooks(run) if _OF_GIT in written else ():
                _add(contents, path)


def _name(word: str) -> str:
    name = word.rpartition("/")[2]
    return name if name in _FILES else name.rstrip("0123456789.").removesuffix("-")


@cache
def _written(name: str) -> tuple[str, ...]:
    """The entries of the table for a program, and for those that it starts."""
    found: dict[str, None] = {}
    for one in sorted(_FILES[name]):
        found.update(dict.fromkeys(_written(one[1:]) if one[0] == "=" else (one,)))
    return tuple(found)


def _places(written: str, folder: str) -> Iterator[str]:
    """The paths that an entry of the table stands for; most of them are not there."""
    name, slash, rest = written.partition("/")
    if name[0] == "$":
        values = os.environ.get(name[1:], "")
        yield from (_joined(value, rest if slash else "") for value in values.split(":") if value)
    elif name == "~":
        yield _joined("~", rest)
        settings = os.environ.get("XDG_CONFIG_HOME", "")
        if settings and rest.startswith(".config/"):
            yield _joined(settings, rest.removeprefix(".config/"))
    elif name[0] == "^":
        while True:
            yield _joined(folder, written[1:])
            if os.path.dirname(folder) == folder:
                break
            folder = os.path.dirname(folder)
    else:
        yield _joined(folder, written)


def _joined(folder: str, rest: str) -> str:
    path = os.path.expanduser(folder)
    return f"{path.rstrip('/')}/{rest}" if rest else path


def _add(contents: Contents, path: str) -> None:
    """Take in a file with what it includes and names, or (with a slash at the end) all that lies below a folder."""
    if path[-1:] == "/":
        for one in _below(path[:-1]):
            contents.add(one, read=False)
        return
    queue = _expanded(path)
    for place in queue:
        text = contents.add(place)[:_MAX_TEXT].decode("utf-8", "replace")
        folder = os.path.dirname(place)
        for named, included in islice(_named(text), _MAX_NAMED):
            found = _expanded(os.path.normpath(os.path.join(folder, os.path.expanduser(named))))
            if included:
                queue += [one for one in found if one not in queue]
            else:
                for one in found:
                    contents.add(one, read=False)


def _named(text: str) -> Iterator[tuple[str, bool]]:
    """Words of settings that may be paths, and whether what lies there is settings as well. Of a folder for hooks all that it holds."""
    for line in text.splitlines():
        words = [word.lstrip("!@") for word in _WORD.findall(line)]
        included = bool(words) and words[0].lstrip("\\%$.-").lower() in _INCLUDES
        for word in words[1:] if included else words:
            if included or "/" in word:
                yield word, included
                if "hook" in words[0].lower():
                    yield f"{word}/*", False


def _expanded(path: str) -> list[str]:
    """The path, or what it matches."""
    if not any(char in path for char in GLOB):
        return [path]
    folder, _, last = path.rpartition("/")
    found = [path]
    folders = _expanded(folder) if any(char in folder for char in GLOB) else [folder]
    if any(char in last for char in GLOB):
        found = [one for each in folders[:_MAX_NAMED] for one in sorted(matches(f"{each}/{last}"))]
    else:
        found = [f"{each}/{last}" for each in folders[:_MAX_NAMED]]
    return found[:_MAX_NAMED]


def _below(folder: str) -> list[str]:
    """Files in a folder and below, to a bound."""
    found: list[str] = []
    for place, folders, files in os.walk(folder):
        folders.sort()
        found += [f"{place}/{name}" for name in sorted(files)]
        if len(found) >= _MAX_BELOW:
            break
    return found[:_MAX_BELOW]


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
