"""Every Python of this machine that can run the program answers alike: what decides uses nothing that an older 3.11 gets wrong."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import warnings
from collections.abc import Iterator
from glob import glob
from pathlib import Path
from re import _constants as kinds  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]

import pytest

from agent.emitters.export.script import statement
from tests.support.core_answers import answers
from tests.support.each import each

ROOT = Path(__file__).resolve().parents[2]
_ASK = "import sys, sysconfig; print(sys.version_info[:2] >= (3, 11), sys.version.split()[0], sysconfig.get_config_var('SOABI'))"
_MAY_HOLD = re.compile(r"[*+?}]\+|\(\?>")
_LATE = {kinds.POSSESSIVE_REPEAT, kinds.ATOMIC_GROUP}  # new in 3.11, and wrong before 3.11.4


def pythons() -> list[str]:
    """One of each version of 3.11 and later that can load the packages of this one, or has them itself."""
    folders = [
        *os.get_exec_path(),
        "/usr/bin",
        "/usr/local/bin",
        *glob("/opt/python*/bin"),
        *glob(os.path.expanduser("~/.pyenv/versions/*/bin")),
    ]
    found: dict[str, str] = {}
    for path in [sys.executable, *(path for folder in folders for path in sorted(glob(f"{folder}/python3*")))]:
        if not re.fullmatch(r"python3(?:\.\d+)?", os.path.basename(path)) or not shutil.which(path):
            continue
        asked = subprocess.run(
            [path, "-c", _ASK], capture_output=True, text=True, timeout=120, check=False
        ).stdout.split()
        if asked[:1] == ["True"] and asked[1] not in found and _runs(path):
            found[asked[1]] = path
    return sorted(found.values())


def _runs(path: str) -> bool:
    command = [path, "-c", "import msgspec, tree_sitter, tree_sitter_bash"]
    return subprocess.run(command, capture_output=True, env=_environment(), timeout=120, check=False).returncode == 0


def _environment() -> dict[str, str]:
    packages = [path for path in sys.path if path.endswith("site-packages")]
    return {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join([str(ROOT), *packages]),
        "PYTHONDONTWRITEBYTECODE": "1",
    }


@pytest.mark.thorough
def test_every_python_gives_the_same_answers() -> None:
    expected = json.loads(json.dumps(answers()))
    for path in pythons():
        command = [path, "-m", "tests.support.core_answers"]
        told = subprocess.run(command, capture_output=True, cwd=ROOT, env=_environment(), timeout=120, check=True)
        assert json.loads(told.stdout) == expected, path


@each("text", ["a ;;", "a ;; b", "a;;", "x &;", "a | | b", "a )", "fi", "a > > b", 'a "b', "a `b`", "a $(b)"])
def test_what_bash_would_not_read_alone_is_quoted(text: str) -> None:
    assert statement(text).startswith("eval -- '")


@each("text", ["a", "a;", "a &", "a 2>&1 | b > c", "a \"$x ${y} z\" 'q'", "a && b || c", "> file", "a &> b"])
def test_what_is_complete_stands_as_it_is(text: str) -> None:
    assert statement(text) == text


def test_no_text_takes_long() -> None:
    """Each piece can be read in one way only: twice the text is twice the steps, which a hostile one would double each time."""
    assert statement('x "' + "$aaaaaaaa" * 400).startswith("eval")


def _patterns(path: Path) -> Iterator[str]:
    """Texts of a source file that may be such patterns: raw ones, with what is filled in left out."""
    source = path.read_text()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.JoinedStr):
            text = "".join(part.value if isinstance(part, ast.Constant) else "x" for part in node.values)  # type: ignore[misc]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        else:
            continue
        if not _MAY_HOLD.search(text) or "\n" in text:  # of several lines is a table of words
            continue
        written = ast.get_source_segment(source, node) or ""
        if re.match(r"[rR]|[fF][rR]", written):
            yield text


def _data_patterns(path: Path) -> Iterator[str]:
    def walk(value: object, key: str) -> Iterator[str]:
        if isinstance(value, dict):
            for name, inner in value.items():
                yield from walk(inner, name)
        elif isinstance(value, list):
            yield from (
                walk(value[0], key) if key == "edit" and value else (one for inner in value for one in walk(inner, key))
            )
        elif isinstance(value, str) and key in ("when", "unless", "edit", "pattern", "says_it", "needs"):
            yield value

    yield from walk(tomllib.loads(path.read_text()), "")


def _late_parts(pattern: object) -> bool:
    """Whether a parsed pattern holds possessive repeats or atomic groups, at any depth."""
    if isinstance(pattern, (_parser.SubPattern, list, tuple)):
        return any(part in _LATE if isinstance(part, type(kinds.LITERAL)) else _late_parts(part) for part in pattern)
    return False


@pytest.mark.thorough
def test_no_pattern_needs_what_older_pythons_get_wrong() -> None:
    texts = [(path, text) for path in ROOT.glob("agent/**/*.py") for text in _patterns(path)]
    texts += [(path, text) for path in ROOT.glob("agent/planner/**/*.toml") for text in _data_patterns(path)]
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for path, text in texts:
            try:
                parsed = _parser.parse(text)
            except (re.error, OverflowError, RecursionError):
                continue  # only a part of one, or none
            if _late_parts(parsed):
                found.append((str(path), text))
    assert found == []
    assert len(texts) > 100
    assert _late_parts(_parser.parse("(?:a|(b++))")) and _late_parts(_parser.parse("x(?>a)"))
