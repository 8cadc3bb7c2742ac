"""Names in `agent/` are nouns of the field, and a module's first line says what it does."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

AGENT = Path(__file__).resolve().parents[2] / "agent"
OPENING = re.compile(r"(What|Whether|Which|How|Where|When|Who)\b")
IMAGES = re.compile(
    r"(?i:(^|_)(desk|keepers?|sieve|disguises?|aftermath|whereabouts|ways_out|sameness|witness|twins?|grounds)(_|$))"
    r"|(Desk|Keeper|Sieve|Disguises?|Standing|Aftermath|Whereabouts|Witness|Twins?|Grounds|Parts)(?![a-z])"
    r"|^_?standing(_|$)|^_?publish$"
)
SOURCES = {path: ast.parse(path.read_bytes()) for path in sorted(AGENT.rglob("*.py"))}


def identifiers(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                yield node.name
            case ast.Name():
                yield node.id
            case ast.arg():
                yield node.arg
            case ast.Attribute():
                yield node.attr


def test_no_module_opens_with_a_riddle() -> None:
    first_lines = {path: (ast.get_docstring(tree) or "").partition("\n")[0] for path, tree in SOURCES.items()}
    assert [f"{path}: {line}" for path, line in first_lines.items() if OPENING.match(line)] == []


def test_no_name_is_an_image() -> None:
    found = {f"{path}: {name}" for path, tree in SOURCES.items() for name in identifiers(tree) if IMAGES.search(name)}
    found |= {str(path) for path in SOURCES if IMAGES.search(path.stem)}
    assert sorted(found) == []


def test_images_are_known_when_seen() -> None:
    assert all(
        map(IMAGES.search, ("desk", "_desk", "SessionDesk", "open_desk", "HeadKeeper", "without_twins", "LogParts"))
    )
    assert not any(
        map(IMAGES.search, ("background", "understanding", "parts", "desktop", "foreground_job", "Understanding"))
    )
