"""Correct by the project's own files: scripts of package.json, targets of a Makefile, the virtual environment."""

from __future__ import annotations

import glob
import json
import os
import re

from msgspec import structs

from agent.planner.facts.regular_file import beginning
from agent.planner.offline.fixing.failure import NOTHING, Failure, Fix
from agent.planner.offline.fixing.nearest import nearest
from agent.planner.offline.fixing.paths import nearest_path
from agent.planner.offline.fixing.programs import names_table
from agent.planner.offline.fixing.rewriting import is_destructive_word, replace_program, replace_written

_MAX_BYTES = 500_000
_NAME = re.compile(r"[A-Za-z0-9_][\w.:@+-]{0,80}")


def nearest_script(failure: Failure) -> Fix:
    """A script that package.json does not have becomes the nearest one that it has."""
    folder = failure.resolve(".")
    while not os.path.isfile(os.path.join(folder, "package.json")):
        above = os.path.dirname(folder)
        if above == folder:
            return NOTHING
        folder = above
    try:
        scripts = json.loads(_text(os.path.join(folder, "package.json"))).get("scripts", {})
    except (ValueError, AttributeError, RecursionError):
        return NOTHING
    return _chosen(failure, [name for name in scripts if isinstance(name, str)] if isinstance(scripts, dict) else [])


def nearest_target(failure: Failure) -> Fix:
    """A target that the Makefile does not have becomes the nearest one that it has."""
    for name in ("GNUmakefile", "makefile", "Makefile"):
        text = _text(os.path.join(failure.resolve("."), name))
        if text:
            return _chosen(failure, re.findall(r"(?m)^([A-Za-z0-9_][\w.-]*)\s*:(?!=)", text))
    return NOTHING


def _chosen(failure: Failure, names: list[str]) -> Fix:
    wrong = failure.caught.get("name", "")
    found = nearest(wrong, [name for name in names if _NAME.fullmatch(name)])
    if len(found) == 1 and not is_destructive_word(found[0]):
        command = replace_written(failure.command, wrong, found[0])
        if command:
            return Fix(command=command)
    return Fix(note="there is " + " and ".join(found[:4])) if found else NOTHING


def python_environment(failure: Failure) -> Fix:
    """A module that only the project's virtual environment has: its Python instead. Else the package that is known to bring it."""
    module = failure.caught.get("name", "").split(".")[0]
    if not module.isidentifier():
        return NOTHING
    program = re.match(r"\s*(python3?(?:\.\d+)?)(?=\s)", failure.command)
    for name in (".venv", "venv", "env"):
        python = os.path.join(name, "bin", "python")
        found = glob.glob(
            os.path.join(glob.escape(failure.resolve(name)), "lib", "python3*", "site-packages", module + "*")
        )
        if program and os.access(failure.resolve(python), os.X_OK) and found:
            command = replace_program(failure.command, program[1], python)
            return Fix(command=command, note=f"the environment in {name} has it")
    package = names_table()["modules"].get(module, "")
    return Fix(note=f"the package that brings it is called {package}") if package else NOTHING


def package_of_module(failure: Failure) -> Fix:
    """The package that was meant, where a module's name was given for it."""
    package = names_table()["modules"].get(failure.caught.get("name", ""), "")
    if not package:
        return NOTHING
    command = replace_written(failure.command, failure.caught["name"], package)
    return Fix(command=command, note=f"the package is called {package}") if command else NOTHING


def node_script(failure: Failure) -> Fix:
    """`node serve.js` of a file that does not exist: the nearest one. A dependency is only named."""
    match = re.match(r"\s*node\s+(?P<path>[^-\s;&|]\S*)", failure.command)
    missing = failure.caught.get("name", "")
    if match is None or os.path.basename(match["path"]) != os.path.basename(missing):
        return NOTHING
    return nearest_path(structs.replace(failure, caught={"path": match["path"]}))


def _text(path: str) -> str:
    return beginning(path, _MAX_BYTES).decode("utf-8", "replace")
