"""Find the files of a branch that change how its tests are run: the dependencies or the version of a package do not."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from agent.protocol.errors import IoError
from agent.repo_agent.root import root_of, text_in
from agent.repo_agent.test_runner import sets_up_tests, setup_files
from agent.repo_agent.workplace import Workplace

_DEPENDENCIES = "dependencies devDependencies peerDependencies optionalDependencies peerDependenciesMeta bundledDependencies".split()
_ABOUT = "name version description keywords homepage bugs license author contributors funding repository private files".split()
_LOOKS = "eslintConfig prettier stylelint browserslist lint-staged husky commitlint publishConfig sideEffects types typings".split()
_NODE = frozenset((*_DEPENDENCIES, *_ABOUT, *_LOOKS))
_CARGO = frozenset("dependencies dev-dependencies build-dependencies badges lints".split())
_CRATE = frozenset(
    "name version authors description documentation readme homepage repository license keywords categories".split()
)
_PYTHON = frozenset("project build-system dependency-groups".split())
_TOOLS = frozenset(
    "ruff black isort mypy pyright pylint flake8 bandit codespell commitizen setuptools setuptools_scm".split()
)
"""List what has no say in how tests are run, of each kind of file; all else may have."""
_VERSION = re.compile(r"[\w.+*^~<>=|\s-]*")


async def test_setup(
    place: Workplace, differing: Iterable[str] = (), committed: Sequence[str] | None = None
) -> tuple[str, ...]:
    """Return the files that say how the tests are run, as far as they differ from the base; also those that git ignores.

    `differing`: files that differ from the last commit; `committed`: those that the branch changes, where that is known.
    """
    repository = place.repository
    if not place.base:
        return ()
    try:
        if committed is None:
            committed = await repository.changed_files(place.base)
        paths = {*committed, *differing, *await repository.unknown_files(sorted(setup_files()))}
        found = [path for path in sorted(paths) if sets_up_tests(path) and await _says_otherwise(place, path)]
    except IoError:
        return ("git could not say which",)
    return tuple(found)


async def _says_otherwise(place: Workplace, path: str) -> bool:
    """Tell whether a file says something else of the tests than on the base."""
    now = said_of_tests(path, text_in(root_of(place.root), path))
    return now is None or now != said_of_tests(path, await place.repository.text_at(place.base, path))


def said_of_tests(path: str, text: str | None) -> object:
    """Return what the text of a file says of how tests are run, to be held against another one of it. All of it, where that is not known.

    None for no file.
    """
    part = _PARTS.get(path.rpartition("/")[2])
    if text is None or part is None:
        return text
    try:
        return part(text)
    except (ValueError, TypeError, AttributeError, RecursionError):
        return text


def _node(text: str) -> object:
    found = json.loads(text)
    listed = [pair for name in _DEPENDENCIES for pair in dict(found.get(name) or {}).items()]
    elsewhere = [(name, version) for name, version in listed if not _VERSION.fullmatch(version)]
    return _without(found, _NODE), sorted(elsewhere)  # a folder or an address may stand in for what runs the tests


def _cargo(text: str) -> object:
    found = _without(tomllib.loads(text), _CARGO)
    targets = [_without(each, _CARGO) for each in found.pop("target", {}).values()]
    return {
        **found,
        "package": _without(found.get("package", {}), _CRATE),
        "target": [each for each in targets if each],
    }


def _python(text: str) -> object:
    found = tomllib.loads(text)
    entry_points = found.get("project", {}).get("entry-points")
    return {**_without(found, _PYTHON), "tool": _without(found.get("tool", {}), _TOOLS), "plugins": entry_points}


def _ini(text: str) -> object:
    """Return the sections on tests of a setup.cfg, line by line."""
    parts = re.split(r"(?m)^(?=\[)", text)
    return [each.strip() for each in parts if re.match(r"\[(?:tool:|aliases|pytest)", each)]


def _go(text: str) -> object:
    plain = re.sub(r"//.*", "", text)
    return re.sub(r"(?m)^\s*require\s*(?:\([^)]*\)|.*)", "", plain).split()


def _without(table: Mapping[str, Any], names: frozenset[str]) -> dict[str, Any]:
    return {key: value for key, value in table.items() if key not in names}


_PARTS: dict[str, Callable[[str], object]] = {
    "package.json": _node,
    "Cargo.toml": _cargo,
    "pyproject.toml": _python,
    "setup.cfg": _ini,
    "go.mod": _go,
}
